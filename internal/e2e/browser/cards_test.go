package browser

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// shown opens a site whose page shows one finished output.
func shown(t *testing.T, say string, flags ...string) (*site, *page) {
	t.Helper()
	s := start(t, flags...)
	p := s.open("/")
	p.say(say)
	p.wait(card)
	p.done()
	return s, p
}

// clip returns what copying with a key puts into the clipboard.
func (p *page) clip(key string) string {
	p.t.Helper()
	p.focus(card)
	p.press(key)
	p.has(".toast", "Copied")
	p.js(prompt + `.select()`)
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, input.DispatchKeyEvent,
			input.DispatchKeyEventParams{
				Type:      "rawKeyDown",
				Key:       "v",
				Modifiers: modifiers["Control"],
				Commands:  []string{"paste"},
			})
		return err
	}))
	p.wait(prompt + `.value`)
	return eval[string](p, prompt+`.value`)
}

func TestCardLinesLinksAndCopy(t *testing.T) {
	s, p := shown(t, "/show internal/pump/pump.go")
	s.grant(p, "clipboard-write")
	p.js(`new MutationObserver(() => { window.saidSo ||= Boolean(document.querySelector('[data-act=copy].is-done') && document.querySelector('.toast')?.innerText.includes(` + quote("Copied "+lines(pumpGo)) + `)) })
		.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ['class'] })`)
	if got := p.clip("c"); got != pumpGo {
		t.Errorf("copied %d bytes of %d", len(got), len(pumpGo))
	}
	p.wait(`window.saidSo`)
	// after a while it can be pressed for the first time again
	p.wait(`!document.querySelector('.is-done')`)
	p.wait(`!document.querySelector('.toast')`)
	p.click(`.ln[href="#L10"]`)
	p.wait(`location.hash.startsWith('#L10')`)
	p.js(`document.querySelector('.ln[href="#L12"]').dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, cancelable: true, shiftKey: true, button: 0 })); document.dispatchEvent(new PointerEvent('pointerup'))`)
	p.wait(`location.hash.startsWith('#L10-L12')`)
	p.is(`String(document.querySelectorAll('.line.on').length)`, "3")
	p.has("[data-act=read]", "Let the agent read lines 10–12 +")
	p.shots("selection")
	if got, want := p.clip("c"), strings.Join(strings.SplitAfter(pumpGo, "\n")[9:12],
		""); strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") {
		t.Errorf("copied %q, not %q", got, want)
	}
	// The address leads back to the lines, beyond those that are in the page at first.
	p.js(`document.querySelector('.ln[href="#L12"]').focus()`)
	p.do(chromedp.Reload())
	p.is(`String(document.querySelectorAll('.line.on').length)`, "3")
	at := eval[string](p, `location.hash.replace('#L10-L12', '#L30-L32')`)
	p.do(chromedp.Navigate(s.url + "/sessions/" + p.session() + at))
	p.js(`location.hash = ` + quote(at))
	p.wait(`document.querySelector('.line.on .ln')?.textContent === '30'`)
	p.wait(`(() => { const r = document.querySelector('.line.on').getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight })()`)
}

func lines(text string) string {
	n := strings.Count(text, "\n")
	return strings.TrimSpace(quoteInt(n) + " lines")
}

