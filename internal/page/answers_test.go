package page_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"webchat/internal/event"
	"webchat/internal/page"
	"webchat/internal/page/pagetest"
	"webchat/internal/views"
)

// longAnswer holds each kind of block, some long enough to come in parts or to
// be parted.
func longAnswer() string {
	var b strings.Builder
	b.WriteString(
		"Title\n===\n\nWords with a [link](https://go.dev/doc), ![a picture](https://sink.test/a.png) " +
			"and <b>marks</b>.\r\n\r\nSee\n| row | reach |\n|---|--:|\n")
	for i := range 90 {
		fmt.Fprintf(&b, "| row %d | **%d** ms at the most |\n", i, i*i)
	}
	b.WriteString(
		"\n1. do this\n   ```\n   make test\n   ```\n2. then\n   - [x] that\n\n> said\n> > before\n\n" +
			"```none\n")
	for i := range 60 {
		fmt.Fprintf(&b, "a line of code, number %d, of some length <b>\n", i)
	}
	b.WriteString("```\n\n---\n\nEnd *of")
	return b.String()
}

// answers are the stories about what models say, deltas in flight above all.
func answers() map[string][]event.Data {
	text := longAnswer()
	inner := func(id, text string, n int) []event.Data {
		var out []event.Data
		for _, d := range words(id, text, n) {
			m := d.(event.AssistantMessageDelta)
			m.ParentToolCallID = "c1"
			out = append(out, m)
		}
		return out
	}
	return map[string][]event.Data{
		"markdown": join(opening(), words("a1", text, 391),
			event.AssistantMessage{MessageID: "a1", Content: text}, closing(event.Completed)),
		"in flight": join(opening(), words("a1", text[:len(text)-60], 613)),
		"retries": join(opening(), words("a1", text[:2000], 500),
			event.AssistantMessageDiscarded{MessageID: "a1"}, words("a1", "Again:\n\n```go\nx", 8),
			event.AssistantMessageDiscarded{MessageID: "a1"},
			words("a2", text[:900], 100), event.AssistantMessage{MessageID: "a2", Content: text[:900]},
			closing(event.Completed)),
		"cut in code": join(opening(), words("a1", "So:\n\n```none\none\ntwo\nthr", 9),
			event.Abort{Reason: "the user stopped the turn"},
			event.AssistantMessage{MessageID: "a1", Content: "So:\n\n```none\none\ntwo\nthr", Partial: true},
			closing(event.Aborted)),
		"never whole": join(opening(), words("a1", "1. one\n2. tw", 3), closing(event.Interrupted)),
		"gap": join(opening(), event.AssistantMessageDelta{MessageID: "a1", DeltaContent: "one "},
			event.AssistantMessageDelta{MessageID: "a1", Offset: 9, DeltaContent: "lost"},
			event.AssistantMessageDelta{MessageID: "a1", Offset: 2, DeltaContent: "ce again"},
			event.AssistantMessage{MessageID: "a1", Content: "once again"}, closing(event.Completed)),
		"helper": join(opening(), event.ToolExecutionStart{
			ToolCallID: "c1",
			ToolName:   "task",
			Arguments:  raw(`{"prompt":"look"}`),
			By:         event.ByAgent,
		},
			event.SubagentStarted{ToolCallID: "c1", AgentName: "explorer"},
			inner("s1", "- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", 9),
			words("a1", "Meanwhile **outside**.", 5), event.AssistantMessage{
				MessageID:        "s1",
				Content:          "- one\n- two",
				ParentToolCallID: "c1",
			},
			event.AssistantReasoningDelta{
				ReasoningID:      "r1",
				DeltaContent:     "```\nx\n",
				ParentToolCallID: "c1",
			}, event.AssistantReasoning{
				ReasoningID:      "r1",
				Content:          "```\nx\ny",
				ParentToolCallID: "c1",
			}, event.AssistantMessage{
				MessageID: "a1",
				Content:   "Meanwhile **outside**.",
			}, event.SubagentFailed{ToolCallID: "c1", AgentName: "explorer", Error: "out of context"},
			event.ToolExecutionComplete{
				ToolCallID: "c1",
				Error:      &event.ToolError{Message: "failed", Code: "failure"},
				DurationMs: 900,
			}, closing(event.Failed)),
		"steps between": join(opening(), manySteps(7), words("a1", "Then:\n\n- a\n", 4),
			event.AssistantMessage{MessageID: "a1", Content: "Then:\n\n- a\n- b"},
			step("x1", "grep", `{"pattern":"x"}`), step("s8", "view", `{}`), closing(event.Completed)),
	}
}

