package page_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/page"
	"webchat/internal/page/pagetest"
)

// life is a session with prompts that wait, displays beside and between turns, things
// shown again, notes, questions and changes of title and model.
func life(seed uint64, turns int) []event.Entry {
	r := rand.New(rand.NewPCG(seed, 1))
	l := newLog().add(event.SessionStart{
		SessionID:    "s1",
		Backend:      "copilot",
		Model:        "acme/large",
		Context:      event.Context{Cwd: "/home/me/code/relay"},
		Instructions: []string{"/home/me/code/relay/AGENTS.md"},
	})
	n := 0
	next := func(prefix string) string { n++; return fmt.Sprint(prefix, n) }
	var waiting, running []string // prompts, displays of the user's
	shown := func(id string) event.ToolExecutionComplete {
		return event.ToolExecutionComplete{
			ToolCallID:   id,
			Success:      true,
			Result:       &event.ToolResult{Content: "Displayed it"},
			OutputID:     []string{"out_A", "out_L", "out_gone"}[r.IntN(3)],
			ResultTokens: 9,
			Fingerprint:  &event.Fingerprint{Sum: r.Uint32N(3)},
			ToolTelemetry: raw(
				fmt.Sprintf(
					`{"outputType":"file","bytes":10,"tokensShown":%d,"tokensSent":9,"tokensEstimated":%t}`,
					r.IntN(3)*100, r.IntN(9) == 0)),
		}
	}
	path := func() []byte { return raw(fmt.Sprintf(`{"path":"f%d.go"}`, r.IntN(3))) }
	beside := func() {
		switch r.IntN(9) {
		case 0:
			id := next("m")
			l.add(event.UserMessage{MessageID: id, Content: "prompt " + id})
			waiting = append(waiting, id)
		case 1:
			id := next("u")
			l.add(event.ToolExecutionStart{
				ToolCallID: id,
				ToolName:   "render_file_contents",
				Arguments:  path(),
				By:         event.ByUser,
			})
			running = append(running, id)
		case 2:
			if len(running) > 0 {
				l.add(shown(running[0]))
				running = running[1:]
			}
		case 3:
			l.add(event.SessionTitleChanged{Title: next("title ")})
		case 4:
			l.add(event.SessionModelChange{NewModel: next("model-")})
		case 5:
			l.add(event.SessionError{
				Message:   "Worth knowing.",
				ErrorType: event.ErrorWarning,
				Kind:      event.KindProvider,
			})
		case 6:
			l.add(event.SessionShutdown{SessionID: "s1"},
				event.SessionResume{
					SessionID: "s1",
					Backend:   "copilot",
					Model:     "acme/large",
					Context:   event.Context{Cwd: "/home/me/code/relay"},
				})
		}
	}
	for range turns {
		beside()
		if len(waiting) == 0 {
			id := next("m")
			l.add(event.UserMessage{MessageID: id, Content: "prompt " + id})
			waiting = append(waiting, id)
		}
		m, t := waiting[0], next("t")
		waiting = waiting[1:]
		l.add(event.TurnStart{TurnID: t, MessageID: m}, event.AssistantTurnStart{TurnID: t})
		for range r.IntN(4) {
			id := next("c")
			l.add(event.ToolExecutionStart{
				ToolCallID: id,
				ToolName:   []string{"view", "render_file_contents"}[r.IntN(2)],
				Arguments:  path(),
				By:         event.ByAgent,
			})
			if r.IntN(3) == 0 {
				q := next("q")
				l.add(allow(q, id, "make"))
				beside()
				l.add(event.PermissionCompleted{RequestID: q, Decision: event.Deny, By: event.DecidedByUser})
			}
			beside()
			l.add(shown(id))
		}
		l.add(event.AssistantMessage{MessageID: next("a"), Content: "Answer."})
		end := event.TurnEnd{
			TurnID:    t,
			MessageID: m,
			Outcome:   event.Completed,
			Usage:     event.Usage{DefinitionTokens: 5},
		}
		if n%2 == 0 {
			end.Fill = &event.Fill{TokenLimit: 128_000, CurrentTokens: int64(100 * n)}
		}
		if len(waiting) > 0 && r.IntN(2) == 0 {
			end.Steered, waiting = waiting[:1:1], waiting[1:]
		}
		l.add(end)
	}
	return l.entries
}

// past is what a log came to, as a session has it.
func past(entries []event.Entry) page.Past {
	names := map[string]string{}
	w := page.Past{Cwd: "/home/me/code/relay"}
	for _, e := range entries {
		w.Summary = eventlog.Summarize(w.Summary, e)
		switch d := e.Event.Data.(type) {
		case event.SessionResume:
			w.Model = d.Model
		case event.ToolExecutionStart:
			_, names[d.ToolCallID], _ = strings.Cut(strings.TrimSuffix(string(d.Arguments), `"}`), `:"`)
		case event.ToolExecutionComplete:
			if _, ok := stored[d.OutputID]; ok {
				w.Readable = append(w.Readable, page.Readable{
					Call:     d.ToolCallID,
					Output:   d.OutputID,
					Type:     "file",
					Name:     names[d.ToolCallID],
					Complete: true,
				})
			}
		}
	}
	return w
}

// end is what a projector has to be fed of a log.
func end(cut *event.Cut, entries []event.Entry) []event.Entry {
	for i := len(entries) - 1; i >= 0; i-- {
		if cut.Take(entries[i]) {
			return entries[i:]
		}
	}
	return entries
}

