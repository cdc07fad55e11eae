package session

import (
	"context"
	"fmt"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// AskPermission implements [agent.Host].
func (h *host) AskPermission(ctx context.Context, p agent.Permission) (agent.Verdict, error) {
	ctx, leave, err := h.inTurn(ctx, p.ToolCallID)
	if err != nil {
		return agent.Verdict{}, fmt.Errorf("ask for permission: %w", err)
	}
	defer leave()
	return h.s.requests.Ask(ctx, p, event.ByAgent, h.hookBeforeAsking)
}

// inTurn returns ctx ending with the running turn, too, or with the task of the
// helper that made the call. The end of the turn waits until leave is called.
func (h *host) inTurn(ctx context.Context, toolCallID string) (context.Context, func(), error) {
	s := h.s
	s.mu.Lock()
	defer s.mu.Unlock()
	parent := ""
	if x := s.events.Open.Tool(toolCallID); x != nil {
		parent = x.Start.ParentToolCallID
	}
	t, err := h.turnLocked(parent)
	if err != nil {
		return nil, nil, err
	}
	if !t.joinLocked() {
		return nil, nil, ErrNoTurn
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		t.doneLocked()
	}, nil
}

// AskUser implements [agent.Host].
func (h *host) AskUser(ctx context.Context, q agent.Question) (agent.Answer, error) {
	ctx, leave, err := h.inTurn(ctx, q.ToolCallID)
	if err != nil {
		return agent.Answer{}, fmt.Errorf("ask the user: %w", err)
	}
	defer leave()
	return h.s.requests.Question(ctx, q)
}
