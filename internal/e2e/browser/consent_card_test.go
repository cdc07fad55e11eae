package browser

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

// THREATS 53: a command that does not fit scrolls in its card, says how long it is, and can only
// be allowed after its end was on the screen.
func TestLongCommandIsReadToItsEnd(t *testing.T) {
	h := newHouse(t)
	h.backend.on("long", asking(h.site.workspace, shell("c1", sixty())))
	for _, size := range [][2]int64{{1100, 640}, {360, 640}} {
		id := h.session(t)
		p := h.site.open("/sessions/" + id)
		p.look(size[0], size[1], "light")
		p.say("long")
		p.wait(`document.querySelector('[data-ask][data-ready]')`)
		p.has(".perm-size", "61 lines, 2,043 characters. Scroll to the end to allow it.")
		p.shot(fmt.Sprintf("long-command-%d", size[0]))
		box := eval[[]float64](p,
			`(() => { const r = document.querySelector('.perm').getBoundingClientRect(), w = innerHeight; return [r.top, r.bottom, w] })()`)
		if size[0] > 840 && (box[0] < 48 || box[1] > box[2]) {
			t.Errorf("at %v the question is not wholly in view: from %v to %v", size, box[0], box[1])
		}
		p.wait(`document.querySelector('.perm-do').getBoundingClientRect().bottom <= document.querySelector('.asks').getBoundingClientRect().bottom`)
		// By key and by click: nothing happens, and both lead to what has to be read.
		p.focus(question)
		p.wait(`document.activeElement.matches('[data-ask][data-ready]') && document.activeElement.dataset.keys !== undefined`)
		p.press("a")
		p.wait(`document.activeElement.matches('.perm-cmd')`)
		if !p.true(`document.querySelector('[data-act=allow-once]').ariaDisabled === 'true'`) {
			t.Error("the button looks as if it would allow")
		}
		p.click("[data-act=allow-once]")
		p.wait(`document.activeElement.matches('.perm-cmd')`)
		if !p.true(
			`document.querySelector('[data-ask]:not([data-read])') && !document.querySelector('[data-answered]')`) {
			t.Fatal("a command was allowed before its end was on the screen")
		}
		p.press("End") // the command has the focus, and scrolls
		p.wait(`document.querySelector('[data-ask][data-read]')`)
		p.wait(`document.querySelector('[data-act=allow-once]').ariaDisabled === 'false' && document.querySelector('[data-unread]').hidden`)
		p.accessible(fmt.Sprintf("a long command at %d", size[0]))
		p.focus(question)
		p.wait(ripe)
		p.press("a")
		p.has("[data-answered]", "you allowed it once")
		p.done()
	}
}

// THREATS 53: an act on many things with a short change can only be allowed after the last of
// them was on the screen, too.
func TestManyThingsAreReadToTheirEnd(t *testing.T) {
	h := newHouse(t)
	act := agent.Permission{
		Kind:     agent.KindShell,
		Action:   "run a command",
		Resource: "make",
		Diff:     "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n",
	}
	for i := range 300 {
		act.Also = append(act.Also, agent.Resource{
			Kind:     agent.KindWrite,
			Action:   "edit a file",
			Resource: fmt.Sprintf("internal/a/folder/of/a/long/name/file_%d.go", i),
		})
	}
	act.Also = append(act.Also, agent.Resource{
		Kind:     agent.KindWrite,
		Action:   "edit a file",
		Resource: "../out\u202e/b.txt",
	})
	h.backend.on("many", asking(h.site.workspace, wish{"c1", "edit", `{"path":"notes.txt"}`, act}))
	for _, size := range [][2]int64{{1440, 900}, {390, 844}} {
		p := h.site.open("/sessions/" + h.session(t))
		p.look(size[0], size[1], "light")
		p.say("many")
		p.wait(`document.querySelector('[data-ask][data-ready]')`)
		p.has(".perm-size", "Scroll to the end to allow it.")
		p.has("[data-whole]", "run a command: make edit a file: internal/a/folder")
		p.has("[data-whole]", "edit a file: ../outU+202E/b.txt")
		p.shot(fmt.Sprintf("many-things-%d", size[0]))
		p.click("[data-act=allow-once]")
		p.wait(`document.activeElement.matches('[data-whole]')`)
		p.press("End")
		p.wait(`document.querySelector('[data-ask][data-read]')`)
		p.accessible(fmt.Sprintf("many things at %d", size[0]))
		p.wait(`document.querySelector('[data-act=allow-once]').ariaDisabled === 'false'`)
		p.answer("[data-act=allow-once]")
		p.has("[data-answered]", "you allowed it once")
		p.done()
	}
}

