package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// touch gives the page the window of a phone, and fingers.
func (p *page) touch(width, height int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height, chromedp.EmulateMobile, chromedp.EmulateTouch))
	p.wait(`innerWidth === ` + quoteInt(int(width)) + ` && matchMedia('(pointer: coarse)').matches`)
}

// finger puts fingers on a page, moves them or, without a point, lifts them.
func (p *page) finger(kind input.DispatchTouchEventType, points ...*input.TouchPoint) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
		return err
	}))
}

// swipe moves a finger.
func (p *page) swipe(fromX, fromY, toX, toY float64) {
	p.t.Helper()
	p.fling(fromX, fromY, toX, toY, `true`)
}

// tap touches an element with a finger, which leaves at once.
func (p *page) tap(selector string) {
	p.t.Helper()
	p.hold(selector, `true`)
}

// fling moves a finger from one place to another and leaves it there until something is true. It
// moves once in a frame and ever slower: where a finger will be Chromium foretells from how it moved,
// so one that jumps is seen beyond where it is.
func (p *page) fling(fromX, fromY, toX, toY float64, until string) {
	p.t.Helper()
	p.finger("touchStart", &input.TouchPoint{X: fromX, Y: fromY})
	for moves := 9.0; moves >= 0; moves-- {
		eval[float64](p, `new Promise(requestAnimationFrame)`)
		left := moves * moves / 100
		p.finger("touchMove", &input.TouchPoint{X: toX - (toX-fromX)*left, Y: toY - (toY-fromY)*left})
	}
	p.wait(until)
	p.finger("touchEnd")
}

// tapAt touches a place with a finger, which leaves at once.
func (p *page) tapAt(x, y float64) {
	p.t.Helper()
	p.finger("touchStart", &input.TouchPoint{X: x, Y: y})
	p.finger("touchEnd")
}

// hold lets a finger rest on an element until something is true.
func (p *page) hold(selector, until string) {
	p.t.Helper()
	x, y := p.middle(selector)
	p.finger("touchStart", &input.TouchPoint{X: x, Y: y})
	p.wait(until)
	p.finger("touchEnd")
}

const (
	sideways = `document.documentElement.scrollWidth > innerWidth || document.scrollingElement.scrollLeft > 0`
	// small are the controls that a finger misses, and what is outside of the window.
	small = `[...document.querySelectorAll('button, a[href], input, textarea, [role=tab]')].filter((e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !e.closest('[inert], .vh, .skip, p, .said, .line, .slip, .path, .records') && !e.matches('.skip')).flatMap((e) => {
		const r = e.getBoundingClientRect(), b = e.matches('.shelf-btn') ? { width: 200, height: 44 } : r
		return r.width && (b.height < 24 || b.width < 24 || r.right > innerWidth + 1 || r.left < -1) ? [Math.round(r.left) + ' ' + Math.round(b.width) + 'x' + Math.round(b.height) + ' ' + e.outerHTML.slice(0, 90)] : []
	})`
)

// fits reports what a phone cannot show or a finger cannot hit.
func (p *page) fits(state string) {
	p.t.Helper()
	if p.true(sideways) {
		p.t.Errorf("%s: the page scrolls sideways", state)
	}
	for _, s := range eval[[]string](p, small) {
		p.t.Errorf("%s: too small or outside: %s", state, s)
	}
	p.shot("phone-" + state)
	p.accessible(state)
}

