package browser

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestSessionListIsLive(t *testing.T) {
	s := start(t)
	a := s.open("/")
	a.say("/show go.mod")
	a.done()
	one := a.session()
	row := func(id, rest string) string { return `#sessions a[data-session="` + id + `"]` + rest }
	a.wait(`document.querySelector('` + row(one, "[aria-current=page]") + `')`)

	b := s.open("/")
	b.say("run echo hello")
	b.wait(`document.querySelector('[data-ask][data-ready]')`)
	two := b.session()
	// The first tab sees the second session come, wait, run and end.
	a.wait(`document.querySelector('` + row(two, "[data-status=waiting]") + `')`)
	a.has("#sessions h2", "Waiting for you")
	a.has("#sessions .sub", "echo hello")
	a.shots("waiting")
	b.answer("[data-act=allow-once]")
	b.done()
	a.wait(`document.querySelector('` + row(two, "[data-status=idle]") + `')`)
	a.wait(`!document.querySelector('#sessions .sub')`)
	// A list made while it ran, by a page whose stream opened after its end, is read again.
	a.js(`document.querySelector('` + row(two, "") +
		`').dataset.status = 'running'; document.dispatchEvent(new Event('resume'))`)
	a.wait(`document.querySelector('` + row(two, "[data-status=idle]") + `')`)

	// What was seen there and went on since is unread here.
	a.do(chromedp.Navigate(s.url + "/sessions/" + two))
	a.live()
	a.do(chromedp.Navigate(s.url + "/sessions/" + one))
	a.live()
	b.do(chromedp.Navigate("about:blank"))
	c := s.open("/")
	c.js(`localStorage.setItem('webchat.read', JSON.stringify({ ...JSON.parse(localStorage.getItem('webchat.read')), ["` + two + `"]: 1 })); dispatchEvent(new StorageEvent('storage', { key: 'webchat.read' }))`)
	c.wait(`Number(document.querySelector('` + row(two, "") + `').dataset.unread) > 1`)
	c.do(chromedp.Navigate("about:blank"))

	// Rename, pin, delete, undo, and delete.
	more := `#sessions button[data-session="` + two + `"]`
	a.js(`document.querySelector('` + more + `').focus()`)
	a.press("Enter")
	a.has("[role=menu] [role=menuitem]", "Rename")
	a.shot("row-menu")
	a.press("Enter")
	a.wait(`document.activeElement.matches('#sessions input')`)
	a.write("Second one")
	a.press("Enter")
	a.has(row(two, " .t"), "Second one")
	a.js(`document.querySelector('` + more + `').focus()`)
	a.press("Enter")
	a.choose("Pin")
	a.wait(`document.querySelector('` + row(two, "[data-pinned]") + `')`)
	a.has("#sessions h2", "Pinned")
	a.js(`document.querySelector('` + more + `').focus()`)
	a.press("Enter")
	a.choose("Delete")
	a.wait(`!document.querySelector('` + row(two, "") + `')`)
	a.has(".toast", "Deleted")
	a.shot("deleted")
	a.click(".toast [data-part=do]")
	a.wait(`document.querySelector('` + row(two, "") + `')`)

	// Rows that follow go on below the day of those before them.
	const days = `[...document.querySelectorAll('#sessions .folder .day')].map((e) => e.textContent).join()`
	a.is(days, "Today")
	a.js(`const ul = document.querySelector('#sessions .folder ul')
		const rows = ul.innerHTML.replaceAll('` + one + `', 'follows')
		const asked = window.fetch
		window.fetch = (...args) => String(args[0].url ?? args[0]).includes('cursor=') ? Promise.resolve(new Response(rows, { headers: { 'Content-Type': 'text/html' } })) : asked(...args)
		const next = document.createElement('li')
		next.className = 'next'
		const button = document.createElement('button')
		Object.assign(button.dataset, { act: 'more-sessions', cursor: 'c' })
		next.append(button)
		ul.append(next)
		button.click()`)
	a.wait(`document.querySelector('` + row("follows", "") + `')`)
	a.is(days, "Today")
}

// choose goes to an entry of an open menu by arrows and takes it.
func (p *page) choose(label string) {
	p.t.Helper()
	p.has("[role=menu]", label)
	for range 10 {
		if p.true(
			`document.activeElement.matches('[role=menuitem]') && document.activeElement.innerText.trim() === ` + quote(label)) {
			p.press("Enter")
			return
		}
		p.press("ArrowDown")
	}
	p.t.Fatalf("the menu has no %s", label)
}

