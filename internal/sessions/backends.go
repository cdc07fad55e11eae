package sessions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/session"
	"webchat/internal/wording"
)

const (
	listLimit = 5 * time.Second // for the list of models a name is looked up in
	mostNamed = 20              // models that a refusal names
	// lookedBack is how many of the latest sessions may have named the same instructions.
	lookedBack = 20
)

// BackendInfo is a backend as a list shows it.
type BackendInfo struct {
	agent.Info
	Name    string
	Default bool // new sessions have it
}

// choose returns the backend of sessions that name none.
func (m *Manager) choose() string {
	if m.cfg.Choose != nil {
		name, err := contain.Call(m.cfg.Logger, "choosing a backend", func() (string, error) {
			return m.cfg.Choose(m.ctx), nil
		})
		if err == nil && m.backends[name] != nil {
			return name
		}
	}
	return m.cfg.Backends[0].Name()
}

// backend returns the backend of that name; empty means that of sessions that name none.
func (m *Manager) backend(name string) (agent.Backend, error) {
	if b := m.backends[cmp.Or(name, m.chosen())]; b != nil {
		return b, nil
	}
	return nil, fmt.Errorf("backend %q: %w", name, eventlog.ErrNotFound)
}

// Backends says what was found of each backend, in their order.
func (m *Manager) Backends(ctx context.Context) []BackendInfo {
	out := make([]BackendInfo, 0, len(m.cfg.Backends))
	for _, b := range m.cfg.Backends {
		i, err := contain.Call(m.cfg.Logger, "looking for "+b.Name(), func() (agent.Info, error) {
			return b.Info(ctx), nil
		})
		if err != nil {
			i.Reason = "Looking for " + b.Name() + " failed; the server's log says why."
		}
		out = append(out, BackendInfo{Info: i, Name: b.Name(), Default: b.Name() == m.chosen()})
	}
	return out
}

// Models lists the models of a backend; empty means the default one.
func (m *Manager) Models(ctx context.Context, backend string) ([]agent.Model, error) {
	b, err := m.backend(backend)
	if err != nil {
		return nil, err
	}
	models, err := contain.Call(m.cfg.Logger, "listing models", func() ([]agent.Model, error) {
		return b.Models(ctx)
	})
	if err != nil {
		return nil, fmt.Errorf("list the models of %s: %w", b.Name(), err)
	}
	return models, nil
}

// checkModel refuses a model that the backend is known not to have. Where the list cannot be had
// the model is believed.
func (m *Manager) checkModel(ctx context.Context, backend, model string) error {
	if model == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	models, err := m.Models(ctx, backend)
	if err != nil || len(models) == 0 {
		return nil
	}
	var ids []string
	for _, one := range models {
		if ids = append(ids, one.ID); one.ID == model {
			return nil
		}
	}
	if more := len(ids) - mostNamed; more > 0 {
		ids = append(ids[:mostNamed], fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf("%w: %s has no model %q; it has %s", eventlog.ErrInvalid, backend, model,
		strings.Join(ids, ", "))
}

// branch returns what a session starts with that branches from another at a prompt.
func branch(ctx context.Context, from *session.Session, messageID string) (Options, error) {
	p, err := from.Prompt(ctx, messageID)
	if err != nil {
		return Options{}, err
	}
	if p.Turn == 0 {
		return Options{}, fmt.Errorf("%w: that prompt has no turn of its own; branch at another one",
			eventlog.ErrInvalid)
	}
	var before []event.Entry
	err = from.Scan(ctx, 0, func(e event.Entry) bool {
		if e.Seq < p.Turn {
			before = append(before, e)
		}
		return e.Seq < p.Turn
	})
	sum := from.Summary()
	return Options{
		Workspace: sum.Workspace,
		Backend:   sum.Backend,
		Model:     sum.Model,
		Title:     wording.Cut(sum.Title, 180) + " (branch)",
		taken: append(session.BranchEvents(before, sum.Open.Left),
			event.SessionBranched{From: string(from.ID()), MessageID: messageID, Title: sum.Title}),
	}, err
}

// logInstructions puts into a session's start which files of the folder its agent will load, and
// whether an earlier session there loaded the same.
func (m *Manager) logInstructions(ctx context.Context, b agent.Backend, workspace string,
	start *event.SessionStart) {
	i, ok := b.(agent.Instructor)
	if !ok {
		return
	}
	if start.Instructions = i.Instructions(workspace); len(start.Instructions) == 0 {
		return
	}
	before, err := m.cfg.Catalog.List(ctx, Query{
		Limit:  lookedBack,
		Filter: Filter{User: start.User, Workspaces: []string{workspace}},
	})
	if err != nil {
		return // the user is shown it once more
	}
	start.InstructionsSeen = slices.ContainsFunc(before.Sessions, func(s Found) bool {
		first, err := m.cfg.Log.After(ctx, s.ID, 0, 1)
		if s.Backend != start.Backend || err != nil || len(first) == 0 {
			return false
		}
		earlier, ok := first[0].Event.Data.(event.SessionStart)
		return ok && slices.Equal(earlier.Instructions, start.Instructions)
	})
}
