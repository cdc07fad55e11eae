package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// A turn reads like a letter: one line of what was done, which opens in place by keys, what was seen,
// the answer, and what changed.
func TestATurnReadsLikeALetter(t *testing.T) {
	h := newHouse(t)
	h.write("pump.go", []byte("package pump\n\nfunc Publish() {}\n"))
	call := func(ctx context.Context, host agent.Host, id, tool, args, diff string) error {
		for _, d := range []event.Data{
			event.ToolExecutionStart{ToolCallID: id, ToolName: tool, Arguments: json.RawMessage(args), By: event.ByAgent},
			event.ToolExecutionComplete{ToolCallID: id, Success: true, Result: &event.ToolResult{Content: "done", DetailedContent: diff}, DurationMs: 38},
		} {
			if err := host.Report(ctx, d); err != nil {
				return err
			}
		}
		return nil
	}
	h.backend.on("Cut a slow sink at the limit, and say so in the docs", func(ctx context.Context, host agent.Host) error {
		say := func(id, text string) error {
			return host.Report(ctx, event.AssistantMessage{MessageID: id, Content: text})
		}
		if err := say("a1", "I look at the pump first."); err != nil {
			return err
		}
		for i, name := range []string{"pump.go", "pump_test.go"} {
			if err := call(ctx, host, fmt.Sprint("v", i), "view", `{"path":"`+name+`","view_range":[49,74]}`, ""); err != nil {
				return err
			}
		}
		if err := call(ctx, host, "g", "grep", `{"pattern":"Patience"}`, ""); err != nil {
			return err
		}
		if err := say("a2", "The comparison leaves out the limit. I change it."); err != nil {
			return err
		}
		for i, name := range []string{"pump.go", "pump.go", "docs/pump.md"} {
			diff := fmt.Sprintf("--- a/%s\n+++ b/%s\n@@ -%d,2 +%d,2 @@\n same\n-old\n+new\n", name, name, 50+i, 50+i)
			if err := call(ctx, host, fmt.Sprint("e", i), "edit", `{"path":"`+name+`"}`, diff); err != nil {
				return err
			}
		}
		if err := say("a3", "Now the tests."); err != nil {
			return err
		}
		if _, err := host.CallTool(ctx, agent.ToolCall{ID: "t1", Name: "run_and_display", Arguments: json.RawMessage(`{"command":"echo ok"}`)}); err != nil {
			return err
		}
		return say("a4", "`Publish` now cuts a sink at the limit, not one frame after it, and the docs say so.")
	})
	h.backend.on("Tag it and push the tag", func(ctx context.Context, host agent.Host) error {
		for _, d := range []event.Data{
			event.ToolExecutionStart{ToolCallID: "k1", ToolName: "view", Arguments: json.RawMessage(`{"path":"Makefile"}`), By: event.ByAgent},
			event.ToolExecutionComplete{ToolCallID: "k1", Success: true, Result: &event.ToolResult{Content: "x"}},
			event.ToolExecutionStart{ToolCallID: "k2", ToolName: "grep", Arguments: json.RawMessage(`{"pattern":"tag","path":"nowhere"}`), By: event.ByAgent},
			event.ToolExecutionComplete{ToolCallID: "k2", Error: &event.ToolError{Message: "No such folder", Code: "failed"}},
			event.AssistantMessage{MessageID: "b1", Content: "The tag is made and not pushed."},
		} {
			if err := host.Report(ctx, d); err != nil {
				return err
			}
		}
		return nil
	})
	p := h.site.open("/sessions/" + h.session(t))
	p.look(1440, 900, "light")
	p.say("Cut a slow sink at the limit, and say so in the docs")
	p.answer("[data-act=allow-once]")
	p.done()
	p.is(`document.querySelector('.did > summary .what').innerText`, "Read 2 files, searched once, edited 2 files")
	p.is(`document.querySelector('.did > summary .end').innerText`, "+6")
	p.has(".slip .ran", "echo ok")
	p.is(`[...document.querySelectorAll('.turn-b > .row .said')].filter((e) => e.checkVisibility()).length + ''`, "1")
	p.shots("letter")

	// Opened, the line one reads stays where it is, and one row stands for acts of a kind.
	top := `document.querySelector('.did > summary').getBoundingClientRect().top`
	at := eval[float64](p, top)
	p.js(`document.querySelector('.did > summary').focus()`)
	p.press("Enter")
	p.wait(`document.querySelector('.did').open`)
	if now := eval[float64](p, top); now != at {
		t.Errorf("the line moved by %v", now-at)
	}
	p.is(`[...document.querySelectorAll('.acts-in > *')].map((e) => (e.querySelector(':scope > summary')?.checkVisibility() ? e.querySelector(':scope > summary') : e).innerText.replace(/\s+/g, ' ').trim()).join('|')`,
		"I look at the pump first.|Read pump.go:49–74, pump_test.go:49–74 +2|Searched Patience +1|The comparison leaves out the limit. I change it.|Edited pump.go twice +2 −2 +2|Edited docs/pump.md +1 −1 +1|Now the tests.")
	p.has(".slip .who", "you allowed it once")
	p.js(`document.querySelectorAll('.steps.is-long')[1].open = true`)
	p.shots("letter-open")

	p.say("Tag it and push the tag")
	p.done()
	p.is(`document.querySelector('.turn:last-child .did > summary .what').innerText`, "Read Makefile")
	p.has(".turn:last-child .turn-b > .call > .tool", "No such folder")
	p.shots("letter-failed")
}
