package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"webchat/internal/agent"
	"webchat/internal/calls"
	"webchat/internal/consent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/files"
)

// openLimit is how long opening a conversation may take.
const openLimit = time.Minute

// liveConn is an open conversation with its host.
type liveConn struct {
	agent.Conn
	host      *host
	canResume bool  // one that is opened later knows its conversation
	resumed   bool  // it knows the conversation from before it opened
	since     int64 // it knows nothing of the log until here; 0: it may know all
}

// can returns what only some conversations can do.
func can[T any](c *liveConn) (v T, ok bool) {
	if c != nil {
		v, ok = c.Conn.(T)
	}
	return v, ok
}

// close ends the conversation and waits until nothing of it is left.
func (c *liveConn) close() {
	if err := c.host.s.contained("closing the conversation", c.Close); err != nil {
		c.host.s.log().Warn("a conversation did not close cleanly", "error", err)
	}
	c.host.end()
}

// conversation is that with the agent, opened when it is needed, and what runs in it beside the
// turns.
type conversation struct {
	*core
	*hooking
	*toolbox
	newHost    func(agent.Intercept) *host
	connecting chan struct{} // has room for one caller that opens or closes the conversation

	conn         *liveConn   // this and what follows is guarded by mu
	resumable    bool        // the agent may remember an earlier conversation of this session
	agentStarted bool        // an agent of it was started in this process
	idleTimer    *time.Timer // closes the conversation; nil: there was none
	taken        string      // of another session, that the agent has to be given
}

// Wake opens the session's conversation if none is open, for an agent that begins its turns by
// itself. Errors: [eventlog.ErrNotFound], [eventlog.ErrClosed], [eventlog.ErrLog], and those of
// opening.
func (s *conversation) Wake(ctx context.Context) error {
	ctx, leave, err := s.join(ctx)
	if err != nil {
		return err
	}
	defer leave()
	_, err = s.connect(ctx)
	return err
}