// On a phone the Desk is a sheet over the conversation: opened from a card, left by
// its button, the way back or a swipe; then the conversation stands where it stood.
func TestDeskIsASheetOnPhones(t *testing.T) {
	s, p := desked(t)
	s.put("wide.csv", "id,state,host,region,queue\n1,open,argus-00.relay.example,eu-north,3\n2,,birch-07.relay.example,eu-west,70\n")
	p.touch(360, 740)
	p.told("show me internal/pump/pump.go")
	p.wait(card)
	p.is(`String([...document.querySelectorAll('#turns .card .lines > .line')].filter((e) => e.checkVisibility()).length)`, "12")
	p.fits("card")
	p.told("show me wide.csv")
	p.changesViews(s)
	const acts = `document.querySelector('#turns .turn .prompt-acts')`
	p.wait(`getComputedStyle(` + acts + `).opacity === '0'`)
	p.hold("#turns .turn h2", `getComputedStyle(`+acts+`).opacity === '1' && document.querySelector('#turns .turn div.turn-acts')`)
	p.fits("held")
	p.js(`document.activeElement.blur()`)
	p.js(`document.getElementById('scroll').scrollTop = 40`)
	const talk = `document.getElementById('scroll').scrollTop`
	at := eval[float64](p, talk)
	p.js(`document.querySelector('#turns .card [data-act=alone]').click()`)
	p.front("pump.go")
	p.wait(`document.querySelector('.app.sheet') && ` + onDesk + `.querySelector('.code.wrap .rows .cl')?.textContent`)
	p.fits("sheet")
	p.click(".pane:not([hidden]) [data-act=find]")
	p.write("sink")
	p.has(".pane .find", "1 of 6")
	if w := eval[float64](p, `document.querySelector('.pane .find input').offsetWidth`); w < 200 {
		t.Errorf("what is looked for has %v pixels", w)
	}
	p.fits("find")
	p.click(".pane .find [data-act=find-close]")
	back := func(how string, do func()) {
		t.Helper()
		do()
		p.wait(`!document.querySelector('.app.sheet, [inert]') && !location.hash`) // the way back of the history ends, too
		if got := eval[float64](p, talk); got != at {
			t.Errorf("after %s the conversation stands at %v, not at %v", how, got, at)
		}
	}
	open := func() {
		t.Helper()
		p.js(`document.querySelector('#turns .card [data-act=alone]').click()`)
		p.wait(`document.querySelector('.app.sheet')`)
	}
	entries := eval[int](p, `history.length`)
	back("the button", func() { p.click(".sheet-back") })
	open()
	back("the way back", func() { p.js(`history.back()`) })
	open()
	p.swipe(200, 300, 340, 300)
	p.wait(`document.querySelector('.app.sheet')`) // that was not from the edge
	back("a swipe", func() { p.swipe(6, 300, 180, 310) })
	if n := eval[int](p, `history.length`); n != entries {
		t.Errorf("the browser's history has %d entries, had %d", n, entries)
	}

	// The name in the head leads to all outputs; a table scrolls by itself.
	open()
	p.click(".shelf-btn")
	p.wait(`document.querySelector('#shelf:popover-open')`)
	p.fits("shelf")
	p.js(`[...document.querySelectorAll('#shelf [data-output]')].find((e) => e.dataset.base === 'wide.csv').click()`)
	p.front("wide.csv")
	p.wait(onDesk + `.querySelector('.records')`)
	p.fits("table")
	p.js(onDesk + `.querySelector('[data-act=pane-more]').click()`)
	p.wait(`document.querySelector('[role=menu]')`)
	p.fits("menu")
	p.js(`[...document.querySelectorAll('[role=menuitem]')].find((e) => e.innerText.includes('Source')).click()`)
	p.wait(onDesk + `.querySelector('.rows .cl')?.textContent.startsWith('id,state')`)

	// What is selected can be handed over at the bottom.
	if h := eval[float64](p, onDesk+`.querySelector('.ln[href="#L2"]').getBoundingClientRect().height`); h < 28 {
		t.Errorf("the number of a line is %v pixels high", h)
	}
	p.tap(`.pane:not([hidden]) .ln[href="#L3"]`)
	p.has(".bubble", "Ask about 1 line")
	p.tap(`.pane:not([hidden]) .ln[href="#L1"]`) // all between the two
	p.has(".bubble", "Ask about 3 lines")
	p.has(".pane:not([hidden]) .dfoot", "Lines 1–3 selected")
	p.wait(`[...` + onDesk + `.querySelectorAll('.dfoot > *')].every((e) => e.getBoundingClientRect().right <= innerWidth)`)
	p.fits("bubble")
	p.click(".bubble [data-act=ask]")
	p.wait(`document.querySelector('#chips .chip')`)
	p.fits("chip")
	p.media("prefers-color-scheme", "dark")
	p.accessible("a chip on a phone, dark")
}

