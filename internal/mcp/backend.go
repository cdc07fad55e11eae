package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/released"
	"webchat/internal/wording"
)

// BackendName is what clients' sessions have in the place of an agent's name.
const BackendName = "mcp"

// backend is the kind of agent of clients' sessions: it runs elsewhere, hears nothing from here and
// begins each turn by itself.
type backend struct{ s *Server }

// Backend returns the agent of clients' sessions.
func (s *Server) Backend() agent.Backend { return backend{s} }

// errElsewhere says what to do instead of a prompt.
var errElsewhere = errors.New(
	"the agent of this session runs in another program: write your prompt there")

func (backend) Name() string { return BackendName }

// Info implements [agent.Backend]. Of such an agent only the calls of the session's own tools are
// seen, and hooks reach all of those.
func (backend) Info(context.Context) agent.Info {
	return agent.Info{Reason: "Such a session begins when a program that speaks MCP shows " +
		"something; \"webchat mcp install\" connects one",
		Intercept: agent.InterceptRewrite, CanResume: true}
}

// Models implements [agent.Backend]: there is no choice.
func (backend) Models(context.Context) ([]agent.Model, error) { return nil, nil }

func (b backend) Open(_ context.Context, o agent.Options, host agent.Host) (agent.Conn, error) {
	c := &conn{s: b.s, id: o.SessionID, host: host}
	c.ctx, c.cancel = context.WithCancel(b.s.ctx)
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	b.s.conns[o.SessionID] = c
	return c, nil
}

// conn is the conversation of a session: calls of its client.
type conn struct {
	s      *Server
	id     string
	host   agent.Host
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup // turns and uses; Add under mu while not closed

	mu       sync.Mutex // guards what follows
	closed   bool
	client   string // who it is, as people read it
	reads    bool   // whether it is offered what was released
	released released.Shelf
	turn     *sharedTurn // the one that calls join; nil: the next call begins one
}

// sharedTurn is a turn that lasts as long as a call of it runs.
type sharedTurn struct {
	users int           // guarded by the conn's mu
	leave func()        // ends the wait for a turn that is no longer needed
	begun chan struct{} // closed when the turn runs
	idle  chan struct{} // closed when the last user left
	over  chan struct{} // closed when the turn is over
	err   error         // of a turn that was never begun; to be read after over
}

// introduce says who calls.
func (c *conn) introduce(client string, reads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.client, c.reads = client, reads
}

