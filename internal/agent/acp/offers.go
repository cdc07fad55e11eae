package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/jsonrpc"
	"webchat/internal/wording"
)

// mostCommands is how many commands of an agent are offered.
const mostCommands = 200

// offers is what an agent lets its user choose, as it tells it. Agents say it in up to
// three ways, of which the options are the newest and count first.
type offers struct {
	options  []configOption
	modes    modes
	models   models
	commands []command
}

// option returns the option for a purpose.
func (o offers) option(category string, ids ...string) (configOption, bool) {
	for _, c := range o.options {
		if c.Category == category || c.Category == "" && slices.Contains(ids, c.ID) {
			return c, true
		}
	}
	return configOption{}, false
}

func (o offers) mode() (configOption, bool)  { return o.option("mode", "mode") }
func (o offers) model() (configOption, bool) { return o.option("model", "model") }
func (o offers) effort() (configOption, bool) {
	return o.option("thought_level", "effort", "thought_level")
}

// lax reports whether an option beside the modes makes the agent act without asking.
func (o offers) lax() bool {
	c, ok := o.option("permissions")
	return ok && c.current() != "off"
}

// current is the value that is chosen.
func (c configOption) current() string {
	var text string
	_ = json.Unmarshal(c.CurrentValue, &text) // others are no choice of several
	return text
}

// values are the choices, without the groups they may be in.
func (c configOption) values() []option {
	var all []option
	for _, v := range c.Options {
		if len(v.Options) > 0 {
			all = append(all, v.Options...)
		} else {
			all = append(all, v)
		}
	}
	return all
}

// wild are the modes in which agents act without asking, as they name them, and
// commands that bring that about, in small letters and without marks.
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
func (c Config) choices(o offers) agent.Choices {
	var out agent.Choices
	add := func(id, name, about string) {
		out.Modes = append(out.Modes, agent.Mode{ID: id, Name: cmp.Or(name, id), About: about, Unasked: c.unasked(id)})
	}
	if m, ok := o.mode(); ok {
		out.Mode = m.current()
		for _, v := range m.values() {
			add(v.Value, v.Name, v.Description)
		}
	} else {
		out.Mode = o.modes.CurrentModeID
		for _, m := range o.modes.AvailableModes {
			add(m.ID, m.Name, m.Description)
		}
	}
	if m, ok := o.model(); ok {
		out.Model = m.current()
		for _, v := range m.values() {
			out.Models = append(out.Models, agent.Model{ID: v.Value, Name: cmp.Or(v.Name, v.Value)})
		}
	} else {
		out.Model = o.models.CurrentModelID
		for _, m := range o.models.AvailableModels {
			out.Models = append(out.Models, agent.Model{ID: m.ModelID, Name: cmp.Or(m.Name, m.ModelID)})
		}
	}
	if e, ok := o.effort(); ok {
		out.Effort = e.current()
		for _, v := range e.values() {
			out.Efforts = append(out.Efforts, agent.Effort{ID: v.Value, Name: cmp.Or(v.Name, v.Value)})
		}
	}
	for _, k := range o.commands[:min(len(o.commands), mostCommands)] {
		if k.Name == "" || isWild(k.Name) {
			continue
		}
		out.Commands = append(out.Commands, agent.Command{Name: k.Name, About: wording.Line(k.Description), Hint: k.Input.Hint})
	}
	return out
}

// Choices implements [agent.Chooser].
func (c *conn) Choices() agent.Choices {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.cfg.choices(c.offers)
}

// offered takes what the agent says of its choices, and reports what it changed by
// itself.
func (c *conn) offered(u update) {
	before, now, lax, quiet := c.takeOffers(u)
	c.b.keep(func(k *kept) { k.Choices = now })
	if quiet {
		return
	}
	ctx := context.Background() // between turns, too
	if now.Mode != before.Mode {
		d := event.SessionModeChanged{Mode: now.Mode, Unasked: c.b.cfg.unasked(now.Mode)}
		if i := slices.IndexFunc(now.Modes, func(m agent.Mode) bool { return m.ID == now.Mode }); i >= 0 {
			d.Name = now.Modes[i].Name
		}
		c.report(ctx, d)
	}
	if lax {
		c.report(ctx, event.SessionModeChanged{Mode: now.Mode + "+allow", Name: "that allows everything", Unasked: true})
	}
	if now.Model != before.Model || now.Effort != before.Effort {
		c.report(ctx, event.SessionModelChange{NewModel: now.Model, Effort: now.Effort})
	}
}

