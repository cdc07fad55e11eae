package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const (
	prompt   = `document.getElementById('prompt')`
	composer = `document.getElementById('composer')`
)

func TestComposerGrowsAndKeepsDrafts(t *testing.T) {
	s := start(t)
	p := s.open("/")
	if !p.true(`document.querySelector('[data-act=send]').disabled`) {
		t.Error("there is something to send in an empty composer")
	}
	p.compose("one")
	low := eval[float64](p, prompt+`.offsetHeight`)
	for range 4 {
		p.press("Shift+Enter")
		p.write("more")
	}
	p.is(prompt+`.value`, "one\nmore\nmore\nmore\nmore")
	if high := eval[float64](p, prompt+`.offsetHeight`); high < low+4*20 {
		t.Errorf("five lines stand in %v pixels, one in %v", high, low)
	}
	p.write(strings.Repeat("\nline", 200))
	p.wait(prompt + `.value.length > 1000`)
	if !p.true(prompt + `.offsetHeight <= innerHeight * 0.41`) {
		t.Error("the composer grows over the page")
	}
	p.js(prompt + `.select()`)
	p.write("half a thought")
	p.do(chromedp.Reload())
	p.is(prompt+`.value`, "half a thought")

	// Each session has its own draft, and the first prompt takes none along.
	p.js(prompt + `.select()`)
	p.say("show go.mod")
	p.wait(card)
	p.done()
	first := p.session()
	p.compose("for the first")
	p.press("Control+k", "Escape")
	p.do(chromedp.Navigate(s.url + "/"))
	p.live()
	p.is(prompt+`.value`, "")
	p.compose("for a new one")
	p.do(chromedp.Navigate(s.url + "/sessions/" + first))
	p.is(prompt+`.value`, "for the first")
	p.do(chromedp.Navigate(s.url + "/"))
	p.is(prompt+`.value`, "for a new one")
}

func TestComposerRecallsWhatWasSent(t *testing.T) {
	s := start(t)
	p := s.open("/")
	for _, text := range []string{"/show go.mod", "/show README.md"} {
		p.say(text)
		p.done()
		p.wait(card)
	}
	p.js(prompt + `.focus()`)
	p.press("ArrowUp")
	p.is(prompt+`.value`, "/show README.md")
	p.press("ArrowUp")
	p.is(prompt+`.value`, "/show go.mod")
	p.press("ArrowDown", "ArrowDown")
	p.is(prompt+`.value`, "")
	p.compose("two\nlines")
	p.press("ArrowUp") // moves the caret: something is written
	p.is(prompt+`.value`, "two\nlines")
}

const lookWords = `getComputedStyle(document.querySelector('.send:not(.stop) .words')).display !== 'none' && document.querySelector('.send:not(.stop)').innerText.replace(/\s+/g, ' ')`

