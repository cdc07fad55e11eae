package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

const (
	// mostAsked is how many files of one look are asked about apart; more are one question.
	mostAsked = 50
	// moment is how long a file may have been where it was made without that being said.
	moment = 200 * time.Millisecond
	// lookLimit is how long a look may take.
	lookLimit = 20 * time.Second
)

// Holder finds what agents' calls made that takes effect later by itself, moves it aside, and puts it
// back. Its methods may be called concurrently.
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

// holds is what the session has yet to say to its agent of what was held.
type holds struct {
	unread []string // guarded by the session's mu
}

// lookForHeld looks for what was made, and asks about it. A call that made it is the reason.
func (s *Session) lookForHeld(ctx context.Context, toolCallID string, count bool) (left int64) {
	if s.cfg.Holder == nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookLimit)
	defer cancel()
	found, err := s.cfg.Holder.Look(ctx, HeldLook{Workspace: s.cfg.Workspace, Session: string(s.id), Leave: s.cfg.Permissions == consent.ModeAllow, Count: count})
	if err != nil {
		s.log().Warn("what was made was not all found, or not all held", "error", err)
	}
	s.AskAboutHeld(toolCallID, found.Files)
	return found.Left
}

// AskAboutHeld asks about files that were made, which were found after a call, or beside the calls.
func (s *Session) AskAboutHeld(toolCallID string, files []HeldFile) {
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
	if err := s.requests.Hold(asks); err != nil {
		s.log().Error("what is held could not be asked about: the next start asks", "error", err)
		return
	}
	s.cfg.Holder.Asked(files)
	if s.cfg.Permissions == consent.ModeAllow {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range files {
		s.holds.unread = append(s.holds.unread, f.Path)
	}
}

func askAbout(toolCallID string, files []HeldFile) event.PermissionRequested {
	ask := event.PermissionRequested{RequestID: string(event.NewID()), ToolCallID: toolCallID, Kind: event.KindLater, Action: "keep what it made",
		Resource: files[0].Path, Grants: []event.Grant{}}
	var ids []string
	for _, f := range files {
		ids = append(ids, f.ID, f.Path)
		if f.StoodMs = 0; f.Stood > moment {
			f.StoodMs = f.Stood.Milliseconds()
		}
		ask.Held = append(ask.Held, f.Held)
		if len(files) > 1 {
			ask.Resources = append(ask.Resources, event.Resource{Kind: event.KindLater, Action: ask.Action, Resource: f.Path})
		}
	}
	ask.Digest = agent.Digest(ids...)
	return ask
}

// sayHeld returns what the agent has not read yet of what is held; empty if it has.
func (s *Session) sayHeld() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := s.holds.unread
	s.holds.unread = nil
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " is held until the user has seen it."
	}
	return fmt.Sprintf("%s and %d more are held until the user has seen them.", names[0], len(names)-1)
}

// putBack is [consent.Config].PutBack.
func (s *Session) putBack(held []event.Held) (paths []string, err error) {
	for _, h := range held {
		p, err := s.cfg.Holder.PutBack(h.ID)
		if err != nil {
			return paths, err
		}
		paths = append(paths, p)
	}
	return paths, nil
}

func (s *Session) drop(held []event.Held) {
	for _, h := range held {
		s.cfg.Holder.Drop(h.ID)
	}
}

// HoldAgain takes back what the user decided about what is held: what was kept is moved aside again
// if it is there, what was deleted was not yet, and both are asked about anew. [eventlog.ErrNotFound]
// for a request that was not decided, [consent.ErrGone] for what cannot come back.
func (s *Session) HoldAgain(ctx context.Context, requestID string) error {
	if s.cfg.Holder == nil {
		return fmt.Errorf("request %s: %w", requestID, eventlog.ErrNotFound)
	}
	var ask *event.PermissionRequested
	var done *event.PermissionCompleted
	err := s.events.Scan(ctx, 0, func(e event.Entry) bool {
		switch d := e.Event.Data.(type) {
		case event.PermissionRequested:
			if d.RequestID == requestID && d.Kind == event.KindLater {
				ask = &d
			}
		case event.PermissionCompleted:
			if d.RequestID == requestID {
				done = &d
			}
		}
		return ask == nil || done == nil
	})
	switch {
	case err != nil:
		return err
	case ask == nil || done == nil:
		return fmt.Errorf("request %s: %w", requestID, eventlog.ErrNotFound)
	}
	var files []HeldFile
	for i, h := range ask.Held {
		f := HeldFile{Path: ask.Resource, Held: h}
		if i < len(ask.Resources) {
			f.Path = ask.Resources[i].Resource
		}
		switch {
		case s.waitsFor(h.ID) || h.Beside != "":
			err = consent.ErrGone
		case done.Decision == event.Allow && i < len(done.Kept):
			f.Path = done.Kept[i]
			f.Held, err = s.cfg.Holder.Again(h.ID, f.Path)
		}
		if err != nil {
			err = fmt.Errorf("hold %s again: %w", f.Path, err)
			break
		}
		files = append(files, f)
	}
	s.AskAboutHeld("", files)
	return err
}

// waitsFor reports whether an open request is about what is held under an id.
func (s *Session) waitsFor(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events.Open.Held() {
		ask, ok := e.Event.Data.(event.PermissionRequested)
		if ok && slices.ContainsFunc(ask.Held, func(h event.Held) bool { return h.ID == id }) {
			return true
		}
	}
	return false
}

// askUnasked asks about what an earlier process moved aside and did not log.
func (s *Session) askUnasked() {
	if s.cfg.Holder == nil {
		return
	}
	files := s.cfg.Holder.Unasked(string(s.id))
	if len(files) == 0 {
		return
	}
	s.wg.Go(func() { s.AskAboutHeld("", files) })
}