// changesViews chooses the views of a card by finger and by keys: the line that is read stays, and
// the choice survives a reload.
func (p *page) changesViews(s *site) {
	p.t.Helper()
	s.put("many.csv", "n,name\n"+strings.Repeat("7,seven\n", 900))
	p.told("show me many.csv")
	const (
		its   = `[...document.querySelectorAll('#turns .card')].find((e) => e.dataset.name === 'many.csv')`
		first = `Number(` + its + `.querySelector('tbody .ln').textContent)`
	)
	p.wait(its + `?.querySelector('.records')`)
	tap := func(view string) {
		p.js(its + `.querySelector('[data-view=` + view + `]').id = 'tapped'`)
		p.tap("#tapped")
		p.js(its + `.querySelector('[data-view=` + view + `]').removeAttribute('id')`)
	}
	p.wait(its + `.querySelector('[data-count]').textContent === '900 rows'`)
	if h := eval[float64](p, `(() => { const b = `+its+`.querySelector('[data-view=source]'); b.scrollIntoView({ block: 'center' }); const { left, top, height } = b.getBoundingClientRect(); let n = 0; for (let y = top - 22; y < top + height + 22; y++) n += document.elementFromPoint(left + 9, y) === b; return n })()`); h < 44 {
		p.t.Errorf("a finger has %v pixels to choose a view", h)
	}
	p.fits("card-table")
	tap("source")
	p.wait(its + `.querySelector('.lines > .line .cl')?.textContent === 'n,name' && ` + its + `.querySelector('[data-count]').textContent === '901 lines'`)
	p.js(its + `.querySelector('[data-act=fold]').click()`)
	p.wait(its + `.matches('.big')`)
	p.js(its + `.querySelector('.code').scrollTop = 14000`)
	at := eval[int](p, `Math.floor((14000 - 6) / 28) + 1`)
	p.wait(its + `.querySelector('.ln[href="#L` + quoteInt(at) + `"]')`)
	tap("table")
	p.wait(its + `.querySelector('tbody')`)
	if got := eval[int](p, first); got != at {
		p.t.Errorf("the table begins with line %d, read was %d", got, at)
	}
	p.js(its + `.querySelector('[data-view=table]').focus()`)
	p.press("ArrowRight")
	p.wait(its + `.querySelector('.lines') && document.activeElement.dataset.view === 'source'`)
	p.do(chromedp.Reload())
	p.wait(its + `?.querySelector('.lines > .line .cl')?.textContent === 'n,name'`)
	p.js(its + `.focus()`)
	p.press("v")
	p.wait(its + `.querySelector('.records')`)
}