// A page of the end of a log is the page of all of it, wherever the log ends.
func TestEndEqualsWhole(t *testing.T) {
	least := 1 << 30
	for seed := range uint64(2) {
		entries := life(seed, 20)
		p := pages(t, 3)
		whole := p.Projector("s1")
		for i := range entries {
			whole.Load(entries[i])
			if (i+int(seed))%9 != 0 && i+1 < len(entries) {
				continue
			}
			late := p.Projector("s1")
			cut := late.Cut()
			past(entries[:i+1]).IncludeOpen(cut)
			part := end(cut, entries[:i+1])
			late.LoadEnd(past(entries[:i+1]), part...)
			if i+1 == len(entries) {
				least = min(least, len(part))
			}
			want, got := pagetest.Parse(t, wholePage(t, p, whole)).State(),
				pagetest.Parse(t, wholePage(t, p, late)).State()
			if want != got {
				t.Fatalf("seed %d, %d events, of which %d were read (-whole +end):\n%s", seed, i+1, len(part),
					cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
			}
		}
	}
	if least > 120 {
		t.Errorf("%d events were read for 3 turns", least)
	}
}

// A projector that began late goes on as one that was fed all: frames of one fit pages
// of the other.
func TestEndGoesOn(t *testing.T) {
	entries := life(7, 20)
	p := pages(t, 3)
	for _, at := range []int{len(entries) * 2 / 3, len(entries) * 5 / 6} {
		late := p.Projector("s1")
		cut := late.Cut()
		past(entries[:at]).IncludeOpen(cut)
		late.LoadEnd(past(entries[:at]), end(cut, entries[:at])...)
		d := pagetest.Parse(t, wholePage(t, p, late))
		for _, e := range entries[at:] {
			if f, ok := late.Feed(e); ok {
				d.Apply(f.Data())
			}
		}
		whole := p.Projector("s1")
		whole.Load(entries...)
		want := pagetest.Parse(t, wholePage(t, p, whole)).State()
		if got := d.State(); got != want {
			t.Fatalf("(-whole +late and fed):\n%s", cmp.Diff(strings.Split(want, "\n"),
				strings.Split(got, "\n")))
		}
	}
}

// A page from an event on begins with its turn, wherever that is.
func TestEndFromAnEvent(t *testing.T) {
	entries := life(3, 20)
	p := pages(t, 3)
	for _, seq := range []int64{1, 2, 20, 60, int64(len(entries))} {
		whole, late := p.ProjectorFrom("s1", seq), p.ProjectorFrom("s1", seq)
		whole.Load(entries...)
		late.LoadEnd(past(entries), end(late.Cut(), entries)...)
		if want, got := whole.Transcript(), late.Transcript(); !strings.HasSuffix(want, got) ||
			!strings.Contains(got, `data-turn`) {
			t.Errorf("from %d: (-whole +end):\n%s", seq, cmp.Diff(strings.Split(want, "\n"),
				strings.Split(got, "\n")))
		}
	}
}

// However long its turns are, a page that is opened has up to 300 kB; the last turn is
// on it.
func TestFirstPageIsSmall(t *testing.T) {
	code := strings.Repeat("func (p *pump) publish(frame []byte) error { return p.ring.put(frame) }\n",
		110)
	for name, turn := range map[string]func(m string) []event.Data{
		"many steps": func(m string) (data []event.Data) {
			for k := range 60 {
				data = append(data, step(fmt.Sprintf("%s-c%d", m, k), "view",
					`{"path":"internal/pump/pump_of_a_long_name.go"}`)...)
			}
			return data
		},
		"long answers": func(m string) []event.Data {
			return []event.Data{event.AssistantMessage{
				MessageID: "a" + m,
				Content:   strings.Repeat("An answer is long, *now and then*, and has `words`.\n\n", 400),
			}}
		},
		"code": func(m string) []event.Data {
			return []event.Data{event.AssistantMessage{MessageID: "a" + m, Content: "```go\n" + code +
				"```\n"}}
		},
		"cards": func(m string) (data []event.Data) {
			for k := range 3 {
				data = append(data, show(fmt.Sprintf("%s-c%d", m, k), "render_file_contents",
					`{"path":"internal/pump/pump.go"}`, "out_L", `{"tokensShown":4}`)...)
			}
			return data
		},
	} {
		l := newLog().add(event.SessionStart{SessionID: "s1", Backend: "copilot"})
		for i := range 60 {
			m := fmt.Sprint("m", i)
			l.add(join(event.UserMessage{MessageID: m, Content: "Go on."},
				event.TurnStart{TurnID: m, MessageID: m}, turn(m),
				event.TurnEnd{TurnID: m, MessageID: m, Outcome: event.Completed})...)
		}
		p := pages(t, 40)
		pr := p.Projector("s1")
		pr.LoadEnd(past(nil), end(pr.Cut(), l.entries)...)
		src := wholePage(t, p, pr)
		turns := strings.Count(src, "data-turn ")
		t.Logf("%s: %d turns in %d bytes", name, turns, len(src))
		if len(src) > 300_000 || turns < 2 || !strings.Contains(src, `id="t-m59"`) {
			t.Errorf("%s: %d turns in %d bytes", name, turns, len(src))
		}
	}
}