func TestSearchFindsEverything(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("/show go.mod")
	p.done()
	p.say("/title Relay release")
	p.done()
	p.do(chromedp.Navigate(s.url + "/"))
	p.live()
	p.say("what about the frobnicator?")
	p.done()
	p.say("/show README.md")
	p.wait(card)
	p.done()
	p.js(`document.getElementById('prompt').blur()`)
	p.press("Control+k")
	p.wait(`document.querySelector('#open-bar[open] input') === document.activeElement`)
	p.write("e")
	p.has("#open-hits", "README.md")
	p.has("#open-hits", "Relay release")
	p.has("#open-hits", "All keys")
	p.shots("bar")
	p.js(`document.querySelector('#open-bar input').select()`)
	p.write("frobnic")
	p.has("#open-hits [aria-selected=true]", "what about the frobnicator?")
	p.is(`[...document.querySelectorAll('#open-hits [aria-selected=true] [data-part=text] mark')].map((m) => m.textContent).join()`, "frobnic")
	p.js(`document.querySelector('#open-bar input').select()`)
	p.write("README")
	p.has("#open-hits [aria-selected=true]", "README.md")
	p.press("Control+Enter")
	p.wait(`document.querySelector('.app.sheet .pane .line')`)
	p.press("Escape")
	p.wait(`!document.querySelector('.app.sheet')`)
	p.press("Control+k")
	p.wait(`document.querySelector('#open-bar[open] input') === document.activeElement`)
	p.write("Relay rel")
	p.wait(`[...document.querySelectorAll('#open-hits [aria-selected=true]')].some((e) => e.innerText.includes('Relay release'))`)
	p.press("Enter")
	p.has("#title", "Relay release")
}

func TestKeysOfThePage(t *testing.T) {
	s, p := shown(t, "/show internal/pump/pump.go")
	p.say("/show go.mod")
	p.wait(`document.querySelectorAll('#turns [data-card][data-state=done]').length === 2`)
	p.done()
	p.press("Escape") // out of the composer: from here on letters are keys
	p.wait(`document.activeElement.id === 'scroll'`)
	app := `document.getElementById('app').classList`
	for key, class := range map[string]string{"[": "no-side", "]": "sheet"} {
		p.press(key)
		p.wait(app + `.contains('` + class + `')`)
		p.press(key)
		p.wait(`!` + app + `.contains('` + class + `')`)
	}
	focused := `document.activeElement.closest('[data-card]')?.dataset.name`
	p.press("j")
	p.is(focused, "internal/pump/pump.go")
	p.press("j")
	p.is(focused, "go.mod")
	p.press("j")
	p.is(focused, "go.mod")
	p.press("k")
	p.is(focused, "internal/pump/pump.go")
	p.press("Enter")
	p.wait(`document.querySelectorAll('.lines .line').length > 30`)
	p.wait(`document.activeElement.matches('.code')`)
	p.press("g")
	p.is(`String(document.getElementById('scroll').scrollTop)`, "0")
	p.press("G")
	p.wait(`(() => { const s = document.getElementById('scroll'); return s.scrollTop > 0 && s.scrollHeight - s.scrollTop - s.clientHeight < 2 })()`)
	p.press("?")
	p.wait(`document.querySelector('#keys[open]')`)
	p.shots("keys")
	p.press("n") // means nothing while a dialog is open
	p.press("Escape")
	p.wait(`!document.querySelector('#keys[open]')`)
	p.press("/")
	p.wait(`document.activeElement.id === 'prompt'`)
	p.write("[j?n")
	p.is(prompt+`.value`, "[j?n")
	p.js(prompt + `.select()`)
	p.press("Delete")
	p.press("Escape", "n")
	p.wait(`location.pathname === '/' && document.body.dataset.page === 'home'`)
	_ = s
}

// Who takes back the deletion of the session they read stays in it.
func TestUndoneDeletionStays(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("/show go.mod")
	p.done()
	p.js(`const set = setTimeout, clear = clearTimeout
		window.late = new Set()
		window.setTimeout = (f, ms) => { const n = set(f, ms); if (ms === 28_000) late.add(n); return n }
		window.clearTimeout = (n) => { late.delete(n); clear(n) }`)
	p.pick("#bar [data-act=title-menu]", "Delete")
	p.has(".toast", "It can be restored")
	p.wait(`late.size === 2 && !document.querySelector('#side a[data-session]')`)
	p.click(".toast [data-part=do]")
	p.wait(`!late.size && document.querySelector('#side a[data-session]')`) // nothing is left to come
}