// A finger chooses lines by tapping two numbers, drags the ends of the choice, and gets a menu by
// resting on a line. The bar with the price stands below the rows, and none of them under it.
func TestFingersChooseLines(t *testing.T) {
	s, p := desked(t)
	s.put("long.txt", numbered(400))
	p.touch(390, 844)
	p.told("show me long.txt")
	p.wait(card)

	// The end of what wraps fills the screen, and its lines are those that are offered.
	s.put("wraps.txt", strings.Repeat(strings.Repeat("a rather long line ", 6)+"\n", 300))
	p.told("show me wraps.txt")
	p.wait(`[...document.querySelectorAll('#turns .card')].some((e) => e.dataset.name === 'wraps.txt' && e.querySelector('.line'))`)
	p.js(`[...document.querySelectorAll('#turns .card')].find((e) => e.dataset.name === 'wraps.txt').querySelector('[data-act=alone]').click()`)
	p.front("wraps.txt")
	p.wait(onDesk + `.querySelector('.rows .cl')?.textContent`)
	p.js(onDesk + `.querySelector('.code').focus()`)
	p.press("End")
	p.wait(`(() => {
		const last = [...` + onDesk + `.querySelectorAll('.rows .line')].at(-1), gap = ` + onDesk + `.querySelector('.code').getBoundingClientRect().bottom - last.getBoundingClientRect().bottom
		return last.querySelector('.ln').textContent === '300' && last.offsetHeight > 40 && gap > -1 && gap < 20
	})()`)
	p.shot("phone-end")
	// What a finger moves goes with it, however many rows there are.
	p.js(onDesk + `.querySelector('.code').scrollTop = 4000`)
	const where = `document.querySelector('.pane:not([hidden]) .ln[href="#L' + window.held + '"]')?.getBoundingClientRect().top`
	p.wait(`[...` + onDesk + `.querySelectorAll('.rows .line')].every((e) => e.offsetHeight > 40) && (window.held = ` + onDesk + `.querySelector('.rows .line:nth-child(28) .ln')?.textContent) > 100 && ` + where + ` > 300`)
	was := eval[float64](p, where)
	p.fling(150, 600, 150, 300, where+` < `+fmt.Sprint(was-200))
	p.wait(onDesk + `.querySelector('.code').scrollTop < 4250`) // the bar is where the rows say
	if by := was - eval[float64](p, where); by < 200 || by > 320 {
		t.Errorf("a finger that went 300 pixels moved the rows by %v", by)
	}
	p.tap(".sheet-back")
	p.wait(`!document.querySelector('.app.sheet')`)

	p.js(`document.querySelector('#turns .card [data-act=alone]').click()`)
	p.front("long.txt")
	const (
		on    = `[...document.querySelectorAll('.pane:not([hidden]) .line.on .ln')].map((e) => e.textContent).join()`
		shown = `[...document.querySelectorAll('.pane:not([hidden]) .handle:not([hidden])')].length`
	)
	line := func(n int) string { return `.pane:not([hidden]) .ln[href="#L` + quoteInt(n) + `"]` }
	p.wait(`document.querySelector('` + line(20) + `')`)
	p.tap(line(5))
	p.is(on, "5")
	p.tap(line(8))
	p.is(on, "5,6,7,8")
	p.has(".bubble", "Ask about 4 lines")
	p.is(`String(`+shown+`)`, "2")
	p.is(`String(Math.min(...[...document.querySelectorAll('.handle')].flatMap((e) => [e.offsetWidth, e.offsetHeight])))`, "44")
	p.fits("handles")

	// Dragged, the end goes with the finger; the words in the bar follow.
	x, y := p.middle(".handle.to")
	p.fling(x, y, x, y+56, on+` === "5,6,7,8,9,10"`)
	p.has(".bubble", "Ask about 6 lines")
	x, y = p.middle(".handle.from")
	p.fling(x, y, x, y+56, on+` === "7,8,9,10"`)
	p.has(".bubble .price", "+")

	// At the edge the rows move below the finger, and what was chosen last stays above the bar.
	x, y = p.middle(".handle.to")
	p.fling(x, y, x, 770, `document.querySelector('`+line(60)+`')?.closest('.line.on')`)
	p.wait(`(() => {
		const bottom = [...document.querySelectorAll('.pane:not([hidden]) .line.on')].at(-1).getBoundingClientRect().bottom
		return document.querySelector('.handle.to:not([hidden])') && bottom <= document.querySelector('.bubble').getBoundingClientRect().top + 1
	})()`)
	p.shot("phone-dragged")
	p.js(`document.querySelector('.pane:not([hidden]) .code').scrollTop = 0`)
	p.wait(`document.querySelector('` + line(12) + `')`)
	p.wait(`document.querySelector('.bubble')`) // it does not go by scrolling

	// A tap beside it ends the choice.
	p.tap(".pane:not([hidden]) .line:nth-child(3) .cl")
	p.is(on, "")
	p.wait(`!document.querySelector('.bubble, .handle')`)
	p.has(".pane:not([hidden]) .dfoot", "Let the agent read the file")

	// A finger that rests opens the menu, at the line or for what is chosen.
	p.hold(line(4), `document.querySelector('[role=menu]')`)
	p.has("[role=menu]", "Ask about 1 line +")
	p.is(on, "4")
	p.fits("line-menu")
	p.tapAt(200, 700)
	p.wait(`!document.querySelector('[role=menu]')`)
	p.tap(line(2))
	p.is(on, "2")
	p.tap(line(6))
	p.is(on, "2,3,4,5,6")
	p.hold(`.pane:not([hidden]) .line.on:has([href="#L4"]) .cl`, `document.querySelector('[role=menu]')`)
	p.is(on, "2,3,4,5,6")
	p.js(`[...document.querySelectorAll('[role=menuitem]')].find((e) => e.innerText.startsWith('Ask about 5 lines')).click()`)
	p.has("#chips .chip", "long.txt:2–6")
	p.is(on, "")
}

