package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"webchat/internal/agent"
)

// sixty is a command of sixty lines.
func sixty() string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "echo line %d of a long command &&\n", i+1)
	}
	return b.String() + "rm -rf build"
}

// A command that does not fit scrolls in its card, says how long it is, and can only
// be allowed after its end was on the screen.
func TestLongCommandIsReadToItsEnd(t *testing.T) {
	h := newHouse(t)
	h.backend.on("long", asking(shell("c1", sixty())))
	for _, size := range [][2]int64{{1100, 640}, {360, 740}} {
		id := h.session(t)
		p := h.site.open("/sessions/" + id)
		p.look(size[0], size[1], "light")
		p.say("long")
		p.wait(`document.querySelector('[data-ask][data-ready]')`)
		p.has(".perm-size", "61 lines, 2,043 characters. Scroll to the end to allow it.")
		p.shot(fmt.Sprintf("long-command-%d", size[0]))
		box := eval[[]float64](p, `(() => { const r = document.querySelector('.perm').getBoundingClientRect(), w = innerHeight; return [r.top, r.bottom, w] })()`)
		if size[0] > 840 && (box[0] < 48 || box[1] > box[2]) {
			t.Errorf("at %v the question is not wholly in view: from %v to %v", size, box[0], box[1])
		}
		// By key and by click: nothing happens, and both lead to what has to be read.
		p.js(question + `.focus()`)
		p.wait(`document.activeElement.dataset.keys !== undefined`)
		p.press("a")
		p.wait(`document.activeElement.matches('.perm-cmd')`)
		if !p.true(`document.querySelector('[data-act=allow-once]').ariaDisabled === 'true'`) {
			t.Error("the button looks as if it would allow")
		}
		p.click("[data-act=allow-once]")
		p.wait(`document.activeElement.matches('.perm-cmd')`)
		if !p.true(`document.querySelector('[data-ask]:not([data-read])') && !document.querySelector('[data-answered]')`) {
			t.Fatal("a command was allowed before its end was on the screen")
		}
		p.press("End") // the command has the focus, and scrolls
		p.wait(`document.querySelector('[data-ask][data-read]')`)
		p.wait(`document.querySelector('[data-act=allow-once]').ariaDisabled === 'false' && document.querySelector('[data-unread]').hidden`)
		p.accessible(fmt.Sprintf("a long command at %d", size[0]))
		p.press("a")
		p.has("[data-answered]", "Allowed once by you")
		p.done()
	}
}

// Keys are ignored until half a second after the question got the focus, and clicks
// until half a second after it came into sight, or the window got the focus.
func TestQuestionIsInertAfterFocus(t *testing.T) {
	h := newHouse(t)
	h.backend.on("act", asking(shell("c1", "touch acted")))
	p := h.site.open("/sessions/" + h.session(t))
	p.say("act")
	p.wait(`document.querySelector('[data-ask][data-ready][data-read]')`)
	// Each of these is struck in the same task that gives the focus or the window back.
	const press = `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true, repeat: false }))`
	const button = `document.querySelector('[data-act=allow-once]')`
	for _, early := range []struct{ what, do string }{
		{"a key", question + `.focus(); ` + press},
		{"a key that is held down", question + `.focus(); await new Promise((done) => setTimeout(done, 700)); ` + strings.Replace(press, "false", "true", 1)},
		{"a click after the focus", button + `.focus(); ` + button + `.click()`},
		{"a click on a window that was not in front", `dispatchEvent(new Event('focus')); ` + button + `.click()`},
	} {
		p.js(`document.getElementById('prompt').focus()`)
		p.wait(`document.querySelector('[data-ask][data-ready]')`)
		p.js(early.do)
		if p.true(question + `.ariaBusy === 'true' || document.querySelector('[data-answered]')`) {
			t.Fatalf("%s answered at once", early.what)
		}
	}
	p.wait(`document.querySelector('[data-ask][data-ready]')`)
	p.js(`document.activeElement.blur(); ` + question + `.focus()`)
	p.press("a") // a real key, early
	p.wait(ripe)
	if p.true(`document.querySelector('[data-answered]')`) {
		t.Fatal("a key answered early")
	}
	p.press("a")
	p.has("[data-answered]", "Allowed once by you")
	p.wait(`document.activeElement === document.getElementById('prompt')`)
	p.done()
}