func TestComposerOffersTheFreeWay(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.compose("show me go.mod")
	p.has("#composer .free", "go.mod")
	p.is(lookWords, "Look · 0 tokens ↵")
	p.shots("free-way")
	p.press("Enter")
	p.wait(card)
	p.done()
	p.has("#turns .slip", "Opened by you")
	if p.true(`document.querySelector('#turns .said')`) {
		t.Error("somebody answered a display of the user's own")
	}
	p.compose("show me go.mod")
	p.has("#composer [data-act=other-way]", "Ask the agent Alt ↵")
	p.press("Alt+Enter")
	p.wait(`document.querySelector('#turns .said')`)
	p.done()
	for _, prose := range []string{"explain README.md please", "README.md is short", "e.g."} {
		p.say(prose)
		p.done()
	}
	for _, prose := range []string{"show me how go.mod works", "open README.md and sum it up", "show me go.mod then run ls"} {
		p.compose(prose)
		p.is(prompt+`.value`, prose)
		p.js(`fetch('/api/looks?text=' + encodeURIComponent(` + prompt + `.value)).then((r) => r.json()).then((d) => { if (d.looks.length) throw new Error(JSON.stringify(d)) })`)
		p.js(prompt + `.select()`)
	}
	p.compose("show me nothing/of/the/kind.go")
	p.wait(`!document.querySelector('#composer .free')`)
	p.js(prompt + `.select()`)
	p.compose("show me go.mod lines 3-4")
	p.has("#composer .free", "go.mod")
	p.press("Enter")
	p.wait(`document.querySelectorAll('#turns [data-card][data-state=done]').length === 3`)
	p.is(`[...document.querySelectorAll('#turns [data-card]')].at(-1).querySelector('.ln').textContent`, "3")

	// What is named decides what is shown: a folder opens as a listing, a picture as one.
	s.put("a b.txt", "between\n")
	if err := os.Mkdir(filepath.Join(s.workspace, "img"), 0o755); err != nil {
		t.Fatal(err)
	}
	logo, err := os.ReadFile(filepath.Join(s.workspace, "logo.png"))
	if err != nil {
		t.Fatal(err)
	}
	s.put("img/logo.png", string(logo))
	for n, c := range []struct{ text, sees string }{
		{"show me internal", "pump/"}, {"/show internal/pump", "pump.go"}, {"internal/", "pump/"}, {"open the folder internal", "pump/"}, {"show me a b.txt", "between"},
	} {
		p.compose(c.text)
		if strings.HasPrefix(c.text, "/show") { // what completes it does not take Enter from a folder
			p.wait(`!document.getElementById('menu').hidden`)
		}
		p.has("#composer[data-looks] .send:not(.stop)", "Look · 0 tokens")
		p.press("Enter")
		p.wait(`document.querySelectorAll('#turns [data-card][data-state=done]').length === ` + quoteInt(4+n))
		p.wait(`[...document.querySelectorAll('#turns [data-card]')].at(-1).innerText.includes(` + quote(c.sees) + `)`)
		p.is(prompt+`.value`, "") // the reply to it has come
	}
	for n, text := range []string{"show me img/logo.png", "/show img/logo.png", "show me the picture img/logo.png", "img/logo.png"} {
		p.see(text)
		p.wait(`document.querySelectorAll('#turns .pic img').length === ` + quoteInt(n+1) + ` && [...document.querySelectorAll('#turns .pic img')].at(-1).naturalWidth === 320`)
	}
	if n := strings.Count(s.logged(t, p.session()), `"type":"user.message"`); n != 4 {
		t.Errorf("%d prompts, want the one with Alt and three of prose", n)
	}
}

// While the agent works, a look that is recognised leaves both ways to send in sight, beside the Desk
// and on a phone.
func TestBothWaysFitWhileTheAgentWorks(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.look(1440, 900, "light")
	p.see("show me go.mod")
	p.done()
	p.say("stream 3000 words slowly")
	p.wait(`document.querySelector('#composer:not([data-status=idle])') && ` + prompt + `.value === ''`)
	p.compose("show me internal/pump/pump.go")
	p.has("#composer [data-act=other-way]", "Ask the agent")
	for _, size := range [][2]int64{{1440, 900}, {1100, 800}, {390, 844}, {360, 640}} {
		p.look(size[0], size[1], "light")
		p.wait(`(() => { const box = document.querySelector('#composer').getBoundingClientRect(); return [...document.querySelectorAll('.under button')].filter((b) => b.checkVisibility()).every((b) => b.getBoundingClientRect().right <= box.right) })()`)
	}
}

func TestComposerCompletes(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.compose("/")
	p.has("#menu [role=group]", "Only you see the result 0 tokens /show a file, a folder or a picture")
	p.has("#menu [role=group]", "/find text in every file")
	p.has("#menu [role=group]", "This session /title name this session")
	p.is(`[...document.querySelectorAll('#menu [role=group]')].map((e) => e.ariaLabel).join()`, "Only you see the result,This session")
	p.shots("menu-commands")
	p.press("Escape")
	p.wait(`document.getElementById('menu').hidden`)
	p.write("im")
	p.has("#menu [role=option]", "/image")
	p.press("Tab")
	p.is(prompt+`.value`, "/image ")
	p.write("lo")
	p.has("#menu [role=option]", "logo.png")
	p.press("ArrowDown")
	p.has("#menu [aria-selected=true]", "logo.png")
	p.press("Enter")
	p.is(prompt+`.value`, "/image logo.png")
	p.press("Enter")
	p.wait(`document.querySelector('#turns .pic img')?.naturalWidth === 320`)
	p.done()

	p.compose("what is @pump")
	p.has("#menu [role=option]", "internal/pump/pump.go")
	p.shots("menu-files")
	p.press("ArrowDown")
	p.press("Enter")
	p.is(prompt+`.value`, "what is @internal/pump/pump.go ")
	p.press("Enter")
	p.has("#turns .chip", "internal/pump/pump.go")
	p.done()

	p.say("!echo by hand")
	p.wait(`document.querySelector('#turns [data-kind=terminal][data-state=done]')`)
	p.done()
	if p.true(`document.querySelector('[data-ask], [data-answered]')`) {
		t.Error("one's own command asks for permission")
	}
	p.expect("422")
	p.say("/shwo go.mod")
	p.has(".toast", "/shwo is not a command. Did you mean /show?")
	p.is(prompt+`.value`, "/shwo go.mod")
	p.js(prompt + `.select()`)
	p.write(" /shwo go.mod")
	p.press("Enter")
	p.has("#turns h2", "/shwo go.mod")
	p.done()
	p.say("/title A name of my own")
	p.has("#title", "A name of my own")
	p.has("#sessions", "A name of my own")
	p.done()
}