// However an answer is cut into deltas, and wherever a reader joins, the page is
// the same: what is in flight comes as one delta to who joins.
func TestDeltasAnyCut(t *testing.T) {
	text := longAnswer()
	p := pages(t, 3)
	rapid.Check(t, func(rt *rapid.T) {
		l := newLog().add(opening()...)
		cut, at := rapid.IntRange(20, 900), 0
		live := p.Projector("s1")
		live.Feed(l.entries...)
		d := pagetest.Parse(t, wholePage(t, p, live))
		for end := rapid.IntRange(0, len(text)).Draw(rt, "end"); at < end; {
			n := min(end-at, cut.Draw(rt, "cut"))
			done := len(l.entries)
			l.add(event.AssistantMessageDelta{
				MessageID:    "a1",
				Offset:       int64(at),
				DeltaContent: text[at : at+n],
			})
			at += n
			if f, ok := live.Feed(l.entries[done:]...); ok {
				d.Apply(f.Data())
			}
		}
		joined := p.Projector("s1")
		joined.Load(newLog().add(opening()...).entries...)
		if at > 0 {
			joined.InFlight(l.pos,
				(&logbook{now: l.now.Add(-time.Second)}).add(event.AssistantMessageDelta{
					MessageID:    "a1",
					DeltaContent: text[:at],
				}).entries...)
		}
		if want := pagetest.Parse(t, wholePage(t, p, joined)).State(); want != d.State() {
			rt.Fatalf("joined:\n%s\nstreamed:\n%s", want, d.State())
		}
	})
}

// lives is a shelf whose outputs are gone when their life is over.
type lives struct {
	shelf
	now *time.Time
}

func (l lives) Output(id string) (views.Output, bool) {
	o, ok := l.shelf.Output(id)
	return o, ok && l.now.Before(o.ExpiresAt)
}

