package copilot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// modes are the CLI's ways to work, by its own ids. In plan mode it refuses by itself
// whatever would change something outside the session's own folder (1.0.102).
var modes = []agent.Mode{
	{ID: interactive, Name: "Interactive", About: "It does what you ask, then waits for you."},
	{ID: "plan", Name: "Plan", About: "It writes a plan first, and changes nothing before you approve it."},
	{ID: autopilot, Name: "Autopilot", About: "It goes on by itself until the task is done.", Unasked: true},
}

const (
	interactive = "interactive"
	autopilot   = "autopilot"
)

// knownMode returns one of the modes that may be chosen.
func (c *conn) knownMode(id string) (agent.Mode, bool) {
	i := slices.IndexFunc(modes, func(m agent.Mode) bool { return m.ID == id })
	if i < 0 || modes[i].Unasked && !c.o.Unasked {
		return agent.Mode{}, false
	}
	return modes[i], true
}

// efforts are those of a model; none: it has none, or they are not known.
func (b *Backend) efforts(model string) []string {
	if !b.cfg.online() || b.cfg.Providers.Has(model) {
		return b.cfg.Providers.Efforts(model)
	}
	return b.login.Efforts(model)
}

// choices are what a conversation on a model lets its user choose.
func (b *Backend) choices(model string) agent.Choices {
	c := agent.Choices{Model: model, Mode: interactive, Modes: slices.Clone(modes), Can: slices.Clone(abilities)}
	for _, e := range b.efforts(model) {
		c.Efforts = append(c.Efforts, agent.Effort{ID: e, Name: e})
	}
	return c
}

// Offers implements [agent.Offerer].
func (b *Backend) Offers(context.Context) agent.Choices { return b.choices(b.cfg.Model) }

// Choices implements [agent.Chooser].
func (c *conn) Choices() agent.Choices {
	c.mu.Lock()
	model, mode, effort := c.model, c.mode, c.effort
	c.mu.Unlock()
	all := c.b.choices(model)
	if all.Mode, all.Effort = mode, effort; mode == "" {
		all.Modes = nil // this version has none
	}
	return all
}

// SetMode implements [agent.Chooser].
func (c *conn) SetMode(ctx context.Context, id string) error {
	if _, known := c.knownMode(id); !known {
		return agent.ErrUnsupported
	}
	if !c.enter() {
		return errClosed
	}
	defer c.turns.Done()
	c.mu.Lock()
	before := c.mode
	if before != "" {
		c.mode = id // its event is no news
	}
	c.mu.Unlock()
	if before == "" {
		return agent.ErrUnsupported
	}
	err := c.ask(ctx, "session.mode.set", c.named(map[string]any{"mode": id}), nil)
	if err == nil || errors.Is(err, agent.ErrDied) { // the next process hears of it
		return nil
	}
	c.mu.Lock()
	c.mode = before
	c.mu.Unlock()
	return fmt.Errorf("change the mode: %w", c.b.cli.Explain(err))
}

// SetEffort implements [agent.Chooser].
func (c *conn) SetEffort(ctx context.Context, id string) error {
	c.mu.Lock()
	model, had := c.model, c.effort
	c.mu.Unlock()
	if id != "" && !slices.Contains(c.b.efforts(model), id) {
		return agent.ErrUnsupported
	}
	if !c.enter() {
		return errClosed
	}
	defer c.turns.Done()
	return c.switchTo(ctx, model, id, had)
}

// switchTo has the CLI call another model, or call it with another effort than it had.
// An effort is given up with its model unless the new one has it, too.
func (c *conn) switchTo(ctx context.Context, model, effort, had string) error {
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
	err := c.ask(ctx, "session.model.switchTo", c.named(p), nil)
	if err == nil || errors.Is(err, agent.ErrDied) { // the next process hears of it
		return nil
	}
	return fmt.Errorf("change the model: %w", c.b.cli.Explain(err))
}

// madeSession is the answer to session.create and session.resume.
type madeSession struct {
	Mode       string // empty: this version has none
	ModelState struct{ ModelID, ReasoningEffort string }
}

