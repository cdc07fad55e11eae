package sessions

import (
	"context"
	"fmt"

	"webchat/internal/agent"
	"webchat/internal/session"
)

// BackendInfo is a backend as a list shows it.
type BackendInfo struct {
	agent.Info
	Name    string
	Default bool // new sessions have it
}

// Backends says what was found of each backend, in their order.
func (m *Manager) Backends(ctx context.Context) []BackendInfo {
	out := make([]BackendInfo, 0, len(m.cfg.Backends))
	for _, b := range m.cfg.Backends {
		i, err := session.Guard(m.cfg.Logger, "looking for "+b.Name(), func() (agent.Info, error) { return b.Info(ctx), nil })
		if err != nil {
			i.Reason = "Looking for " + b.Name() + " failed; the server's log says why."
		}
		out = append(out, BackendInfo{Info: i, Name: b.Name(), Default: b.Name() == m.cfg.Default})
	}
	return out
}

// Models lists the models of a backend; empty means the default one.
func (m *Manager) Models(ctx context.Context, backend string) ([]agent.Model, error) {
	if backend == "" {
		backend = m.cfg.Default
	}
	b := m.backends[backend]
	if b == nil {
		return nil, fmt.Errorf("backend %q: %w", backend, session.ErrNotFound)
	}
	models, err := session.Guard(m.cfg.Logger, "listing models", func() ([]agent.Model, error) { return b.Models(ctx) })
	if err != nil {
		return nil, fmt.Errorf("list the models of %s: %w", backend, err)
	}
	return models, nil
}