// cut is a function of a selector: what of it is outside of the window, below something else, cut
// by what it stands in, or has words that are cut.
const cut = `((sel) => [...document.querySelectorAll(sel)].filter((e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && e.getClientRects().length).flatMap((e) => {
	const r = e.getBoundingClientRect()
	const bad = (why) => [why + ': ' + [r.left, r.top, r.right, r.bottom].map(Math.round) + ' ' + (e.innerText || e.ariaLabel || e.className).slice(0, 40)]
	if (r.left < -1 || r.top < -1 || r.right > innerWidth + 1 || r.bottom > innerHeight + 1) return bad('outside')
	for (let box = e; (box = getComputedStyle(box).position !== 'fixed' && box.parentElement);) {
		const b = box.getBoundingClientRect()
		if (getComputedStyle(box).overflowY !== 'visible' && (r.top < b.top - 1 || r.bottom > b.bottom + 1 || r.left < b.left - 1 || r.right > b.right + 1)) return bad('cut by ' + (box.id || box.className))
	}
	const top = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2)
	if (!e.contains(top) && !top.contains(e)) return bad('below ' + (top.id || top.className))
	return e.scrollWidth > e.clientWidth + 1 && e.clientWidth && getComputedStyle(e).overflowX !== 'visible' ? bad('its words are cut') : []
}))`

