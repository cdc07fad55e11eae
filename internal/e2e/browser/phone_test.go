package browser

import (
	"context"
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

// swipe moves a finger.
func (p *page) swipe(fromX, fromY, toX, toY float64) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		for _, step := range []struct {
			kind   string
			points []*input.TouchPoint
		}{
			{"touchStart", []*input.TouchPoint{{X: fromX, Y: fromY}}},
			{"touchMove", []*input.TouchPoint{{X: (fromX + toX) / 2, Y: (fromY + toY) / 2}}},
			{"touchMove", []*input.TouchPoint{{X: toX, Y: toY}}},
			{"touchEnd", []*input.TouchPoint{}},
		} {
			if _, err := chromedp.Call(ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventType(step.kind), TouchPoints: step.points}); err != nil {
				return err
			}
		}
		return nil
	}))
}

// tap touches an element with a finger, which leaves at once.
func (p *page) tap(selector string) {
	p.t.Helper()
	p.hold(selector, `true`)
}

// hold lets a finger rest on an element until something is true.
func (p *page) hold(selector, until string) {
	p.t.Helper()
	x, y := p.middle(selector)
	finger := func(kind string, points ...*input.TouchPoint) {
		p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := chromedp.Call(ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventType(kind), TouchPoints: points})
			return err
		}))
	}
	finger("touchStart", &input.TouchPoint{X: x, Y: y})
	p.wait(until)
	finger("touchEnd")
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
}
