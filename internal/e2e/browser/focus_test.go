package browser

import (
	"cmp"
	"strings"
	"testing"
)

// resting says what the focus is on, and what is wrong with that: nothing has it, or something
// without a name or out of sight, or a letter would not go where the ring is.
const resting = `(() => {
	const el = document.activeElement
	if (!el || el === document.body) return 'BODY'
	const labels = (el.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.innerText ?? '').join(' ')
	const name = (el.ariaLabel || labels || (el.id !== 'scroll' && el.innerText) || el.placeholder || '').trim().split('\n')[0]
	const inside = (sel) => el.closest(sel)
	const where = inside('dialog') ? inside('dialog').id : inside('#shelf') ? 'shelf' : inside('[data-pane]') ? 'pane ' + inside('[data-pane]').dataset.base : inside('#side') ? 'side' : inside('#dock-asks') ? 'question' : ''
	const what = el.id || el.dataset.act || el.getAttribute('role') || el.classList[0] || el.localName
	const field = el.matches('input, textarea, select')
	const drawn = (...of) => getComputedStyle(...of).outlineStyle !== 'none'
	const ring = !field && (drawn(el) || drawn(el, '::after') || drawn(el.parentElement, '::after'))
	const letters = 'letters' in document.body.dataset
	const wrong = !name ? 'has no name' : !el.checkVisibility() || el.closest('[inert]') ? 'cannot be seen' : ring && !letters && !el.closest('dialog, [role=menu]') ? 'has the ring, and letters go to the composer' : ''
	return (wrong && 'WRONG (' + wrong + ') ') + [where, what, '"' + name.slice(0, 40) + '"'].join(' ').trim()
})()`

// rests checks what the focus is on after something was done, once what it leads to has come: it
// gets there, and is still there two pictures later.
func (p *page) rests(after, until, want string) {
	p.t.Helper()
	p.wait(until)
	p.wait(`document.activeElement.matches(` + quote(cmp.Or(want, ":not(body)")) + `)`)
	p.js(`for (let i = 0; i < 3; i++) await new Promise((done) => requestAnimationFrame(done))`)
	at := eval[string](p, resting)
	if at == "BODY" || strings.HasPrefix(at, "WRONG") || (want != "" && !p.true(`document.activeElement.matches(`+quote(want)+`)`)) {
		p.t.Errorf("after %s the focus is on %s, want %s", after, at, want)
	}
}

const (
	inView    = ".pane:not([hidden]) .view > *"
	composing = "#prompt"
)

