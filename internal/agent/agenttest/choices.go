package agenttest

import (
	"errors"
	"slices"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// checkChoices makes each choice there is, and some there are not.
func checkChoices(tb testing.TB, b agent.Backend, o Options) {
	r := open(tb, b, o, nil)
	defer r.close()
	c, ok := r.conn.(agent.Chooser)
	if !ok {
		return
	}
	all := c.Choices()
	r.named(all)
	opened := len(r.host.Events()) // the models may be reported with the opening
	for _, m := range all.Modes {
		err := r.inTime("SetMode", func() error { return c.SetMode(tb.Context(), m.ID) })
		switch {
		case m.Unasked && !errors.Is(err, agent.ErrUnsupported):
			tb.Errorf("SetMode(%q), in which the agent does not ask, returned %v", m.ID, err)
		case !m.Unasked && err != nil:
			tb.Errorf("SetMode(%q): %v", m.ID, err)
		case !m.Unasked && c.Choices().Mode != m.ID:
			tb.Errorf("after SetMode(%q) the mode is %q", m.ID, c.Choices().Mode)
		}
	}
	for _, e := range c.Choices().Efforts {
		if err := r.inTime("SetEffort", func() error {
			return c.SetEffort(tb.Context(), e.ID)
		}); err != nil {
			tb.Errorf("SetEffort(%q): %v", e.ID, err)
		}
	}
	if err := c.SetMode(tb.Context(), "no-such-mode"); !errors.Is(err, agent.ErrUnsupported) {
		tb.Errorf("SetMode with a mode there is not returned %v", err)
	}
	if err := c.SetEffort(tb.Context(), "no-such-effort"); !errors.Is(err, agent.ErrUnsupported) {
		tb.Errorf("SetEffort with an effort there is not returned %v", err)
	}
	for _, d := range r.host.Events()[opened:] {
		switch d.(type) {
		case event.SessionModeChanged, event.SessionModelChange:
			tb.Errorf("a choice of the user's was reported: %+v", d)
		}
	}
	r.mustAnswer(o, "after its mode was changed")
	if o.Stray == "" {
		return
	}
	r.prompt(o.Stray)
	strayed := func(d event.Data) bool {
		m, ok := d.(event.SessionModeChanged)
		return ok && m.Mode != ""
	}
	if !slices.ContainsFunc(r.host.Events(), strayed) {
		tb.Errorf("the agent went over to another mode, and that was not reported")
	}
}

// named fails for a choice that cannot be shown.
func (r *rig) named(c agent.Choices) {
	r.tb.Helper()
	has := map[string]bool{}
	for _, m := range c.Modes {
		if m.ID == "" || m.Name == "" || has[m.ID] {
			r.tb.Errorf("a mode without id or name, or one that is there twice: %+v", m)
		}
		has[m.ID] = true
	}
	if c.Mode != "" && !has[c.Mode] {
		r.tb.Errorf("the mode is %q, which is not among the choices", c.Mode)
	}
	for _, e := range c.Efforts {
		if e.ID == "" || e.Name == "" {
			r.tb.Errorf("an effort without id or name: %+v", e)
		}
	}
	for _, k := range c.Commands {
		if k.Name == "" || k.Name[0] == '/' {
			r.tb.Errorf("a command without a name, or with a / in front of it: %+v", k)
		}
	}
}