// takeOffers returns the choices before and after an update, whether the agent acts without
// asking from now on, and whether the change is the user's own.
func (c *conn) takeOffers(u update) (before, now agent.Choices, lax, quiet bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, lax = c.b.cfg.choices(c.offers), c.offers.lax()
	switch u.SessionUpdate {
	case "config_option_update":
		c.offers.options = u.ConfigOptions
	case "current_mode_update":
		c.offers.modes.CurrentModeID = u.CurrentModeID
		for i := range c.offers.options {
			if o := &c.offers.options[i]; o.Category == "mode" {
				o.CurrentValue, _ = json.Marshal(u.CurrentModeID) // a string
			}
		}
	case "available_commands_update":
		c.offers.commands = u.AvailableCommands
	}
	return before, c.b.cfg.choices(c.offers), !lax && c.offers.lax(), c.starting || c.choosing > 0
}

// SetMode implements [agent.Chooser].
func (c *conn) SetMode(ctx context.Context, id string) error {
	known := slices.ContainsFunc(c.Choices().Modes, func(m agent.Mode) bool { return m.ID == id && (c.o.Unasked || !m.Unasked) })
	if !known {
		return agent.ErrUnsupported
	}
	return c.chosen(ctx, func(w *wanted) { w.mode = id }, func(p *process) error { return c.chooseMode(ctx, p, id) })
}

// SetEffort implements [agent.Chooser].
func (c *conn) SetEffort(ctx context.Context, id string) error {
	known := id == "" || slices.ContainsFunc(c.Choices().Efforts, func(e agent.Effort) bool { return e.ID == id })
	if !known {
		return agent.ErrUnsupported
	}
	return c.chosen(ctx, func(w *wanted) { w.effort = id }, func(p *process) error { return c.chooseEffort(ctx, p, id) })
}

// SetModel implements [agent.Conn].
func (c *conn) SetModel(ctx context.Context, model string) error {
	return c.chosen(ctx, func(w *wanted) { w.model = model }, func(p *process) error { return c.chooseModel(ctx, p, model) })
}