func TestCardKeysAndButtons(t *testing.T) {
	s, p := shown(t, "/show internal/pump/pump.go")
	focus := func() { p.focus(card) }
	focus()
	p.press("w")
	p.wait(`document.querySelector('.code.wrap') && document.querySelector('[data-act=wrap]').getAttribute('aria-pressed') === 'true'`)
	p.press("w")
	p.wait(`!document.querySelector('.code.wrap')`)
	p.press("x")
	p.wait(`document.querySelectorAll('.lines .line').length === ` +
		quoteInt(strings.Count(pumpGo, "\n")))
	p.has("[data-act=fold]", "Show fewer of")
	p.press("x")
	p.wait(`document.querySelectorAll('.lines .line').length === 14`)
	p.has("[data-act=fold]", "Show all")

	p.press("f")
	p.wait(`document.activeElement.matches('.find input')`)
	p.write("sink")
	p.wait(`/^1 of \d+$/.test(document.querySelector('.find [data-part=count]').textContent)`)
	p.press("Enter")
	p.wait(`/^2 of \d+$/.test(document.querySelector('.find [data-part=count]').textContent)`)
	p.press("Shift+Enter")
	p.wait(`/^1 of \d+$/.test(document.querySelector('.find [data-part=count]').textContent)`)
	p.wait(`CSS.highlights.get('found-now').size === 1`)
	p.js(`document.querySelector('.find input').select()`)
	p.write("(unclosed")
	p.has(".find", "No hits")
	p.shots("find")
	p.expect("400")
	p.click("[data-act=find-regexp]")
	p.has(".find", "cannot be used")
	p.js(`document.querySelector('.find input').focus()`)
	p.press("Escape")
	p.wait(`!document.querySelector('.find') && document.activeElement.closest('[data-card]')`)

	focus()
	p.press("l")
	p.write("40")
	p.press("Enter")
	p.wait(`document.querySelector('.line.on .ln')?.textContent === '40'`)
	focus()
	p.press("o")
	p.wait(`document.querySelector('.app.sheet .pane .line.on')?.textContent.startsWith('40')`)
	p.shot("sheet")
	p.press("Escape")
	p.wait(`!document.querySelector('.app.sheet') && document.activeElement.matches('#turns [data-card], #turns [data-card] *')`)

	dir := s.downloads(p)
	focus()
	p.press("d")
	waitFile(t, filepath.Join(dir, "pump.go"), pumpGo)

	focus()
	p.js(`history.replaceState(null, '', location.pathname)`)
	p.press("r")
	p.has("#chips .chip", "pump.go")
	p.has("#turns .slip", "Goes with your next prompt")
	p.has("#turns .slip", "tokens")
	p.shots("read")
	p.click("[data-act=unread]")
	p.wait(`!document.querySelector('#chips .chip') && document.querySelector('#turns [data-act=read]')`)
	focus()
	p.press("r")
	p.wait(`document.querySelector('#chips .chip')`)
	p.say("what does it do?")
	p.has("#turns .ask-row .chip", "pump.go")
	p.done()
	if p.true(`document.querySelector('#turns .slip.read')`) {
		t.Error("after it was sent the card still says that it goes with the next prompt")
	}
}

func waitFile(t *testing.T, path, want string) {
	t.Helper()
	poll(t, func() bool { b, err := os.ReadFile(path); return err == nil && string(b) == want })
}

func TestCardRunningIsFollowedPausedAndStopped(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("/run for i in $(seq 1 100000); do echo tick $i; sleep 0.05; done")
	p.wait(`document.querySelector('[data-card][data-state=running] .line')`)
	p.has(".tail", "Following")
	last := `Number([...document.querySelectorAll('#turns [data-card] .code .ln')].at(-1)?.textContent ?? 0)`
	p.wait(last + ` > 0`)
	was := eval[int](p, last)
	p.wait(last + ` > ` + quoteInt(was+10))
	p.shots("following")
	p.click("[data-act=pause]")
	p.has("[data-act=pause]", "Follow")
	stood := eval[int](p, last)
	p.wait(`Number(document.querySelector('[data-card]').dataset.lines) > ` + quoteInt(stood+20))
	if now := eval[int](p, last); now > stood+5 { // one look may have been under way
		t.Errorf("paused at line %d it went on to %d", stood, now)
	}
	p.click("[data-act=pause]")
	p.wait(last + ` > ` + quoteInt(stood+20))
	p.focus(`document.querySelector('[data-card]')`)
	p.press("s")
	p.wait(`document.querySelector('[data-card][data-state=done] .exit')`)
	p.has("[data-card] .exit", "stopped")
	p.shots("stopped")
	p.done()
}

