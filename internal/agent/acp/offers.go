package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	modes, models := configOption{Category: "mode", method: "session/set_mode", field: "modeId"}, configOption{Category: "model", method: "session/set_model", field: "modelId"}
	modes.choose(got.Modes.CurrentModeID)
	models.choose(got.Models.CurrentModelID)
	for _, m := range got.Modes.AvailableModes {
		modes.Options = append(modes.Options, option{Value: m.ID, Name: m.Name, Description: m.Description})
	}
	for _, m := range got.Models.AvailableModels {
		models.Options = append(models.Options, option{Value: m.ModelID, Name: m.Name})
	}
	o.options = append(got.ConfigOptions, modes, models)
}

// take replaces the options by those that the agent reported.
func (o *offers) take(options []configOption) {
	old := slices.DeleteFunc(slices.Clone(o.options), func(c configOption) bool { return c.method == "" })
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
	_ = json.Unmarshal(c.CurrentValue, &text) // others are no choice of several
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
var wild = []string{"bypasspermissions", "yolo", "auto", "autopilot", "autoedit", "acceptedits", "agentfullaccess", "fullaccess", "fullauto", "allowall", "allowalltools"}

// unasked reports whether the agent acts without asking in a mode.
func (c Config) unasked(mode string) bool {
	tail := mode[strings.LastIndexAny(mode, "#/")+1:]
	if len(c.Asks) > 0 {
		return !slices.Contains(c.Asks, tail)
	}
	return isWild(tail)
}

func isWild(name string) bool {
	return slices.Contains(wild, strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(name)))
}

// choices are the offers as users see them.
func (c Config) choices(o offers) (out agent.Choices) {
	mode, model, effort := o.option(modeOf), o.option(modelOf), o.option(effortOf)
	out.Mode, out.Model, out.Effort = mode.current(), model.current(), effort.current()
	for _, v := range mode.values() {
		out.Modes = append(out.Modes, agent.Mode{ID: v.Value, Name: cmp.Or(v.Name, v.Value), About: v.Description, Unasked: c.unasked(v.Value)})
	}
	for _, v := range model.values() {
		out.Models = append(out.Models, agent.Model{ID: v.Value, Name: cmp.Or(v.Name, v.Value)})
	}
	for _, v := range effort.values() {
		out.Efforts = append(out.Efforts, agent.Effort{ID: v.Value, Name: cmp.Or(v.Name, v.Value)})
	}
	for _, k := range o.commands[:min(len(o.commands), mostCommands)] {
		if k.Name != "" && !isWild(k.Name) {
			out.Commands = append(out.Commands, agent.Command{Name: k.Name, About: wording.Line(k.Description), Hint: k.Input.Hint})
		}
	}
	return out
}

// Choices implements [agent.Chooser].
func (c *conn) Choices() agent.Choices {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.cfg.choices(c.offers)
}

// offered takes what the agent reports of its choices, and reports what it changed by itself.
func (c *conn) offered(u update) {
	before, now, lax, quiet := c.takeOffers(u)
	c.b.keep(func(k *kept) { k.Choices = now })
	if quiet {
		return
	}
	if now.Mode != before.Mode {
		d := event.SessionModeChanged{Mode: now.Mode, Unasked: c.b.cfg.unasked(now.Mode)}
		if i := slices.IndexFunc(now.Modes, func(m agent.Mode) bool { return m.ID == now.Mode }); i >= 0 {
			d.Name = now.Modes[i].Name
		}
		c.Report(d)
	}
	if lax {
		c.Report(event.SessionModeChanged{Mode: now.Mode + "+allow", Name: "that allows everything", Unasked: true})
	}
	if now.Model != before.Model || now.Effort != before.Effort {
		c.Report(event.SessionModelChange{NewModel: now.Model, Effort: now.Effort})
	}
}

// takeOffers returns the choices before and after an update, whether the agent acts without asking
// from now on, and whether the change is the user's own.
func (c *conn) takeOffers(u update) (before, now agent.Choices, lax, quiet bool) {
	starting := c.Starting()
	c.mu.Lock()
	defer c.mu.Unlock()
	before, lax = c.b.cfg.choices(c.offers), c.offers.lax()
	switch u.SessionUpdate {
	case "config_option_update":
		c.offers.take(u.ConfigOptions)
	case "current_mode_update":
		c.offers.chosen(modeOf, u.CurrentModeID)
	case "available_commands_update":
		c.offers.commands = u.AvailableCommands
	}
	return before, c.b.cfg.choices(c.offers), !lax && c.offers.lax(), starting || c.choosing > 0
}