// chosen makes a choice of the user's, which is kept for an agent that is started
// again. What the agent says of it meanwhile is no change of its own.
func (c *conn) chosen(ctx context.Context, want func(*wanted), tell func(*process) error) error {
	p, err := c.running(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.choosing++
	c.mu.Unlock()
	err = tell(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.choosing--
	if err == nil {
		want(&c.want)
	}
	return err
}

// configure makes the first choices of a conversation. An agent without such a choice
// keeps its own.
func (c *conn) configure(ctx context.Context, p *process) error {
	c.mu.Lock()
	want, lax := c.want, c.offers.lax()
	c.mu.Unlock()
	cfg, has := c.b.cfg, c.Choices()
	if lax && !c.o.Unasked {
		o, _ := c.offers.option("permissions")
		if err := c.setOption(ctx, p, o.ID, "off"); err != nil {
			return fmt.Errorf("have it ask before it acts: %w", err)
		}
	}
	mode := func(name string) string {
		for _, m := range has.Modes {
			if name != "" && (c.o.Unasked || !m.Unasked) && (m.ID == name || strings.HasSuffix(m.ID, "#"+name) || strings.HasSuffix(m.ID, "/"+name)) {
				return m.ID
			}
		}
		return ""
	}
	id := cmp.Or(mode(want.mode), mode(cfg.Mode))
	if id == "" && cfg.unasked(has.Mode) && !c.o.Unasked {
		if i := slices.IndexFunc(has.Modes, func(m agent.Mode) bool { return !m.Unasked }); i >= 0 {
			id = has.Modes[i].ID
		}
	}
	if id != "" && id != has.Mode {
		if err := c.chooseMode(ctx, p, id); err != nil {
			return fmt.Errorf("choose the mode %s: %w", id, err)
		}
	}
	if want.model != "" {
		if err := c.chooseModel(ctx, p, want.model); err != nil {
			return fmt.Errorf("choose the model %s: %w", want.model, err)
		}
	}
	if want.effort != "" && slices.ContainsFunc(c.Choices().Efforts, func(e agent.Effort) bool { return e.ID == want.effort }) {
		return c.chooseEffort(ctx, p, want.effort)
	}
	return nil
}

func (c *conn) chooseMode(ctx context.Context, p *process, id string) error {
	c.mu.Lock()
	o, ok := c.offers.mode()
	listed := ok && slices.ContainsFunc(o.values(), func(v option) bool { return v.Value == id })
	c.mu.Unlock()
	if listed {
		return c.setOption(ctx, p, o.ID, id)
	}
	if err := c.tell(ctx, p, "session/set_mode", object{"sessionId": p.id, "modeId": id}, nil); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offers.modes.CurrentModeID = id
	return nil
}

func (c *conn) chooseModel(ctx context.Context, p *process, model string) error {
	c.mu.Lock()
	o, ok := c.offers.model()
	c.mu.Unlock()
	if ok {
		return c.setOption(ctx, p, o.ID, model)
	}
	if err := c.tell(ctx, p, "session/set_model", object{"sessionId": p.id, "modelId": model}, nil); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offers.models.CurrentModelID = model
	return nil
}

func (c *conn) chooseEffort(ctx context.Context, p *process, id string) error {
	c.mu.Lock()
	o, ok := c.offers.effort()
	id = cmp.Or(id, p.effort)
	c.mu.Unlock()
	if !ok {
		return agent.ErrUnsupported
	}
	return c.setOption(ctx, p, o.ID, id)
}

// setOption sets an option; the agent answers with all of them.
func (c *conn) setOption(ctx context.Context, p *process, id, value string) error {
	var got struct{ ConfigOptions []configOption }
	if err := c.tell(ctx, p, "session/set_config_option", object{"sessionId": p.id, "configId": id, "value": value}, &got); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(got.ConfigOptions) > 0 {
		c.offers.options = got.ConfigOptions
	}
	return nil
}

// tell calls a method that not every agent has.
func (c *conn) tell(ctx context.Context, p *process, method string, params object, got any) error {
	err := p.rpc.Call(ctx, method, params, got)
	var theirs *jsonrpc.Error
	if errors.As(err, &theirs) && theirs.Code == jsonrpc.CodeMethodNotFound {
		return agent.ErrUnsupported
	}
	return err
}

// kept is what is remembered of an agent from one conversation to the next.
type kept struct {
	Version string
	Deletes bool // it can delete a conversation
	Choices agent.Choices
}

// keep changes what is remembered.
func (b *Backend) keep(change func(*kept)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.recallLocked()
	was, _ := json.Marshal(b.kept) // it never fails
	change(&b.kept)
	now, _ := json.Marshal(b.kept)
	if b.cfg.Home == "" || string(was) == string(now) {
		return
	}
	err := os.MkdirAll(b.cfg.Home, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(b.cfg.Home, offersFile), now, 0o600)
	}
	if err != nil {
		b.cfg.Logger.Warn("what an agent offers will not be known after a restart", "agent", b.cfg.Name, "error", err)
	}
}

// offersFile is in the backend's Home, beside a file for each conversation.
const offersFile = "offers.json"

// recalled returns what is remembered.
func (b *Backend) recalled() kept {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.recallLocked()
	return b.kept
}

func (b *Backend) recallLocked() {
	if b.read || b.cfg.Home == "" {
		return
	}
	b.read = true
	if text, err := os.ReadFile(filepath.Join(b.cfg.Home, offersFile)); err == nil {
		_ = json.Unmarshal(text, &b.kept) // a damaged file says nothing
	}
}

// Offers implements [agent.Offerer].
func (b *Backend) Offers(context.Context) agent.Choices { return b.recalled().Choices }

// Models implements [agent.Backend]: those of the last conversation, since an agent
// says only within one which it has.
func (b *Backend) Models(context.Context) ([]agent.Model, error) {
	return b.recalled().Choices.Models, nil
}
