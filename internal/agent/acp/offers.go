package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/jsonrpc"
	"webchat/internal/wording"
)

// mostCommands is how many commands of an agent are offered.
const mostCommands = 200

// offers is what an agent lets its user choose. Agents report it in up to three ways, of which the
// options are the newest and count first; modes and models become options.
type offers struct {
	options  []configOption
	commands []command
}

// purpose is what a choice is for: a category, and ids that have none.
type purpose struct {
	category string
	ids      []string
}

var (
	modeOf   = purpose{"mode", []string{"mode"}}
	modelOf  = purpose{"model", []string{"model"}}
	effortOf = purpose{"thought_level", []string{"effort", "thought_level"}}
	laxOf    = purpose{"permissions", nil} // an option beside the modes
)

// option returns the option for a purpose; one without values if there is none.
func (o offers) option(of purpose) configOption {
	for _, c := range o.options {
		if c.Category == of.category || c.Category == "" && slices.Contains(of.ids, c.ID) {
			return c
		}
	}
	return configOption{}
}

// open takes what the agent offers at the beginning.
func (o *offers) open(got opened) {
	modes, models := configOption{Category: "mode", method: "session/set_mode", field: "modeId"},
		configOption{Category: "model", method: "session/set_model", field: "modelId"}
	modes.choose(got.Modes.CurrentModeID)
	models.choose(got.Models.CurrentModelID)
	for _, m := range got.Modes.AvailableModes {
		modes.Options = append(modes.Options, option{
			Value:       m.ID,
			Name:        m.Name,
			Description: m.Description,
		})
	}
	for _, m := range got.Models.AvailableModels {
		models.Options = append(models.Options, option{Value: m.ModelID, Name: m.Name})
	}
	o.options = append(got.ConfigOptions, modes, models)
}

// take replaces the options by those that the agent reported.
func (o *offers) take(options []configOption) {
	old := slices.DeleteFunc(slices.Clone(o.options), func(c configOption) bool {
		return c.method == ""
	})
	o.options = append(options, old...)
}

// chosen notes the value of an option.
func (o *offers) chosen(of purpose, value string) {
	for i := range o.options {
		if c := &o.options[i]; c.Category == of.category {
			c.choose(value)
		}
	}
}

// lax reports whether an option beside the modes makes the agent act without asking.
func (o offers) lax() bool {
	c := o.option(laxOf)
	return c.ID != "" && c.current() != "off"
}

func (c *configOption) choose(value string) { c.CurrentValue, _ = json.Marshal(value) } // a string

// current is the value that is chosen.
func (c configOption) current() string {
	var text string
	_ = json.Unmarshal(c.CurrentValue, &text) // others are not a choice of several
	return text
}

// values are the choices, without the groups they may be in.
func (c configOption) values() (all []option) {
	for _, v := range c.Options {
		if len(v.Options) == 0 {
			v.Options = []option{v}
		}
		all = append(all, v.Options...)
	}
	return all
}

// wild are the modes in which agents act without asking, as they name them, and commands that bring
// that about, in small letters and without marks.
var wild = []string{"bypasspermissions", "yolo", "auto", "autopilot", "autoedit", "acceptedits",
	"agentfullaccess", "fullaccess", "fullauto", "allowall", "allowalltools"}

// unasked reports whether the agent acts without asking in a mode.
func (c Config) unasked(mode string) bool {
	tail := mode[strings.LastIndexAny(mode, "#/")+1:]
	if len(c.Asks) > 0 {
		return !slices.Contains(c.Asks, tail)
	}
	return isWild(tail)
}

func isWild(name string) bool {
	return slices.Contains(wild, strings.ToLower(strings.NewReplacer("-", "", "_", "", " ",
		"").Replace(name)))
}

