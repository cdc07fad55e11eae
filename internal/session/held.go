package session

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/calls"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

const (
	// mostAsked is how many files of one look are asked about apart; more are one question.
	mostAsked = 50
	// moment is how long a file may have been where it was made without a report of that.
	moment = 200 * time.Millisecond
	// lookLimit is how long a look may take.
	lookLimit = 20 * time.Second
)

// Holder finds what agents' calls made that takes effect later by itself, moves it aside, and puts
// it back. Its methods may be called concurrently.
type Holder interface {
	// Begin notes what is there before a session acts, once.
	Begin(workspace, session string)
	// Look finds what was made since the last look in the workspace, whichever session's agent did.
	Look(ctx context.Context, l HeldLook) (HeldFound, error)
	// PutBack returns the path that one has then.
	PutBack(id string) (path string, err error)
	// Drop says that one is deleted.
	Drop(id string)
	// Again moves one aside again that was put back to a path.
	Again(id, path string) (event.Held, error)
	// Unasked returns what is held for a session of which Asked did not say that its log has it.
	Unasked(session string) []HeldFile
	Asked(files []HeldFile)
}

// HeldLook says how [Holder].Look looks.
type HeldLook struct {
	Workspace, Session string
	Leave              bool // nothing is moved
	Running            bool // calls go on: what was written just now is left for the next look
	Count              bool // what stays is counted as well, which takes longer
}

// HeldFile is one that was found.
type HeldFile struct {
	Path  string // relative to the workspace, with slashes; absolute if it is elsewhere
	Stood time.Duration
	event.Held
}

// HeldFound is what came of a look.
type HeldFound struct {
	Files []HeldFile
	Left  int64 // how many were made and stay
}

// Held asks about what agents made that takes effect later by itself, and that a [Holder] holds.
// Its methods may be called concurrently.
type Held struct {
	s      *core
	holder Holder // nil: nothing is confined

	mu     sync.Mutex
	unread []string // guarded by mu: what the agent has not read yet
}

// begin notes what is there before the session acts.
func (h *Held) begin() {
	if h.holder != nil {
		h.holder.Begin(h.s.cfg.Workspace, string(h.s.id))
	}
}

// keeps reports whether what is made stays where it is, which is logged.
func (h *Held) keeps() bool { return h.s.cfg.Permissions == consent.ModeAllow }

// look finds what was made, and asks about it; a call that made it is the reason. It returns how
// many were made and stay, if they are counted.
func (h *Held) look(ctx context.Context, toolCallID string, count bool) (left int64) {
	if h.holder == nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookLimit)
	defer cancel()
	found, err := h.holder.Look(ctx, HeldLook{Workspace: h.s.cfg.Workspace, Session: string(h.s.id),
		Leave: h.keeps(), Count: count})
	if err != nil {
		h.s.log().Warn("what was made was not all found, or not all held", "error", err)
	}
	h.Ask(toolCallID, found.Files)
	return found.Left
}

// Ask asks about files that were made, which were found after a call, or beside the calls.
func (h *Held) Ask(toolCallID string, files []HeldFile) {
	if len(files) == 0 {
		return
	}
	var asks []event.PermissionRequested
	each := 1
	if len(files) > mostAsked {
		each = len(files)
	}
	for some := range slices.Chunk(files, each) {
		asks = append(asks, askAbout(toolCallID, some))
	}
	if err := h.s.requests.Hold(asks); err != nil {
		h.s.log().Error("what is held could not be asked about: the next start asks", "error", err)
		return
	}
	h.holder.Asked(files)
	if h.keeps() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range files {
		h.unread = append(h.unread, f.Path)
	}
}