// Whatever is clicked, closed, answered or left, the focus is on something that has a name, and
// the next key goes where the ring is.
func TestFocusIsNeverLost(t *testing.T) {
	s, p := desked(t)
	p.rests("loading", `document.body`, composing)
	for _, name := range []string{"internal/pump/pump.go", "README.md", "go.mod"} {
		p.told("show me " + name)
		p.front(name[strings.LastIndex(name, "/")+1:])
	}
	s.put("changed.txt", numbered(3))
	tabs := func(n int) string {
		return `document.querySelectorAll('.tab').length === ` + quoteInt(n)
	}
	front := func(name string) string {
		return `document.querySelector('.tab.is-front [data-part=name]').textContent === ` + quote(name)
	}

	p.click(".tab:first-child [role=tab]")
	p.rests("a click on a tab", front("pump.go"), "[role=tab]")
	p.press("w")
	p.rests("a letter after it", `document.getElementById('prompt').value === 'w'`, composing)
	p.press("Backspace", "Escape")
	p.rests("Esc in the composer", `true`, inView)
	p.press("w")
	p.rests("w", onDesk+`.querySelector('.code.wrap')`, inView)
	p.press("l")
	p.rests("l", front("README.md"), inView)
	p.press("x")
	p.rests("x", tabs(2), inView)
	p.press("X")
	p.rests("X", tabs(3), inView)
	p.click(".tab.is-front [data-act=close-tab]")
	p.rests("a click on the cross of a tab", tabs(2), "")
	p.press("w")
	p.rests("a letter after it", `document.getElementById('prompt').value === 'w'`, composing)
	p.press("Backspace")
	p.click(".tab.is-front [role=tab]")
	p.click(".pane:not([hidden]) [data-act=wrap]")
	p.rests("a click on wrap", `true`, "[data-act=wrap]")
	p.click(".dhead .path")
	p.rests("a click on the head", `true`, "")
	p.click("#title")
	p.rests("a click on the title", `true`, "")
	p.click("#turns .said, #turns h2")
	p.rests("a click on a prompt", `true`, "")
	p.click("#turns [data-slip]")
	p.rests("a click on a slip", front("pump.go"), "")

	p.press("Escape", "f")
	p.rests("f", `document.querySelector('.pane .find')`, "input")
	p.press("Escape")
	p.rests("Esc in find", `!document.querySelector('.pane .find')`, inView)
	p.click(".pane:not([hidden]) [data-act=find]")
	p.click(".pane:not([hidden]) [data-act=find-close]")
	p.rests("a click on the cross of find", `!document.querySelector('.pane .find')`, "")
	p.press("Escape", "g", "Escape")
	p.rests("Esc in go to line", `!document.querySelector('.pane .find')`, inView)
	p.press("\\")
	p.rests("splitting", `document.querySelectorAll('.pane:not([hidden])').length === 2`, inView)
	p.press("x")
	p.rests("x in a split", `document.querySelectorAll('.pane:not([hidden])').length === 1`, inView)
	p.press("X", "\\")
	p.wait(`document.querySelectorAll('.pane:not([hidden])').length === 2`)
	p.click(".pane.is-second .code, .pane.is-second .other")
	p.rests("a click on the second half", `true`, "")
	p.click("[data-act=split]")
	p.rests("a click on split", `document.querySelectorAll('.pane:not([hidden])').length === 1`, "[data-act=split]")

	for _, floats := range []struct{ what, open, there string }{
		{"the shelf", "t", "#shelf:popover-open"},
		{"the bar", "Control+k", "#open-bar[open]"},
		{"the list of keys", "?", "#keys[open]"},
		{"what changed", "D", "#changed:popover-open"},
	} {
		p.press("Escape")
		p.rests("Esc", `true`, inView)
		p.press(floats.open)
		p.rests("opening "+floats.what, `document.querySelector(`+quote(floats.there)+`)`, "")
		p.press("Escape")
		p.rests("Esc in "+floats.what, `!document.querySelector(`+quote(floats.there)+`)`, inView)
		p.press(floats.open)
		p.wait(`document.querySelector(` + quote(floats.there) + `)`)
		p.click("#turns h2")
		p.rests("a click beside "+floats.what, `true`, "")
		if p.true(`document.querySelector(` + quote(floats.there) + `)`) {
			p.press("Escape")
		}
	}
	p.press("Escape")
	for _, name := range []string{"go.mod", "changed.txt"} { // one that is on the Desk, and one that is read
		p.click("[data-act=open-bar]")
		p.keys(name, atOnce) // which wait for the bar
		p.has("#open-hits [aria-selected=true]", name)
		p.press("Enter")
		p.front(name)
		p.rests("opening "+name+" by the bar's own button", `document.activeElement.closest('#desk')`, inView)
	}
	p.press("x")
	p.click(".pane:not([hidden]) [data-act=pane-more]")
	p.rests("a click on More", `document.querySelector('[role=menu]')`, "[role=menuitem]")
	p.press("Escape")
	p.rests("Esc in the menu", `!document.querySelector('[role=menu]')`, "[data-act=pane-more]")
	p.pick(".pane:not([hidden]) [data-act=pane-more]", "Close the tab")
	p.rests("closing by the menu", tabs(1), "")
	p.press("Escape", "]")
	p.rests("hiding the Desk", `!document.getElementById('desk').checkVisibility()`, "#scroll")
	p.press("]")
	p.rests("showing it again", `document.getElementById('desk').checkVisibility()`, inView)
	p.press("x")
	p.rests("closing the last tab", `!document.getElementById('desk').checkVisibility()`, "#scroll")
	p.press("i")
	p.rests("i", `true`, composing)

	p.write("/")
	p.wait(`!document.getElementById('menu').hidden`)
	p.press("Escape")
	p.rests("Esc in the menu of commands", `document.getElementById('menu').hidden`, composing)
	p.press("Backspace")
	p.click("[data-act=pick]")
	p.wait(`!document.getElementById('menu').hidden`)
	p.press("Escape")
	p.rests("Esc in the menu of models", `document.getElementById('menu').hidden`, "")

	// Questions.
	for _, way := range []struct {
		what string
		do   func()
	}{
		{"allowing by a click", func() { p.answer("[data-act=allow-once]") }},
		{"denying by a click", func() { p.answer("[data-act=deny]") }},
		{"allowing by its key", func() { p.press("a") }},
		{"denying by its key", func() { p.press("d") }},
		{"denying with a reason", func() {
			p.press("d", "d")
			p.rests("d d", `document.activeElement.name === 'reason'`, "")
			p.press("Escape")
			p.rests("Esc in the reason", `true`, "[data-ask]")
			p.press("d", "d")
			p.wait(`document.activeElement.name === 'reason'`)
			p.write("not now")
			p.press("Enter")
		}},
		{"granting by keys", func() {
			p.press("s")
			p.rests("s", `document.querySelector('[data-ask][data-grants][data-ready]')`, "[data-ask]")
			p.press("Escape")
			p.rests("Esc in more", `document.querySelector('[data-ask]:not([data-grants])[data-ready]')`, "[data-ask]")
			p.press("s")
			p.wait(`document.querySelector('[data-ask][data-grants][data-ready]')`)
			p.press("s")
		}},
	} {
		p.say("run echo " + strings.ReplaceAll(way.what, " ", "-"))
		p.wait(`document.querySelector('[data-ask][data-ready][data-read]')`)
		if strings.Contains(way.what, "key") || strings.Contains(way.what, "reason") {
			p.focus(question)
			p.wait(ripe)
		}
		way.do()
		p.rests(way.what, `!document.querySelector('[data-ask]')`, composing)
		p.settled()
	}
	p.say("ask me which one? red | dark green")
	p.wait(`document.querySelector('[data-ask=input][data-ready]')`)
	p.click(`[data-choice="dark green"]`)
	p.rests("a click on a choice", `!document.querySelector('[data-ask]')`, composing)
	p.settled()
	p.say("ask me which one? red | dark green")
	p.wait(`document.querySelector('[data-ask=input][data-ready]')`)
	p.click("[name=answer]")
	p.write("neither")
	p.press("Enter")
	p.rests("an answer", `!document.querySelector('[data-ask]')`, composing)
	p.settled()

	// What goes with what was clicked.
	p.say("stream 20000 words slowly")
	p.wait(`document.querySelector('#turns .turn:last-child .said')?.innerText.length > 20`)
	p.say("later")
	p.wait(`document.querySelector('.queued')`)
	p.click("[data-act=queue-remove]")
	p.rests("removing what waits", `!document.querySelector('.queued')`, composing)
	p.click("#composer [data-act=stop]")
	p.rests("stopping", `document.getElementById('composer').dataset.status === 'idle'`, composing)
	p.settled()

	// The search and a replay, by keys alone; a review is in TestReviewOfATurn.
	const hits = ".grep .code"
	p.press("Control+Shift+f")
	p.rests("opening the search", `document.querySelector('.grep')`, ".grep [data-part=q]")
	p.write("Patience")
	p.has(".grep .query", "hits in")
	p.press("Escape")
	p.rests("Esc in the query", `true`, hits)
	p.press("n")
	p.rests("n in the search", `document.querySelector('.grep .dfoot').innerText.includes('Hit 2 of')`, hits)
	p.press("Enter")
	p.rests("Enter on a hit", front("pump.go"), inView)
	p.press("Control+Shift+f")
	p.rests("opening the search again", `document.activeElement.matches('.grep [data-part=q]')`, "")
	p.press("Escape", "Escape")
	p.rests("closing the search", `!document.querySelector('.grep')`, inView)
	p.say("/replay")
	p.rests("opening a replay", `document.querySelector('#saw .rows .line')`, "#moment") // its keys are there by then
	p.press("Home", "j")
	p.rests("j in a replay", `document.getElementById('moment').value === '2'`, "#moment")
	p.press("Escape")
	p.rests("leaving the replay", `!location.pathname.endsWith('/replay') && 'joined' in document.body.dataset`, "")
}

