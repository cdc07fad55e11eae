package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/files"
)

// liveConn is an open conversation with its host.
type liveConn struct {
	agent.Conn
	host      *host
	canResume bool // what was said in it is known to one that is opened later
}

// close ends the conversation and waits until nothing of it is left.
func (c *liveConn) close(log *slog.Logger) {
	_, err := contain.Call(log, "closing the conversation", func() (struct{}, error) { return struct{}{}, c.Close() })
	if err != nil {
		log.Warn("a conversation did not close cleanly", "error", err)
	}
	c.host.end()
}

// unresponsive is a conversation whose agent did not stop in time.
type unresponsive struct {
	conn *liveConn
	back chan error    // receives what Prompt returns, if it does; has room for one
	over chan struct{} // closed by closeUnresponsive
}

// closeUnresponsive ends the conversation of an agent that did not stop, unless the agent only
// waited for a log that was slow: so did the end of the turn, so it is back by now.
func (s *Session) closeUnresponsive() {
	s.mu.Lock()
	l := s.unresponsive
	s.mu.Unlock()
	if l == nil {
		return
	}
	grace := time.NewTimer(logGrace)
	defer grace.Stop()
	kept := false
	select {
	case err := <-l.back:
		kept = !errors.Is(err, agent.ErrDied)
	case <-grace.C:
	}
	if !kept {
		s.disconnect(l.conn)
	}
	s.mu.Lock()
	s.unresponsive = nil
	s.mu.Unlock()
	close(l.over)
}

// Wake opens the session's conversation if none is open, for an agent that begins
// its turns by itself. Errors: [eventlog.ErrNotFound], [eventlog.ErrClosed], [eventlog.ErrLog], and those of
// opening.
func (s *Session) Wake(ctx context.Context) error {
	err := s.events.Change(ctx, func() error {
		if err := s.checkUsable(); err != nil {
			return err
		}
		s.wg.Add(1)
		return nil
	})
	if err != nil {
		return err
	}
	defer s.wg.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
	_, err = s.connect(ctx)
	return err
}

// connect returns the session's conversation, opened when there is none.
func (s *Session) connect(ctx context.Context) (*liveConn, error) {
	s.connecting.Lock()
	defer s.connecting.Unlock()
	s.mu.Lock()
	if l := s.unresponsive; l != nil {
		s.mu.Unlock()
		<-l.over // at once, or after logGrace
		s.mu.Lock()
	}
	conn, resume := s.conn, s.resumable
	sum := s.events.Summary()
	s.mu.Unlock()
	if conn != nil {
		return conn, nil
	}
	backend := s.cfg.Backend
	if backend == nil {
		return nil, fmt.Errorf("%w: this session belongs to %q, which is not set up any more; start a new session", agent.ErrUnavailable, sum.Backend)
	}
	if err := checkReach(ctx, s.cfg.Hooks, s.cfg.Backend); err != nil {
		return nil, err
	}
	if err := files.CheckWorkspace(s.cfg.Workspace); err != nil {
		return nil, err
	}
	if err := s.hookSessionStart(ctx); err != nil {
		return nil, err
	}
	tools, err := s.tools()
	if err != nil {
		return nil, err
	}
	specs, err := toolSpecs(s.log(), tools)
	if err != nil {
		return nil, err
	}
	o := agent.Options{SessionID: string(s.id), Model: sum.Model, Mode: sum.Open.Mode, Effort: sum.Open.Effort, Unasked: s.cfg.Permissions == consent.ModeAllow,
		Workspace: s.cfg.Workspace, Tools: specs, Resume: resume}
	info := backend.Info(ctx)
	h := &host{s: s, intercept: info.Intercept}
	limited, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	opened, late, err := contain.CallWithGrace(limited, s.runner(), "opening "+sum.Backend,
		func() (openedConn, error) { return openConn(limited, backend, o, h) },
		func(b openedConn) { (&liveConn{Conn: b.Conn, host: h}).close(s.log()) })
	if err != nil {
		h.end()
		if late && ctx.Err() == nil {
			err = fmt.Errorf("%w: %s did not answer within %v", agent.ErrUnavailable, sum.Backend, openLimit)
		}
		return nil, fmt.Errorf("open a conversation with %s: %w", sum.Backend, err)
	}
	conn = &liveConn{opened.Conn, h, info.CanResume}
	switch {
	case opened.Resumed:
	case sum.Open.Branched:
		if err := s.readTaken(ctx, true); err != nil {
			conn.close(s.log())
			return nil, err
		}
	case resume:
		s.reportForgotten(ctx)
	}
	s.tellOnce(ctx)
	s.mu.Lock()
	s.conn, s.resumable, s.agentStarted = conn, true, true
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

// reportForgotten tells, if anything was said before, that the agent begins anew.
func (s *Session) reportForgotten(ctx context.Context) {
	spoken := false
	err := s.events.Scan(ctx, 0, func(e event.Entry) bool {
		d, ok := e.Event.Data.(event.TurnEnd)
		spoken = ok && d.Outcome != event.Failed
		return !spoken
	})
	if err == nil && spoken {
		s.tell(ctx, event.SessionError{ErrorType: event.ErrorForgotten, Kind: event.KindInterrupted,
			Message: s.Summary().Backend + " does not remember what was said before here: it begins anew. All of it can be given to it with your next prompt."})
	}
}

// disconnect leaves a conversation that died or does not stop: nothing it says
// counts any more, and the next prompt opens another.
func (s *Session) disconnect(c *liveConn) {
	c.host.end()
	s.mu.Lock()
	if s.conn == c {
		s.conn = nil
	}
	s.mu.Unlock()
	s.endTasks(event.Interrupted)
	s.wg.Go(func() { c.close(s.log()) })
}

// tellOnce says what the user should read, if there is something.
func (s *Session) tellOnce(ctx context.Context) {
	if s.cfg.Tell == nil {
		return
	}
	if line := s.cfg.Tell(); line != "" {
		s.tell(ctx, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindProvider, Message: line})
	}
}

func (s *Session) tell(ctx context.Context, d event.SessionError) {
	if err := s.events.Persist(ctx, func() error { return s.events.Append(d) }); err != nil {
		s.log().Warn("a line for the user was not logged", "line", d.Message, "error", err)
	}
}
