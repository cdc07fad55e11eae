package page_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"webchat/internal/event"
	"webchat/internal/page"
	"webchat/internal/render"
	"webchat/internal/views"
)

// The clock of the highlighter's expressions ends by itself.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}

var start = time.Date(2026, 11, 20, 14, 2, 0, 0, time.UTC)

// logbook writes a session's events as a session would.
type logbook struct {
	entries []event.Entry
	seq     int64
	pos     int64
	parent  event.ID
	now     time.Time
}

func newLog() *logbook { return &logbook{now: start} }

// add takes the events as they happen, a second after each other.
func (l *logbook) add(data ...event.Data) *logbook {
	for _, d := range data {
		l.now = l.now.Add(time.Second)
		e := event.New(d, l.parent, l.now)
		l.pos++
		if event.Logged(d) {
			l.seq++
			l.parent = e.ID
		}
		l.entries = append(l.entries, event.Entry{Seq: l.seq, Pos: l.pos, Event: e})
	}
	return l
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// shelf is stored outputs; what is not on it has expired.
type shelf map[string]views.Output

func (s shelf) Output(id string) (views.Output, bool) {
	o, ok := s[id]
	return o, ok
}

// content is of an output: its rows, its last row and its bytes.
type content struct {
	rows  func(from, to int) (template.HTML, error)
	last  int
	bytes string

	view, seen string
	total      int
	views      []string
	first      views.First
}

func (c content) Failure() (from, to int) { return 0, 0 }

func (c content) Rows(from, to int) (template.HTML, error) { return c.rows(from, to) }
func (c content) Last() int                                { return c.last }
func (c content) Seen(int) (string, template.HTML, int) {
	return c.view, template.HTML(c.seen), c.total
}
func (c content) First() views.First         { return c.first }
func (c content) Views() []string            { return c.views }
func (c content) Hex(n int) template.HTML    { return render.Hex(c.Head(n), 0, nil) }
func (c content) Head(n int) []byte          { return []byte(c.bytes[:min(n, len(c.bytes))]) }
func (c content) Read(int64) ([]byte, error) { return []byte(c.bytes), nil }

// file is an output of n lines.
func file(path string, n int) views.Output {
	return views.Output{
		Path:       path,
		Language:   "Go",
		TotalLines: n,
		Bytes:      int64(n * 28),
		ExpiresAt:  start.Add(26 * time.Minute),
		Content:    content{rows: rows, last: n},
	}
}

// terminal is the output of a command.
func written(command string, n, exit int) views.Output {
	return views.Output{
		Command:    command,
		TotalLines: n,
		Bytes:      int64(n * 40),
		ExitCode:   &exit,
		ExpiresAt:  start.Add(28 * time.Minute),
		Content:    content{rows: rows, last: n},
	}
}

func rows(from, to int) (template.HTML, error) {
	if from < 1 {
		return "", errors.New("no such line")
	}
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b,
			`<div class="line"><a class="ln" href="#L%d" aria-label="Line %d">%d</a><code class="cl">line %d</code></div>`+"\n", i, i, i, i)
	}
	return template.HTML(b.String()), nil
}

var stored = shelf{
	"out_A": file("go.mod", 10),
	"out_B": written("go test ./internal/...", 2140, 1),
	"out_I": {
		Path:      "docs/logo.png",
		MimeType:  "image/png",
		Width:     1280,
		Height:    640,
		Bytes:     38000,
		ExpiresAt: start.Add(3 * time.Minute),
		Content:   content{},
	},
	"out_X": {
		Path:       "bin/relay",
		Binary:     true,
		Bytes:      2_100_000,
		TotalLines: 16,
		ExpiresAt:  start.Add(9 * time.Minute),
		Content:    content{rows: rows, bytes: "\x7fELF\x02\x01" + strings.Repeat("\x00", 1000)},
	},
	"out_L": file("internal/pump/pump.go", 214),
}

func pages(t testing.TB, turns int) *page.Pages {
	t.Helper()
	p, err := page.New(page.Config{Outputs: stored, Home: "/home/me", Turns: turns, Location: time.UTC,
		Now:    func() time.Time { return start.Add(time.Minute) },
		Prices: price, NoModel: []string{"offline"},
		Title: func(id string) string { return map[string]string{"s2": "Mend <tree.go>"}[id] }})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func opening() []event.Data {
	return []event.Data{
		event.SessionStart{
			SessionID: "s1",
			Backend:   "copilot",
			Model:     "acme/large",
			Context:   event.Context{Cwd: "/home/me/code/relay"},
		},
		event.UserMessage{MessageID: "m1", Content: "show me go.mod"},
		event.TurnStart{TurnID: "t1", MessageID: "m1"},
		event.SessionTitleChanged{Title: "Flaky pump test"},
	}
}

func closing(outcome event.Outcome) []event.Data {
	return []event.Data{
		event.TurnEnd{
			TurnID:     "t1",
			MessageID:  "m1",
			Outcome:    outcome,
			Usage:      event.Usage{InputTokens: 900, OutputTokens: 80, Calls: 2},
			DurationMs: 15021,
		},
		event.SessionIdle{},
	}
}

const answer = "The test is right and the code is late by one frame. `Publish` looks at a full " +
	"buffer when the *next* frame arrives.\n\n" +
	"1. first\n2. second\n\n```go\nfunc main() {\n\n\tprintln(\"hi\")\n}\n```\n\nI changed `>` to " +
	"`>=` on line 67 – ✓.\n"

// words streams a text in pieces of n bytes that may cut characters' neighbours, never characters.
func words(id, text string, n int) []event.Data {
	var out []event.Data
	for off := 0; off < len(text); {
		end := min(len(text), off+n)
		for end < len(text) && text[end]&0xC0 == 0x80 {
			end++
		}
		out = append(out, event.AssistantMessageDelta{
			MessageID:    id,
			Offset:       int64(off),
			DeltaContent: text[off:end],
		})
		off = end
	}
	return out
}

func join(parts ...any) []event.Data {
	var out []event.Data
	for _, p := range parts {
		switch p := p.(type) {
		case event.Data:
			out = append(out, p)
		case []event.Data:
			out = append(out, p...)
		}
	}
	return out
}

func show(id, tool, args, output string, telemetry string) []event.Data {
	return []event.Data{
		event.ToolExecutionStart{ToolCallID: id, ToolName: tool, Arguments: raw(args), By: event.ByAgent},
		event.ToolExecutionComplete{
			ToolCallID:    id,
			Success:       true,
			Result:        &event.ToolResult{Content: "Displayed it to user (10 lines)"},
			ToolTelemetry: raw(telemetry),
			OutputID:      output,
			DurationMs:    3,
		},
	}
}

func step(id, tool, args string) []event.Data {
	return []event.Data{
		event.ToolExecutionStart{ToolCallID: id, ToolName: tool, Arguments: raw(args), By: event.ByAgent},
		event.ToolExecutionComplete{
			ToolCallID: id,
			Success:    true,
			Result:     &event.ToolResult{Content: "7 hits", DetailedContent: "a.go:1: x"},
			DurationMs: 120,
		},
	}
}

func allow(req, call, resource string) event.PermissionRequested {
	return event.PermissionRequested{
		RequestID:  req,
		ToolCallID: call,
		ToolName:   "run_and_display",
		Kind:       "shell",
		Action:     "run a command",
		Resource:   resource,
		Cwd:        "/home/me/code/relay",
		Digest:     "9f86",
		ExpiresAt:  event.Time(start.Add(5 * time.Minute)),
	}
}
