package page

import (
	"strconv"
	"strings"
	"time"

	"webchat/internal/displays"
	"webchat/internal/event"
	"webchat/internal/render/code"
	"webchat/internal/wording"
)

// life is what is left of an output's.
type life struct {
	Text, Title, Dash string
	Soon              bool
}

// fillFailed makes the card of a display that showed nothing.
func (v *card) fillFailed() {
	v.State, v.Classes, v.Icon, v.Meta = "failed", "err", "alert", v.Is().Never
	switch v.Fault.Kind {
	case event.KindOutside, event.KindSensitive:
		v.Icon = "lock"
	case event.KindAborted:
		v.Classes, v.Icon = "", "stop"
	}
	bold, rest, more := strings.Cut(v.Line, ". ")
	if more {
		bold += "."
	}
	v.Say = &say{Bold: bold, Text: rest}
	if len(v.Fault.Nearest) > 0 && !v.Is().Plain {
		v.Say.Text = strings.TrimSpace(rest + " The nearest are:")
		for _, name := range v.Fault.Nearest {
			show := action{Act: "show", Label: wording.Plain(name), Icon: kindIcon(v.Kind, name), Data: name}
			v.Say.Actions = append(v.Say.Actions, show)
		}
	}
	if v.Fault.Code != "denied" && v.Fault.Code != "rejected" && !lasting(v.Fault.Kind) {
		again := action{Act: "again", Label: "Try again", Icon: "again", Quiet: len(v.Say.Actions) > 0}
		v.Say.Actions = append(v.Say.Actions, again)
	}
}

// lasting reports whether the same call fails again, whenever it is tried.
func lasting(kind event.ErrorKind) bool {
	switch kind {
	case event.KindOutside, event.KindBadArguments, event.KindUnknownTool, event.KindNotImage,
		event.KindNotRegular, event.KindTooLarge:
		return true
	}
	return false
}

// fillExpired makes the card of an output whose life is over, from the log alone.
func (v *card) fillExpired() {
	v.State, v.Classes, v.Icon = "expired", "gone", "gone"
	t := v.Telemetry
	var parts []string
	if v.Kind == displays.File {
		parts = append(parts, code.Language(v.Base, nil))
	}
	if t.ExitCode != nil {
		parts = append(parts, "exit "+strconv.Itoa(*t.ExitCode))
	}
	if t.Lines > 0 && v.Is().Lines {
		parts = append(parts, wording.Plural(t.Lines, "line"))
	}
	if t.Bytes > 0 {
		parts = append(parts, wording.Size(t.Bytes))
	}
	v.Meta = join(append(parts, "shown "+v.In.clock(v.StartedAt))...)
	v.sayExpired()
}

// sayExpired explains why an output has ended, and what showing it again does.
func (v *card) sayExpired() {
	again := action{Act: "again", Label: v.Is().Again, Icon: "again"}
	s := &say{
		Bold: "Deleted " + wording.Span(v.In.OutputTTL) + " after it was shown.",
		Text: v.Is().Later,
	}
	if toolOf(v.Tool).Logged {
		again.Label, s.Text = "Show again", "Showing it again reads it from the log."
	}
	also := action{Act: "compare", Label: again.Label + " and compare", Icon: "diff", Quiet: true}
	switch {
	case !v.DeletedAt.IsZero():
		s.Bold, s.Icon = "Deleted by you.", "trash"
	case v.In.lost(v.EndedAt):
		s.Bold, s.Text = "Deleted when webchat restarted.", "Outputs are kept in memory only."
	case !v.In.evictedAt(v.Call.Output).IsZero():
		// pinned it stays
		also = action{Act: "again-pin", Label: again.Label + " and pin", Icon: "pin", Quiet: true}
		s.Bold, s.Icon, s.Text = "Deleted early, to make room.", "trash",
			"Of those not pinned, this one had not been looked at for the longest time."
		if v.In.Budget > 0 {
			s.Text = "All outputs together may take " + wording.Limit(v.In.Budget) + ". " + s.Text
		}
	}
	if _, own := displays.ToolOf(v.Tool); !own { // nothing shows it again but another call
		s.Text = "What it showed is not kept."
		v.Say = s
		return
	}
	s.Actions = []action{again}
	if v.Is().Lines || also.Act == "again-pin" {
		s.Actions = append(s.Actions, also)
	}
	v.Say = s
}

// Was is how much a command printed whose output is gone; empty for others, and if it printed
// nothing.
func (v *card) Was() string {
	if v.State != "expired" || !v.Is().Plain || v.Telemetry.Lines == 0 {
		return ""
	}
	was := wording.Plural(v.Telemetry.Lines, "line")
	if n := v.Telemetry.TokensShown; n > 0 {
		was += " · " + wording.Plural(n, "token")
	}
	return was
}

// evictedAt is when an output had to make room for others; zero if it did not, or that is
// not known.
func (s *scope) evictedAt(id string) time.Time {
	out, _ := s.Outputs.Output(id)
	return out.EvictedAt
}

// lost reports whether an output of then was there still when webchat ended, which keeps outputs in
// memory only.
func (s *scope) lost(made time.Time) bool {
	return made.Before(s.started) && made.Add(s.OutputTTL).After(s.started)
}

// Deleted is when its life was over, as a clock shows it; empty where it was deleted at
// a moment that is not known.
func (c *Call) Deleted() string {
	at := c.DeletedAt
	if at.IsZero() {
		at = c.In.evictedAt(c.Output)
	}
	if at.IsZero() {
		if c.In.lost(c.EndedAt) {
			return ""
		}
		at = c.EndedAt.Add(c.In.OutputTTL)
	}
	return c.In.clock(at)
}

// lifeOf is what is left of a life, as text and as a part of a ring.
func lifeOf(left, whole time.Duration) *life {
	minutes := int((left + time.Minute - 1) / time.Minute)
	in := strconv.Itoa(max(0, minutes)) + " min"
	if minutes >= 120 {
		in = strconv.Itoa(minutes/60) + " h"
	}
	part := min(100, max(0, int(100*left/whole)))
	return &life{
		Text:  in + " left",
		Dash:  strconv.Itoa(part) + " 100",
		Soon:  minutes < 4,
		Title: "Gone in " + in,
	}
}
