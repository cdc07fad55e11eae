package browser

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// slow has each answer come so many milliseconds later.
func (p *page) slow(latency float64) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, network.EmulateNetworkConditionsByRule,
			network.EmulateNetworkConditionsByRuleParams{
				MatchedNetworkConditions: []*network.Conditions{{
					Latency:            latency,
					DownloadThroughput: -1,
					UploadThroughput:   -1,
				}}})
		return err
	}))
}

// goes begins to go to an address, and does not wait until it is there.
func (p *page) goes(address string) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, cdppage.Navigate, cdppage.NavigateParams{URL: address})
		return err
	}))
}

// strokes are what one types without looking: names of keys between spaces, texts in quotes.
func strokes(line string) (keys []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 0 {
			keys = append(keys, strings.Fields(part)...)
			continue
		}
		for _, r := range part {
			keys = append(keys, map[bool]string{true: "Space", false: string(r)}[r == ' '])
		}
	}
	return keys
}

// A key is for what it was pressed for, also where that is not there yet: each key of the list that
// ? opens is typed once, at once behind what leads there, and each letter arrives.
func TestNoKeyIsLost(t *testing.T) {
	keysOfTheSheet(t, 150, 0)
}

// The same at the speeds at which people and programs type, on three lines.
func TestSoakNoKeyIsLost(t *testing.T) {
	if os.Getenv("WEBCHAT_SOAK") == "" {
		t.Skip("make soak types at nine speeds")
	}
	for _, latency := range []float64{0, 150, 400} {
		for _, pace := range []time.Duration{0, 30, 60} {
			t.Run(fmt.Sprintf("%.0fms-%dms", latency, pace), func(t *testing.T) {
				keysOfTheSheet(t, latency, pace*time.Millisecond)
			})
		}
	}
}

const (
	value   = `document.getElementById('prompt').value`
	query   = `document.querySelector('.pane.grep [data-part=q]')?.value`
	finding = `document.querySelector('.pane:not([hidden]) .find input:focus')?.value`
	onFront = `document.querySelector('.tab.is-front [data-part=name]')?.textContent`
	inFront = `document.querySelector('.pane:not([hidden], .is-second)')`
	on      = `[...document.querySelectorAll('.pane:not([hidden]) .line.on .ln')].map((e) => e.textContent).join()`
	panes   = `document.querySelectorAll('.pane:not([hidden])').length`
	said    = `[...document.querySelectorAll('#turns h2')].map((e) => e.innerText.trim())`
)