// Several questions are one list: each stays in sight and is answered by itself, and
// the next one does not take a click meant for the one before.
func TestSeveralQuestionsAreOneList(t *testing.T) {
	h := newHouse(t)
	h.backend.on("several", asking(shell("c1", "go test ./internal/a"), shell("c2", "go test ./internal/b"),
		wish{"c3", "edit", `{"path":"notes.txt"}`, agent.Permission{Kind: agent.KindWrite, Action: "change a file", Resource: "notes.txt", Diff: "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"}}))
	p := h.site.open("/sessions/" + h.session(t))
	p.say("several")
	p.wait(`document.querySelectorAll('#asks > li [data-ask][data-ready]').length === 3`)
	p.js(`for (const e of document.querySelectorAll('[data-whole]')) e.scrollTop = e.scrollHeight`)
	p.wait(`document.querySelectorAll('#asks > li [data-ask][data-read]').length === 3`)
	p.has("#asks-head", "liar asks 3 questions")
	p.wait(`document.title.startsWith('(3) ')`)
	p.shots("several-questions")
	p.wait(`document.querySelectorAll('[data-ask][data-ready]').length === 3`)
	p.click("#asks > li:nth-child(2) [data-act=details]")
	p.wait(`document.querySelector('#asks > li:nth-child(2) [data-open]')`)
	p.shots("several-questions-open")
	if n := eval[int](p, `[...document.querySelectorAll('[data-ask]')].filter((e) => e.checkVisibility()).length`); n != 3 {
		t.Errorf("%d questions can be seen while one is open", n)
	}
	p.wait(`document.querySelectorAll('[data-ask][data-ready]').length === 3`)
	// A double click answers one.
	x, y := p.middle("#asks > li:first-child [data-act=allow-once]")
	p.double(x, y)
	p.wait(`document.querySelectorAll('[data-answered]').length === 1 && document.querySelectorAll('[data-ask]').length === 2`)
	p.wait(`document.querySelectorAll('[data-ask][data-ready]').length === 2`)
	if n := eval[int](p, `document.querySelectorAll('[data-answered]').length`); n != 1 {
		t.Fatalf("a double click answered %d questions", n)
	}
	p.js(question + `.focus()`)
	p.wait(ripe)
	p.press("a")
	p.wait(`document.querySelectorAll('[data-ask]').length === 1 && document.activeElement.matches('[data-ask]')`)
	p.wait(ripe)
	p.press("d")
	p.write("not that file")
	p.press("Enter")
	p.has("[data-answered]", "not that file")
	p.done()
}

// What a hook made of a prompt and of a command stands in the page with what it was
// before: in the question, and in the row or card afterwards.
func TestHookRewritesAreShown(t *testing.T) {
	if noBrow != "" {
		t.Skip(noBrow)
	}
	config := filepath.Join(t.TempDir(), "config.yml")
	rules := `hooks:
  - {event: prompt_submitted, command: "printf '%s' '{\"allow\":true,\"prompt\":\"run echo from the hook\"}'"}
  - {event: before_tool, matcher: run_and_display, command: "printf '%s' '{\"allow\":true,\"arguments\":{\"command\":\"echo softened\"}}'"}
`
	if err := os.WriteFile(config, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, "--config", config)
	p := s.open("/")
	p.say("run echo as it was said")
	p.wait(`document.querySelector('[data-ask][data-ready][data-read]')`)
	p.is(`document.querySelector('.perm-cmd').textContent`, "echo softened")
	p.has("[data-ask] .facts", `Changed by your hook:`)
	p.has("[data-ask] .facts", `Before { "command": "echo from the hook" } Now { "command": "echo softened" }`)
	p.shots("hook-rewrite")
	p.click(".turn .note-row .rewrite summary")
	p.has(".turn .note-row", "Before run echo as it was said Now run echo from the hook")
	p.wait(`document.querySelector('[data-ask][data-ready]')`)
	p.click("[data-act=allow-once]")
	p.wait(card)
	p.done()
	p.click(".card > .rewrite > summary")
	p.has(".card .rewrite", `Before { "command": "echo from the hook" } Now { "command": "echo softened" }`)
	p.shots("hook-rewrite-done")
	p.do(chromedp.Reload())
	p.live()
	p.has(".card .rewrite", `echo softened`)
}