// SetMode implements [agent.Chooser].
func (c *conn) SetMode(ctx context.Context, id string) error {
	known := slices.ContainsFunc(c.Choices().Modes, func(m agent.Mode) bool { return m.ID == id && (c.Options.Unasked || !m.Unasked) })
	if !known {
		return agent.ErrUnsupported
	}
	return c.chosen(ctx, modeOf, id, func(w *wanted) { w.mode = id })
}

// SetEffort implements [agent.Chooser].
func (c *conn) SetEffort(ctx context.Context, id string) error {
	known := id == "" || slices.ContainsFunc(c.Choices().Efforts, func(e agent.Effort) bool { return e.ID == id })
	if !known {
		return agent.ErrUnsupported
	}
	return c.chosen(ctx, effortOf, id, func(w *wanted) { w.effort = id })
}

// SetModel implements [agent.Conn].
func (c *conn) SetModel(ctx context.Context, model string) error {
	return c.chosen(ctx, modelOf, model, func(w *wanted) { w.model = model })
}

// chosen makes a choice of the user's, which is kept for an agent that is started again. What the
// agent reports of it meanwhile is no change of its own.
func (c *conn) chosen(ctx context.Context, of purpose, value string, want func(*wanted)) error {
	exit, err := c.Enter()
	if err != nil {
		return err
	}
	defer exit()
	if err := c.Ready(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	c.choosing++
	c.mu.Unlock()
	err = c.choose(ctx, of, value)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.choosing--
	if err == nil {
		want(&c.want)
	}
	return err
}

// configure makes the first choices of a conversation. An agent without such a choice keeps its
// own.
func (c *conn) configure(ctx context.Context) error {
	c.mu.Lock()
	want, lax := c.want, c.offers.lax()
	c.mu.Unlock()
	cfg, has := c.b.cfg, c.Choices()
	if lax && !c.Options.Unasked {
		if err := c.choose(ctx, laxOf, "off"); err != nil {
			return fmt.Errorf("have it ask before it acts: %w", err)
		}
	}
	mode := func(name string) string {
		for _, m := range has.Modes {
			if name != "" && (c.Options.Unasked || !m.Unasked) && (m.ID == name || strings.HasSuffix(m.ID, "#"+name) || strings.HasSuffix(m.ID, "/"+name)) {
				return m.ID
			}
		}
		return ""
	}
	id := cmp.Or(mode(want.mode), mode(cfg.Mode))
	if id == "" && cfg.unasked(has.Mode) && !c.Options.Unasked {
		if i := slices.IndexFunc(has.Modes, func(m agent.Mode) bool { return !m.Unasked }); i >= 0 {
			id = has.Modes[i].ID
		}
	}
	if id != "" && id != has.Mode {
		if err := c.choose(ctx, modeOf, id); err != nil {
			return fmt.Errorf("choose the mode %s: %w", id, err)
		}
	}
	if want.model != "" {
		if err := c.choose(ctx, modelOf, want.model); err != nil {
			return fmt.Errorf("choose the model %s: %w", want.model, err)
		}
	}
	if want.effort != "" && slices.ContainsFunc(c.Choices().Efforts, func(e agent.Effort) bool { return e.ID == want.effort }) {
		return c.choose(ctx, effortOf, want.effort)
	}
	return nil
}

// choose has the agent set an option; empty means the value that it began with. It answers with all
// options, if it has any.
func (c *conn) choose(ctx context.Context, of purpose, value string) error {
	c.mu.Lock()
	o, id := c.offers.option(of), c.id
	if of.category == effortOf.category {
		value = cmp.Or(value, c.first)
	}
	c.mu.Unlock()
	p, ask := c.Program(), object{"sessionId": id, "configId": o.ID, "value": value}
	method := cmp.Or(o.method, "session/set_config_option")
	if o.method != "" {
		ask = object{"sessionId": id, o.field: value}
	}
	if p == nil || o.ID == "" && o.method == "" {
		return agent.ErrUnsupported
	}
	var got struct{ ConfigOptions []configOption }
	err := p.Call(ctx, method, ask, &got)
	if theirs, ok := errors.AsType[*jsonrpc.Error](err); ok && theirs.Code == jsonrpc.CodeMethodNotFound {
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
