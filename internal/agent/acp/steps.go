package acp

import (
	"fmt"
	"slices"

	"webchat/internal/event"
)

// steps are the calls of the agent's model in a turn, of which each ends in a usage_update: between
// two of them it was a tool that made the agent go on. Where the agent reports none, it refused
// what the model asked for by itself (codex-acp 2.6.0).
type steps struct {
	acted  bool // a tool was reported since the last end
	silent bool // none was before it
	hidden int  // how many ended silently, and were not the last
}

// ended takes the end of a call of the model. A command that still runs may be waited for.
func (s *steps) ended(calls []*call) {
	if s.silent {
		s.hidden++
	}
	runs := slices.ContainsFunc(calls, func(k *call) bool { return !k.ended() })
	s.silent, s.acted = !s.acted && !runs, false
}

// warnHidden reports that the agent refused calls itself, which it does not show.
func (c *conn) warnHidden() {
	if n := c.steps.hidden; c.b.cfg.Hides && n > 0 {
		times := "once"
		if n > 1 {
			times = fmt.Sprintf("%d times", n)
		}
		c.Warn(event.KindProvider,
			"%s went on %s without showing why. It does not show a command that it refuses by itself.",
			c.Title, times)
	}
}
