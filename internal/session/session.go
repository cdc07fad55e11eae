package session

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/calls"
	"webchat/internal/consent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

const (
	// stopGrace is how long what is stopped may take until the session goes on without it.
	stopGrace = time.Second
	// logGrace is how long those wait for a slow log that have something else to do.
	logGrace = stopGrace / 4
)

// state is how far a session's life in this process is.
type state int

const (
	stateOpen    state = iota
	stateDeleted       // softly: it can be restored
	stateClosing       // nothing new begins
	stateClosed        // nothing is appended
)

// Session is one conversation. See the package comment for what it guarantees.
type Session struct {
	eventlog.Reader // of events
	consent.Answers // to requests

	events    *eventlog.Log
	requests  *consent.Requests
	opened    *consent.Opened
	heldFiles *Held

	cfg    Config
	id     eventlog.ID
	ctx    context.Context // of everything the session does
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // everything the session started

	connecting chan struct{} // has room for the one who opens or closes the conversation

	toolMu  sync.Mutex    // guards toolset
	toolset agent.Toolset // nil: not needed yet

	mu           sync.Locker      // the lock of events; guards what follows
	state        state            // changes within events.Change only; so do turn, queue and calls, as far as the log says
	leftOpen     bool             // what an earlier process left open is not closed yet: the log cannot be written
	startedAt    time.Time        // of the work since it began or went on; zero: none yet, or it is over
	lastSeen     time.Time        // when earlier processes did something last
	gone         bool             // the conversation ended, and the log does not say so yet
	turn         *turn            // nil: none runs, and the queue is empty
	queue        []*prompt        // those that wait
	held         bool             // the user's prompts in the queue wait until the user goes on
	scopes       map[string]*turn // by task: of what is called for it, also while no turn runs; none of an earlier process's
	conn         *liveConn
	resumable    bool // the agent may remember an earlier conversation of this session
	agentStarted bool // an agent of it was started in this process
	calls        map[string]*call
	look         look                       // the newest preview
	rereading    sync.Mutex                 // one output is read again after the other
	rewritten    map[string]json.RawMessage // arguments hooks changed in this turn, by call
	idleTimer    *time.Timer                // closes the conversation; nil: there was none
	closedIdle   bool                       // the conversation was closed for being idle
	rewinding    bool                       // the agent goes back to an earlier prompt: no turn begins
	taken        string                     // of another session, that the agent has to be given
	bill         bill
	unbilled     event.Usage // what models took while no turn ran
	titleChosen  bool        // the user chose the title in this process
	titleOfLook  string      // what the session is called until its first prompt, after what was looked at
}

func newSession(c Config, sum eventlog.Summary) *Session {
	s := &Session{cfg: c, id: sum.ID, connecting: make(chan struct{}, 1), calls: map[string]*call{}, scopes: map[string]*turn{},
		rewritten: map[string]json.RawMessage{}, bill: newBill(sum.Open)}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	if !sum.DeletedAt.IsZero() {
		s.state = stateDeleted
	}
	s.events = eventlog.New(eventlog.Config{Store: c.Log, Owner: c.Owner, Now: c.Now, Unsubscribed: s.noteUseLocked,
		Applied: func(d event.Data) { s.opened.Applied(d) }}, sum)
	s.mu = s.events
	s.opened = consent.NewOpened(s.id, s.events, c.Cage, c.Kept, c.Logger)
	s.heldFiles = &Held{s: s, holder: c.Holder}
	s.requests = consent.New(consent.Config{Session: s.id, Log: s.events, Context: s.ctx, Mode: c.Permissions,
		Timeout: c.PermissionTimeout, Policy: c.Policy, Kept: c.Kept, Opened: s.opened, Hook: s.hook,
		Stopped: stopReason, PutBack: s.heldFiles.putBack, Drop: s.heldFiles.drop})
	s.Reader, s.Answers = s.events, s.requests
	return s
}

// ID returns the session's id.
func (s *Session) ID() eventlog.ID { return s.id }

// Opened is what was opened of the sandbox that holds what the session runs.
func (s *Session) Opened() *consent.Opened { return s.opened }

// Held asks about what the session's agents made that takes effect later by itself.
func (s *Session) Held() *Held { return s.heldFiles }

func (s *Session) log() *slog.Logger { return s.cfg.Logger.With("session", string(s.id)) }

func (s *Session) runner() contain.Runner {
	return contain.Runner{Log: s.log(), Running: &s.wg, Grace: stopGrace}
}

