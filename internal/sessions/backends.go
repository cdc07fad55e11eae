package sessions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/contain"
	"webchat/internal/eventlog"
)

// BackendInfo is a backend as a list shows it.
type BackendInfo struct {
	agent.Info
	Name    string
	Default bool // new sessions have it
}

// fallback is the backend of sessions that name none.
func (m *Manager) fallback(ctx context.Context) string {
	if m.cfg.Choose == nil {
		return m.cfg.Default
	}
	m.choice.Do(func() {
		name, err := contain.Call(m.cfg.Logger, "choosing a backend", func() (string, error) { return m.cfg.Choose(context.WithoutCancel(ctx)), nil })
		if m.chosen = m.cfg.Default; err == nil && m.backends[name] != nil {
			m.chosen = name
		}
	})
	return m.chosen
}

// checkModel refuses a model that the backend is known not to have. Where the list
// cannot be had the model is believed.
func (m *Manager) checkModel(ctx context.Context, backend, model string) error {
	if model == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	models, err := m.Models(ctx, backend)
	if err != nil || len(models) == 0 || slices.ContainsFunc(models, func(one agent.Model) bool { return one.ID == model }) {
		return nil
	}
	ids := make([]string, 0, len(models))
	for _, one := range models {
		ids = append(ids, one.ID)
	}
	if more := len(ids) - mostNamed; more > 0 {
		ids = append(ids[:mostNamed], fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf("%w: %s has no model %q; there are %s", eventlog.ErrInvalid, backend, model, strings.Join(ids, ", "))
}

const (
	listLimit = 5 * time.Second // for the list of models a name is looked up in
	mostNamed = 20              // models that a refusal names
)

// Backends says what was found of each backend, in their order.
func (m *Manager) Backends(ctx context.Context) []BackendInfo {
	out := make([]BackendInfo, 0, len(m.cfg.Backends))
	for _, b := range m.cfg.Backends {
		i, err := contain.Call(m.cfg.Logger, "looking for "+b.Name(), func() (agent.Info, error) { return b.Info(ctx), nil })
		if err != nil {
			i.Reason = "Looking for " + b.Name() + " failed; the server's log says why."
		}
		out = append(out, BackendInfo{Info: i, Name: b.Name(), Default: b.Name() == m.fallback(ctx)})
	}
	return out
}

// Models lists the models of a backend; empty means the default one.
func (m *Manager) Models(ctx context.Context, backend string) ([]agent.Model, error) {
	if backend == "" {
		backend = m.fallback(ctx)
	}
	b := m.backends[backend]
	if b == nil {
		return nil, fmt.Errorf("backend %q: %w", backend, eventlog.ErrNotFound)
	}
	models, err := contain.Call(m.cfg.Logger, "listing models", func() ([]agent.Model, error) { return b.Models(ctx) })
	if err != nil {
		return nil, fmt.Errorf("list the models of %s: %w", backend, err)
	}
	return models, nil
}