// restore gives a session of the CLI the mode and the effort of the conversation: one
// that was resumed has those it had last.
func (c *conn) restore(ctx context.Context, made madeSession) error {
	c.mu.Lock()
	if m := ourModel(made.ModelState.ModelID); m != "" {
		c.model = m
	}
	if !slices.Contains(c.b.efforts(c.model), c.effort) {
		c.effort = ""
	}
	model, effort, mode := c.model, c.effort, cmp.Or(c.mode, c.o.Mode)
	if _, known := c.knownMode(mode); !known {
		mode = interactive
	}
	if c.mode = mode; made.Mode == "" {
		c.mode = ""
	}
	c.mu.Unlock()
	if had := made.ModelState.ReasoningEffort; had != effort {
		if err := c.switchTo(ctx, model, effort, had); err != nil {
			return err
		}
	}
	if made.Mode == "" || made.Mode == mode {
		return nil
	}
	if err := c.ask(ctx, "session.mode.set", c.named(map[string]any{"mode": mode}), nil); err != nil {
		return fmt.Errorf("choose the mode %s: %w", mode, c.b.cli.Explain(err))
	}
	return nil
}

// onMode tells of a mode the agent went over to, as it does with an approved plan.
func (c *conn) onMode(e cli.Event) {
	d, ok := decode[struct{ NewMode string }](c, e)
	if !ok || d.NewMode == "" {
		return
	}
	c.mu.Lock()
	other := d.NewMode != c.mode
	c.mode = d.NewMode
	c.mu.Unlock()
	if !other {
		return
	}
	said := event.SessionModeChanged{Mode: d.NewMode, Unasked: d.NewMode != interactive} // of one there was not in 1.0.102 nothing is known
	if i := slices.IndexFunc(modes, func(m agent.Mode) bool { return m.ID == d.NewMode }); i >= 0 {
		said.Name, said.Unasked = modes[i].Name, modes[i].Unasked
	}
	c.report(said)
}

// onTodos reads the agent's list: the event says only that it changed.
func (c *conn) onTodos(cli.Event) {
	if c.loop.listing {
		c.loop.listAgain = true
		return
	}
	if !c.enter() {
		return
	}
	c.loop.listing, c.loop.listAgain = true, false
	go c.contained(func() {
		defer c.turns.Done()
		var list struct{ Rows []todoRow }
		err := c.ask(c.quit, "session.plan.readSqlTodos", c.named(nil), &list)
		c.post(func() {
			c.loop.listing = false
			if err == nil {
				c.report(event.SessionTodosChanged{Todos: todos(list.Rows)})
			}
			if c.loop.listAgain {
				c.onTodos(cli.Event{})
			}
		})
	})()
}

// todos are the rows of the CLI's table in the session's words. What is blocked is
// still to be done.
func todos(rows []todoRow) []event.Todo {
	list := make([]event.Todo, 0, len(rows))
	for _, r := range rows {
		t := event.Todo{Text: cmp.Or(r.Title, r.Description, r.ID), Status: event.TodoPending}
		switch r.Status {
		case "in_progress":
			t.Status = event.TodoDoing
		case "done":
			t.Status = event.TodoDone
		case "blocked":
			t.Text += " (blocked)"
		}
		list = append(list, t)
	}
	return list
}

// What may become of a plan, in words of the user and of the CLI.
const (
	carryOut      = "Carry it out"
	carryOutAlone = "Carry it out on autopilot, without asking me"
	onlyLeave     = "Leave plan mode and wait"
)

// maxPlan is how many characters of a plan are shown.
const maxPlan = 60_000

// approve shows the user a plan before the agent carries it out. An answer of theirs
// is what they want to have changed.
func (c *conn) approve(ctx context.Context, p planRequest) (any, error) {
	q := agent.Question{Question: "Carry out this plan? Or write what should change in it.", Choices: []string{carryOut}, AllowFreeform: true,
		Detail: wording.Cut(cmp.Or(p.PlanContent, p.Summary, "The agent wrote no plan."), maxPlan)}
	if c.o.Unasked && slices.Contains(p.Actions, autopilot) {
		q.Choices = append(q.Choices, carryOutAlone)
	}
	q.Choices = append(q.Choices, onlyLeave)
	a, err := c.consult(ctx, "exit_plan_mode", q)
	switch {
	case err != nil:
		return nil, err
	case !a.Answered:
		return planAnswer{Feedback: "The user did not answer."}, nil
	case a.Text == carryOut:
		return planAnswer{Approved: true, SelectedAction: interactive}, nil
	case a.Text == carryOutAlone && c.o.Unasked:
		return planAnswer{Approved: true, SelectedAction: autopilot}, nil
	case a.Text == onlyLeave:
		return planAnswer{Approved: true, SelectedAction: "exit_only"}, nil
	}
	return planAnswer{Feedback: a.Text}, nil
}

var (
	_ agent.Chooser = (*conn)(nil)
	_ agent.Offerer = (*Backend)(nil)
)