func TestComposerPicksWhoAnswers(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.click("[data-act=pick]")
	p.has("#menu [role=group]", "Agent offline")
	p.shot("picker")
	p.press("ArrowDown", "Enter")
	p.has("#pick-backend", "offline")
	p.press("Escape")
	p.click("[data-act=pick]")
	p.has("#menu [role=option]", "Connect a model")
	p.press("ArrowUp", "Enter")
	p.wait(`document.activeElement.closest('[data-connect]')`)
	p.say("/show go.mod")
	p.done()
	p.click("[data-act=pick]")
	p.has("#menu [role=option]", "Connect a model")
	p.press("Escape")
	p.wait(`document.getElementById('menu').hidden`)
	p.click("[data-act=pick]")
	p.has("#menu [role=option]", "Connect a model")
	p.press("ArrowUp", "Enter")
	p.has("[data-connect]", "Connect a model")
}

// paste gives the composer what a clipboard or a hand would.
const paste = `(type, make) => {
	const data = new DataTransfer()
	make(data)
	const el = document.getElementById('prompt')
	el.focus()
	const e = type === 'paste' ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
		: new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true })
	el.dispatchEvent(e)
}`

func TestComposerTakesPicturesAndBigPastes(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.js(`const give = ` + paste + `; give('paste', (d) => d.setData('text/plain', 'a line of a log\n'.repeat(200_000)))`)
	p.has("#chips .chip", "pasted, 200,001 lines")
	p.is(prompt+`.value`, "")
	p.wait(`!document.querySelector('[data-act=send]').disabled`)
	p.js(`const give = ` + paste + `
		const png = await (await fetch(document.querySelector('link[rel=icon]').href)).blob()
		const file = new File([png], 'drawn.svg', { type: 'image/svg+xml' })
		give('dragover', (d) => d.items.add(file))
		give('drop', (d) => d.items.add(file))`)
	p.has("#chips .chip", "drawn.svg")
	if p.true(composer + `.classList.contains('is-over')`) {
		t.Error("the composer still looks as if something hovered over it")
	}
	p.upload("#attach", s.workspace+"/go.mod")
	p.has("#chips .chip", "go.mod")
	p.shots("chips")
	p.click("#chips .chip:nth-child(2) [data-act=unchip]")
	p.wait(`document.querySelectorAll('#chips .chip').length === 2`)
	p.say("what is this?")
	p.wait(`document.querySelectorAll('#turns .ask-row .chip').length === 2`)
	p.has("#turns .ask-row .chip", "pasted, 200,001 lines")
	p.done()
	p.wait(`!document.querySelector('#chips .chip')`)
	// A small paste is text.
	p.js(prompt + `.focus()`)
	p.write("small paste")
	p.is(prompt+`.value`, "small paste")
}

// A picture that is pasted is seen on its chip, at the price the Desk names for the same picture.
func TestPastedPictureHasAPrice(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.js(`const give = ` + paste + `
		const canvas = Object.assign(document.createElement('canvas'), { width: 1600, height: 1000 })
		const c = canvas.getContext('2d')
		c.fillStyle = '#17a'
		c.fillRect(0, 0, 1600, 1000)
		c.fillStyle = '#fc3'
		c.fillRect(400, 200, 700, 600)
		const png = await new Promise((done) => canvas.toBlob(done, 'image/png'))
		give('paste', (d) => d.items.add(new File([png], 'image.png', { type: 'image/png' })))`)
	p.has("#chips .chip.cost .tok", "1,105 tokens")
	p.wait(`document.querySelector('#chips .chip img').naturalWidth === 1600`)
	p.shots("pasted-picture")
	p.click("#chips [data-act=unchip]")
	p.wait(`!document.querySelector('#chips .chip')`)
	// What is not a picture, whatever it is called, has neither.
	p.js(`const give = ` + paste + `
		give('paste', (d) => d.items.add(new File(['no picture'], 'torn.png', { type: 'image/png' })))`)
	p.has("#chips .chip", "torn.png")
	p.wait(`!document.querySelector('#chips .chip img, #chips .chip.cost')`)
}