// connect returns the session's conversation, opened when there is none.
func (s *conversation) connect(ctx context.Context) (*liveConn, error) {
	s.connecting <- struct{}{}
	defer func() { <-s.connecting }()
	if conn := s.current(); conn != nil {
		return conn, nil
	}
	o, err := s.openOptions(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.events.Change(ctx, func() error { return s.beginLocked() }); err != nil {
		return nil, err
	}
	conn, err := s.open(ctx, o)
	if err != nil {
		return nil, err
	}
	switch {
	case conn.resumed:
	case s.events.Summary().Open.Branched:
		if err := s.readTaken(ctx, true); err != nil {
			conn.close()
			return nil, err
		}
	case o.Resume:
		s.reportForgotten(ctx)
	}
	if s.cfg.Notice != nil {
		if line := s.cfg.Notice(); line != "" {
			s.report(ctx, event.SessionError{
				ErrorType: event.ErrorWarning,
				Kind:      event.KindProvider,
				Message:   line,
			})
		}
	}
	s.mu.Lock()
	s.conn, s.resumable, s.agentStarted = conn, true, true
	s.gone = false // what died in this turn is replaced in it
	s.noteUseLocked()
	model := s.events.Summary().Model
	s.mu.Unlock()
	if model != o.Model { // it was changed while the conversation opened
		if err := conn.SetModel(ctx, model); err != nil {
			s.log().Warn("the model was not changed", "error", err)
		}
	}
	return conn, nil
}

// openOptions returns what a conversation is opened with, or why none may be opened.
func (s *conversation) openOptions(ctx context.Context) (o agent.Options, err error) {
	sum := s.events.Summary()
	if s.cfg.Backend == nil {
		return o, fmt.Errorf(
			"%w: this session belongs to %q, which is no longer set up; start a new session",
			agent.ErrUnavailable, sum.Backend)
	}
	if err := checkReach(s.cfg, s.cfg.Backend.Info(ctx)); err != nil {
		return o, err
	}
	if err := files.CheckWorkspace(s.cfg.Workspace); err != nil {
		return o, err
	}
	if err := s.hookSessionStart(ctx); err != nil {
		return o, err
	}
	tools, err := s.prepared(ctx)
	if err != nil {
		return o, err
	}
	specs, err := contain.Call(s.log(), "describing the tools", func() ([]agent.ToolSpec, error) {
		specs := make([]agent.ToolSpec, 0, len(tools))
		for _, t := range tools {
			if spec := t.Spec(); !spec.UserOnly {
				spec.Name = offeredName(spec.Name)
				specs = append(specs, spec)
			}
		}
		return specs, nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	return agent.Options{
		SessionID: string(s.id),
		User:      sum.User,
		Model:     sum.Model,
		Mode:      sum.Open.Mode,
		Effort:    sum.Open.Effort,
		Unasked:   s.cfg.Permissions == consent.ModeAllow,
		Workspace: s.cfg.Workspace,
		Tools:     specs,
		Resume:    s.resumable,
	}, err
}

// open opens a conversation, which goes on with the one before if that is asked for and possible.
func (s *conversation) open(ctx context.Context, o agent.Options) (*liveConn, error) {
	backend := s.cfg.Backend
	info := backend.Info(ctx)
	h := s.newHost(info.Intercept)
	definitions := definitionTokens(o.Tools)
	s.mu.Lock()
	s.bill.counting, s.bill.definitions = info.Counting, definitions
	s.mu.Unlock()
	limited, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	conn, silent, err := contain.CallWithGrace(limited, s.runner(), "opening "+backend.Name(),
		func() (*liveConn, error) {
			if o.Resume = o.Resume && info.CanResume; o.Resume {
				c, err := backend.Open(limited, o, h)
				if !errors.Is(err, agent.ErrUnsupported) {
					return &liveConn{Conn: c, host: h, canResume: info.CanResume, resumed: true}, err
				}
				o.Resume = false
			}
			c, err := backend.Open(limited, o, h)
			return &liveConn{Conn: c, host: h, canResume: info.CanResume,
				since: s.events.Summary().LastSeq}, err
		}, (*liveConn).close)
	if err != nil {
		h.end()
		if silent && ctx.Err() == nil {
			err = fmt.Errorf("%w: %s did not answer within %v", agent.ErrUnavailable, backend.Name(),
				openLimit)
		}
		return nil, fmt.Errorf("open a conversation with %s: %w", backend.Name(), err)
	}
	return conn, nil
}

// reportForgotten reports that the agent begins anew, if there was a conversation before.
func (s *conversation) reportForgotten(ctx context.Context) {
	spoken := func(t calls.Turn) bool { return t.End > 0 && t.Outcome != event.Failed }
	var turns []calls.Turn
	err := s.events.Index(ctx, func(x *calls.Index) { turns = x.Turns() })
	if err == nil && slices.ContainsFunc(turns, spoken) {
		s.report(ctx, event.SessionError{ErrorType: event.ErrorForgotten, Kind: event.KindInterrupted,
			Message: s.events.Summary().Backend +
				" does not remember this conversation and starts a new one. " +
				"You can send it the conversation with your next prompt."})
	}
}

// disconnect leaves a conversation that died or does not stop: its further reports are dropped, and
// the next prompt opens another.
func (s *conversation) disconnect(c *liveConn) {
	c.host.end()
	s.mu.Lock()
	if s.conn == c {
		s.conn, s.gone = nil, true
	}
	s.mu.Unlock()
	s.endTasks()
	s.rest()
	s.wg.Go(c.close)
}

// noteUseLocked notes that the session's conversation is of use now: it is closed
// [Config].AgentIdle later, unless something works in it or subscribes to it then.
func (s *conversation) noteUseLocked() {
	switch {
	case s.conn == nil || s.cfg.AgentIdle <= 0 || !s.conn.canResume || s.state >= stateClosing:
	case s.idleTimer == nil:
		s.idleTimer = time.AfterFunc(s.cfg.AgentIdle, s.closeIdle)
	default:
		s.idleTimer.Reset(s.cfg.AgentIdle)
	}
}

// closeIdle closes a conversation that nothing uses: the next prompt resumes it. Until then it
// costs nothing.
func (s *conversation) closeIdle() {
	select {
	case s.connecting <- struct{}{}:
	default: // it is of use again
		s.mu.Lock()
		defer s.mu.Unlock()
		s.noteUseLocked()
		return
	}
	defer func() { <-s.connecting }()
	s.mu.Lock()
	conn := s.conn
	if s.state >= stateClosing || conn == nil || s.turn != nil || len(s.events.Open().Tasks) > 0 ||
		s.events.Watched() {
		s.mu.Unlock() // the end of each use is noted
		return
	}
	s.conn, s.gone, s.closedIdle = nil, true, true
	s.wg.Add(1) // not after the state is closing
	s.mu.Unlock()
	defer s.wg.Done()
	conn.close()
	s.rest()
}

// AgentOpen reports whether a conversation with the agent is open.
func (s *conversation) AgentOpen() bool { return s.current() != nil }
