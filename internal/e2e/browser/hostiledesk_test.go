package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Names that others chose, wherever the Desk writes them: tabs, heads, shelf, bar, chips,
// start page. They are text, on one line, and what cannot be seen is shown.
func TestHostileNamesOnTheDesk(t *testing.T) {
	s := start(t)
	s.git("init", "-q", "-b", "main")
	s.git("add", "go.mod")
	s.git("commit", "-qm", "x")
	names := []string{
		"bidi\u202e\u2066og.go",
		"<img src=x onerror=\"window.pwned=1\"><b>bold.txt",
		"\x1b[31mred\x1b[0m.txt",
		"q'\"`$(touch pwned)\u200b.txt",
		strings.Repeat("long-", 48) + ".txt",
	}
	for _, name := range names {
		s.put(name, "one\ntwo\n")
	}
	p := s.open("/")
	p.look(1440, 900, "light")
	check := func(where string) {
		t.Helper()
		text := eval[string](p, visible)
		if i := strings.IndexFunc(text, unseen); i >= 0 {
			t.Errorf("%s: the page holds invisible characters: %q", where, text[max(0, i-40):min(len(text), i+40)])
		}
		if p.true(`window.pwned || document.querySelector('img[src="x"], b:has(> .tab), [onerror]')`) {
			t.Errorf("%s: a name became more than text", where)
		}
		if p.true(sideways) {
			t.Errorf("%s: the page scrolls sideways", where)
		}
		if tall := eval[[]string](p, `[...document.querySelectorAll('.bar, .tabs, .tab, .pane:not([hidden]) :is(.dhead, .dfoot), .orow, .hit, .ghost, #chips .chip')].filter((e) => e.checkVisibility() && (e.scrollHeight > e.clientHeight + 2 || e.getBoundingClientRect().height > 49)).map((e) => e.className + ' ' + e.scrollHeight)`); len(tall) > 0 {
			t.Errorf("%s: these take more than a line: %v", where, tall)
		}
	}
	p.wait(`document.querySelectorAll('[data-list=changed] button').length >= 4`)
	p.shot("hostile-start")
	check("the start page")
	for i, name := range names {
		p.say("/show " + name)
		p.wait(`document.querySelectorAll('#outs [data-output]').length === ` + quoteInt(i+1) + ` && document.querySelectorAll('.tab').length === ` + quoteInt(i+1))
		p.wait(onDesk + `?.querySelector('.rows .cl')?.textContent`)
	}
	p.say("!: " + strings.Repeat("x", 10_000))
	p.wait(`document.querySelectorAll('.tab').length === ` + quoteInt(len(names)+1) + ` && document.querySelector('.pane:not([hidden])[data-kind=terminal][data-state=done]')`)
	check("tabs")
	p.shot("hostile-tabs")
	for i := range names {
		p.js(`document.querySelectorAll('.tab [role=tab]')[` + quoteInt(i) + `].click()`)
		p.wait(onDesk + `?.querySelector('.rows .cl')?.textContent === 'one\n' || ` + onDesk + `?.querySelector('.rows .cl')?.textContent === 'one'`)
		p.js(`const ln = document.querySelector('.pane:not([hidden]) .ln[href="#L2"]'); for (const type of ['pointerdown', 'pointerup']) ln.dispatchEvent(new PointerEvent(type, { bubbles: true, cancelable: true, button: 0 }))`)
		p.has(".bubble", "Ask about 1 line")
		p.click(".bubble [data-act=ask]")
		p.wait(`document.querySelectorAll('#chips .chip').length === ` + quoteInt(i+1))
	}
	check("chips")
	p.shot("hostile-chips")
	p.accessible("hostile names")
	p.click(".shelf-btn")
	p.wait(`document.querySelector('#shelf:popover-open')`)
	check("the shelf")
	p.shot("hostile-shelf")
	p.press("Escape")
	for _, q := range []string{"bidi", "img", "red", "long"} {
		p.bar(q)
		p.wait(`document.querySelectorAll('#open-hits .hit').length`)
		p.press("ArrowDown", "ArrowUp")
		p.wait(`document.querySelector('.tab.is-look, .tab.is-front')`)
		check("the bar, " + q)
		p.shot("hostile-bar-" + q)
		p.press("Escape")
		p.wait(`!document.querySelector('dialog[open]')`)
	}
	p.do(chromedp.Reload())
	p.live()
	p.wait(`document.querySelectorAll('.tab').length === ` + quoteInt(len(names)+1))
	check("read again")
}
