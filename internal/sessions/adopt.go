package sessions

import (
	"context"
	"fmt"

	"webchat/internal/agent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Conversations lists what was said to a backend's agent elsewhere, such as in a terminal,
// in a workspace, the first if path is empty; sessions may go on with it. It may take as
// long as the agent takes to start. Errors: [eventlog.ErrNotFound] for an unknown backend,
// [eventlog.ErrInvalid] for a workspace that is not open, and those of [agent.Adopter].
func (m *Manager) Conversations(ctx context.Context, backend, path string) ([]agent.Conversation, error) {
	if backend == "" {
		backend = m.fallback(ctx)
	}
	b := m.backends[backend]
	if b == nil {
		return nil, fmt.Errorf("backend %q: %w", backend, eventlog.ErrNotFound)
	}
	w, err := m.cfg.Workspaces.Find(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", eventlog.ErrInvalid, err)
	}
	a, ok := b.(agent.Adopter)
	if !ok {
		return nil, notAdopting(backend)
	}
	return contain.Call(m.cfg.Logger, "listing conversations", func() ([]agent.Conversation, error) { return a.Conversations(ctx, w.Path) })
}

func notAdopting(backend string) error {
	return fmt.Errorf("%s does not say which conversations it has: %w", backend, agent.ErrUnsupported)
}

// adopt has a new session go on with a conversation, and returns what its page says of it.
func adopt(ctx context.Context, b agent.Backend, session, workspace, id string) (agent.Conversation, event.Data, error) {
	a, ok := b.(agent.Adopter)
	if !ok {
		return agent.Conversation{}, nil, notAdopting(b.Name())
	}
	one, err := a.Adopt(ctx, session, workspace, id)
	return one, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindInterrupted,
		Message: fmt.Sprintf("This goes on with “%s”. %s remembers what was said in it before; this page does not show it.", one.Title, b.Name())}, err
}