// On the smallest phones nothing of a question, the drawer, the sheet and its foot is cut, however
// long what is asked about is.
func TestNothingIsCutOnPhones(t *testing.T) {
	s, p := desked(t)
	s.put("a-file-with-a-rather-long-name.txt", numbered(12_000))
	s.sessions(s.workspace, 3)
	p.touch(390, 844)
	p.told("show me a-file-with-a-rather-long-name.txt")
	p.wait(card)
	long := "run " + strings.Repeat("echo a rather long word && ", 30) + "echo end"
	for _, size := range [][2]int64{{390, 844}, {360, 740}, {360, 640}} {
		p.touch(size[0], size[1])
		at := fmt.Sprintf("%dx%d", size[0], size[1])
		whole := func(state, selector string) {
			t.Helper()
			for _, what := range eval[[]string](p, cut+`(`+quote(selector)+`)`) {
				t.Errorf("%s at %s: %s", state, at, what)
			}
			if p.true(sideways) {
				t.Errorf("%s at %s: the page scrolls sideways", state, at)
			}
			p.shot("cut-" + at + "-" + state)
		}
		if h := eval[float64](p, `document.getElementById('composer').offsetHeight`); h > 52 {
			t.Errorf("at %s the composer at rest is %v pixels high: more than one line", at, h)
		}
		for act, entries := range map[string]string{"plus": "Attach a file,Add a workspace file", "bar-more": "Search,New session,Settings"} {
			p.tap("[data-act=" + act + "]")
			p.wait(`[...document.querySelectorAll('[role=menuitem]')].map((e) => e.innerText.trim()).join().includes(` + quote(entries) + `)`)
			whole(act, "#bar .ib, [role=menuitem], #composer button")
			p.press("Escape")
		}
		p.tap("#bar [data-act=side]")
		p.wait(`document.querySelector('.app.drawer #sessions a[data-session]')`)
		p.js(`document.activeElement.blur()`)
		whole("drawer", "#side button, #side a, #side .field, #side .num, #side time")
		if p.true(`[...document.querySelectorAll('#side .more')].some((m) => [...document.querySelectorAll('#side .num, #side time')].some((n) => { const a = m.getBoundingClientRect(), b = n.getBoundingClientRect(); return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom }))`) {
			t.Errorf("at %s the button of a row lies over its number", at)
		}
		p.swipe(240, 400, 60, 405)
		p.wait(`!document.querySelector('.app.drawer')`)

		p.js(`document.querySelector('#turns .card [data-act=alone]').click()`)
		p.wait(`document.querySelector('.app.sheet') && ` + onDesk + `?.querySelector('.rows .cl')?.textContent`)
		whole("sheet", ".sheet-back, .shelf-btn, .pane:not([hidden]) .dhead .ib, .pane:not([hidden]) .dfoot > *, .pane:not([hidden]) .dfoot [data-label]")
		p.tap(`.pane:not([hidden]) .ln[href="#L3"]`)
		p.has(".bubble", "Ask about 1 line")
		whole("bar", ".bubble, .bubble .btn")
		p.tap(".pane:not([hidden]) .line:nth-child(2) .cl")
		p.tap(".sheet-back")
		p.wait(`!document.querySelector('.app.sheet')`)

		p.say(long)
		p.wait(`document.querySelector('[data-ask][data-ready]')`)
		const asked = ".perm-head, .perm-cmd, .perm-size, .facts dd, .perm-do .btn, .perm-why .field, #composer, #composer button, #meter"
		whole("question", asked)
		if p.true(`document.querySelector('.perm-why .field').checkVisibility()`) {
			t.Errorf("at %s the reason's field is open before it is asked for", at)
		}
		for _, low := range [][2]int64{{740, 360}, {844, 390}, {size[0], 430}} { // on its side, and above the keys
			p.touch(low[0], low[1])
			whole(fmt.Sprintf("question-%d", low[1]), ".perm-head, .perm-cmd, .perm-do .btn, #composer")
			if h := eval[float64](p, `document.querySelector('.perm-cmd').clientHeight`); h < 44 {
				t.Errorf("%d pixels high what is asked about has %v", low[1], h)
			}
		}
		p.touch(size[0], size[1])
		p.js(`document.querySelector('[data-act=ways]').click()`)
		p.wait(`document.querySelector('[data-grants][data-ready]')`)
		whole("more", ".perm-head, .perm-head .ib, .perm-do .btn")
		p.js(`document.querySelector('[data-act=less]').click()`)
		p.wait(`document.querySelector('[data-ask]:not([data-grants])[data-ready]')`)
		p.tap("[data-ask] [data-act=ways]")
		p.tap("[data-ask][data-grants] [data-act=why]")
		p.wait(`document.querySelector('.perm-why .field').checkVisibility() && document.querySelector('[data-ask][data-ready]')`)
		p.is(`document.querySelector('[data-act=deny]').innerText.trim()`, "Deny")
		whole("reason", asked)
		p.touch(size[0], 430)
		whole("reason-430", ".perm-cmd, .perm-why .field, .perm-do .btn, #composer")
		p.touch(size[0], size[1])
		p.js(`document.querySelector('.perm-why .field').value = 'Too long'`)
		p.answer("[data-act=deny]")
		p.has("#turns", "Too long")
		p.settled()
	}
}

// The menu of a folder stands beside the number of its sessions, on one line with it.
func TestFolderOnPhones(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.see("show me go.mod")
	p.done()
	p.touch(390, 844)
	p.tap("#bar [data-act=side]")
	p.wait(`(() => {
		const head = document.querySelector('#sessions .folder h2')
		const number = head?.querySelector('.num'), menu = head?.querySelector('.more')
		if (!number?.textContent || !menu.checkVisibility()) return false
		const a = number.getBoundingClientRect(), b = menu.getBoundingClientRect()
		return a.right <= b.left && Math.abs(a.top + a.bottom - b.top - b.bottom) < 6
	})()`)
}
