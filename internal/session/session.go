package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// Why a context of a session ended; see [context.Cause].
var (
	errAborted  = errors.New("stopped by the user")
	errShutdown = errors.New("the program ended")
	errTurnOver = errors.New("the turn ended")
	errPanic    = errors.New("panic")
)

// stopGrace is how long what was told to stop may take until the session goes on
// without it.
const stopGrace = time.Second

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
	m      *Manager
	id     ID
	ctx    context.Context // of everything the session does
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // everything the session started

	summary atomic.Pointer[Summary] // written under mu

	toolMu  sync.Mutex    // guards toolset
	toolset agent.Toolset // nil: not needed yet

	asked askedFor // what agents asked for

	appending chan struct{} // has room for one, who appends; see change

	mu        sync.Mutex // guards what follows
	state     state      // changes within change only; so do open, turn, queue, requests and calls, as far as the log says
	pos       int64
	open      open
	subs      map[*Subscription]struct{}
	leftOpen  bool      // what an earlier process left open is not closed yet: the log cannot be written
	startedAt time.Time // of this process's work on the session; zero: none yet
	turn      *turn     // nil: none runs, and the queue is empty
	queue     []*prompt
	prompts   map[string]*prompt // all that are not done
	places    map[string]int64   // prompts in the log, by the sequence before each
	placed    bool               // those of earlier processes, too
	conn      *liveConn
	left      *left // conn, if its agent did not stop in time
	past      bool  // the agent may remember an earlier conversation of this session
	worked    bool  // an agent of it was started in this process
	calls     map[string]*call
	requests  map[string]*request        // those that are open
	decided   []decided                  // the last ones that were
	rewritten map[string]json.RawMessage // arguments hooks changed in this turn, by call
	notes     []string                   // what the agent has not heard of yet
	named     bool                       // the user chose the title in this process
}

func newSession(m *Manager, sum Summary) *Session {
	s := &Session{
		m: m, id: sum.ID, appending: make(chan struct{}, 1),
		subs:     map[*Subscription]struct{}{},
		prompts:  map[string]*prompt{},
		calls:    map[string]*call{},
		requests: map[string]*request{},
		places:   map[string]int64{},

		rewritten: map[string]json.RawMessage{},
	}
	s.ctx, s.cancel = context.WithCancelCause(m.ctx)
	if !sum.DeletedAt.IsZero() {
		s.state = stateDeleted
	}
	s.summary.Store(&sum)
	return s
}

// ID returns the session's id.
func (s *Session) ID() ID { return s.id }

// Summary returns what a list shows of the session now.
func (s *Session) Summary() Summary { return *s.summary.Load() }

func (s *Session) log() *slog.Logger { return s.m.cfg.Logger.With("session", string(s.id)) }

// usable returns why nothing new may begin, or nil. The caller holds s.mu.
func (s *Session) usable() error {
	switch {
	case s.state == stateOpen && s.leftOpen:
		return fmt.Errorf("session %s is not recovered yet: %w", s.id, ErrLog)
	case s.state == stateOpen:
		return nil
	case s.state == stateDeleted:
		return fmt.Errorf("session %s is deleted: %w", s.id, ErrNotFound)
	default:
		return fmt.Errorf("session %s: %w", s.id, ErrClosed)
	}
}

// resumed returns the event that opens this process's work on the session, if it
// is not open yet. The caller holds s.mu and appends it first.
func (s *Session) resumed() []event.Data {
	if !s.startedAt.IsZero() {
		return nil
	}
	sum := s.summary.Load()
	return []event.Data{event.SessionResume{SessionID: string(s.id), Backend: sum.Backend, Model: sum.Model, Context: gitContext(s.m.cfg.Workspace)}}
}

// beginLocked appends data behind what opens this process's work.
func (s *Session) beginLocked(data ...event.Data) error {
	if err := s.appendLocked(append(s.resumed(), data...)...); err != nil {
		return err
	}
	if s.startedAt.IsZero() {
		s.startedAt = s.m.cfg.Now()
	}
	return nil
}

// guarded calls f and turns a panic into an error, so that a fault stays in its
// session. The value of the panic may hold content and is not logged.
func guarded[T any](log *slog.Logger, what string, f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("panic", "in", what, "type", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			err = fmt.Errorf("%s failed: %w", what, errPanic)
		}
	}()
	return f()
}