// A page that comes back to its stream puts the questions into their place again: who reads a long
// command stays where they are in it, and the end that was reached counts.
func TestQuestionStaysWhereItIsRead(t *testing.T) {
	h := newHouse(t)
	h.backend.on("long", asking(h.site.workspace, shell("c1", sixty())))
	p := h.site.open("/sessions/" + h.session(t))
	p.look(1100, 640, "light")
	p.say("long")
	p.wait(`document.querySelector('[data-ask][data-ready] .perm-cmd[tabindex]')`)
	p.sources()
	p.js(`const { apply } = ` + module("ops.js") + `
		window.join = () => apply({ a: 'put', t: 'dock-asks', h: document.getElementById('dock-asks').outerHTML })`)
	for _, c := range []struct{ to, read string }{{"200", "false"}, {"1e6", "true"}} {
		p.js(`const cmd = document.querySelector('.perm-cmd')
			cmd.focus()
			cmd.scrollTop = ` + c.to + `
			window.at = cmd.scrollTop
			join()`)
		if !p.true(
			`document.querySelector('.perm-cmd').scrollTop === at && at > 100 && document.activeElement.matches('.perm-cmd')`) {
			t.Errorf("scrolled to %s, the command is at %v of %v", c.to,
				eval[float64](p, `document.querySelector('.perm-cmd').scrollTop`), eval[float64](p, `at`))
		}
		p.wait(`'read' in document.querySelector('[data-ask]').dataset === ` + c.read)
	}
	p.focus(question)
	p.wait(ripe)
	p.press("a")
	p.has("[data-answered]", "you allowed it once")
	p.done()
}

// THREATS 15: keys are ignored until half a second after the question got the focus, and clicks
// until half a second after it came into sight, or the window got the focus.
func TestQuestionIsInertAfterFocus(t *testing.T) {
	h := newHouse(t)
	h.backend.on("act", asking(h.site.workspace, shell("c1", "touch acted")))
	p := h.site.open("/sessions/" + h.session(t))
	p.say("act")
	p.wait(`document.querySelector('[data-ask][data-ready][data-read]')`)
	// Each of these is struck in the same task that gives the focus or the window back.
	const press = `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true, repeat: false }))`
	const button = `document.querySelector('[data-act=allow-once]')`
	for _, early := range []struct{ what, do string }{
		{"a key", question + `.focus(); ` + press},
		{"a key that is held down", question +
			`.focus(); await new Promise((done) => setTimeout(done, 700)); ` +
			strings.Replace(press, "false", "true", 1)},
		{"a click after the focus", button + `.focus(); ` + button + `.click()`},
		{"a click on a window that was not in front", `dispatchEvent(new Event('focus')); ` + button +
			`.click()`},
	} {
		p.js(`document.getElementById('prompt').focus()`)
		p.wait(`document.querySelector('[data-ask][data-ready]')`)
		p.js(early.do)
		if p.true(question + `.ariaBusy === 'true' || document.querySelector('[data-answered]')`) {
			t.Fatalf("%s answered at once", early.what)
		}
	}
	p.wait(`document.querySelector('[data-ask][data-ready]')`)
	p.js(`document.activeElement.blur()`)
	p.focus(question)
	p.wait(ripe)
	p.press("a")
	p.has("[data-answered]", "you allowed it once")
	p.wait(`document.activeElement === document.getElementById('prompt')`)
	p.done()
}

