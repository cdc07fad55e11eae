package browser

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A pin is kept by the server, and that the user looked at an output is in the log.
func TestDeskPinsAndLooksAreTheServers(t *testing.T) {
	s, p := desked(t)
	p.told("show me README.md")
	p.front("README.md")
	p.click(".tab.is-front [role=tab]")
	p.js(prompt + `.focus()`)
	p.press("Escape", "p")
	p.wait(`document.querySelector('.tab.is-pinned')`)
	p.has(".pane:not([hidden]) .dfoot", "Pinned")
	p.wait(`fetch('/api/sessions/' + document.body.dataset.session + '/outputs').then((r) => r.json()).then((d) => d.outputs[0].pinned)`)
	p.js(`localStorage.removeItem('webchat.desk.' + document.body.dataset.session)`)
	p.do(chromedp.Reload())
	p.live()
	p.wait(`document.querySelector('.tab.is-pinned')`)
	poll(t, func() bool { return strings.Contains(s.logged(t, p.session()), "output.opened") })
}

// On paper stand the conversation and the output in front, whole, and no controls.
func TestPaper(t *testing.T) {
	_, p := desked(t)
	p.told("show me internal/pump/pump.go")
	p.front("pump.go")
	p.js(`window.print = () => { window.printed = true }`)
	p.press("Control+p")
	p.wait(`window.printed && document.querySelectorAll('body > .paper .line').length === 40`)
	p.do(chromedp.EmulateViewport(794, 1123), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		return err
	}))
	p.wait(`document.querySelector('body > .paper').checkVisibility() && document.querySelector('#turns .slip').checkVisibility() && document.getElementById('title').checkVisibility()`)
	if controls := eval[string](p, `[...document.querySelectorAll('button, #prompt, .map')].filter((e) => e.checkVisibility() && !e.closest('.title')).map((e) => e.outerHTML.slice(0, 120)).join()`); controls != "" {
		t.Errorf("controls are printed: %s", controls)
	}
	p.has("body > .paper .dhead", "internal/pump/pump.go Go · 40 lines")
	p.wait(`document.querySelector('#turns .ask-row .when').checkVisibility()`)
	p.wait(`[...document.querySelectorAll('#turns .slip .sum, #turns .when')].every((e) => e.getBoundingClientRect().right <= innerWidth)`)
	p.is(`[...new Set([...document.querySelectorAll('#turns .slip .sum, #turns .when')].map((e) => Math.round(e.getBoundingClientRect().right - parseFloat(getComputedStyle(e).paddingRight))))].length + ' edge'`, "1 edge")
	p.is(`document.querySelector('body > .paper .line').offsetHeight + getComputedStyle(document.activeElement).outlineStyle`, "16none")
	p.shot("paper")
	p.js(`dispatchEvent(new Event('afterprint'))`)
	p.wait(`!document.querySelector('body > .paper')`)
}
