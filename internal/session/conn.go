package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"webchat/internal/agent"
)

// liveConn is an open conversation with its host.
type liveConn struct {
	agent.Conn
	host *host
}

// close ends the conversation and waits until nothing of it is left.
func (c *liveConn) close(log *slog.Logger) {
	_, err := guarded(log, "closing the conversation", func() (struct{}, error) { return struct{}{}, c.Close() })
	if err != nil {
		log.Warn("a conversation did not close cleanly", "error", err)
	}
	c.host.shut()
}

// connect returns the session's conversation, opened when there is none.
func (s *Session) connect(t *turn) (*liveConn, error) {
	s.mu.Lock()
	conn, resume := s.conn, s.past
	sum := *s.summary.Load()
	s.mu.Unlock()
	if conn != nil {
		return conn, nil
	}
	backend := s.m.backends[sum.Backend]
	if backend == nil {
		return nil, fmt.Errorf("%w: this session belongs to %q, which is not set up any more; start a new session", agent.ErrUnavailable, sum.Backend)
	}
	if err := s.m.honours(t.ctx, backend); err != nil {
		return nil, err
	}
	if err := s.hookSessionStart(t.ctx); err != nil {
		return nil, err
	}
	specs, err := s.specs()
	if err != nil {
		return nil, err
	}
	o := agent.Options{SessionID: string(s.id), Model: sum.Model, Workspace: s.m.cfg.Workspace, Tools: specs, Resume: resume}
	h := &host{s: s, intercept: backend.Info(t.ctx).Intercept}
	ctx, cancel := context.WithTimeout(t.ctx, openLimit)
	defer cancel()
	opened, late, err := within(ctx, s, "opening "+sum.Backend,
		func() (agent.Conn, error) { return openConn(ctx, backend, o, h) },
		func(c agent.Conn) { (&liveConn{c, h}).close(s.log()) })
	if err != nil {
		h.shut()
		if late && t.ctx.Err() == nil {
			err = fmt.Errorf("%w: %s did not answer within %v", agent.ErrUnavailable, sum.Backend, openLimit)
		}
		return nil, fmt.Errorf("open a conversation with %s: %w", sum.Backend, err)
	}
	conn = &liveConn{opened, h}
	s.mu.Lock()
	s.conn, s.past, s.worked = conn, true, true
	model := s.summary.Load().Model
	s.mu.Unlock()
	if model != o.Model { // it was changed while the conversation opened
		if err := conn.SetModel(t.ctx, model); err != nil {
			s.log().Warn("the model was not changed", "error", err)
		}
	}
	return conn, nil
}

// openConn resumes where that was asked for and is possible.
func openConn(ctx context.Context, b agent.Backend, o agent.Options, h *host) (agent.Conn, error) {
	if o.Resume {
		if o.Resume = b.Info(ctx).CanResume; o.Resume {
			c, err := b.Open(ctx, o, h)
			if !errors.Is(err, agent.ErrUnsupported) {
				return c, err
			}
			o.Resume = false
		}
	}
	return b.Open(ctx, o, h)
}

// specs are the session's tools as an agent is offered them.
func (s *Session) specs() ([]agent.ToolSpec, error) {
	tools, err := s.tools()
	if err != nil {
		return nil, err
	}
	return guarded(s.log(), "describing the tools", func() ([]agent.ToolSpec, error) {
		specs := make([]agent.ToolSpec, 0, len(tools))
		for _, t := range tools {
			specs = append(specs, t.Spec())
		}
		return specs, nil
	})
}

// disconnect leaves a conversation that died or does not stop: nothing it says
// counts any more, and the next prompt opens another.
func (s *Session) disconnect(c *liveConn) {
	c.host.shut()
	s.mu.Lock()
	if s.conn == c {
		s.conn = nil
	}
	s.mu.Unlock()
	s.wg.Go(func() { c.close(s.log()) })
}
