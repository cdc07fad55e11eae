package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// An address with two outputs and lines brings back both panes and the lines, and
// sends nothing.
func TestDeskAddresses(t *testing.T) {
	s, p := desked(t)
	p.told("show me internal/pump/pump.go")
	p.front("pump.go")
	p.told("show me go.mod")
	p.front("go.mod")
	before := s.logged(t, p.session())
	outs := eval[[]string](p, `[...document.querySelectorAll('#outs [data-output]')].map((e) => e.dataset.output)`)
	p.js(`location.hash = ` + quote("#out/"+outs[0]+":10-12&with="+outs[1]))
	p.do(chromedp.Reload())
	p.live()
	p.front("pump.go")
	p.wait(`document.querySelectorAll('.pane:not([hidden])').length === 2 && document.querySelector('.tab.is-beside [data-part=name]').textContent === 'go.mod'`)
	p.wait(`[...document.querySelectorAll('.pane:not([hidden]) .line.on .ln')].map((e) => e.textContent).join() === '10,11,12'`)
	both := "#out/" + outs[0] + ":10-12&with=" + outs[1]
	if got := eval[string](p, `location.hash`); got != both {
		t.Errorf("with its lines chosen, the address is %s, want %s", got, both)
	}
	p.shot("desk-split")
	p.accessible("two panes")
	after := eval[[]string](p, `fetch('/api/sessions/' + document.body.dataset.session + '/events').then((r) => r.json()).then((d) => d.events.filter((e) => !['output.opened', 'session.resume'].includes(e.type)).map((e) => e.id))`)
	if n := eval[int](p, `(`+before+`).events.filter((e) => e.type !== 'output.opened').length`); n != len(after) {
		t.Errorf("the log has %d events, had %d", len(after), n)
	}

	// Beside what is in front comes what was read last, with a line between them
	// whichever of them was there first.
	p.press("Escape", "\\")
	p.wait(`document.querySelectorAll('.pane:not([hidden])').length === 1`)
	if got, one := eval[string](p, `location.hash`), "#out/"+outs[0]+":10-12"; got != one {
		t.Errorf("with one pane left, the address is %s, want %s", got, one)
	}
	p.press("\\")
	p.wait(`location.hash === ` + quote(both))
	p.do(chromedp.Reload())
	p.live()
	p.wait(`document.querySelectorAll('.pane:not([hidden])').length === 2`)
	p.press("Escape", "\\")
	p.wait(`document.querySelectorAll('.pane:not([hidden])').length === 1`)
	p.say("/show README.md")
	p.front("README.md")
	for _, name := range []string{"go.mod", "README.md"} {
		p.js(`[...document.querySelectorAll('#tabs [role=tab]')].find((e) => e.innerText.includes(` + quote(name) + `)).click()`)
		p.front(name)
	}
	p.press("Escape", "\\")
	p.is(`document.querySelector('.tab.is-beside [data-part=name]')?.textContent`, "go.mod")
	p.is(`[...document.querySelectorAll('.pane:not([hidden])')].map((e) => e.dataset.base + ' ' + getComputedStyle(e).borderLeftWidth).sort().join()`, "README.md 0px,go.mod 1px")
}

// No head or foot takes a second line and the page never scrolls sideways; where it is
// narrow, everything can be reached.
func TestDeskFitsItsWindow(t *testing.T) {
	_, p := desked(t)
	p.told("show me internal/pump/pump.go")
	p.front("pump.go")
	const sideways = `document.documentElement.scrollWidth > innerWidth`
	for _, width := range []int64{1100, 1280, 1440, 1920} {
		p.look(width, 900, "light")
		p.wait(`innerWidth === ` + quoteInt(int(width)) + ` && ` + onDesk)
		if p.true(sideways) {
			t.Errorf("the page scrolls sideways at %d", width)
		}
		if tall := eval[[]string](p, `[...document.querySelectorAll('.bar, .tabs, .pane:not([hidden]) :is(.dhead, .dfoot)')].filter((e) => e.checkVisibility() && e.scrollHeight > e.clientHeight + 1).map((e) => e.className + ' ' + e.scrollHeight)`); len(tall) > 0 {
			t.Errorf("at %d these take more than a line: %v", width, tall)
		}
	}
	for _, size := range [][2]int64{{360, 740}, {720, 450}} { // a phone, and 1440 × 900 at 200 %
		p.look(size[0], size[1], "light")
		p.wait(`innerWidth === ` + quoteInt(int(size[0])))
		if p.true(sideways) {
			t.Errorf("the page scrolls sideways at %d", size[0])
		}
		if out := eval[[]string](p, `[...document.querySelectorAll('#bar button, #bar a, #composer button, #prompt')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80))`); len(out) > 0 {
			t.Errorf("at %d these cannot be reached: %v", size[0], out)
		}
		p.js(`const at = document.getElementById('scroll')
			const card = document.querySelector('#turns .turn:last-child .card[data-card]')
			at.scrollTop += card.getBoundingClientRect().top - at.getBoundingClientRect().top + 80`)
		if gap := eval[float64](p, `document.querySelector('#turns .turn:last-child .card-head').getBoundingClientRect().top - document.getElementById('scroll').getBoundingClientRect().top`); size[1] == 450 && (gap < -1 || gap > 1) {
			t.Errorf("code is seen in the %v pixels above its head", gap)
		}
		p.shot("head-" + quoteInt(int(size[0])))
		p.accessible("narrow")
		p.shot("narrow-" + quoteInt(int(size[0])))
		p.press("Control+k")
		p.wait(`document.querySelector('#open-bar[open] input') === document.activeElement`)
		p.shot("bar-" + quoteInt(int(size[0])))
		p.accessible("the bar where it is narrow")
		p.press("Escape")
		p.wait(`!document.querySelector('dialog[open]')`)
	}
}