// contained calls what others wrote: a panic in it is an error.
func (s *Session) contained(what string, f func() error) error {
	_, err := contain.Call(s.log(), what, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// checkUsable returns why nothing new may begin, or nil. The caller holds s.mu.
func (s *Session) checkUsable() error {
	switch {
	case s.state == stateOpen && s.leftOpen:
		return fmt.Errorf("session %s is not recovered yet: %w", s.id, eventlog.ErrLog)
	case s.state == stateOpen:
		return nil
	case s.state == stateDeleted:
		return fmt.Errorf("session %s is deleted: %w", s.id, eventlog.ErrNotFound)
	}
	return fmt.Errorf("session %s: %w", s.id, eventlog.ErrClosed)
}

// change is [eventlog.Log.Change] for what may not begin in every state.
func (s *Session) change(ctx context.Context, f func() error) error {
	return s.events.Change(ctx, func() error {
		if err := s.checkUsable(); err != nil {
			return err
		}
		return f()
	})
}

// join has the session's end wait for the caller, who calls leave. The context it returns ends
// with the session, too.
func (s *Session) join(ctx context.Context) (_ context.Context, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkUsable(); err != nil {
		return nil, nil, err
	}
	s.wg.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	return ctx, func() { stop(); cancel(nil); s.wg.Done() }, nil
}

// beginLocked appends data behind what opens the work, if it is over or has not begun in this
// process.
func (s *Session) beginLocked(data ...event.Data) error {
	if err := s.restLocked(); err != nil {
		return err
	}
	if s.startedAt.IsZero() {
		sum := s.events.Summary()
		data = append([]event.Data{event.SessionResume{SessionID: string(s.id), Workspace: s.cfg.Workspace,
			Backend: sum.Backend, Model: sum.Model, Context: s.cfg.Context()}}, data...)
		if sum.Open.Work != 0 { // the process that began it was killed
			data = append([]event.Data{event.SessionShutdown{SessionID: string(s.id), Workspace: s.cfg.Workspace,
				DurationMs: max(0, s.lastSeen.UnixMilli()-sum.Open.Work)}}, data...)
		}
	}
	if err := s.events.Append(data...); err != nil {
		return err
	}
	if s.startedAt.IsZero() {
		s.startedAt = s.cfg.Now()
	}
	return nil
}

// restLocked logs the end of the work if the conversation is gone and no turn runs. The end of a
// turn, and [Session.Close], come to it by themselves.
func (s *Session) restLocked() error {
	if !s.gone || s.state >= stateClosing || s.turn != nil && s.turn.started {
		return nil
	}
	return s.shutDownLocked()
}

// shutDownLocked logs the end of the work, once for each beginning.
func (s *Session) shutDownLocked() error {
	if s.startedAt.IsZero() {
		return nil
	}
	d := s.cfg.Now().Sub(s.startedAt)
	err := s.events.Append(event.SessionShutdown{SessionID: string(s.id), Workspace: s.cfg.Workspace,
		DurationMs: max(0, d.Milliseconds()), Usage: s.unbilled})
	if err == nil {
		s.startedAt, s.unbilled, s.gone = time.Time{}, event.Usage{}, false
	}
	return err
}

// rest is [Session.restLocked] for those whose work a failing log does not stop: whatever begins
// next comes to it again.
func (s *Session) rest() {
	if err := s.events.Change(context.Background(), s.restLocked); err != nil {
		s.log().Warn("session.shutdown was not logged", "error", err)
	}
}

// tools returns the session's tools, made when they are first needed.
func (s *Session) tools() ([]agent.Tool, error) {
	s.toolMu.Lock()
	defer s.toolMu.Unlock()
	if s.toolset == nil {
		if s.cfg.Tools == nil {
			return nil, nil
		}
		set, err := contain.Call(s.log(), "making the tools", func() (agent.Toolset, error) { return s.cfg.Tools(s.id) })
		if err != nil {
			return nil, fmt.Errorf("make the tools of session %s: %w", s.id, err)
		}
		s.toolset = set
	}
	tools := s.toolset.Tools()
	if s.opened.Confines() {
		tools = append(slices.Clip(tools), accessTool{s})
	}
	return tools, nil
}

// missing says of something that does not run whether the log ever had it: [consent.ErrGone], or
// [eventlog.ErrNotFound].
func (s *Session) missing(ctx context.Context, what string, starts func(*calls.Index) bool) error {
	known := false
	err := s.events.Index(ctx, func(x *calls.Index) { known = starts(x) })
	switch {
	case err != nil:
		return err
	case known:
		return fmt.Errorf("%s has ended: %w", what, consent.ErrGone)
	}
	return fmt.Errorf("%s: %w", what, eventlog.ErrNotFound)
}

// AgentOpen reports whether a conversation with the agent is open.
func (s *Session) AgentOpen() bool { return s.current() != nil }
