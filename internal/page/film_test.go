package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/page"
)

// day is a session in which something is looked at, changed, asked and summed up.
func day() []event.Entry {
	shown := event.ToolExecutionComplete{
		ToolCallID:    "c1",
		Success:       true,
		OutputID:      "out_A",
		Result:        &event.ToolResult{Content: "Displayed go.mod to user (10 lines)"},
		ToolTelemetry: raw(`{"outputType":"file","lines":10,"tokensShown":3412,"tokensSent":9}`),
	}
	changed := event.ToolExecutionComplete{
		ToolCallID: "c2",
		Success:    true,
		Result: &event.ToolResult{
			Content:         "ok",
			DetailedContent: "--- a/pump.go\n+++ b/pump.go\n@@ -1 +1 @@\n-late by one\n+in time\n",
		},
	}
	gone := shown
	gone.ToolCallID, gone.OutputID = "c3", "out_gone"
	end := func(turn, message string, u event.Usage) event.TurnEnd {
		return event.TurnEnd{TurnID: turn, MessageID: message, Outcome: event.Completed, Usage: u}
	}
	return newLog().add(join(opening(),
		event.ToolExecutionStart{
			ToolCallID: "c1",
			ToolName:   "render_file_contents",
			By:         event.ByAgent,
			Arguments:  raw(`{"path":"go.mod"}`),
		}, shown,
		event.AssistantMessage{MessageID: "a1", Content: "There it is."},
		end("t1", "m1", event.Usage{
			Calls:            2,
			InputTokens:      900,
			OutputTokens:     80,
			KeptTokens:       3403,
			DefinitionTokens: 5,
		}),
		event.UserMessage{MessageID: "m2", Content: "fix it"},
		event.TurnStart{TurnID: "t2", MessageID: "m2"},
		event.ToolExecutionStart{
			ToolCallID: "c2",
			ToolName:   "edit",
			Arguments:  raw(`{"path":"pump.go"}`),
		}, changed,
		event.SessionCompactionComplete{},
		event.ToolExecutionStart{
			ToolCallID: "c3",
			ToolName:   "run_and_display",
			Arguments:  raw(`{"command":"go test"}`),
		}, gone,
		end("t2", "m2", event.Usage{
			Calls:            1,
			InputTokens:      1000,
			EstimatedTokens:  1000,
			KeptTokens:       3403,
			DefinitionTokens: 5,
		}))...).entries
}