// use calls f within a turn that is the client's own. It returns [ErrGone] if the conversation was
// closed.
func (c *conn) use(ctx context.Context, cause string, f func() error) error {
	t := c.join(cause)
	if t == nil {
		return ErrGone
	}
	defer c.leave(t)
	select {
	case <-t.begun:
		return f()
	case <-t.over:
		return t.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join counts a user of the client's turn, which it begins if there is none; nil if the
// conversation is closed.
func (c *conn) join(cause string) *sharedTurn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.wg.Add(1)
	if c.turn == nil {
		ctx, cancel := context.WithCancel(c.ctx)
		t := &sharedTurn{
			leave: cancel,
			begun: make(chan struct{}),
			idle:  make(chan struct{}),
			over:  make(chan struct{}),
		}
		c.turn = t
		c.wg.Go(func() { c.run(ctx, t, cause) })
	}
	c.turn.users++
	return c.turn
}

func (c *conn) leave(t *sharedTurn) {
	defer c.wg.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.users--; t.users == 0 {
		close(t.idle)
		t.leave()
		c.endLocked(t)
	}
}

// endLocked has calls from now on begin another turn.
func (c *conn) endLocked(t *sharedTurn) {
	if c.turn == t {
		c.turn = nil
	}
}

func (c *conn) end(t *sharedTurn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endLocked(t)
}

// run is a turn, from its first call to the end of its last.
func (c *conn) run(wait context.Context, t *sharedTurn, cause string) {
	defer close(t.over)
	defer c.end(t)
	t.err = c.host.RunTurn(wait, cause, func(ctx context.Context) error {
		close(t.begun)
		select {
		case <-t.idle:
		case <-ctx.Done(): // it was stopped
			c.end(t)
			<-t.idle
		}
		return ctx.Err()
	})
}

// Prompt implements [agent.Conn]. A prompt's attachments are what the user releases; its text is
// not shown.
func (c *conn) Prompt(ctx context.Context, p agent.Prompt) error {
	if len(p.Attachments) == 0 {
		return errElsewhere
	}
	c.mu.Lock()
	client, reads := c.client, c.reads
	var lines []string
	for _, a := range p.Attachments {
		if reads && a.Data != nil {
			number := strconv.Itoa(c.released.Add(a.Name, a.Data))
			lines = append(lines, fmt.Sprintf("Use webchat's %s with output %q: %s", released.ReadOutput,
				number, pasted(a.Name)))
		}
	}
	c.mu.Unlock()
	text := fmt.Sprintf("Released. Paste this in %s:\n\n```\n%s\n```", client,
		strings.Join(lines, "\n"))
	switch {
	case !reads:
		text = client +
			" is connected without a workspace, so it cannot read what you release. Connect it with " +
			"`webchat mcp install`."
	case len(lines) == 0:
		text = "Nothing was released: only outputs that were shown here can be."
	}
	return c.host.Report(ctx, event.AssistantMessage{MessageID: newID(), Content: text})
}

// pasted is a name as it may be pasted into a prompt.
func pasted(name string) string {
	return wording.Cut(oneLine(strings.ReplaceAll(name, "`", "'")), mostName)
}

// reader serves the calls of a tool of [readTools] for clients.
func (s *Server) reader(tool string) mcp.ToolHandler {
	return s.bounded(false, func(ctx context.Context, req *mcp.CallToolRequest,
		call *running) *mcp.CallToolResult {
		client := clientName(req.ClientInfo())
		if !s.begun(call.visitor, client) {
			return failure(wording.Sentence(released.ErrNot.Error()))
		}
		var text string
		_, err := s.lend(ctx, call.visitor, client, "", func(c *conn) (err error) {
			text, err = c.read(ctx, call.id, tool, req.Params.Arguments)
			return err
		})
		if err != nil {
			return failure(wording.Sentence(err.Error()))
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	})
}

// read returns what a call asks for, and shows the call in the session, without what it returned.
func (c *conn) read(ctx context.Context, id, tool string,
	raw json.RawMessage) (text string, err error) {
	var args released.Arguments
	if len(raw) > 0 && json.Unmarshal(raw, &args) != nil {
		return "", errors.New("the arguments have to be strings")
	}
	shown, err := json.Marshal(released.Arguments{
		Output:  cmp.Or(args.Output, "latest"),
		Lines:   args.Lines,
		Pattern: args.Pattern,
	})
	if err != nil {
		return "", err
	}
	if err := c.host.Report(ctx, event.ToolExecutionStart{
		ToolCallID: id,
		ToolName:   tool,
		Arguments:  shown,
	}); err != nil {
		return "", err
	}
	text, name, err := c.released.Call(tool, args)
	end := event.ToolExecutionComplete{ToolCallID: id, Success: err == nil}
	if err == nil {
		end.Result = &event.ToolResult{Content: fmt.Sprintf("The agent read %s of %s.",
			wording.Size(int64(len(text))), pasted(name))}
	} else {
		end.Error = &event.ToolError{Message: err.Error(), Code: "failure", Kind: event.KindBadArguments}
		if errors.Is(err, released.ErrNot) {
			end.Error.Kind = event.KindDenied
		}
	}
	return text, errors.Join(err, c.host.Report(ctx, end))
}

func (c *conn) Steer(context.Context, agent.Prompt) error { return agent.ErrUnsupported }

func (c *conn) SetModel(context.Context, string) error { return agent.ErrUnsupported }

func (c *conn) SetTitle(context.Context, string) error { return agent.ErrUnsupported }

func (c *conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.s.mu.Lock()
	if c.s.conns[c.id] == c {
		delete(c.s.conns, c.id)
	}
	c.s.mu.Unlock()
	c.wg.Wait()
	return nil
}
