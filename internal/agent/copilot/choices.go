package copilot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/event"
)

// modes are the CLI's ways to work, by its own ids. In plan mode it refuses by itself whatever
// would change something outside the session's own folder (1.0.102).
var modes = []agent.Mode{
	{ID: interactive, Name: "Interactive", About: "It does what you ask, then waits for you."},
	{
		ID:    "plan",
		Name:  "Plan",
		About: "It writes a plan first, and changes nothing before you approve it.",
	},
	{
		ID:      autopilot,
		Name:    "Autopilot",
		About:   "It goes on by itself until the task is done.",
		Unasked: true,
	},
}

const (
	interactive = "interactive"
	autopilot   = "autopilot"
)

// efforts are those of a model; none: it has none, or they are not known.
func (b *Backend) efforts(model string) []string {
	if !b.cfg.online() || b.cfg.Providers.Has(model) {
		return b.cfg.Providers.Efforts(model)
	}
	return b.login.Efforts(model)
}

// choices are what a conversation on a model lets its user choose.
func (b *Backend) choices(model string) agent.Choices {
	c := agent.Choices{
		Model: model,
		Mode:  interactive,
		Modes: slices.Clone(modes),
		Can:   slices.Clone(abilities),
	}
	for _, e := range b.efforts(model) {
		c.Efforts = append(c.Efforts, agent.Effort{ID: e, Name: e})
	}
	return c
}

func (b *Backend) Offers(context.Context) agent.Choices { return b.choices(b.cfg.Model) }

// chosen is what a conversation works with, as it was asked for last. A CLI that ends meanwhile is
// no error: the next process gets it. Its methods may be called concurrently.
type chosen struct {
	b       *Backend
	ask     asker
	unasked bool   // modes in which the agent acts without asking may be chosen
	want    string // the mode to begin with; empty: interactive

	mu                  sync.Mutex // guards what follows
	model, mode, effort string     // no effort: the model's own
}

func (c *chosen) now() (model, mode, effort string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.model, c.mode, c.effort
}

// all are the choices, and what was chosen of them.
func (c *chosen) all() agent.Choices {
	model, mode, effort := c.now()
	all := c.b.choices(model)
	all.Mode, all.Effort = mode, effort
	return all
}

// may reports whether a mode is one that may be chosen.
func (c *chosen) may(mode string) bool {
	return slices.ContainsFunc(modes, func(m agent.Mode) bool {
		return m.ID == mode && (c.unasked || !m.Unasked)
	})
}

func (c *chosen) setMode(ctx context.Context, id string) error {
	before := c.inMode(id) // its event reports nothing new
	err := c.ask(ctx, "session.mode.set", map[string]any{"mode": id}, nil)
	if err == nil || errors.Is(err, agent.ErrDied) {
		return nil
	}
	c.inMode(before)
	return fmt.Errorf("change the mode: %w", c.b.cli.Explain(err))
}

// inMode notes the mode and returns the one before.
func (c *chosen) inMode(id string) (before string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, c.mode = c.mode, id
	return before
}

type modeChange struct{ NewMode string }

// onMode reports a mode the agent went over to, as it does with an approved plan. Of one that there
// was not in 1.0.102 nothing is known. nil: it is in that mode already.
func (c *chosen) onMode(d modeChange) event.Data {
	if d.NewMode == "" || c.inMode(d.NewMode) == d.NewMode {
		return nil
	}
	now := event.SessionModeChanged{Mode: d.NewMode, Unasked: true}
	if i := slices.IndexFunc(modes, func(m agent.Mode) bool { return m.ID == d.NewMode }); i >= 0 {
		now.Name, now.Unasked = modes[i].Name, modes[i].Unasked
	}
	return now
}

// onModel reports a model the agent went over to; nil: it has that model already.
func (c *chosen) onModel(d event.SessionModelChange) event.Data {
	m := ourModel(d.NewModel)
	c.mu.Lock()
	defer c.mu.Unlock()
	if m == "" || m == c.model {
		return nil
	}
	c.model = m
	return event.SessionModelChange{NewModel: m}
}

// switchTo has the CLI call another model, or call it with another effort than it had. An effort is
// given up with its model unless the new one has it, too.
func (c *chosen) switchTo(ctx context.Context, model, effort, had string) error {
	if !slices.Contains(c.b.efforts(model), effort) {
		effort = ""
	}
	c.mu.Lock()
	c.model, c.effort = model, effort
	c.mu.Unlock()
	p := map[string]any{"modelId": c.b.cfg.Providers.Native(model)}
	switch {
	case effort != "":
		p["reasoningEffort"] = effort
	case had != "":
		p["reasoningEffort"] = nil // else the CLI keeps it
	}
	err := c.ask(ctx, "session.model.switchTo", p, nil)
	if err == nil || errors.Is(err, agent.ErrDied) {
		return nil
	}
	return fmt.Errorf("change the model: %w", c.b.cli.Explain(err))
}

// madeSession is the answer to session.create and session.resume.
type madeSession struct {
	Mode       string
	ModelState struct{ ModelID, ReasoningEffort string }
}

// restore gives a session of the CLI the mode and the effort of the conversation: one that was
// resumed has those it had last.
func (c *chosen) restore(ctx context.Context, made madeSession) error {
	c.mu.Lock()
	c.model = cmp.Or(ourModel(made.ModelState.ModelID), c.model)
	if !slices.Contains(c.b.efforts(c.model), c.effort) {
		c.effort = ""
	}
	if c.mode = cmp.Or(c.mode, c.want); !c.may(c.mode) {
		c.mode = interactive
	}
	model, effort, mode := c.model, c.effort, c.mode
	c.mu.Unlock()
	if had := made.ModelState.ReasoningEffort; had != effort {
		if err := c.switchTo(ctx, model, effort, had); err != nil {
			return err
		}
	}
	if made.Mode == mode {
		return nil
	}
	if err := c.ask(ctx, "session.mode.set", map[string]any{"mode": mode}, nil); err != nil {
		return fmt.Errorf("choose the mode %s: %w", mode, c.b.cli.Explain(err))
	}
	return nil
}

func (c *conn) Choices() agent.Choices { return c.chosen.all() }

func (c *conn) SetMode(ctx context.Context, id string) error {
	if !c.chosen.may(id) {
		return agent.ErrUnsupported
	}
	err := c.During(func() error { return c.chosen.setMode(ctx, id) })
	if errors.Is(err, convo.ErrClosed) {
		return nil
	}
	return err
}

func (c *conn) SetEffort(ctx context.Context, id string) error {
	model, _, had := c.chosen.now()
	if id != "" && !slices.Contains(c.b.efforts(model), id) {
		return agent.ErrUnsupported
	}
	return c.During(func() error { return c.chosen.switchTo(ctx, model, id, had) })
}

func (c *conn) SetModel(ctx context.Context, model string) error {
	if err := c.b.check(model); err != nil {
		return err
	}
	_, _, effort := c.chosen.now()
	return c.During(func() error { return c.chosen.switchTo(ctx, model, effort, effort) })
}

var (
	_ agent.Chooser = (*conn)(nil)
	_ agent.Offerer = (*Backend)(nil)
)