// choices are the offers as users see them.
func (c Config) choices(o offers) (out agent.Choices) {
	mode, model, effort := o.option(modeOf), o.option(modelOf), o.option(effortOf)
	out.Mode, out.Model, out.Effort = mode.current(), model.current(), effort.current()
	for _, v := range mode.values() {
		out.Modes = append(out.Modes, agent.Mode{
			ID:      v.Value,
			Name:    cmp.Or(v.Name, v.Value),
			About:   v.Description,
			Unasked: c.unasked(v.Value),
		})
	}
	for _, v := range model.values() {
		out.Models = append(out.Models, agent.Model{ID: v.Value, Name: cmp.Or(v.Name, v.Value)})
	}
	for _, v := range effort.values() {
		out.Efforts = append(out.Efforts, agent.Effort{ID: v.Value, Name: cmp.Or(v.Name, v.Value)})
	}
	for _, k := range o.commands[:min(len(o.commands), mostCommands)] {
		if k.Name != "" && !isWild(k.Name) {
			out.Commands = append(out.Commands, agent.Command{
				Name:  k.Name,
				About: wording.Line(k.Description),
				Hint:  k.Input.Hint,
			})
		}
	}
	return out
}

// wanted is what the user chose; empty means nothing.
type wanted struct{ model, mode, effort string }

// choices are what is chosen in a conversation. Its methods may be called concurrently.
type choices struct {
	cfg     Config
	unasked bool // modes in which the agent acts without asking may be chosen
	// set has the agent change something of the conversation.
	set func(ctx context.Context, method string, ask object, answer any) error

	mu     sync.Mutex // guards what follows
	offers offers
	want   wanted // is kept for an agent that is started again
	first  string // the effort that the agent began with
	coming int    // choices of the user's that are on their way
}

// open takes what the agent offers at the beginning.
func (c *choices) open(got opened) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offers.open(got)
	c.first = c.offers.option(effortOf).current()
}

func (c *choices) now() agent.Choices {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cfg.choices(c.offers)
}

// take takes what the agent reports of its choices, and returns what it changed by itself: what
// follows from a choice of the user is left out.
func (c *choices) take(u update) (now agent.Choices, changes []event.Data) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, lax := c.cfg.choices(c.offers), c.offers.lax()
	switch u.SessionUpdate {
	case "config_option_update":
		c.offers.take(u.ConfigOptions)
	case "current_mode_update":
		c.offers.chosen(modeOf, u.CurrentModeID)
	case "available_commands_update":
		c.offers.commands = u.AvailableCommands
	}
	if now = c.cfg.choices(c.offers); c.coming > 0 {
		return now, nil
	}
	if now.Mode != before.Mode {
		d := event.SessionModeChanged{Mode: now.Mode, Unasked: c.cfg.unasked(now.Mode)}
		if i := slices.IndexFunc(now.Modes, func(m agent.Mode) bool { return m.ID == now.Mode }); i >= 0 {
			d.Name = now.Modes[i].Name
		}
		changes = append(changes, d)
	}
	if !lax && c.offers.lax() {
		changes = append(changes, event.SessionModeChanged{
			Mode:    now.Mode + "+allow",
			Name:    "that allows everything",
			Unasked: true,
		})
	}
	if now.Model != before.Model || now.Effort != before.Effort {
		changes = append(changes, event.SessionModelChange{NewModel: now.Model, Effort: now.Effort})
	}
	return now, changes
}

// choose makes a choice of the user's.
func (c *choices) choose(ctx context.Context, of purpose, value string, want func(*wanted)) error {
	c.mu.Lock()
	c.coming++
	c.mu.Unlock()
	err := c.have(ctx, of, value)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.coming--
	if err == nil {
		want(&c.want)
	}
	return err
}

