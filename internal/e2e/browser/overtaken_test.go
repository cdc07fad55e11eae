package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// module is a module as it is written: the page's own copy after [page.sources].
func module(name string) string {
	return `await import(document.querySelector('script[src*=theme]').src.replace('app/theme.js', 'js/` + name + `'))`
}

// holding has requests wait, once they are under way, whose address matches: held is how
// many, and release lets go of them and of those that come.
const holding = `const asked = window.fetch
	Object.assign(window, { held: 0, asked: 0 })
	const open = new Promise((done) => { window.release = done })
	window.hold = (match) => { window.fetch = async (...a) => {
		const mine = match.test(String(a[0].url ?? a[0]))
		if (mine) window.asked++
		const reply = await asked(...a)
		if (mine) { window.held++; await open }
		return reply
	} }
`

// What is pressed before the scripts are there is done as it was pressed.
func TestControlEnterBeforeTheScripts(t *testing.T) {
	p := start(t).open("/")
	p.say("stream 2000 words slowly")
	p.live()
	p.wait(`document.querySelector('#turns .said')?.innerText.length > 20`)
	p.before(`window.PerformanceObserver = class { observe() {} }
		const later = window.setTimeout
		window.setTimeout = (f, ms, ...a) => (ms === 1500 ? (window.begin = f) : later(f, ms, ...a))`)
	p.js(`window.old = true`)
	p.do(chromedp.Reload())
	p.wait(`!window.old && window.begin && document.activeElement.id === 'prompt'`)
	p.compose("turn left")
	p.press("Control+Enter")
	p.js(`const f = window.fetch; window.sent = []; window.fetch = (...a) => { if (String(a[0]).endsWith('/messages')) sent.push(JSON.parse(a[1].body).mode); return f(...a) }; begin()`)
	p.wait(`sent.join() === 'steer'`)
	p.press("Control+.")
	p.done()
}

// A list that was asked for before its reader did something is not drawn over that.
func TestListIsNotDrawnOverItsReader(t *testing.T) {
	_, p := shown(t, "/show go.mod")
	row := `#sessions button[data-session="` + p.session() + `"]`
	p.wait(`document.querySelector('` + row + `')`)
	p.js(holding + `hold(/\/sessions\?/)
		const { post } = ` + module("api.js") + `
		await post('/api/sessions', {})`)
	p.wait(`held > 0`)
	p.js(`document.querySelector('` + row + `').focus()`)
	p.press("Enter")
	p.choose("Rename")
	p.wait(`document.activeElement.matches('#sessions input')`)
	p.write("Half a ti")
	p.js(`release(); await new Promise((next) => setTimeout(next, 50))`)
	p.is(`document.activeElement.value`, "Half a ti")
	p.write("tle")
	p.press("Enter")
	p.wait(`[...document.querySelectorAll('#sessions .t')].some((e) => e.textContent === 'Half a title')`)
}

// Of two looks that need a session at once, one makes it.
func TestOneSessionIsMade(t *testing.T) {
	p := start(t).open("/")
	p.sources()
	p.js(`const { ensure } = ` + module("composer.js") + `
		await Promise.all([ensure(), ensure()])`)
	p.is(`(await (await fetch('/api/sessions')).json()).sessions.map((s) => s.id).join()`,
		eval[string](p, `document.body.dataset.session`))
}

// What is pressed twice is sent once after the other, so that the server ends with the last.
func TestPinsAreSentInOrder(t *testing.T) {
	_, p := desked(t)
	p.told("show me go.mod")
	p.front("go.mod")
	p.js(holding + `hold(/\/pin$/)`)
	p.press("Escape", "p", "p")
	p.wait(`held === 1`)
	p.js(`await new Promise((next) => setTimeout(next, 50))`)
	p.is(`String(asked)`, "1")
	p.js(`release()`)
	p.wait(`held === 2`)
	p.is(`String((await (await fetch('/api/sessions/' + document.body.dataset.session + '/outputs')).json()).outputs.some((o) => o.pinned))`, "false")
}
