package released

import (
	"context"
	"slices"
	"strings"
	"sync"

	"webchat/internal/agent"
	"webchat/internal/eventlog"
	"webchat/internal/outputs"
	"webchat/internal/tokens"
)

// Releases are the outputs that users attach to prompts, which the agents of their sessions can
// read again by tools.
type Releases struct {
	Outputs
	// Unread says that agents get no tools to read them with.
	Unread bool
	// Large is of how many tokens a result of a tool is at most that a model gets whole; 0: of any
	// number.
	Large int

	mu      sync.Mutex // guards shelves
	shelves map[eventlog.ID]*Shelf
}

// shelf is what the user released in a session.
func (r *Releases) shelf(id eventlog.ID) *Shelf {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shelves == nil {
		r.shelves = map[eventlog.ID]*Shelf{}
	}
	if r.shelves[id] == nil {
		r.shelves[id] = &Shelf{}
	}
	return r.shelves[id]
}

// Read implements [session.AttachableOutputs].
func (r *Releases) Read(ctx context.Context, id eventlog.ID, outputID, lines,
	lifted string) (agent.Attachment, error) {
	a, err := r.Outputs.Read(ctx, id, outputID, lines, lifted)
	if err == nil {
		r.shelf(id).Add(a.Name, a.Data)
	}
	return a, err
}

// Keep implements [session.OutputKeeper]: what the agent's own tool returned is released to it.
func (r *Releases) Keep(id eventlog.ID, w agent.Whole) (t agent.Telemetry, short string,
	err error) {
	text := string(w.Data)
	if !r.IsLarge(text) {
		return t, "", nil
	}
	out, err := r.Store.Put(outputs.Meta{
		Type:       outputs.Terminal,
		SessionID:  string(id),
		ToolCallID: w.ToolCallID,
		Command:    w.Name,
		Cwd:        w.Cwd,
		ExitCode:   w.ExitCode,
	}, w.Data)
	if err != nil {
		return t, "", err
	}
	short, leftOut := r.Shorten(id, w.Name, text)
	shown, exact := tokens.Count(text)
	sent, _ := tokens.Count(short)
	return agent.Telemetry{
		OutputID:        string(out),
		Bytes:           int64(len(text)),
		Lines:           int64(strings.Count(text, "\n")),
		TokensShown:     int64(shown),
		TokensEstimated: !exact,
		TokensSent:      int64(sent),
		LeftOut:         leftOut,
	}, short, nil
}

// Release lets the agent of a session read data, and says by which tools; empty: it has none.
func (r *Releases) Release(id eventlog.ID, name string, data []byte) (readers string) {
	if r.Unread {
		return ""
	}
	return Readers(r.shelf(id).Add(name, data))
}

// DeleteSession implements [session.AttachableOutputs].
func (r *Releases) DeleteSession(id string) {
	r.Outputs.DeleteSession(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.shelves, eventlog.ID(id))
}

// Reading adds to the tools of each session those that read what was released in it.
func (r *Releases) Reading(tools func(eventlog.ID) (agent.Toolset,
	error)) func(eventlog.ID) (agent.Toolset, error) {
	if r.Unread {
		return tools
	}
	return func(id eventlog.ID) (agent.Toolset, error) {
		set, err := tools(id)
		if err != nil {
			return nil, err
		}
		return moreTools{set, r.shelf(id).Tools()}, nil
	}
}

// moreTools is a set of tools with some more.
type moreTools struct {
	agent.Toolset
	more []agent.Tool
}

// Tools implements [agent.Toolset].
func (t moreTools) Tools() []agent.Tool {
	return append(slices.Clone(t.Toolset.Tools()),
		t.more...)
}
