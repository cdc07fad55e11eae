package page_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/page"
)

var bars = regexp.MustCompile(
	`class="out" x="([\d.]+)%" width="([\d.]+)%"[^>]*/>\s*<rect class="held" width="([\d.]+)%"`)

// However much was shown, what the model holds and what only the user saw fit the meter,
// and the number is no more than the model has room for; without a model there is none.
func TestMeterNeverExceedsItsRoom(t *testing.T) {
	for _, c := range []struct {
		held, limit, shown int64
		seen               string
	}{
		{0, 128_000, 0, ""},
		{3_000, 128_000, 300, "291 seen"},
		{14_200, 128_000, 57_109, "57.1k seen"},
		{14_200, 128_000, 47_398_896, "113k or more seen"},
		{127_999, 128_000, 5_000, "1 or more seen"},
		{140_000, 128_000, 5_000, "0 or more seen"},
		{9_000, 0, 5_000, "5.0k seen"},
	} {
		p := pages(t, 3)
		pr := p.Projector("s1")
		log := newLog().add(join(opening(), event.SessionUsageInfo{
			CurrentTokens: c.held,
			TokenLimit:    c.limit,
		},
			show("c1", "render_file_contents", `{"path":"a.txt"}`, "o1",
				fmt.Sprintf(`{"tokensShown":%d,"tokensSent":9}`, c.shown)), closing(event.Completed))...)
		for _, e := range log.entries {
			pr.Feed(e)
		}
		html := wholePage(t, p, pr)
		if m := bars.FindStringSubmatch(html); m == nil {
			if c.limit > 0 {
				t.Errorf("%+v: the meter has no bar", c)
			}
		} else {
			x, out, held := num(t, m[1]), num(t, m[2]), num(t, m[3])
			if x != held || x+out > 100.05 {
				t.Errorf("%+v: the bar goes from %v%% by %v%%, and %v%% are held", c, x, out, held)
			}
		}
		if got := regexp.MustCompile(`[^>]*seen only by you`).FindString(
			strings.ReplaceAll(strings.ReplaceAll(html, `<span class="word">`, ""), " </span>",
				" ")); c.seen == "" && got != "" || c.seen != "" && got != c.seen+" only by you" {
			t.Errorf("%+v: the meter says %q", c, got)
		}
	}
}

// What the meter says of the model goes with what the log and the agent say: a figure of the
// log has its time, one that the agent reported since has none, and none outlives what made
// it untrue. What is not known is not said.
func TestMeterOfALog(t *testing.T) {
	fill := event.SessionUsageInfo{CurrentTokens: 14_200, TokenLimit: 128_000}
	end := event.TurnEnd{
		TurnID:    "t1",
		MessageID: "m1",
		Outcome:   event.Completed,
		Usage:     event.Usage{InputTokens: 900, Calls: 2},
		Fill:      &event.Fill{CurrentTokens: 14_200, TokenLimit: 128_000},
	}
	const now, sent = "14.2k of 128k in context", "900 tokens sent in 2 model calls"
	for _, c := range []struct {
		name string
		data []event.Data
		late *page.Past // a page of the end of that log
		want string
	}{
		{"new", opening()[:1], nil, "Nothing sent yet"},
		{"a prompt waits", opening()[:2], nil, "Nothing sent yet"},
		{"a turn runs", opening(), nil, "Sent, no size reported yet"},
		{"the agent reports", join(opening(), fill), nil, now},
		{"the agent reports no limit", join(opening(), event.SessionUsageInfo{CurrentTokens: 900}), nil,
			"900 in context"},
		{"the turn ended", join(opening(), fill, end), nil, now},
		{"only the log", join(opening(), end), nil, now + " at 14:02"},
		{"the agent forgot", join(opening(), fill, end,
			event.SessionRewound{ToMessageID: "m1", After: 1}), nil, sent},
		{"another model", join(opening(), fill, end, event.SessionModelChange{NewModel: "small"}), nil,
			sent},
		{"its conversation is lost", join(opening(), end,
			event.SessionError{Message: "It forgot.", ErrorType: event.ErrorForgotten}), nil, sent},
		{"a branch", join(opening(), event.TurnEnd{TurnID: "t1", MessageID: "m1"},
			event.SessionBranched{From: "s0"}), nil, "Nothing sent yet"},
		{"the day before", opening()[1:], &page.Past{Summary: eventlog.Summary{
			Backend: "copilot",
			Open: eventlog.Open{Begun: true, Fill: &eventlog.Fill{
				Fill: *end.Fill,
				At:   start.AddDate(0, 0, -1).UnixMilli(),
			}},
		}}, now + " on 19 November"},
	} {
		p := pages(t, 3)
		pr := p.Projector("s1")
		if entries := newLog().add(c.data...).entries; c.late != nil {
			pr.LoadEnd(*c.late, entries...)
		} else {
			for _, e := range entries {
				pr.Feed(e)
			}
		}
		_, words, _ := strings.Cut(meterOf.FindString(wholePage(t, p, pr)), ">")
		if got := strings.Join(strings.Fields(tag.ReplaceAllString(words, "")), " "); got != c.want {
			t.Errorf("%s: the meter says %q, want %q", c.name, got, c.want)
		}
	}
}

var (
	meterOf = regexp.MustCompile(`(?s)id="meter".*?</(?:button|p)>`)
	tag     = regexp.MustCompile(`<[^>]*>`)
)

func num(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