func TestComposerQueuesSteersAndStops(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("stream 2000 words slowly")
	p.wait(`document.body.dataset.session && ` + composer + `.dataset.status === 'running'`)
	p.wait(`document.querySelector('#turns .said')?.innerText.length > 20`)
	if p.true(`document.querySelector('#composer [data-act=send]').checkVisibility()`) {
		t.Error("running and empty: there is something to send")
	}
	p.say("what can you do?")
	p.wait(`document.querySelector('[data-turn][data-state=queued]')`)
	p.say("/show go.mod") // looking waits for nobody
	p.wait(card)
	p.is(prompt+`.value`, "")
	p.click("[data-mode=steer]")
	p.wait(`document.querySelector('[data-mode=steer]').getAttribute('aria-pressed') === 'true' && document.querySelector('[data-mode=queue]').getAttribute('aria-pressed') === 'false'`)
	p.shots("running")
	p.click("#composer [data-act=stop]")
	p.wait(`document.querySelector('[data-turn]').dataset.state === 'aborted'`)
	p.wait(prompt + ` === document.activeElement`) // its button is gone
	p.wait(`[...document.querySelectorAll('[data-turn]')].at(-1).dataset.state === 'completed'`)
	p.done()
}

// A prompt whose reply was lost is sent once more under its id, and is in the log once;
// one that never arrived arrives then.
func TestLostReplyDoesNotDoubleAPrompt(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("what can you do?")
	p.done()
	p.js(`const real = window.fetch
		window.sent = []
		window.fetch = async (url, init) => {
			if (init?.method !== 'POST' || !url.endsWith('/messages')) return real(url, init)
			sent.push(JSON.parse(init.body).messageId)
			if (sent.length === 1) await real(url, init) // it arrives, the reply does not
			if (sent.length === 1 || sent.length === 3) throw new TypeError('lost')
			return real(url, init)
		}`)
	p.say("what else?")
	p.wait(`document.querySelectorAll('.turn').length === 2`)
	p.done()
	p.say("and then?")
	p.wait(`document.querySelectorAll('.turn').length === 3`)
	p.done()
	if !p.true(`sent.length === 4 && sent[0] && sent[0] === sent[1] && sent[2] === sent[3] && sent[0] !== sent[2]`) {
		t.Errorf("sent were %s", eval[string](p, `JSON.stringify(sent)`))
	}
	if n := eval[int](p, `document.querySelectorAll('.turn').length`); n != 3 {
		t.Errorf("%d turns, want 3", n)
	}
}

// Escape leaves the composer and stops nothing: what waits in the queue gets its turn.
func TestEscapeStopsNothing(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("stream 300 words slowly")
	p.wait(`document.querySelector('#turns .said')?.innerText.length > 20`)
	p.say("what can you do?")
	p.wait(`document.querySelector('[data-turn][data-state=queued]')`)
	p.press("Escape", "Escape")
	p.wait(`document.activeElement.id === 'scroll'`)
	p.press("i")
	p.wait(`document.activeElement.id === 'prompt'`)
	p.wait(`document.querySelectorAll('[data-turn][data-state=completed]').length === 2`)
	p.done()
	p.say("stream 2000 words slowly")
	p.wait(`[...document.querySelectorAll('#turns .said')].at(-1).innerText.length > 20 && ` + composer + `.dataset.status === 'running'`)
	p.press("Control+.")
	p.wait(`[...document.querySelectorAll('[data-turn]')].at(-1).dataset.state === 'aborted'`)
	p.done()
}