// On a phone nothing that is tapped takes the focus away, and none of it opens the keyboard.
func TestFocusOnAPhone(t *testing.T) {
	_, p := desked(t)
	p.touch(390, 844)
	p.told("show me internal/pump/pump.go")
	p.wait(card)
	unwritten := func(after, until string) {
		t.Helper()
		p.rests(after, until, ":not(input, textarea)")
	}
	p.tap("#turns h2")
	p.tap("#turns .card [data-act=alone]")
	unwritten("opening the sheet", `document.querySelector('.app.sheet')`)
	p.tap(".pane:not([hidden]) [data-act=pane-more]")
	unwritten("opening the menu", `document.querySelector('[role=menu]')`)
	p.tap(".pane:not([hidden]) .cl")
	unwritten("a tap beside it", `!document.querySelector('[role=menu]')`)
	p.tap(".sheet-back")
	unwritten("leaving the sheet", `!document.querySelector('.app.sheet')`)
	p.tap("[data-act=side]")
	unwritten("pulling the drawer out", `document.querySelector('.app.drawer')`)
	p.tapAt(380, 500)
	unwritten("a tap beside the drawer", `!document.querySelector('.app.drawer')`)
	for _, act := range []string{"allow-once", "deny"} {
		p.say("run echo " + act)
		p.wait(`document.querySelector('[data-ask][data-ready][data-read]')`)
		p.tap("[data-act=" + act + "]")
		unwritten(act, `!document.querySelector('[data-ask]')`)
		p.settled()
	}
}
