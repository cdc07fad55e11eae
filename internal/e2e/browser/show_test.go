package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const card = `document.querySelector('#turns [data-card][data-state=done]')`

func TestFileFromTypingToPixels(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.shots("empty")
	p.told("show me the readme")
	p.wait(card)
	p.done()
	if got := eval[string](p, `document.querySelector('#turns .card [data-shows=preview]').textContent`); !strings.Contains(got, "Carries frames from here to there.") {
		t.Errorf("the card holds %q", got)
	}
	if got := eval[string](p, `document.querySelector('#turns .slip').innerText`); !strings.Contains(got, "Displayed README.md to user (6 lines)") || !strings.Contains(got, "9 of 17 tokens") {
		t.Errorf("the slip says %q", got)
	}
	if p.true(card + `.getBoundingClientRect().height < 100`) {
		t.Error("the card is not visible")
	}
	p.shots("file")
}

func TestEmptyPageOffersWhatWorks(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.has("#pick-backend", "offline")
	p.is(prompt+`.placeholder`, "Name a file to see it, or start with ! to run a command")
	p.has("#meter", "No model. Nothing is sent. Files, commands and search work")
	p.has("[data-list=try]", "go test ./...")
	p.shots("start")
	p.write("README.md") // nothing but the name of a file
	p.has(".free", "README.md")
	p.press("Enter")
	p.wait(card)
	p.done()
	p.has("#turns .slip", "Opened by you")
}