// What is typed goes into the composer: after the page has come, after the first
// prompt made a session, and after a click on something else; nothing fires. Only
// who leaves by Escape, or goes somewhere by keys, uses letters as keys.
func TestTypingReachesTheComposer(t *testing.T) {
	s := start(t)
	p := s.open("/")
	typed := func(when string) {
		t.Helper()
		at := eval[string](p, `location.pathname`)
		for _, letter := range "now?" { // n and ? are keys elsewhere
			p.press(string(letter))
		}
		p.is(prompt+`.value`, "now?")
		if got := eval[string](p, `location.pathname + (document.querySelector('dialog[open]')?.id ?? '')`); got != at {
			t.Fatalf("%s: typing led to %s", when, got)
		}
		p.js(prompt + `.select()`)
		p.press("Delete")
		p.is(prompt+`.value`, "")
	}
	typed("after the page has come")
	for _, letter := range "what can you do" {
		p.press(map[bool]string{true: "Space", false: string(letter)}[letter == ' '])
	}
	p.press("Enter")
	p.done()
	typed("after the first prompt")
	p.say("/show go.mod")
	p.wait(card)
	p.done()
	for _, place := range []string{".line:nth-child(3) .cl", ".card-head .path", "[data-act=copy]", "h2", "#scroll .said"} {
		p.click(place)
		typed("after a click on " + place)
	}
	p.press("Escape")
	p.wait(`document.activeElement.id === 'scroll'`)
	p.press("j", "w")
	p.wait(`document.activeElement.matches('[data-card]') && document.querySelector('[data-card] .code.wrap')`)
	p.is(prompt+`.value`, "")
}

// What is typed while a prompt is on its way stays, without the prompt.
func TestTypingWhileAPromptIsSent(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.js(`const go = window.fetch; window.go = new Promise((done) => { window.release = done })
		window.fetch = async (...a) => { if (a[1]?.method === 'POST') await window.go; return go(...a) }`)
	p.say("/show go.mod")
	p.wait(composer + `.ariaBusy === 'true'`)
	p.write("\nexplain it")
	p.js(`window.release()`)
	p.is(prompt+`.value`, "explain it")
}

// What Enter does is what the button says, also where the answer of the server comes late, with
// several files that fit, and with the setting that turns it round.
func TestLooksAreRecognised(t *testing.T) {
	s, p := desked(t)
	for _, dir := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(s.workspace, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.put("a/pump.txt", "one of a\n")
	s.put("b/pump.txt", "one of b\n")
	const arrow = `getComputedStyle(document.querySelector('.send:not(.stop) .words')).display === 'none'`
	// Answers come when the test says so.
	const hold = `window.late = []; const now = window.fetch; window.fetch = (at, o) => String(at).includes('/api/looks') ? new Promise((done, no) => { o.signal?.addEventListener('abort', () => no(o.signal.reason)); late.push(() => o.signal?.aborted || done(now(at, o))) }) : now(at, o)`
	p.js(hold)
	p.compose("show me go.mod")
	p.wait(`late.length > 0 && ` + arrow)
	p.press("Enter") // it may be a look: that is waited for, and then asked
	p.has("#composer .free", "No answer yet: look, or ask the agent?")
	p.has("#composer [data-act=other-way]", "Ask the agent")
	p.press("Alt+Enter")
	p.has("#turns .said", "go.mod")
	p.settled()
	p.js(hold)
	p.compose("show me go.mod")
	p.js(`late.at(-1)()`)
	p.has("#composer .send:not(.stop)", "Look · 0 tokens")
	p.press("x") // and at once it is another text
	p.wait(arrow)
	p.press("Backspace")
	p.wait(arrow)
	p.js(`late.forEach((go) => go()); window.late = { push: (go) => go() }`)
	p.has("#composer .send:not(.stop)", "Look · 0 tokens")
	p.press("Enter")
	p.front("go.mod")
	p.is(prompt+`.value`, "")

	p.compose("show me pump.txt")
	p.has("#composer .free", "a/pump.txt 2 fit, Tab for the other")
	p.press("Tab")
	p.has("#composer .free", "b/pump.txt")
	p.press("Enter")
	p.front("pump.txt")
	p.has(".pane:not([hidden]) .rows", "one of b")
	p.is(prompt+`.value`, "")

	p.compose("!echo own")
	p.has("#composer .send:not(.stop)", "Look · 0 tokens")
	p.press("Enter")
	p.front("echo own")
	p.is(prompt+`.value`, "") // the reply to it has come

	p.press("Control+k")
	for _, key := range "enter" {
		p.press(string(key))
	}
	p.has("#open-hits", "Swap Enter and Alt Enter")
	p.press("Enter")
	p.compose("show me README.md")
	p.has("#composer [data-act=other-way]", "Look · 0 tokens Alt ↵")
	p.wait(arrow)
	p.press("Alt+Enter")
	p.front("README.md")
	if n := strings.Count(s.logged(t, p.session()), `"type":"user.message"`); n != 1 {
		t.Errorf("%d prompts, want the one sent by the arrow", n)
	}
}
