package session

import (
	"context"
	"fmt"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// ownWork is a turn without a prompt: the agent begins it by itself, or the user has the
// agent do something with the conversation.
type ownWork struct {
	ctx     context.Context // of the agent's wait: a turn that has not started when it ends never does
	by      event.Actor
	cause   string
	work    func(context.Context) error
	with    func(context.Context, *liveConn) error // instead of work: the user's, on an open conversation
	started bool                                   // guarded by the session's mu
	err     error
}

// start is the event that opens a turn on p.
func (p *prompt) start(turnID string) event.TurnStart {
	if p.own != nil {
		return event.TurnStart{TurnID: turnID, By: p.own.by, Cause: p.own.cause}
	}
	return event.TurnStart{TurnID: turnID, MessageID: p.id, By: event.ByUser}
}

// RunTurn implements [agent.Host].
func (h *host) RunTurn(ctx context.Context, cause string, work func(context.Context) error) error {
	s := h.s
	own := &ownWork{ctx: ctx, by: event.ByAgent, cause: eventlog.Brief(strings.ToValidUTF8(cause, "\uFFFD")), work: work}
	p := &prompt{own: own, done: make(chan struct{})}
	err := s.events.Change(ctx, func() error {
		switch err := s.checkUsable(); {
		case h.gone:
			return fmt.Errorf("the conversation of session %s: %w", s.id, eventlog.ErrClosed)
		case err != nil:
			return err
		case s.rewinding:
			return fmt.Errorf("the agent goes back to an earlier prompt: %w", ErrWorking)
		}
		if s.turn == nil {
			s.enqueueLocked(p)
		} else {
			s.queue = append([]*prompt{p}, s.queue...) // the agent already works on it
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("run a turn of the agent's own: %w", err)
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		s.mu.Lock()
		begun := own.started
		s.mu.Unlock()
		if !begun {
			return context.Cause(ctx)
		}
		<-p.done
	}
	return own.err
}

// runOwnWork has the agent do its own work in a turn.
func (s *Session) runOwnWork(t *turn, own *ownWork) error {
	if own.with != nil {
		conn, err := s.connect(t.ctx)
		if err != nil {
			return err
		}
		return s.await(t, conn, func() error { return own.with(t.ctx, conn) })
	}
	s.mu.Lock()
	conn := s.conn
	own.started = own.ctx.Err() == nil && conn != nil
	begun := own.started
	s.mu.Unlock()
	if !begun {
		own.err = fmt.Errorf("the agent does not want to go on: %w", ErrNoTurn)
		return nil
	}
	return s.await(t, conn, func() error {
		own.err = own.work(t.ctx)
		return own.err
	})
}

var _ agent.Host = (*host)(nil)
