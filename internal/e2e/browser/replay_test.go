package browser

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// replayed is a session of an agent with a model: a file was shown, one changed, one asked about, and
// something was shown that is gone.
func replayed(t *testing.T) (h *house, id string) {
	t.Helper()
	h = newHouse(t)
	for name, text := range map[string]string{"pump.go": "package pump\n\n// Publish is late by one frame.\nfunc Publish() {}\n" + strings.Repeat("// a line that the model never reads\n", 400), "sinks.csv": "name,size\na,1\n"} {
		if err := os.WriteFile(filepath.Join(h.site.workspace, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	show := func(ctx context.Context, host agent.Host, call, name string) error {
		_, err := host.CallTool(ctx, agent.ToolCall{ID: call, Name: "render_file_contents", Arguments: json.RawMessage(`{"path":` + quote(name) + `}`)})
		return err
	}
	report := func(ctx context.Context, host agent.Host, all ...event.Data) error {
		for _, d := range all {
			if err := host.Report(ctx, d); err != nil {
				return err
			}
		}
		return nil
	}
	usage := func(in int64) event.AssistantUsage {
		return event.AssistantUsage{Model: "large", InputTokens: in, OutputTokens: 90, DefinitionTokens: 240}
	}
	h.backend.on("Run the tests and tell me why the pump one fails", func(ctx context.Context, host agent.Host) error {
		if err := show(ctx, host, "s1", "pump.go"); err != nil {
			return err
		}
		return report(ctx, host, event.AssistantTurnStart{}, usage(4_000), event.AssistantMessage{MessageID: "a1", Content: "The code is late by one frame. A full buffer is looked at only when the *next* frame arrives."})
	})
	h.backend.on("Fix it, and say so in the comment", func(ctx context.Context, host agent.Host) error {
		diff := "--- a/pump.go\n+++ b/pump.go\n@@ -3,2 +3,2 @@\n-// Publish is late by one frame.\n+// Publish is in time.\n func Publish() {}\n"
		err := report(ctx, host, event.ToolExecutionStart{ToolCallID: "e1", ToolName: "edit", Arguments: json.RawMessage(`{"path":"pump.go"}`), By: event.ByAgent},
			event.ToolExecutionComplete{ToolCallID: "e1", Success: true, Result: &event.ToolResult{Content: "ok", DetailedContent: diff}})
		if err != nil {
			return err
		}
		return report(ctx, host, event.AssistantTurnStart{}, usage(5_200), event.SessionCompactionStart{}, event.SessionCompactionComplete{}, event.AssistantMessage{MessageID: "a2", Content: "A sink is now cut at the limit, and the comment says so."})
	})
	h.backend.on("Show the sinks", func(ctx context.Context, host agent.Host) error {
		if err := show(ctx, host, "s2", "sinks.csv"); err != nil {
			return err
		}
		return report(ctx, host, event.AssistantTurnStart{}, usage(2_000))
	})
	id = h.session(t)
	for _, prompt := range []string{"Run the tests and tell me why the pump one fails", "Fix it, and say so in the comment", "Show the sinks"} {
		h.say(t, id, prompt)
	}
	return h, id
}

// moment waits until a replay shows the moment after an event.
func (p *page) moment(at string) {
	p.t.Helper()
	p.wait(`document.body.dataset.at === ` + quote(at) + ` || (!document.body.dataset.at && document.getElementById('moment').value === ` + quote(at) + `)`)
}

// Of a long session the page says that it reads, then has its film and the last moment, and steps.
func TestReplayOfALongSession(t *testing.T) {
	h := newHouse(t)
	const rows = 1_000
	h.backend.on("Look at everything", func(ctx context.Context, host agent.Host) error {
		for i := range rows {
			call := "r" + strconv.Itoa(i)
			for _, d := range []event.Data{event.ToolExecutionStart{ToolCallID: call, ToolName: "read", Arguments: json.RawMessage(`{"path":"pump.go"}`), By: event.ByAgent},
				event.ToolExecutionComplete{ToolCallID: call, Success: true, Result: &event.ToolResult{Content: "package pump"}}} {
				if err := host.Report(ctx, d); err != nil {
					return err
				}
			}
		}
		return host.Report(ctx, event.AssistantMessage{MessageID: "a", Content: "It is all about pumps."})
	})
	id := h.session(t)
	h.say(t, id, "Look at everything")
	p := h.site.open("/")
	p.before(`const seen = new MutationObserver(() => { window.said ??= document.getElementById('reading')?.innerText }); seen.observe(document, { subtree: true, childList: true })`)
	p.do(chromedp.Navigate(h.site.url + "/sessions/" + id + "/replay"))
	p.has("#held", "It is all about pumps.")
	if said := eval[string](p, `String(window.said).trim()`); !strings.HasPrefix(said, "Reading 2,0") || !strings.HasSuffix(said, " events") {
		t.Errorf("the page said %q", said)
	}
	p.wait(`document.activeElement.id === 'moment' && !document.getElementById('reading')`)
	last := eval[int](p, `Number(document.getElementById('moment').max)`)
	if last <= 2*rows {
		t.Errorf("the film has %d events", last)
	}
	p.press("Home")
	p.moment("1")
	p.press("End")
	p.moment(strconv.Itoa(last))
	p.has("#held", "It is all about pumps.")
}

// A replay steps through a session by its slider, its marks and keys: left what the model held, right
// what was seen, above them what that cost. It ends with the meter's figures, and leaves to where one
// was.
func TestReplay(t *testing.T) {
	h, id := replayed(t)
	var session struct{ Usage event.Usage }
	h.api(t, "GET", "/api/sessions/"+id, nil, &session)
	u := session.Usage
	if u.KeptTokens == 0 || u.InputTokens != 11_200 {
		t.Fatalf("the agent was charged %+v", u)
	}
	p := h.site.open("/sessions/" + id)
	p.look(1440, 900, "light")
	p.click("#meter")
	p.wait(`document.querySelector('#ledger')?.checkVisibility()`)
	p.accessible("the sheet of figures")
	p.dark("figures")
	p.strained("the sheet of figures")
	p.press("Escape")
	p.wait(`!document.querySelector('#ledger').checkVisibility()`)
	p.click("[data-act=title-menu]")
	p.choose("Replay")
	p.wait(`location.pathname.endsWith('/replay') && document.querySelector('#saw .lines')`)
	last := eval[string](p, `document.getElementById('moment').max`)
	p.has("#figures [data-sofar]", "11,470")

	p.wait(`document.activeElement.id === 'moment'`) // its keys work at once, and a screen reader says the moment

	// The right half is the Desk as it was then: views, find, the list of what had been shown.
	p.has("#saw .pane:not([hidden]) .dhead .seg", "Table")
	p.has("#saw .pane:not([hidden]) table", "size")
	p.press("v")
	p.has("#saw .pane:not([hidden]) .rows", "name,size")
	p.press("t")
	p.wait(`document.querySelector('#shelf:popover-open input') === document.activeElement`)
	p.is(`[...document.querySelectorAll('#outs [data-output]')].filter((e) => e.checkVisibility()).map((e) => e.dataset.base).join()`, "pump.go,sinks.csv")
	p.write("j") // is text there, and no step
	p.press("Escape")
	p.wait(`!document.querySelector('#shelf:popover-open') && location.pathname.endsWith('/replay')`)
	p.js(`document.querySelector('.shelf-btn').focus()`)
	p.press("Enter")
	p.click(`#outs [data-base="pump.go"]`)
	p.has("#saw .pane:not([hidden]) .rows", "late by one frame")
	p.press("f")
	p.write("never")
	p.has("#saw .pane:not([hidden]) .find", "1 of 400")
	p.press("Enter")
	p.has("#saw .pane:not([hidden]) .find", "2 of 400")
	p.press("Escape")
	p.click(`#saw .strip [data-out]:last-of-type`)
	p.has("#saw .pane:not([hidden]) .rows", "name,size") // in the view it was left in
	p.is(`document.querySelector('#figures [data-read]').textContent.replaceAll(',', '')`, strconv.FormatInt(u.InputTokens+u.OutputTokens+u.KeptTokens, 10))
	p.has("#held", "Nothing is sent in a replay")
	p.has("#saw", "sinks.csv")
	p.shot("replay-end")

	p.press("Home")
	p.moment("1")
	p.has("#saw", "Nothing was shown before this moment")
	p.has("#figures", "Nothing sent to a model so far")
	p.press("j")
	p.moment("2")
	p.press("k")
	p.moment("1")
	p.press("J") // the first prompt
	p.wait(`document.querySelector('#held').innerText.includes('Run the tests')`)
	p.press("J") // the second one
	p.wait(`document.querySelector('#held').innerText.includes('Fix it')`)
	p.has("#saw .pane:not([hidden]) .dhead", "as shown at")
	p.has("#saw .lines", "late by one frame")
	if p.true(`document.querySelector('#held').innerText.includes('in time') || document.querySelector('#held').innerText.includes('a line that the model never reads')`) {
		t.Error("the left shows what the model did not hold then")
	}
	p.click(`.film-mark[aria-label^=edit] .hit`)
	p.has("#saw .pane:not([hidden]) .dhead", "as changed at")
	p.is(`[...document.querySelectorAll('#saw .diff .lines > *')].map((row) => row.innerText.replace(/\s+/g, ' ').trim()).join('|')`,
		"Lines 1–2 are the same|3 − // Publish is late by one frame.|3 + // Publish is in time.|4 4 func Publish() {}")
	p.wait(`document.querySelector('#saw .pane:not([hidden]) .map :is(.er, .fr)')`)
	p.has("#held", "Edited pump.go")
	p.js(`for (const d of document.querySelectorAll('#held .did')) d.open = true`)
	p.has("#held .tool .end", "+1 −1")
	p.has("#held > header", "4k tokens sent in 1 model call")
	p.shot("replay")
	p.dark("replay")
	p.click(`#held [data-slip]`)
	p.has("#saw .pane:not([hidden]) .dhead", "as shown at")
	p.focus("document.getElementById('moment')")
	p.press("ArrowLeft")
	p.wait(`Number(document.body.dataset.at) === Number(document.getElementById('moment').value)`)
	p.press("Space")
	p.wait(`document.getElementById('moment').value === ` + quote(last)) // it plays to the end
	p.moment(last)
	p.accessible("replay")
	p.strained("replay")

	p.js(`document.querySelector('.pace input[value="8"]').click()`)
	p.press("Home")
	p.moment("1")
	p.press("J")
	p.wait(`document.querySelector('#held').innerText.includes('Run the tests') && document.querySelector('[data-go]')`)
	p.click("[data-go]")
	p.wait(`!location.pathname.endsWith('/replay')`)
	if p.session() == id {
		t.Error("going on from there is no session of its own")
	}
	p.live()
	p.has("#turns", "The code is late by one frame")
	if p.true(`document.getElementById('turns').innerText.includes('Fix it')`) {
		t.Error("what came later is in the branch")
	}

	p.do(chromedp.Navigate(h.site.url + "/sessions/" + id))
	p.live()
	p.do(chromedp.Navigate(h.site.url + "/sessions/" + id + "/replay?at=4"))
	p.press("Escape")
	p.wait(`location.pathname === '/sessions/` + id + `' && !location.search`)
	p.look(390, 844, "light")
	p.do(chromedp.Navigate(h.site.url + "/sessions/" + id + "/replay"))
	p.wait(`document.querySelector('#saw .lines')`)
	p.fits("replay")
	p.shot("replay-390")
	p.look(390, 844, "dark")
	p.shot("replay-390-dark")
}

// An output that is gone stays what it was, and is not read again as it is now.
func TestReplayOfWhatIsGone(t *testing.T) {
	h, id := replayed(t)
	var list struct {
		Outputs []struct{ ID, Path string }
	}
	h.api(t, "GET", "/api/sessions/"+id+"/outputs", nil, &list)
	for _, o := range list.Outputs {
		h.api(t, "DELETE", "/api/sessions/"+id+"/outputs/"+o.ID, nil, nil)
	}
	p := h.site.open("/")
	p.look(1440, 900, "light")
	p.do(chromedp.Navigate(h.site.url + "/sessions/" + id + "/replay"))
	p.has("#saw .nothing", "It was sinks.csv")
	p.has("#saw .nothing", "a replay reads and runs nothing again")
	p.shot("replay-gone")
}

// Saved as a page a session is one file: without a server, a network or scripts it is the whole
// conversation with both figures, and with scripts it can be stepped through.
func TestReplaySavedAsAPage(t *testing.T) {
	h, id := replayed(t)
	body := h.api(t, "GET", "/api/sessions/"+id+"/export?format=html", nil, nil)
	file := filepath.Join(t.TempDir(), "session.html")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, scripts := range []bool{false, true} {
		p := h.site.tab()
		asked := p.asked()
		p.look(1440, 900, "light")
		p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
			return err
		}), chromedp.Navigate("file://"+file))
		text := eval[string](p, `document.body.innerText.replace(/\s+/g, ' ') + document.getElementById('turns').textContent`)
		for _, want := range []string{"so far 11,470 tokens", "had everything shown been read", "Run the tests and tell me", "never reads", "Displayed sinks.csv to user", "Publish is in time"} {
			if !strings.Contains(text, want) {
				t.Errorf("scripts %v: no %q in %.600s", scripts, want, text)
			}
		}
		if !scripts {
			if p.true(`document.getElementById('moment').checkVisibility() || document.getElementById('play').checkVisibility()`) {
				t.Error("without scripts it has what only they serve")
			}
			p.shot("replay-saved-plain")
			continue
		}
		p.press("Home")
		p.wait(`document.getElementById('moment').value === '1' && ![...document.querySelectorAll('.turn')].some((e) => e.checkVisibility())`)
		p.has("#figures", "Nothing sent to a model so far")
		p.press("J", "J")
		p.wait(`document.querySelectorAll('.turn:not([hidden])').length === 2`)
		p.has("#figures", "so far 4,090 tokens")
		p.shot("replay-saved")
		p.press("End")
		p.wait(`document.querySelectorAll('.turn:not([hidden])').length === 3`)
		for _, address := range asked() {
			if !strings.HasPrefix(address, "file:") && !strings.HasPrefix(address, "about:") {
				t.Errorf("the file asks for %s", address)
			}
		}
	}
}
