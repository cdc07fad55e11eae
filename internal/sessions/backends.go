package sessions

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
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

// Backends says what was found of each backend, in their order.
func (m *Manager) Backends(ctx context.Context) []BackendInfo { return m.backends.list(ctx) }

// Models lists the models of a backend; empty means the default one.
func (m *Manager) Models(ctx context.Context, backend string) ([]agent.Model, error) {
	return m.backends.models(ctx, backend)
}

// backends are those that sessions may have.
type backends struct {
	all     []agent.Backend // in their order
	named   map[string]agent.Backend
	chosen  func() string // that of sessions that name none
	catalog Catalog
	log     Log
	logger  *slog.Logger
}

func newBackends(ctx context.Context, c Config) (*backends, error) {
	b := &backends{
		all:     c.Backends,
		named:   map[string]agent.Backend{},
		catalog: c.Catalog,
		log:     c.Log,
		logger:  c.Logger,
	}
	for _, backend := range c.Backends {
		if b.named[backend.Name()] != nil {
			return nil, fmt.Errorf("%w: two backends are named %q", eventlog.ErrInvalid, backend.Name())
		}
		b.named[backend.Name()] = backend
	}
	b.chosen = sync.OnceValue(func() string { return b.choose(ctx, c.Choose) })
	return b, nil
}

// choose returns the backend of sessions that name none.
func (b *backends) choose(ctx context.Context, ask func(context.Context) string) string {
	if ask != nil {
		name, err := contain.Call(b.logger, "choosing a backend", func() (string, error) {
			return ask(ctx), nil
		})
		if err == nil && b.named[name] != nil {
			return name
		}
	}
	return b.all[0].Name()
}

// of returns the backend of that name; empty means that of sessions that name none.
func (b *backends) of(name string) (agent.Backend, error) {
	if backend := b.named[cmp.Or(name, b.chosen())]; backend != nil {
		return backend, nil
	}
	return nil, fmt.Errorf("backend %q: %w", name, eventlog.ErrNotFound)
}

// list says what was found of each backend, in their order.
func (b *backends) list(ctx context.Context) []BackendInfo {
	out := make([]BackendInfo, 0, len(b.all))
	for _, backend := range b.all {
		i, err := contain.Call(b.logger, "looking for "+backend.Name(), func() (agent.Info, error) {
			return backend.Info(ctx), nil
		})
		if err != nil {
			i.Reason = "Looking for " + backend.Name() + " failed; the server's log says why."
		}
		out = append(out, BackendInfo{
			Info:    i,
			Name:    backend.Name(),
			Default: backend.Name() == b.chosen(),
		})
	}
	return out
}

// models is [Manager.Models].
func (b *backends) models(ctx context.Context, name string) ([]agent.Model, error) {
	backend, err := b.of(name)
	if err != nil {
		return nil, err
	}
	models, err := contain.Call(b.logger, "listing models", func() ([]agent.Model, error) {
		return backend.Models(ctx)
	})
	if err != nil {
		return nil, fmt.Errorf("list the models of %s: %w", backend.Name(), err)
	}
	return models, nil
}

// check refuses a model that the backend is known not to have. Where the list cannot be had
// the model is believed.
func (b *backends) check(ctx context.Context, backend, model string) error {
	if model == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	models, err := b.models(ctx, backend)
	if err != nil || len(models) == 0 {
		return nil
	}
	var ids []string
	for _, m := range models {
		if ids = append(ids, m.ID); m.ID == model {
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

// instructions puts into a session's start which files of the folder its agent will load, and
// whether an earlier session there loaded the same.
func (b *backends) instructions(ctx context.Context, backend agent.Backend, workspace string,
	start *event.SessionStart) {
	i, ok := backend.(agent.Instructor)
	if !ok {
		return
	}
	if start.Instructions = i.Instructions(workspace); len(start.Instructions) == 0 {
		return
	}
	before, err := b.catalog.List(ctx, Query{
		Limit:  lookedBack,
		Filter: Filter{User: start.User, Workspaces: []string{workspace}},
	})
	if err != nil {
		return // the user is shown it once more
	}
	start.InstructionsSeen = slices.ContainsFunc(before.Sessions, func(s Found) bool {
		first, err := b.log.After(ctx, s.ID, 0, 1)
		if s.Backend != start.Backend || err != nil || len(first) == 0 {
			return false
		}
		earlier, ok := first[0].Event.Data.(event.SessionStart)
		return ok && slices.Equal(earlier.Instructions, start.Instructions)
	})
}