// A card keeps its place, its name and its receipt when its output is gone, and
// a page that comes back with the next change of its turn sees that it is.
func TestOutputsExpire(t *testing.T) {
	now := start.Add(time.Minute)
	p, err := page.New(page.Config{
		Outputs:  lives{stored, &now},
		Location: time.UTC,
		Now:      func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	l := newLog().add(stories()["cards"]...)
	pr := p.Projector("s1")
	pr.Feed(l.entries...)
	d := pagetest.Parse(t, wholePage(t, p, pr))
	before := pr.Transcript()
	now = now.Add(time.Hour)
	after := pr.Transcript()
	for _, part := range []string{`id="c-c1.r"`, `data-name="go.mod"`, "<b>9</b>", "of 112"} {
		if !strings.Contains(before, part) || !strings.Contains(after, part) {
			t.Errorf("%s is lost: %v before, %v after", part, strings.Contains(before, part),
				strings.Contains(after, part))
		}
	}
	if n := strings.Count(after, `data-state="expired"`); n != 4 ||
		strings.Contains(after, "Let the agent read") {
		t.Errorf("%d cards have expired:\n%s", n, after)
	}
	l.add(event.UserMessage{MessageID: "m2", Content: "and?"})
	f, _ := pr.Feed(l.entries[len(l.entries)-1:]...)
	d.Apply(f.Data())
	back, _ := pr.Join(-1)
	d.Apply(back.Data())
	if want := pagetest.Parse(t, wholePage(t, p, pr)).State(); want != d.State() {
		t.Errorf("reload:\n%s\njoined:\n%s", want, d.State())
	}
}

// evicted is outputs that are gone, and when those had to make room that had to.
type evicted map[string]time.Time

func (e evicted) Output(id string) (views.Output, bool) {
	return views.Output{EvictedAt: e[id]}, false
}

// Why an output is gone is what its store knows, which is before the log when its life is
// over: the log has the moment at which the tool's result was written.
func TestGoneOutputsSayWhy(t *testing.T) {
	early := start.Add(10*time.Minute + 5*time.Second)
	now, gone := start, evicted{}
	p, err := page.New(page.Config{Outputs: gone, Location: time.UTC, Now: func() time.Time {
		return now
	}})
	if err != nil {
		t.Fatal(err)
	}
	l := newLog().add(stories()["cards"]...)
	for _, tt := range []struct {
		after     time.Duration
		evictedAt time.Time
		want, not string
	}{
		{29*time.Minute + 50*time.Second, time.Time{}, "Deleted 30 minutes after it was shown.",
			"Deleted early"},
		{2 * time.Hour, time.Time{}, "Deleted 30 minutes after it was shown.", "Deleted early"},
		{11 * time.Minute, early, "Deleted early, to make room.", "Deleted 30 minutes"},
		{2 * time.Hour, early, "Deleted early, to make room.", "Deleted 30 minutes"},
	} {
		now = start.Add(tt.after)
		for _, id := range []string{"out_A", "out_I", "out_X", "out_gone"} {
			gone[id] = tt.evictedAt
		}
		pr := p.Projector("s1")
		pr.Feed(l.entries...)
		if src := pr.Transcript(); !strings.Contains(src, tt.want) || strings.Contains(src, tt.not) {
			t.Errorf("%v later, evicted %v: not %q:\n%s", tt.after, tt.evictedAt, tt.want, src)
		}
	}
}

// A frame holds what changed and not what stands above it.
func TestDeltaFramesAreSmall(t *testing.T) {
	p := pages(t, 3)
	for name, text := range map[string]string{
		"prose": strings.Repeat("Some words and no more.\n\n", 8000), "code": "```none\n" +
			strings.Repeat("a line of code\n", 13_000),
		"table":    "| a | b |\n|---|---|\n" + strings.Repeat("| one | two |\n", 14_000),
		"list":     strings.Repeat("- an item of a list\n", 10_000),
		"one line": strings.Repeat("word ", 40_000),
	} {
		pr := p.Projector("s1")
		l := newLog().add(opening()...).add(event.AssistantMessageDelta{
			MessageID:    "a1",
			DeltaContent: text,
		})
		pr.Load(l.entries...)
		for i := range 50 {
			l.add(event.AssistantMessageDelta{
				MessageID:    "a1",
				Offset:       int64(len(text) + 20*i),
				DeltaContent: text[len(text)-1000+20*i:][:20],
			})
			f, ok := pr.Feed(l.entries[len(l.entries)-1])
			if size := len(f.Data()); ok && size > 32<<10 {
				t.Fatalf("%s: a frame of %d bytes for a delta of 20", name, size)
			}
		}
	}
}

// A long answer that comes at once reaches a page in operations between which it can do
// something else.
func TestLongAnswersComeInPieces(t *testing.T) {
	p := pages(t, 3)
	l := newLog().add(opening()...)
	live := p.Projector("s1")
	live.Feed(l.entries...)
	d := pagetest.Parse(t, wholePage(t, p, live))
	done := len(l.entries)
	text := strings.Repeat("The limit stands in pump.go:3, see it.\n\n- one\n", 10_000)
	l.add(event.AssistantMessage{MessageID: "a1", Content: text})
	f, _ := live.Feed(l.entries[done:]...)
	for _, op := range f.Ops {
		if len(op.HTML) > 64<<10 {
			t.Errorf("one operation has %d bytes: %.80s", len(op.HTML), op.HTML)
		}
	}
	d.Apply(f.Data())
	again := p.Projector("s1")
	again.Load(l.entries...)
	if want := pagetest.Parse(t, wholePage(t, p, again)).State(); want != d.State() {
		t.Errorf("a page that loads it has something else: %d and %d bytes", len(want), len(d.State()))
	}
}

// A page that comes back to a long answer in flight, or to its end, gets that in pieces, too, and
// what it has of it never becomes less.
func TestLongAnswersAreRejoinedInPieces(t *testing.T) {
	p := pages(t, 3)
	const paragraph = "The limit stands in pump.go:3, see it.\n\n- one\n\n"
	text := strings.Repeat(paragraph, 2500)
	half := len(text) / 2
	l := newLog().add(opening()...)
	live := p.Projector("s1")
	live.Feed(l.entries...)
	reader := pagetest.Parse(t, wholePage(t, p, live))
	feed := func(d event.Data) page.Frame {
		l.add(d)
		f, _ := live.Feed(l.entries[len(l.entries)-1])
		return f
	}
	reader.Apply(feed(event.AssistantMessageDelta{MessageID: "a1", DeltaContent: text[:half]}).Data())
	after := live.Seq()
	feed(event.AssistantMessageDelta{MessageID: "a1", Offset: int64(half), DeltaContent: text[half:]})
	rejoins := func(when string) {
		t.Helper()
		d := reader.Clone()
		f, _ := live.Join(after)
		had := strings.Count(d.State(), "see it.")
		for i, op := range f.Ops {
			if len(op.HTML) > 64<<10 {
				t.Errorf("%s: one operation has %d bytes: %.80s", when, len(op.HTML), op.HTML)
			}
			step := f
			step.Ops = f.Ops[i : i+1]
			d.Apply(step.Data())
			if has := strings.Count(d.State(), "see it."); has < had {
				t.Fatalf("%s: operation %d left %d of %d paragraphs", when, i, has, had)
			} else {
				had = has
			}
		}
		if want := pagetest.Parse(t, wholePage(t, p, live)).State(); want != d.State() {
			t.Errorf("%s: a page that loads it has something else: %d and %d bytes", when, len(want),
				len(d.State()))
		}
		if had != 2500 {
			t.Errorf("%s: it has %d paragraphs in the end", when, had)
		}
	}
	rejoins("in flight")
	feed(event.AssistantMessage{MessageID: "a1", Content: text})
	rejoins("at its end")
}