func askAbout(toolCallID string, files []HeldFile) event.PermissionRequested {
	ask := event.PermissionRequested{
		RequestID:  string(event.NewID()),
		ToolCallID: toolCallID,
		Kind:       event.KindLater,
		Action:     "keep what it made",
		Resource:   files[0].Path,
		Grants:     []event.Grant{},
	}
	var ids []string
	for _, f := range files {
		ids = append(ids, f.ID, f.Path)
		if f.StoodMs = 0; f.Stood > moment {
			f.StoodMs = f.Stood.Milliseconds()
		}
		ask.Held = append(ask.Held, f.Held)
		if len(files) > 1 {
			resource := event.Resource{Kind: event.KindLater, Action: ask.Action, Resource: f.Path}
			ask.Resources = append(ask.Resources, resource)
		}
	}
	ask.Digest = agent.Digest(ids...)
	return ask
}

// forModel returns what the agent has not read yet of what is held; empty if it has.
func (h *Held) forModel() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := h.unread
	h.unread = nil
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "Held until the user has seen it: " + names[0]
	}
	return fmt.Sprintf("Held until the user has seen them: %s and %d more", names[0], len(names)-1)
}

// putBack is [consent.Config].PutBack.
func (h *Held) putBack(held []event.Held) (paths []string, err error) {
	for _, file := range held {
		p, err := h.holder.PutBack(file.ID)
		if err != nil {
			return paths, err
		}
		paths = append(paths, p)
	}
	return paths, nil
}

func (h *Held) drop(held []event.Held) {
	for _, file := range held {
		h.holder.Drop(file.ID)
	}
}

// Again takes back what the user decided about what is held: what was kept is moved aside again if
// it is there, what was deleted was not yet, and both are asked about anew. [eventlog.ErrNotFound]
// for a request that was not decided, [consent.ErrGone] for what cannot come back.
func (h *Held) Again(ctx context.Context, requestID string) error {
	if h.holder == nil {
		return fmt.Errorf("request %s: %w", requestID, eventlog.ErrNotFound)
	}
	ask, done, err := h.decided(ctx, requestID)
	if err != nil {
		return err
	}
	var files []HeldFile
	for i, held := range ask.Held {
		f := HeldFile{Path: ask.Resource, Held: held}
		if i < len(ask.Resources) {
			f.Path = ask.Resources[i].Resource
		}
		switch {
		case h.waitsFor(held.ID) || held.Beside != "":
			err = consent.ErrGone
		case done.Decision == event.Allow && i < len(done.Kept):
			f.Path = done.Kept[i]
			f.Held, err = h.holder.Again(held.ID, f.Path)
		}
		if err != nil {
			err = fmt.Errorf("hold %s again: %w", f.Path, err)
			break
		}
		files = append(files, f)
	}
	h.Ask("", files)
	return err
}

// decided reads a request about what is held, and what the user decided.
func (h *Held) decided(ctx context.Context,
	requestID string) (ask event.PermissionRequested, done event.PermissionCompleted, err error) {
	var r calls.Request
	if err := h.s.events.Index(ctx, func(x *calls.Index) { r, _ = x.Request(requestID) }); err != nil {
		return ask, done, err
	}
	if !r.Held || r.Done == 0 {
		return ask, done, fmt.Errorf("request %s: %w", requestID, eventlog.ErrNotFound)
	}
	asked, err := h.s.events.At(ctx, r.Asked)
	if err != nil {
		return ask, done, err
	}
	answered, err := h.s.events.At(ctx, r.Done)
	ask, _ = asked.Event.Data.(event.PermissionRequested) // a damaged one names nothing
	done, _ = answered.Event.Data.(event.PermissionCompleted)
	return ask, done, err
}

// waitsFor reports whether an open request is about what is held under an id.
func (h *Held) waitsFor(id string) bool {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	for _, e := range h.s.events.Open().Held() {
		ask, ok := e.Event.Data.(event.PermissionRequested)
		if ok && slices.ContainsFunc(ask.Held, func(file event.Held) bool { return file.ID == id }) {
			return true
		}
	}
	return false
}

// askUnasked asks about what an earlier process moved aside and did not log.
func (h *Held) askUnasked() {
	if h.holder == nil {
		return
	}
	if files := h.holder.Unasked(string(h.s.id)); len(files) > 0 {
		h.s.wg.Go(func() { h.Ask("", files) })
	}
}