// within runs f and returns what f returns, but not later than stopGrace after
// ctx ended. Then late is true, f goes on, and after is called with its result.
// The caller is counted in s.wg, and so is f.
func within[T any](ctx context.Context, s *Session, what string, f func() (T, error), after func(T)) (v T, late bool, err error) {
	type outcome struct {
		v   T
		err error
	}
	var (
		mu   sync.Mutex // guards gone
		gone bool
		done = make(chan outcome, 1)
	)
	s.wg.Go(func() {
		v, err := guarded(s.log(), what, f)
		mu.Lock()
		defer mu.Unlock()
		done <- outcome{v, err}
		if gone && err == nil && after != nil {
			after(v)
		}
	})
	select {
	case o := <-done:
		return o.v, false, o.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case o := <-done:
		return o.v, false, o.err
	case <-grace.C:
	}
	mu.Lock()
	defer mu.Unlock()
	select {
	case o := <-done:
		return o.v, false, o.err
	default:
		gone = true
		return v, true, fmt.Errorf("%s did not stop in time: %w", what, context.Cause(ctx))
	}
}

// tools returns the session's tools, made when they are first needed.
func (s *Session) tools() ([]agent.Tool, error) {
	s.toolMu.Lock()
	defer s.toolMu.Unlock()
	if s.toolset == nil {
		if s.m.cfg.Tools == nil {
			return nil, nil
		}
		set, err := guarded(s.log(), "making the tools", func() (agent.Toolset, error) { return s.m.cfg.Tools(s.id) })
		if err != nil {
			return nil, fmt.Errorf("make the tools of session %s: %w", s.id, err)
		}
		s.toolset = set
	}
	return s.toolset.Tools(), nil
}

// retire stops the session's work after a soft deletion.
func (s *Session) retire(at time.Time) {
	err := s.change(context.Background(), func() error {
		if s.state == stateOpen {
			s.state = stateDeleted
		}
		s.markLocked(Mark{DeletedAt: &at})
		t := s.stopLocked("The session was deleted.")
		for _, c := range s.calls {
			c.cancel(errAborted)
		}
		return s.sayStoppedLocked(t)
	})
	if err != nil {
		s.log().Warn("the stop of a deleted session was not logged", "error", err)
	}
}

// revive undoes retire.
func (s *Session) revive() {
	_ = s.change(context.Background(), func() error { // it does not fail
		if s.state == stateDeleted {
			s.state = stateOpen
		}
		s.markLocked(Mark{DeletedAt: &time.Time{}})
		return nil
	})
}

// ended reports whether the session's work in this process is over.
func (s *Session) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state >= stateClosing
}

// markLocked takes over what the catalog keeps.
func (s *Session) markLocked(m Mark) {
	sum := *s.summary.Load()
	if m.Pinned != nil {
		sum.Pinned = *m.Pinned
	}
	if m.DeletedAt != nil {
		sum.DeletedAt = *m.DeletedAt
	}
	s.summary.Store(&sum)
	s.m.changed(sum)
}

// close ends the session's work in this process and returns when nothing of it is
// left: turn, tools, conversation, subscribers.
func (s *Session) close() {
	s.cancel(errShutdown)
	closed := false
	_ = s.change(context.Background(), func() error { // it does not fail
		closed = s.state >= stateClosing
		s.state = max(s.state, stateClosing)
		return nil
	})
	if closed {
		return
	}
	s.wg.Wait()

	s.mu.Lock()
	conn, worked := s.conn, s.worked
	s.conn = nil
	s.mu.Unlock()
	if conn != nil {
		conn.close(s.log())
	}
	if worked {
		s.hookSessionEnd()
	}
	s.toolMu.Lock()
	set := s.toolset
	s.toolset = nil
	s.toolMu.Unlock()
	if set != nil {
		_, err := guarded(s.log(), "closing the tools", func() (struct{}, error) { return struct{}{}, set.Close() })
		if err != nil {
			s.log().Warn("tools did not close cleanly", "error", err)
		}
	}
	s.wg.Wait()

	err := s.change(context.Background(), func() (err error) {
		if !s.startedAt.IsZero() {
			d := s.m.cfg.Now().Sub(s.startedAt)
			err = s.appendLocked(event.SessionShutdown{SessionID: string(s.id), DurationMs: max(0, d.Milliseconds())})
		}
		s.state = stateClosed
		for sub := range s.subs {
			sub.end(fmt.Errorf("session %s: %w", s.id, ErrClosed))
		}
		clear(s.subs)
		return err
	})
	if err != nil {
		s.log().Error("session.shutdown was not logged", "error", err)
	}
}