// What may be allowed beyond this once stands below the command, which keeps its width, with an
// example of what it covers, and holds as long as the words say.
func TestGrantsOnTheCard(t *testing.T) {
	s := start(t)
	p := s.open("/")
	for _, size := range [][2]int64{{1440, 900}, {390, 844}, {360, 740}} {
		p.look(size[0], size[1], "light")
		p.say("run go test ./... && go vet \u202e")
		p.wait(`document.querySelector('[data-ask][data-ready][data-read]')`)
		if size[0] == 360 { // a window of 1280 × 720 at 200 %: no button covers the command
			p.look(640, 360, "light")
			p.wait(`(({ left, top }) => document.elementFromPoint(left + 40, top + 20)?.closest('.perm-cmd'))(document.querySelector('.perm-cmd').getBoundingClientRect())`)
			p.look(size[0], size[1], "light")
		}
		width := `document.querySelector('.perm-cmd').clientWidth`
		closed := eval[float64](p, width)
		p.click("[data-act=ways]")
		p.wait(`document.querySelector('.grants').checkVisibility()`)
		if open := eval[float64](p, width); open < closed ||
			open < 0.8*eval[float64](p, `document.querySelector('.perm').clientWidth`) {
			t.Errorf("at %d the command is %v px wide, before %v", size[0], open, closed)
		}
		p.is(`document.querySelector('.perm-cmd .vis').textContent`, "U+202E")
		p.has(".facts", "Hidden U+202E reverses the text after it on the screen.")
		p.has(".facts", "Why ask No rule and nothing you allowed covers it.")
		if p.true(
			`document.documentElement.scrollWidth > innerWidth || [...document.querySelectorAll('.perm .btn, .pickone, .grants .seg')].filter((e) => e.checkVisibility()).some((e) => { const r = e.getBoundingClientRect(); return r.left < 0 || r.right > innerWidth })`) {
			t.Errorf("at %d something is cut", size[0])
		}
		p.shot(fmt.Sprintf("grants-%d", size[0]))
		p.accessible(fmt.Sprintf("what else may be allowed at %d", size[0]))
		p.wait(`document.querySelector('[data-ask][data-ready]')`)
		p.answer("[data-act=deny]")
		p.done()
	}
	p.look(1440, 1000, "light")
	p.say("run ls")
	p.wait(`document.querySelector('[data-ask][data-ready][data-read]')`)
	p.focus(question)
	p.wait(ripe)
	p.press("s")
	p.is(`[...document.querySelectorAll('.pickone')].map((e) => e.ariaChecked + ' ' + e.innerText.replaceAll(/\s+/g, ' ')).join('; ')`,
		"true this command, exactly covers the command above, nothing else; false commands that only read inside this workspace covers cat, grep, ls and the like, of files that hold no secrets; "+
			"false every command in this folder, this session covers make, git commit -m x and any other: webchat does not look at them")
	p.has(".grants",
		"The wider choices still ask about secrets, paths outside this folder and hidden characters.")
	p.shots("grants")
	p.press("Escape")
	p.wait(`!document.querySelector('.grants').checkVisibility() && document.activeElement.matches('[data-ask]')`)
	p.wait(ripe)
	p.press("s")
	p.js(`document.querySelector('#prompt').focus()`)
	p.wait(`document.querySelector('[data-ask][data-ready]')`)
	p.click(".pickone[aria-checked=false]")
	p.click("[data-scope=workspace]")
	p.wait(`document.querySelector('[data-act=grant]').ariaDisabled === 'false'`)
	p.answer("[data-act=grant]")
	p.has("#turns .card > .vh", "Allowed by you, in this workspace from now on: commands that only read")
	p.done()
	p.say("run ls -l")
	p.has("#turns .card > .vh", "Allowed by your grant: commands that only read")
	p.done()
	p.shots("grants-given")
	// Another session in the same workspace has it, too.
	p.do(chromedp.Navigate(s.url + "/"))
	p.live()
	p.say("run ls -a")
	p.has("#turns .card > .vh", "Allowed by your grant: commands that only read")
	p.done()
	// Keys and passwords: no grant is offered, and the file is named.
	if err := os.WriteFile(filepath.Join(s.workspace, "deploy.key"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.say("run wc -c deploy.key && make")
	p.wait(`document.querySelector('[data-ask][data-ready][data-read]')`)
	p.has("[data-ask] .facts", "This can only be allowed once.")
	p.has("[data-ask] .facts", "Secret deploy.key looks like a private key")
	p.wait(`document.getElementById('alert').textContent.includes('make. deploy.key looks like a private key')`)
	if p.true(`document.querySelector('[data-act=ways]').checkVisibility()`) {
		t.Error("reading keys is offered for longer than once")
	}
	p.shots("sensitive")
	p.answer("[data-act=deny]")
	p.done()
}

// Keys are drawn and work only while the question has the focus; what is typed in the composer is
// text. D denies, D twice leads to the reason.
func TestKeysOfAQuestion(t *testing.T) {
	h := newHouse(t)
	h.backend.on("act", asking(h.site.workspace, shell("c1", "touch acted")))
	p := h.site.open("/sessions/" + h.session(t))
	drawn := func() bool {
		return p.true(
			`[...document.querySelectorAll('.perm kbd')].some((e) => e.checkVisibility({ visibilityProperty: true }))`)
	}
	p.say("act")
	p.wait(`document.querySelector('[data-ask][data-ready][data-read]')`)
	p.write("asd")
	p.is(`document.getElementById('prompt').value`, "asd")
	p.js(`document.getElementById('prompt').value = ''`)
	if drawn() || p.true(`document.querySelector('[data-answered]')`) {
		t.Error("letters in the composer are keys of the question")
	}
	p.focus(question)
	p.wait(ripe)
	if !drawn() {
		t.Error("the keys of the question with the focus are not drawn")
	}
	// Twice in a moment, which a busy machine may not keep: both in one task.
	p.js(`for (const _ of [1, 2]) document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'd', bubbles: true }))`)
	p.wait(`document.activeElement.name === 'reason'`)
	if drawn() {
		t.Error("keys are drawn while a reason is typed")
	}
	p.write("ask me first")
	p.press("Enter")
	p.has("[data-answered]", "ask me first")
	p.done()
	p.say("act")
	p.wait(`document.querySelector('[data-ask][data-ready][data-read]')`)
	p.focus(question)
	p.wait(ripe)
	p.press("d")
	p.has("[data-answered=denied]:last-of-type", "touch acted")
	p.done()
	p.wait(`document.activeElement.id === 'prompt'`)
}

// A name that leads out of the workspace is shown with where it leads.
func TestLinksAreShownWithTheirTarget(t *testing.T) {
	h := newHouse(t)
	outside := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(outside, []byte("two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(h.site.workspace, "notes.txt")); err != nil {
		t.Fatal(err)
	}
	h.backend.on("write", asking(h.site.workspace,
		wish{"c1", "edit", `{"path":"notes.txt"}`, agent.Permission{
			Kind:     agent.KindWrite,
			Action:   "change a file",
			Resource: "notes.txt",
			Withheld: []string{"DATABASE_URL"},
			Diff:     "--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-two\n+three\n",
		}}))
	p := h.site.open("/sessions/" + h.session(t))
	p.say("write")
	p.wait(`document.querySelector('[data-ask][data-ready][data-read]')`)
	real, err := filepath.EvalSymlinks(outside)
	if err != nil {
		t.Fatal(err)
	}
	p.has("[data-ask] .facts", "notes.txt → "+real+", outside this workspace")
	p.has("[data-ask] .facts", "DATABASE_URL: the command does not get these variables.")
	p.shots("leads-outside")
	// The change opens large on the Desk, where nothing answers it; it stays when the question is
	// gone.
	for _, size := range [][2]int64{{390, 844}, {1440, 900}} {
		p.look(size[0], size[1], "light")
		if size[0] < 840 {
			p.click("[data-ask] [data-act=ways]")
		}
		p.click("[data-act=open-change]")
		p.wait(`document.querySelector('.pane[data-kind=change]')?.checkVisibility()`)
		if !p.true(
			`document.querySelector('.pane .diff .lines').innerHTML === document.querySelector('[data-ask] .diff .lines').innerHTML`) {
			t.Error("the Desk shows another change than the question")
		}
		if p.true(
			`document.querySelector('.pane :is([data-act^=allow], [data-act^=deny], [data-act=grant])')`) {
			t.Error("the Desk has buttons that answer the question")
		}
		p.is(`document.querySelector('#tabs .is-front [data-part=name]').textContent`, "notes.txt")
		p.shot(fmt.Sprintf("change-on-the-desk-%d", size[0]))
		p.accessible(fmt.Sprintf("a change on the Desk at %d", size[0]))
		if size[0] < 1100 {
			p.click(".sheet-back")
			p.wait(`document.activeElement.dataset.act === 'ways'`)
		}
	}
	p.wait(ready1)
	p.answer("[data-act=deny]")
	p.done()
	p.do(chromedp.Reload())
	p.wait(`document.querySelector('.pane[data-kind=change] .diff')?.textContent.includes('+three')`)
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
	p.has("[data-ask] .facts",
		`Before {"command":"echo from the hook"} Now {"command":"echo softened"}`)
	p.shots("hook-rewrite")
	p.click(".turn .note-row .rewrite summary")
	p.has(".turn .note-row", "Before run echo as it was said Now run echo from the hook")
	p.wait(`document.querySelector('[data-ask][data-ready]')`)
	p.answer("[data-act=allow-once]")
	p.wait(card)
	p.done()
	p.click(".card > .rewrite > summary")
	p.has(".card .rewrite", `Before {"command":"echo from the hook"} Now {"command":"echo softened"}`)
	p.shots("hook-rewrite-done")
	p.do(chromedp.Reload())
	p.live()
	p.has(".card .rewrite", `echo softened`)
}

// The first session in a folder names the instructions that the agent loads there, in
// one line, and shows them when they are clicked; the next one does not.
func TestInstructionsAreNamedOnce(t *testing.T) {
	h := newHouse(t)
	h.write("AGENTS.md", []byte("# Rules\n\nTests first.\n"))
	h.write("CLAUDE.md", []byte("See AGENTS.md\n"))
	h.backend.loads = []string{filepath.Join(h.site.workspace, "AGENTS.md"),
		filepath.Join(h.site.workspace, "CLAUDE.md"), "/elsewhere/AGENTS.md"}
	h.backend.on("hello", asking(h.site.workspace))
	p := h.site.open("/sessions/" + h.session(t))
	p.say("hello")
	p.done()
	p.has(".note-row",
		"The agent reads these instructions of this folder: AGENTS.md, CLAUDE.md, /elsewhere/AGENTS.md")
	p.shots("instructions")
	if p.true(`document.querySelector('[data-ask], [data-answered]')`) {
		t.Error("instructions are a question")
	}
	p.click(".note-row [data-path='AGENTS.md']")
	p.wait(card)
	p.has("[data-card]", "Tests first.")
	p.do(chromedp.Navigate(h.site.url + "/sessions/" + h.session(t)))
	p.live()
	p.say("hello")
	p.done()
	if p.true(`document.querySelector('#turns .note-row [data-path]')`) {
		t.Error("the second session names them again")
	}
}
