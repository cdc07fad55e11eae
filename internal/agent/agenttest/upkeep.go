package agenttest

import (
	"slices"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// can reports whether the conversation has an ability.
func (r *rig) can(what agent.Ability) bool {
	c, ok := r.conn.(agent.Chooser)
	return ok && slices.Contains(c.Choices().Can, what)
}

// checkCompact has the conversation summarized, and goes on.
func checkCompact(tb testing.TB, b agent.Backend, o Options) {
	r := open(tb, b, o, nil)
	defer r.close()
	if !r.can(agent.CanCompact) {
		return
	}
	c, ok := r.conn.(agent.Compacter)
	if !ok {
		tb.Fatal("it promises to sum up the conversation and has no Compact")
	}
	for range 2 {
		r.mustAnswer(o, "before it is to sum up")
	}
	if err := r.inTime("Compact", func() error {
		return c.Compact(tb.Context(), "keep the names")
	}); err != nil {
		tb.Errorf("Compact: %v", err)
	}
	var seen []string
	for _, d := range r.host.Events() {
		switch d.(type) {
		case event.SessionCompactionStart, event.SessionCompactionComplete:
			seen = append(seen, string(event.TypeOf(d)))
		}
	}
	if !slices.Equal(seen, []string{"session.compaction_start", "session.compaction_complete"}) {
		tb.Errorf("of the summing up it reported %q", seen)
	}
	r.mustAnswer(o, "after it summed up")
}

// checkClear has the agent forget the conversation, and goes on.
func checkClear(tb testing.TB, b agent.Backend, o Options) {
	r := open(tb, b, o, nil)
	defer r.close()
	if !r.can(agent.CanClear) {
		return
	}
	c, ok := r.conn.(agent.Clearer)
	if !ok {
		tb.Fatal("it promises to forget the conversation and has no Clear")
	}
	r.mustAnswer(o, "before it is to forget")
	for range 2 { // the second time there is nothing to forget
		if err := r.inTime("Clear", func() error { return c.Clear(tb.Context()) }); err != nil {
			tb.Errorf("Clear: %v", err)
		}
	}
	r.mustAnswer(o, "after it forgot")
	if slices.Contains(o.Offered(tb), "view") {
		tb.Error("after it forgot, the tool view is offered")
	}
}

// checkInside asks what the agent works with, before its first prompt and after.
func checkInside(tb testing.TB, b agent.Backend, o Options) {
	r := open(tb, b, o, nil)
	defer r.close()
	d, ok := r.conn.(agent.Describer)
	if !ok {
		for _, what := range []agent.Ability{agent.CanContext, agent.CanInstructions, agent.CanHelpers,
			agent.CanSkills} {
			if r.can(what) {
				tb.Errorf("it promises to tell of %s and has no Describe", what)
			}
		}
		return
	}
	for range 2 {
		var all agent.Inside
		err := r.inTime("Describe", func() (err error) {
			all, err = d.Describe(tb.Context())
			return err
		})
		if err != nil {
			tb.Errorf("Describe: %v", err)
		}
		r.reported(all)
		r.mustAnswer(o, "after it told what it works with")
	}
}

// reported fails for parts that were not promised, or cannot be shown.
func (r *rig) reported(all agent.Inside) {
	r.tb.Helper()
	for what, reported := range map[agent.Ability]bool{agent.CanContext: all.Context != nil,
		agent.CanInstructions: all.Instructions != nil,
		agent.CanHelpers:      all.Helpers != nil, agent.CanSkills: all.Skills != nil} {
		if reported != r.can(what) {
			r.tb.Errorf("it promises to tell of %s: %v; it tells: %v", what, !reported, reported)
		}
	}
	if c := all.Context; c != nil {
		sum := int64(0)
		for _, p := range c.Parts {
			if p.Name == "" || p.Tokens < 0 {
				r.tb.Errorf("a part of the context without a name, or of less than nothing: %+v", p)
			}
			sum += p.Tokens
		}
		if sum != c.Used {
			r.tb.Errorf("the parts of the context add up to %d, not %d", sum, c.Used)
		}
	}
	for _, i := range all.Instructions {
		if i.Path == "" {
			r.tb.Errorf("an instruction file without a path: %+v", i)
		}
	}
	for _, h := range all.Helpers {
		if h.Name == "" {
			r.tb.Errorf("a helper without a name: %+v", h)
		}
	}
	for _, s := range all.Skills {
		if s.Name == "" {
			r.tb.Errorf("a skill without a name: %+v", s)
		}
	}
}
