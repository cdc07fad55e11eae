//go:build unix

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// Rows of calls and notes stand close, and all end at the same edge, with the Desk and without.
func TestRowsStandClose(t *testing.T) {
	h := newHouse(t)
	h.write("go.mod", []byte("module example.com/relay\n"))
	h.backend.on("rows", func(ctx context.Context, host agent.Host) error {
		if err := host.Report(ctx, event.SessionModelChange{NewModel: "acme/first"}); err != nil { // no switch, so no row
			return err
		}
		for i, id := range []string{"c1", "c2"} {
			for _, d := range []event.Data{
				event.ToolExecutionStart{ToolCallID: id, ToolName: "grep", Arguments: json.RawMessage(`{"pattern":"pump"}`), By: event.ByAgent},
				event.ToolExecutionComplete{ToolCallID: id, Success: false, Error: &event.ToolError{Message: "No such folder", Code: "failed"}},
				event.SessionModelChange{NewModel: "acme/" + id},
			} {
				if err := host.Report(ctx, d); err != nil {
					return fmt.Errorf("%d: %w", i, err)
				}
			}
		}
		return nil
	})
	p := h.site.open("/sessions/" + h.session(t))
	p.say("rows")
	p.done()
	check := func(where string) {
		t.Helper()
		p.shot("rows-" + where)
		gaps := eval[[]float64](p, `(() => {
			const rows = [...document.querySelectorAll('#turns .turn:first-child .tool > summary, #turns .turn:first-child .note-row')].filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect()).sort((a, b) => a.top - b.top)
			return rows.slice(1).map((r, i) => r.top - rows[i].bottom)
		})()`)
		if len(gaps) != 3 || slices.ContainsFunc(gaps, func(g float64) bool { return g > 1 || g < -1 }) {
			t.Errorf("%s: the pixels between the rows are %v", where, gaps)
		}
		edges := eval[[]float64](p, `[...document.querySelectorAll('#turns .turn:first-child :is(.when, .tool .end)')].filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect().right - parseFloat(getComputedStyle(e).paddingRight))`)
		if len(edges) != 3 || slices.Max(edges)-slices.Min(edges) > 1 {
			t.Errorf("%s: the right edges are at %v", where, edges)
		}
	}
	p.look(1440, 900, "light")
	check("alone")
	p.say("/show go.mod")
	p.done()
	p.wait(onDesk)
	check("beside")

	// Slips are rows, too.
	h.backend.on("slips", func(ctx context.Context, host agent.Host) error {
		for _, id := range []string{"s1", "s2"} {
			for _, d := range []event.Data{
				event.ToolExecutionStart{ToolCallID: id, ToolName: "grep", Arguments: json.RawMessage(`{"pattern":"pump"}`), By: event.ByAgent},
				event.ToolExecutionComplete{ToolCallID: id, Success: true, Result: &event.ToolResult{Content: "none"}},
			} {
				if err := host.Report(ctx, d); err != nil {
					return err
				}
			}
			if _, err := host.CallTool(ctx, agent.ToolCall{ID: "d" + id, Name: "render_file_contents", Arguments: json.RawMessage(`{"path":"go.mod"}`)}); err != nil {
				return err
			}
		}
		// What was done before an answer is folded.
		return host.Report(ctx, event.AssistantMessage{MessageID: "none", Content: "There is none."})
	})
	p.say("slips")
	p.done()
	p.is(`(() => {
		const rows = [...document.querySelectorAll('#turns .turn:last-child :is(.did > summary, .tool > summary, .slip)')].filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect())
		return rows.slice(1).map((r, i) => Math.round(r.top - rows[i].bottom)).join()
	})()`, "0,0")
	p.has("#turns .turn:last-child .slip .sum", "9 tokens") // more than the whole, of which it would be no part
	p.is(`String([...document.querySelectorAll('#turns .turn:last-child .slip .sum')].some((e) => e.innerText.includes(' of ')))`, "false")
	p.shot("rows-slips")
}

// Each state that a card can end in, reached for real, says what happened and the
// way out.
func TestStatesOfCards(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	hooks := "hooks:\n  - {event: before_tool, matcher: run_and_display, command: \"echo tests first >&2; exit 2\"}\n"
	if err := os.WriteFile(config, []byte(hooks), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, "--config", config, "--output-ttl", "5s")
	huge := filepath.Join(s.workspace, "huge.png")
	if err := os.WriteFile(huge, []byte("\x89PNG\r\n\x1a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, 31<<20); err != nil {
		t.Fatal(err)
	}
	p := s.open("/")
	p.expect("422", "404") // what is refused, and what has gone
	for i, state := range []struct{ name, say, words string }{
		{"outside", "/show ../../etc/passwd", "That path leaves the workspace."},
		{"missing", "/show go.mdo", "go.mod"},
		{"binary", "/show data.bin", "Not text:"},
		{"no-picture", "/image evil.html", "not a picture"},
		{"too-big", "/image huge.png", "pictures are shown up to"},
		{"veto", "run echo hello", "tests first"},
	} {
		p.say(state.say)
		p.wait(`document.querySelectorAll('#turns .turn').length >= ` + string(rune('1'+i)))
		p.has("#turns .turn:last-child", state.words)
		p.done()
		if again := p.true(`document.querySelector('#turns .turn:last-child .card [data-act=again]')`); again && state.name != "missing" && state.name != "veto" {
			t.Errorf("%s: it can be tried again, which cannot help", state.name)
		}
		p.shot("state-" + state.name)
	}
	p.shots("states") // which has them all

	// What is gone when it is shown again says so, and what was written stays.
	gone := filepath.Join(s.workspace, "gone.txt")
	if err := os.WriteFile(gone, []byte("here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.say("/show gone.txt")
	p.has("#turns .turn:last-child", "gone.txt")
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	p.wait(`document.querySelector('#turns .turn:last-child [data-state=expired] [data-act=again]')`)
	p.shots("state-expired")
	p.click("#turns .turn:last-child [data-act=again]")
	p.wait(`document.body.innerText.includes('There is no gone.txt')`)
	if text := eval[string](p, `document.querySelector('#turns').innerText`); !strings.Contains(text, "gone.txt") {
		t.Errorf("the card forgot what it was: %s", text)
	}
	p.shots("state-gone")
}