// configure makes the first choices of a conversation. An agent without such a choice keeps its
// own.
func (c *choices) configure(ctx context.Context) error {
	c.mu.Lock()
	want, lax := c.want, c.offers.lax()
	c.mu.Unlock()
	cfg, has := c.cfg, c.now()
	if lax && !c.unasked {
		if err := c.have(ctx, laxOf, "off"); err != nil {
			return fmt.Errorf("have it ask before it acts: %w", err)
		}
	}
	mode := func(name string) string {
		for _, m := range has.Modes {
			if name != "" && (c.unasked || !m.Unasked) &&
				(m.ID == name || strings.HasSuffix(m.ID, "#"+name) || strings.HasSuffix(m.ID, "/"+name)) {
				return m.ID
			}
		}
		return ""
	}
	id := cmp.Or(mode(want.mode), mode(cfg.Mode))
	if id == "" && cfg.unasked(has.Mode) && !c.unasked {
		if i := slices.IndexFunc(has.Modes, func(m agent.Mode) bool { return !m.Unasked }); i >= 0 {
			id = has.Modes[i].ID
		}
	}
	if id != "" && id != has.Mode {
		if err := c.have(ctx, modeOf, id); err != nil {
			return fmt.Errorf("choose the mode %s: %w", id, err)
		}
	}
	if want.model != "" {
		if err := c.have(ctx, modelOf, want.model); err != nil {
			return fmt.Errorf("choose the model %s: %w", want.model, err)
		}
	}
	if want.effort != "" && slices.ContainsFunc(c.now().Efforts, func(e agent.Effort) bool {
		return e.ID == want.effort
	}) {
		return c.have(ctx, effortOf, want.effort)
	}
	return nil
}

// have has the agent set an option; empty means the value that it began with. It answers with all
// options, if it has any.
func (c *choices) have(ctx context.Context, of purpose, value string) error {
	c.mu.Lock()
	o := c.offers.option(of)
	if of.category == effortOf.category {
		value = cmp.Or(value, c.first)
	}
	c.mu.Unlock()
	method, ask := cmp.Or(o.method, "session/set_config_option"),
		object{"configId": o.ID, "value": value}
	switch {
	case o.method != "":
		ask = object{o.field: value}
	case o.ID == "":
		return agent.ErrUnsupported
	}
	var got struct{ ConfigOptions []configOption }
	err := c.set(ctx, method, ask, &got)
	if theirs, ok := errors.AsType[*jsonrpc.Error](err); ok &&
		theirs.Code == jsonrpc.CodeMethodNotFound {
		return agent.ErrUnsupported
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.method != "" {
		c.offers.chosen(of, value)
	} else if len(got.ConfigOptions) > 0 {
		c.offers.take(got.ConfigOptions)
	}
	return nil
}

// Choices implements [agent.Chooser].
func (c *conn) Choices() agent.Choices { return c.choices.now() }

// offered takes what the agent reports of its choices.
func (c *conn) offered(u update) event.Data {
	starting := c.Starting()
	now, changes := c.choices.take(u)
	c.b.keep(func(k *kept) { k.Choices = now })
	for _, d := range changes {
		if !starting {
			c.Report(d)
		}
	}
	return nil
}

// SetMode implements [agent.Chooser].
func (c *conn) SetMode(ctx context.Context, id string) error {
	if !slices.ContainsFunc(c.Choices().Modes, func(m agent.Mode) bool {
		return m.ID == id && (c.Options.Unasked || !m.Unasked)
	}) {
		return agent.ErrUnsupported
	}
	return c.chosen(ctx, modeOf, id, func(w *wanted) { w.mode = id })
}

// SetEffort implements [agent.Chooser].
func (c *conn) SetEffort(ctx context.Context, id string) error {
	if id != "" && !slices.ContainsFunc(c.Choices().Efforts, func(e agent.Effort) bool {
		return e.ID == id
	}) {
		return agent.ErrUnsupported
	}
	return c.chosen(ctx, effortOf, id, func(w *wanted) { w.effort = id })
}

// SetModel implements [agent.Conn].
func (c *conn) SetModel(ctx context.Context, model string) error {
	return c.chosen(ctx, modelOf, model, func(w *wanted) { w.model = model })
}

// chosen makes a choice of the user's with an agent that runs.
func (c *conn) chosen(ctx context.Context, of purpose, value string, want func(*wanted)) error {
	return c.During(func() error {
		if err := c.Ready(ctx); err != nil {
			return err
		}
		return c.choices.choose(ctx, of, value, want)
	})
}