func TestThemeIsChosenAndKept(t *testing.T) {
	s := start(t)
	p := s.open("/")
	dark := `getComputedStyle(document.body).backgroundColor`
	light := eval[string](p, dark)
	p.click("#side [data-act=settings]")
	p.has("#settings", "None: name them under mcpServers in the configuration file")
	p.has("#settings [data-part=file]", "config.yaml")
	p.accessible("the settings")
	p.shot("settings")
	p.click("#settings [data-set=theme] [data-value=dark]")
	p.wait(dark + ` !== '` + light + `'`)
	p.click("#settings [data-set=enter] [data-value=ask]")
	p.is(`localStorage.getItem('webchat.enter')`, "ask")
	p.do(chromedp.Reload())
	p.wait(dark + ` !== '` + light + `' && document.documentElement.dataset.theme === 'dark'`)
	p.look(1440, 1000, "dark")
	p.press("Escape", ",")
	p.wait(`document.querySelector('#settings[open] [data-set=enter] [data-value=ask][aria-checked=true]')`)
	p.click("#settings [data-set=theme] [data-value='']")
	p.wait(`!document.documentElement.dataset.theme`)
	p.look(1440, 1000, "light")
	p.is(dark, light)
}

func TestNotifiesWhenOutOfSight(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.js(`window.told = []`)
	p.before(`window.told = []
		window.Notification = class extends EventTarget {
			static permission = localStorage.getItem('test.granted') ? 'granted' : 'default'
			static requestPermission() { told.push('asked'); localStorage.setItem('test.granted', '1'); this.permission = 'granted' }
			constructor(title, options) { super(); told.push(title + ': ' + options.body) }
			close() {}
		}
		Object.defineProperty(document, 'hidden', { get: () => Boolean(window.away) })`)
	p.do(chromedp.Navigate(s.url + "/"))
	p.live()
	p.compose("/show go.mod")
	p.click("[data-act=send]")
	p.wait(`location.pathname.startsWith('/sessions/')`)
	p.sources()
	p.say("run echo done")
	p.wait(`document.querySelector('[data-ask][data-ready]')`)
	p.wait(`document.title.startsWith('(1) ') && document.querySelector('link[rel=icon]').href.endsWith('favicon-waiting.svg')`)
	p.js(`const { onChanged } = ` + module("connection.js") + `
		onChanged((c) => { if (c?.status === 'idle') window.listed = true })
		window.away = true`)
	p.answer("[data-act=allow-once]")
	p.wait(`document.title.startsWith('✓ ') && document.querySelector('link[rel=icon]').href.endsWith('favicon-done.svg')`)
	p.wait(`window.listed`) // the list of sessions has a stream of its own
	if p.true(`told.length`) {
		t.Error("permission to notify was asked for before it would have helped")
	}
	p.js(`window.away = false; document.dispatchEvent(new Event('visibilitychange'))`)
	p.has("#toasts", "The agent finished while you were elsewhere")
	p.wait(`!document.title.startsWith('✓ ')`)
	p.click("#toasts [data-part=do]")
	p.is(`localStorage.getItem('test.granted')`, "1")
	p.js(`Notification.permission = 'granted'; window.away = true`)
	p.js(`const { post, path } = ` + module("api.js") +
		`; await post(path('/messages'), { content: 'run wc -c .env' })`)
	p.wait(`told.some((w) => w.endsWith('You asked to run a command: wc -c .env. .env may hold keys or passwords'))`)
}

func TestKeyboardOnly(t *testing.T) {
	s := start(t)
	p := s.open("/")
	// One may write at once; and from the first stop of the page there is a short way back.
	p.wait(`document.activeElement.id === 'prompt'`)
	p.focus(`document.querySelector('.skip')`)
	p.has(":focus", "To the composer")
	p.press("Enter")
	p.wait(`document.activeElement.id === 'prompt'`)
	p.write("run echo by keys")
	p.press("Enter")
	p.live()
	p.wait(`document.querySelector('[data-ask][data-ready]')`)
	p.press("Shift+Tab")
	for range 12 { // back from the composer into the question
		if p.true(`document.activeElement.closest('[data-ask]')`) {
			break
		}
		p.press("Shift+Tab")
	}
	for range 6 {
		if p.true(`document.activeElement.dataset.act === 'allow-once'`) {
			break
		}
		p.press("Shift+Tab")
	}
	p.is(`document.activeElement.dataset.act`, "allow-once")
	// it ignores keys for a moment after it got the focus
	p.wait(`document.activeElement.closest('[data-ready]')`)
	p.press("Enter")
	p.has("[data-answered]", "you allowed it once")
	p.wait(card)
	p.done()
	p.js(`document.activeElement.blur()`)
	for i := range 60 {
		p.press("Tab")
		if p.true(`document.activeElement === document.body`) {
			break
		}
		if !p.true(`(() => {
			const el = document.activeElement
			const name = el.ariaLabel || el.innerText?.trim() || el.title || el.getAttribute('aria-labelledby') || el.labels?.[0]?.innerText
			const s = getComputedStyle(el)
			return name && (s.outlineStyle !== 'none' || s.boxShadow !== 'none' || el.matches('#prompt'))
		})()`) {
			t.Errorf("stop %d has no name or no visible focus: %s", i,
				eval[string](p, `document.activeElement.outerHTML.slice(0, 200)`))
		}
	}
}