// momentOf is the page of a replay after an event.
func momentOf(t *testing.T, p *page.Pages, entries []event.Entry, at int64,
	tab string) *goquery.Document {
	t.Helper()
	film := &page.Film{}
	film.Take(entries...)
	pr := p.ForReplay("s1")
	for _, e := range entries {
		if e.Seq <= at {
			pr.Load(e)
		}
	}
	var b strings.Builder
	if err := p.Replay(&b, film, at, tab, pr); err != nil {
		t.Fatal(err)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func inWords(s *goquery.Selection) string { return strings.Join(strings.Fields(s.Text()), " ") }

// At each moment the left has what the model held, the right what was seen last, and the figures
// are those of the sheet behind the meter at that moment.
func TestReplayAtAMoment(t *testing.T) {
	p, entries := pages(t, 40), day()
	for _, c := range []struct {
		at                        int64
		tab                       string
		held, notHeld, saw, costs string
	}{
		{2, "", "show me go.mod", "Displayed", "Nothing was shown before this moment",
			"Nothing sent to a model so far"},
		{6, "", "Displayed go.mod to user (10 lines)", "There it is", "as shown at 14:02",
			"Sent, no size reported yet"},
		{8, "", "There it is.", "fix it", "as shown at 14:02 · Go · 10 lines",
			"so far 980 tokenshad everything shown been read 4,383"},
		{12, "", "Editedpump.go", "summarized", "as changed at 14:021−late by one 1+in time",
			"so far 980 tokens"},
		{15, "", "Displayed go.mod", "", "It was the output of go test", "so far 980 tokens"},
		{16, "", "summarized", "", "a replay reads and runs nothing again",
			"so far 1,980 tokenshad everything shown been read 8,786"},
		{16, "c-c2", "fix it", "", "in time", "so far 1,980"},
	} {
		t.Run(fmt.Sprint(c.at, c.tab), func(t *testing.T) {
			doc := momentOf(t, p, entries, c.at, c.tab)
			held, saw, costs := inWords(doc.Find("#held")), inWords(doc.Find("#saw")),
				inWords(doc.Find("#figures span:not([hidden])"))
			if !strings.Contains(held, c.held) || c.notHeld != "" && strings.Contains(held, c.notHeld) {
				t.Errorf("held: %s", held)
			}
			if !strings.Contains(saw, c.saw) {
				t.Errorf("saw: %s", saw)
			}
			if !strings.Contains(costs, c.costs) {
				t.Errorf("costs: %s", costs)
			}
			if doc.Find("#held .lines, #held [data-act]").Length() > 0 {
				t.Error("the left shows what the model did not hold, or acts")
			}
		})
	}
	doc := momentOf(t, p, entries, 9, "")
	for kind, want := range map[string]int{"prompt": 2, "look": 2, "edit": 1, "compaction": 1,
		"question": 0} {
		if n := doc.Find(fmt.Sprintf(`.film-mark[aria-label^=%s]`, kind)).Length(); n != want {
			t.Errorf("%d marks of kind %s, want %d", n, kind, want)
		}
	}
	if id, _ := momentOf(t, p, entries, 5, "").Find("[data-go]").Attr("data-go"); id != "m2" {
		t.Errorf("it goes on before %q", id)
	}
	if n := doc.Find(".film-guess").Length(); n != 1 {
		t.Errorf("%d columns have an estimated part, want that of the last turn", n)
	}
	if few := momentOf(t, p, entries[:2], 2, ""); few.Find("#film").Length() > 0 ||
		!strings.Contains(inWords(few.Find(".replay-bar")), "Nothing to step through yet") {
		t.Error("two events have a film")
	}
}

// However long a log, what is drawn of it is bounded, its end is exact, and a moment needs few of
// its events.
func TestFilmOfALongLogIsBounded(t *testing.T) {
	l := newLog().add(opening()[0])
	for i := range 10_000 {
		m := fmt.Sprint("m", i)
		l.add(event.UserMessage{MessageID: m, Content: "x"},
			event.TurnStart{TurnID: "t" + m, MessageID: m},
			event.ToolExecutionStart{
				ToolCallID: "c" + m,
				ToolName:   "render_file_contents",
				Arguments:  raw(`{"path":"go.mod"}`),
			},
			event.ToolExecutionComplete{
				ToolCallID:    "c" + m,
				Success:       true,
				OutputID:      "out_" + m,
				ToolTelemetry: raw(`{"tokensShown":100,"tokensSent":9}`),
			},
			event.TurnEnd{
				TurnID:    "t" + m,
				MessageID: m,
				Outcome:   event.Completed,
				Usage:     event.Usage{Calls: 1, InputTokens: 7, KeptTokens: 91},
			})
	}
	film := &page.Film{}
	film.Take(l.entries...)
	film.Take(l.entries...) // what it has is left out
	last := film.Last()
	if last != 50_001 {
		t.Fatalf("it has %d events", last)
	}
	at := int64(31_234)
	sum := film.Before(at)
	if sum.LastSeq > at || at-sum.LastSeq > 256 {
		t.Errorf("from %d to %d", sum.LastSeq, at)
	}
	var want eventlog.Summary
	for _, e := range l.entries[:sum.LastSeq] {
		want = eventlog.Summarize(want, e)
	}
	if sum.Usage != want.Usage || sum.Tokens != want.Tokens {
		t.Errorf("%+v, want %+v", sum.Usage, want.Usage)
	}
	p, err := page.New(page.Config{Outputs: stored})
	if err != nil {
		t.Fatal(err)
	}
	pr := p.ForReplay("s1")
	pr.Load(l.entries[len(l.entries)-10:]...)
	var b strings.Builder
	if err := p.Replay(&b, film, last, "", pr); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 400_000 || !strings.Contains(b.String(), "50001 70000 980000") {
		t.Errorf("the page has %d bytes", b.Len())
	}
}