func keysOfTheSheet(t *testing.T, latency float64, pace time.Duration) {
	s, p := desked(t)
	s.put("notes.txt", numbered(300))
	p.told("show me internal/pump/pump.go")
	p.front("pump.go")
	p.told("what can you do?")
	home := s.url + eval[string](p, `location.pathname`)
	p.slow(latency)
	covered := map[string]bool{}
	// try types a line, and waits until that came of it. A key that is lost never comes.
	try := func(sheet, line, want string) {
		t.Helper()
		for _, key := range strings.Fields(sheet) {
			covered[key] = true
		}
		for _, key := range strokes(line) {
			p.press(key)
			if pace > 0 {
				<-time.After(pace)
			}
		}
		for end := time.Now().Add(40 * time.Second); ; <-time.After(20 * time.Millisecond) {
			ctx, stop := context.WithTimeout(p.ctx, 2*time.Second)
			ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`Boolean(`+want+`)`))
			stop()
			if err == nil && ok {
				return
			}
			if time.Now().After(end) {
				t.Errorf("%s: after %s never %s: %s", sheet, line, want, eval[string](p, `[
					'the prompt has', document.getElementById('prompt').value, 'the focus', document.activeElement.outerHTML.slice(0, 90),
					...[...document.querySelectorAll('.toast, .free, #open-bar[open] [data-count]')].map((e) => e.innerText),
					document.querySelector('#open-bar[open] input')?.value, `+onFront+`].join(' | ')`))
				return
			}
		}
	}
	empty := func() {
		t.Helper()
		p.wait(`'usable' in document.body.dataset && document.getElementById('composer').ariaBusy !== 'true'`)
		p.js(`document.querySelector('dialog[open]')?.close(); document.getElementById('prompt').focus(); document.getElementById('prompt').select()`)
		p.press("Delete", "Delete")
		p.is(value, "")
	}

	// known has the server list the files before, so that Enter need not ask whether it is a look.
	known := func() {
		t.Helper()
		p.wait(`fetch('/api/looks?text=show+me+go.mod').then((r) => r.json()).then((r) => r.looks.length)`)
	}

	// What opens over a network, and the letters behind it.
	p.js(`window.old = true`)
	p.goes(home)
	p.wait(`!window.old && document.activeElement?.id === 'prompt'`)
	try("", `'first' Enter 'second'`, said+`.at(-1) === 'first' && `+value+` === 'second'`)
	empty()
	try("Ctrl⇧F", `Control+Shift+F 'Patience'`, query+` === 'Patience' && `+value+` === ''`)
	try("↵", `Enter Enter`, onFront+` === 'pump.go'`)
	empty()
	try("/", `'/find' Enter 'frame'`, query+` === 'frame' && `+value+` === ''`)
	empty()
	known()
	try("CtrlK", `Control+k 'go.mod' Enter 'behind'`, onFront+` === 'go.mod' && `+value+` === 'behind'`)
	empty()
	try("f", `Escape Control+k 'README' Enter f 'Relay'`, finding+` === 'Relay' && `+value+` === ''`)
	empty()
	try("@", `'see @pump' Tab 'why'`, value+` === 'see @internal/pump/pump.go why'`)
	empty()
	try("?", `'/he' Enter Enter`, `document.querySelector('#keys[open]')`)
	sheet := eval[string](p, `[...document.querySelectorAll('#keys kbd')].map((k) => k.textContent.replace(/\s/g, '')).join(' ')`)
	empty()
	try("n", `Escape n 'next'`, value+` === 'next' && location.pathname === '/'`)
	p.goes(home)
	p.wait(`location.href.startsWith(` + quote(home) + `)`)
	empty()

	// What is sent, and what is typed behind it.
	try("↵", `'one' Enter 'two' Enter 'three'`, said+`.filter((text) => /^(one|two)$/.test(text)).length === 2 && `+value+` === 'three'`)
	empty()
	try("⇧ ⇧↵", `'a' Shift+Enter 'b'`, value+` === 'a\nb'`)
	empty()
	known()
	try("", `'show me go.mod' Enter 'behind'`, value+` === 'behind' && `+onFront+` === 'go.mod' && !`+said+`.includes('show me go.mod')`)
	empty()
	try("Alt↵", `'show me go.mod' Alt+Enter`, value+` === '' && `+said+`.at(-1) === 'show me go.mod'`)
	try("↑", `ArrowUp`, value+` === 'show me go.mod'`)
	empty()
	try("!", `'!echo own' Enter 'more'`, onFront+` === 'echo own' && `+value+` === 'more'`)
	empty()
	try("Esc i", `Escape i 'x'`, value+` === 'x'`)
	empty()
	p.settled()
	try("Ctrl↵", `'stream 2000 words slowly' Enter 'left' Control+Enter 'after'`, value+` === 'after'`)
	p.wait(`document.querySelector('#composer:not([data-status=idle])')`)
	try("Ctrl.", `Control+. 'wards'`, value+` === 'afterwards'`)
	empty()
	p.settled()

	// An answer, and what is typed behind it.
	for n, answer := range []string{"a", "d", "s"} {
		p.say(fmt.Sprint("run echo ", n))
		p.wait(`document.querySelector('#asks [data-ask][data-ready]')`)
		p.focus(question)
		p.wait(ripe)
		if answer == "s" {
			p.press("s")
			p.wait(ripe + ` && document.activeElement.matches('[data-grants]')`)
		}
		try(answer, answer+` 'now'`, value+` === 'now' && !document.querySelector('#asks [data-ask]')`)
		empty()
		p.settled()
	}

	// The Desk, and what letters are there.
	try("f", `Escape Control+k 'notes' Enter f 'line 25'`, finding+` === 'line 25'`)
	try("↵", `Enter`, `document.querySelector('.pane:not([hidden]) .line.is-hit')?.innerText.includes('line 25')`)
	try("j", `Escape j`, onFront+` === 'notes.txt'`)
	try("k", `k`, onFront+` === 'notes.txt'`)
	try("g ⇧↑ ↓", `Escape g '200' Enter Shift+ArrowDown`, on+` === '200,201'`)
	try("w", `w`, inFront+`.querySelector('.code.wrap')`)
	try("G", `G`, inFront+`.querySelector('.rows').innerText.includes('300')`)
	try("a", `a 'why'`, value+` === 'why' && document.querySelector('#chips .chip')`)
	p.js(`document.querySelector('#chips [data-act=unchip]')?.click()`)
	empty()
	p.press("Escape")
	p.wait(`document.activeElement.closest('#desk')`)
	try("p", `p`, `document.querySelector('.tab.is-pinned')`)
	try("p", `p`, `!document.querySelector('.tab.is-pinned')`)
	try("o", `o`, `!document.querySelector('.main').checkVisibility()`)
	try("o", `o`, `document.querySelector('.main').checkVisibility()`)
	try("\\", `\`, panes+` === 2`)
	try("\\", `\`, panes+` === 1`)
	try("h", `h`, onFront+` !== 'notes.txt'`)
	try("l", `l`, onFront+` === 'notes.txt'`)
	try("x", `x`, onFront+` !== 'notes.txt'`)
	try("X", `X`, onFront+` === 'notes.txt'`)
	try("1 9", `1`, onFront+` !== 'notes.txt'`)
	try("[", `[`, `document.getElementById('side').checkVisibility()`)
	try("[", `[`, `!document.getElementById('side').checkVisibility()`)
	try("]", `] ]`, `document.getElementById('desk').checkVisibility()`)
	try("F6", `i F6`, `document.activeElement.closest('#desk')`)
	try("Alt↑", `Alt+ArrowUp`, onFront+` === 'pump.go'`)
	try("v", `Escape Control+k 'README' Enter v`, inFront+`.querySelector('.code')?.checkVisibility()`)
	try("t", `t 'pump' Enter`, onFront+` === 'pump.go'`)
	try("D", `D`, `document.querySelector('#changed:popover-open, .toast')`)
	p.js(`document.querySelector('#changed:popover-open')?.hidePopover()`)
	try(",", `,`, `document.querySelector('#settings[open]')`)
	try("?", `Escape Escape ?`, `document.querySelector('#keys[open]')`)

	// These have nothing behind them to lose, and are tried where what they do is.
	for _, key := range strings.Fields("c d e z m u r s + - n AltW") {
		covered[key] = true
	}
	for _, key := range strings.Fields(sheet) {
		if !covered[key] {
			t.Errorf("%q of the list of keys is not tried", key)
		}
	}
}

// A session that begins with a look opens at once, also where the user is asked first. Looks from the
// start page go into one session, until a prompt is sent in it.
func TestLooksFromTheStartPage(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.see("show me .env")
	p.has("#asks [data-ask]", ".env")
	first := p.session()
	again := func(text, name string) string {
		t.Helper()
		p.do(chromedp.Navigate(s.url + "/"))
		p.live()
		p.see(text)
		p.has("#outs, .tab", name)
		return p.session()
	}
	if id := again("show me go.mod", "go.mod"); id != first {
		t.Errorf("the second look made the session %s beside %s", id, first)
	}
	p.answer("[data-act^=deny]")
	p.say("what can you do?")
	p.done()
	if id := again("show me README.md", "README.md"); id == first {
		t.Error("a look of the start page went into a session that has a prompt")
	}
}