func TestRightToLeft(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.compose("مرحبا، ما هذا؟")
	p.wait(`getComputedStyle(document.getElementById('prompt')).direction === 'rtl'`)
	p.press("Enter")
	p.wait(`getComputedStyle(document.querySelector('#turns h2')).direction === 'rtl'`)
	p.done()
	p.wait(`getComputedStyle(document.querySelector('#turns .said')).direction === 'ltr'`)
	p.shots("rtl")
}

// Leaving the field of a title takes it away once, by whichever way it is left.
func TestRenamingIsLeftByEscape(t *testing.T) {
	s, p := shown(t, "/show go.mod")
	row := `#sessions a[data-session="` + p.session() + `"]`
	title := `document.querySelector('` + row + ` .t').textContent`
	p.wait(`document.querySelector('` + row + `')`)
	was := eval[string](p, title)
	p.js(`document.querySelector('#sessions button[data-session="` + p.session() + `"]').focus()`)
	for _, leave := range []string{"Escape", "Tab"} {
		p.press("Enter")
		p.choose("Rename")
		p.wait(`document.activeElement.matches('#sessions input')`)
		if leave == "Escape" {
			p.write("Not this")
		}
		p.press(leave)
		p.wait(`document.querySelector('` + row + `') && !document.querySelector('#sessions input')`)
		p.is(title, was)
		p.js(`document.querySelector('#sessions button[data-session="` + p.session() + `"]').focus()`)
	}
	_ = s
}

// In a narrow window the sessions are a dialog: it has the focus, keeps it, and gives it back. It
// names the signed-in user where people sign in; what users share is said on the page itself.
func TestSessionsAreADrawerWhereItIsNarrow(t *testing.T) {
	_, p := shown(t, "/show go.mod", "--identity", "header:X-User", "--identity-key-file",
		filepath.Join(t.TempDir(), "key"))
	p.look(360, 740, "light")
	p.has("#shared", "All agents here run as one user")
	p.wait(`document.getElementById('shared').checkVisibility() && document.getElementById('shared').getBoundingClientRect().bottom <= innerHeight`)
	p.shot("shared-360")
	button := `document.querySelector('#bar [data-act=side]')`
	p.wait(button + `.getAttribute('aria-expanded') === 'false'`)
	p.js(button + `.focus()`)
	p.press("Enter")
	p.wait(`document.querySelector('#side[role=dialog][aria-modal=true]')?.contains(document.activeElement)`)
	p.is(button+`.getAttribute('aria-expanded')`, "true")
	p.has("#who", "Signed in as the operator")
	p.shot("drawer-360")
	p.accessible("drawer")
	for range 12 {
		p.press("Tab")
		if !p.true(
			`document.activeElement === document.body || document.activeElement.closest('#side, #toasts')`) {
			t.Fatalf("the focus left the drawer for %s", eval[string](p,
				`document.activeElement.outerHTML.slice(0, 120)`))
		}
	}
	p.press("Control+k")
	p.wait(`document.querySelector('#open-bar[open]')`)
	p.press("Escape")
	p.wait(`!document.querySelector('dialog[open]') && document.querySelector('#app.drawer')`)
	p.press("Escape")
	p.wait(`document.querySelector('#side[role=navigation]:not([aria-modal])') && !document.querySelector('#app.drawer, [inert]')`)
	p.wait(`document.activeElement === ` + button)
	p.press("Enter")
	p.wait(`document.querySelector('#app.drawer')`)
	p.do(chromedp.MouseClickXY(350, 400)) // beside it
	p.wait(`!document.querySelector('#app.drawer, [inert]')`)
	p.press("Enter")
	p.wait(`document.querySelector('#app.drawer')`)
	p.look(1080, 1000, "light")
	p.wait(`!document.querySelector('#app.drawer, [inert]') && ` + button +
		`.getAttribute('aria-expanded') === 'true'`)
}

// A page that stays open over midnight does not keep calling the day before Today.
func TestListIsReadAgainOnAnotherDay(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.before(`window.later = 0
		const date = Date.prototype.getDate, every = setInterval
		Date.prototype.getDate = function () { return date.call(this) + window.later }
		window.setInterval = (f, ms) => every(f, ms === 60_000 ? 20 : ms)`)
	p.do(chromedp.Reload())
	p.live()
	p.js(`document.getElementById('sessions').replaceChildren()`)
	p.js(`window.later = 1`)
	p.wait(`document.getElementById('sessions').children.length`)
}