func TestCardPictureZooms(t *testing.T) {
	_, p := shown(t, "/image logo.png")
	p.wait(`document.querySelector('.pic img').naturalWidth === 320`)
	p.focus(card)
	p.press("1")
	p.wait(`document.querySelector('.pic img').clientWidth === 320`)
	p.press("+")
	p.wait(`document.querySelector('.pic img').clientWidth === 480`)
	p.has(".zoom", "150%")
	p.press("-")
	p.wait(`document.querySelector('.pic img').clientWidth === 320`)
	p.press("0")
	p.wait(`!document.querySelector('.pic.is-free')`)
}

func TestCardShownAgain(t *testing.T) {
	p := start(t, "--output-ttl", "2s").open("/")
	p.say("/run echo once more")
	// it may have been so when the page came
	p.wait(`document.querySelector('[data-card][data-state=expired]')`)
	p.done()
	p.click("[data-act=again]")
	p.has("#confirm", "Run this command again? echo once more")
	p.shots("confirm")
	p.press("Escape")
	p.click("[data-act=again]")
	p.click("#confirm [value=yes]")
	p.wait(`document.querySelectorAll('#turns [data-card]').length === 2`)

	p.sources()
	// One question closes, and the next opens before the browser has reported that.
	p.js(`
		const { confirmed } = ` + module("confirm.js") + `
		const first = confirmed('The first?', '', 'Yes')
		document.getElementById('confirm').close()
		window.answers = Promise.all([first, confirmed('The second?', '', 'Yes')])`)
	p.click("#confirm [value=yes]")
	p.is(`String(await answers)`, "false,true")
}

func TestHostileFileStaysText(t *testing.T) {
	_, p := shown(t, "/show evil.html")
	p.has(".code", "<script>window.evil = 1</script>")
	if p.true(`window.evil`) {
		t.Error("a file's script ran")
	}
}

// What a search has found goes to the agent as it is: these lines, at their price.
func TestCardHitsAreReadByTheAgent(t *testing.T) {
	_, p := shown(t, "/show internal/pump/pump.go")
	p.focus(card)
	p.press("f")
	p.wait(card + `.matches('.wide')`)
	p.write("sinks")
	p.has("[data-act=read-hits]", "3 hits +")
	p.has("[data-act=read]", "Let the agent read this +")
	p.click(`.ln[href="#L11"]`)
	p.has("[data-act=read-all]", "All +")
	p.has("[data-act=read-hits]", "3 hits +")
	p.has("[data-act=read]", "Let the agent read line 11 +")
	p.shots("hits")
	p.click("[data-act=read-hits]")
	p.has("#chips .chip", "pump.go: 3 hits")
	p.click("[data-act=unread]")
	p.has("[data-act=read-hits]", "3 hits +")
	p.click("[data-act=read-hits]")
	p.js(`document.querySelector('.find input').focus()`)
	p.press("Escape")
	p.wait(`!document.querySelector('.find') && !` + card + `.matches('.wide')`)
	p.say("what do these do?")
	p.has("#turns .ask-row .chip", "pump.go:")
	p.done()
}

// Keys and pointers come before a picture does, or where it never comes.
func TestCardPictureThatDoesNotCome(t *testing.T) {
	_, p := shown(t, "/image logo.png")
	p.wait(`document.querySelector('.pic img').naturalWidth === 320`)
	p.focus(card)
	p.press("1")
	p.has(".zoom", "100%")
	p.js(`document.querySelector('.pic img').remove()`)
	p.press("+", "-", "0", "1")
	p.js(`document.querySelector('.pic').dispatchEvent(new PointerEvent('pointerover', { bubbles: true }))`)
	p.has(".zoom", "100%")
}