// The start page lists what changed, what was looked at and what ran; a file opens on
// the Desk, a command runs there.
func TestStartPageLists(t *testing.T) {
	s := start(t)
	s.git("init", "-q", "-b", "main")
	s.git("add", "-A")
	s.git("commit", "-qm", "x")
	for name, text := range map[string]string{"README.md": "# Relay\n\nAnother line.\n", "new.txt": "x\n"} {
		if err := os.WriteFile(filepath.Join(s.workspace, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := s.open("/")
	p.look(1440, 900, "light")
	p.is(`[...document.querySelectorAll('#start-head span')].map((e) => e.textContent).join()`, "main,2 files changed")
	p.is(`String(document.querySelector('.promise').clientHeight)`, "50") // one line, and what is below it
	p.is(`[...new Set([...document.querySelectorAll('.promise, .start-head b, #meter > span:first-child, #connect-h, .start-lists')].filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect().left + parseFloat(getComputedStyle(e).paddingLeft)))].length + ' edge'`, "1 edge")
	p.has("[data-list=changed]", "README.md +1")
	p.has("[data-list=changed]", "new.txt +1 new")
	p.has("[data-list=changed]", "git diff HEAD")
	p.has("[data-list=try]", "Find text in all files")
	p.shot("start-changed")
	p.accessible("the start page")
	p.dark("start-changed")
	p.strained("the start page")
	p.js(`[...document.querySelectorAll('[data-list=changed] button')].find((b) => b.innerText.includes('new.txt')).click()`)
	p.wait(`location.pathname.startsWith('/sessions/')`)
	p.live()
	p.front("new.txt")
	p.do(chromedp.Navigate(s.url + "/"))
	p.live()
	p.has("[data-list=looked]", "new.txt")
	p.press("1", "0") // a digit looks at a recent file, and what is typed on ends that
	p.wait(`!document.querySelector('.pane:not([hidden]) .rows')`)
	p.is(prompt+`.value`, "10")
	p.press("Backspace", "Backspace", "1")
	p.wait(`document.querySelector('.pane:not([hidden]) .rows')`)
	p.press("Enter")
	p.wait(`location.pathname.startsWith('/sessions/')`)
	p.live()
	p.front("new.txt")
	p.is(prompt+`.value`, "")
	p.do(chromedp.Navigate(s.url + "/"))
	p.live()
	p.has("[data-connect] .way:not([hidden])", "npm install -g @github/copilot")
	p.focus(`document.querySelector('[data-connect] [role=radio]')`)
	p.press("ArrowRight")
	p.has("[data-connect] .way:not([hidden])", "start webchat again")
	p.has("[data-list=try]", "Show me the readme")
	p.js(`[...document.querySelectorAll('[data-list=try] button')].find((b) => b.innerText.includes('git status')).click()`)
	p.wait(`location.pathname.startsWith('/sessions/')`)
	p.live()
	p.front("git status")
}

func TestCommandAsksRunsAndShows(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say(`run printf '\033[31mred\033[0m\n'; for i in 1 2 3; do echo line $i; done; until test -e over; do sleep 0.1; done; exit 3`)
	p.wait(`document.querySelector('[data-ask=permission][data-ready]')`)
	if got := eval[string](p, `document.querySelector('[data-ask=permission] .perm-cmd').innerText`); !strings.Contains(got, "done; exit 3") {
		t.Errorf("the question shows %q", got)
	}
	p.shots("permission")
	if got := eval[string](p, `document.title`); !strings.HasPrefix(got, "(1)") {
		t.Errorf("the title does not count the question: %q", got)
	}
	p.answer("[data-act=allow-once]")
	p.wait(`document.querySelector('[data-card][data-state=running]')`)
	s.put("over", "")
	p.wait(card)
	p.done()
	if got := eval[string](p, `document.querySelector('#turns .exit').innerText`); got != "exit 3" {
		t.Errorf("exit chip says %q", got)
	}
	if eval[string](p, `getComputedStyle([...document.querySelectorAll('#turns .cl *')].find((e) => e.textContent === 'red')).color`) == eval[string](p, `getComputedStyle(document.querySelector('#turns .cl')).color`) {
		t.Error("the red word is not coloured")
	}
	if got := eval[string](p, `document.querySelector('[data-answered]').innerText`); !strings.Contains(got, "you allowed it once") {
		t.Errorf("the answered question says %q", got)
	}
	p.shots("terminal")
}

func TestPicture(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("/image logo.png")
	p.wait(card)
	p.wait(`document.querySelector('#turns .pic img').naturalWidth === 320`)
	p.shots("picture")
	for n, how := range []string{"/show logo.png", "show me logo.png"} { // the name says that it is one
		p.say(how)
		p.wait(fmt.Sprintf(`document.querySelectorAll('#turns .pic img').length === %d`, n+2))
	}
}

func TestDenyWithReason(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("run echo never")
	p.wait(`document.querySelector('[data-ask=permission][data-ready]')`)
	p.click("[data-ask] [data-act=why]")
	p.write("tests first")
	p.press("Enter")
	p.wait(`document.querySelector('[data-answered]')`)
	p.done()
	if got := eval[string](p, `document.getElementById('turns').innerText`); !strings.Contains(got, "tests first") {
		t.Errorf("the reason did not arrive: %q", got)
	}
	p.shot("denied")
}

func TestErrorsHaveOneClearCard(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("/show ../outside")
	p.wait(`document.querySelector('[data-card][data-state=failed]')`)
	if got := eval[string](p, `document.querySelector('[data-card]').innerText`); !strings.Contains(got, "leaves the workspace") {
		t.Errorf("the card says %q", got)
	}
	p.shots("outside")
	p.say("/show data.bin")
	p.wait(`document.querySelector('[data-kind=hex][data-state=done]')`)
	p.shot("binary")
	p.look(360, 740, "light") // the gutter of a phone cuts between two digits, never through one
	p.wait(`(() => {
		const ln = document.querySelector('[data-kind=hex] .ln'), text = document.createRange()
		text.selectNodeContents(ln)
		const room = ln.getBoundingClientRect().width - 8
		const shown = room / (text.getBoundingClientRect().width / ln.textContent.length)
		return innerWidth === 360 && room < 36 && shown > 3.9 && Math.abs(shown - Math.round(shown)) < 0.05
	})()`)
	p.shot("binary-phone")
	p.look(1080, 1000, "light")
	p.expect("400", "422") // the toast's refusals are answers, not faults
	p.say("/shwo go.mod")
	p.wait(`document.querySelector('.toast')?.innerText.includes('Did you mean /show?')`)
	if got := eval[string](p, `document.getElementById('prompt').value`); got != "/shwo go.mod" {
		t.Errorf("what was typed is gone: %q", got)
	}
	p.shot("unknown-command")
}

func TestExpiredAndShownAgain(t *testing.T) {
	s := start(t, "--output-ttl", "2s")
	p := s.open("/")
	p.expect("/api/outputs/") // what is asked of an output just when it ends
	p.say("/show go.mod")
	p.wait(`document.querySelector('[data-card][data-state=expired]')`) // it may have been so when the page came
	p.done()
	expired := eval[string](p, dom)
	p.do(chromedp.Reload())
	p.wait(`document.querySelector('[data-card][data-state=expired]')`)
	if reloaded := eval[string](p, dom); reloaded != expired {
		t.Errorf("an expired card differs after a reload: %s", firstDifference(expired, reloaded))
	}
	p.shots("expired")
	p.click("[data-act=again]")
	p.wait(card)
}

func TestReloadEqualsStream(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.expect("422") // what the last one is refused with
	p.see("show me go.mod")
	p.wait(card)
	id := p.session()
	for _, prompt := range []string{"show internal/pump/pump.go", "what can you do?", "/run echo hi", "stream 200 words", "/show ../no"} {
		p.say(prompt)
		p.settled()
	}
	p.wait(`![...document.querySelectorAll('#turns [aria-busy=true], [data-card][data-state=running]')].length`)
	p.wait(`[...document.querySelectorAll('[data-card]')].length >= 4`)
	streamed := eval[string](p, dom)
	p.do(chromedp.Navigate(s.url + "/sessions/" + id))
	p.live()
	if reloaded := eval[string](p, dom); reloaded != streamed {
		t.Errorf("reload differs from stream: %s", firstDifference(streamed, reloaded))
	}
}

// dom is the transcript without what time alone changes.
const dom = `(() => {
	const c = document.getElementById('turns').cloneNode(true)
	for (const el of c.querySelectorAll('.life')) el.remove()
	for (const el of c.querySelectorAll('.zoom, .copy-code, .turn-acts')) el.remove()
	for (const el of c.querySelectorAll('[tabindex]')) el.removeAttribute('tabindex')
	for (const a of c.querySelectorAll('.said :is(.at-src, .ref)')) a.replaceWith(...a.childNodes) // scripts make links of names, sooner or later
	for (const el of [c, ...c.querySelectorAll('*')]) el.normalize()
	return c.innerHTML
})()`

func firstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	cut := func(s string) string { return s[max(0, min(len(s), i)-80):min(len(s), i+160)] }
	return fmt.Sprintf("at byte %d\nstream: …%s…\nreload: …%s…", i, cut(a), cut(b))
}

func TestTwoTabsInStep(t *testing.T) {
	s := start(t)
	a := s.open("/")
	a.say("show me go.mod")
	a.wait(card)
	b := s.open("/sessions/" + a.session())
	b.wait(card)
	a.say("run echo twice")
	for _, p := range []*page{a, b} {
		p.wait(`document.querySelector('[data-ask=permission][data-ready]')`)
	}
	b.answer("[data-act=allow-once]")
	for _, p := range []*page{a, b} {
		p.wait(`document.querySelector('[data-answered]')`)
		p.wait(`document.querySelector('#turns [data-kind=terminal][data-state=done]')`)
		p.wait(`document.getElementById('composer').dataset.status === 'idle'`)
	}
	if x, y := eval[string](a, dom), eval[string](b, dom); x != y {
		t.Errorf("the tabs differ: %s", firstDifference(x, y))
	}
}

func TestBigFileScrolls(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("/show big.log")
	p.wait(card)
	p.click(`[data-card] [data-act=fold]`)
	p.wait(`document.querySelectorAll('.chunk').length > 400`)
	p.wait(`document.querySelector('.chunk .line')`)
	p.true(`(() => { const c = document.querySelector('.card.big .code'); c.scrollTop = c.scrollHeight; return true })()`)
	p.wait(`[...document.querySelectorAll('.cl')].some((l) => l.textContent.startsWith('100000 '))`)
	if n := eval[int](p, `document.querySelectorAll('.card *').length`); n > 30_000 {
		t.Errorf("%d elements for a card", n)
	}
	p.focus(`document.querySelector('[data-card] .code')`)
	p.press("f")
	p.wait(`document.querySelector('.find input') === document.activeElement`)
	p.js(`const asked = window.fetch
		const held = new Promise((done) => { window.release = done })
		window.fetch = async (...a) => { if (String(a[0]).includes('grep=')) await held; return asked(...a) }`)
	p.write("frame=77 ")
	p.look(1440, 1000, "light") // the hits come while the card is its slip only
	p.wait(`!document.querySelector('#turns .card.big .code').checkVisibility()`)
	p.js(`window.release()`)
	p.wait(`/of \d/.test(document.querySelector('.find [data-part=count]').textContent)`)
	p.look(1080, 1000, "light")
	p.wait(`document.querySelector('#turns .card.big .map .h')`)
	p.shots("find")
}
