package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
)

// refused is what a console says of a server that is away.
var refused = []string{"ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING",
	"ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE", "Failed to load resource"}

// send posts as the page does, to any session.
const send = `const send = async (method, path, json) => {
	const api = await import(document.querySelector('script[src*=theme]').src.replace('app/theme.js', 'js/api.js'))
	return method === 'get' ? api.getJSON(path) : api.post(path, json)
};`

func TestServerRestartKeepsPageAndSignIn(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.expect(refused...)
	p.see("show me go.mod")
	p.wait(card)
	p.done()
	p.compose("half a thou")
	s.down(syscall.SIGKILL)
	p.wait(`document.getElementById('status').dataset.state === 'off'`)
	p.wait(`/Reconnecting in \d+ s · last event \d+/.test(document.getElementById('status').textContent)`)
	p.wait(prompt + `.placeholder.endsWith('when the connection is back')`)
	p.shots("offline")
	s.again()
	p.wait(`/Reconnected: \d+ events?, none lost/.test(document.getElementById('status').textContent)`)
	p.shot("caught-up")
	p.wait(`document.getElementById('status').textContent.includes('Live')`)
	p.is(prompt+`.value`, "half a thou")
	p.write("ght")
	p.press("Enter")
	p.wait(`document.getElementById('turns').innerText.includes('half a thought')`)
	p.done()
	p.wait(`document.querySelector('[data-card][data-state=expired]')`) // outputs live in memory
	streamed := eval[string](p, dom)
	p.do(chromedp.Reload())
	p.live()
	if reloaded := eval[string](p, dom); reloaded != streamed {
		t.Errorf("reload differs from stream: %s", firstDifference(streamed, reloaded))
	}
}

// A hidden tab has no connection to lose; what a restart took shows once the tab is visible.
func TestRestartBehindTheBackEndsOutputs(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.before(`delete window.SharedWorker; Object.defineProperty(document, 'hidden', { get: () => Boolean(window.away) })`)
	p.do(chromedp.Navigate(s.url + "/"))
	p.live()
	p.say("!echo once")
	p.wait(card)
	p.done()
	p.js(`window.away = true; document.dispatchEvent(new Event('visibilitychange'))`)
	p.expect(refused...)
	s.down(syscall.SIGKILL)
	s.again()
	p.js(`window.away = false; document.dispatchEvent(new Event('visibilitychange'))`)
	p.wait(`document.querySelector('#outs a.gone')`)
	p.wait(`document.querySelector('[data-card][data-state=expired]') && !document.querySelector('[data-card][data-state=done]')`)
}

// Without a connection a question waits, and its buttons are off.
func TestQuestionsWaitForTheConnection(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.expect(refused...)
	p.say("run touch acted")
	p.wait(`document.querySelector('[data-ask][data-ready][data-read]')`)
	s.down(syscall.SIGKILL)
	p.wait(`document.querySelector('.asks-off').checkVisibility()`)
	p.wait(`[...document.querySelectorAll('.perm :is([data-act=allow-once], [data-act^=deny])')].every((b) => b.ariaDisabled === 'true')`)
	p.shots("question-offline")
	s.again()
	p.has("[data-answered]", "Not answered") // the process that asked is gone
	p.wait(`!document.querySelector('[data-ask]')`)
}

func TestEnterWithoutConnectionWaits(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.expect(refused...)
	p.say("/show go.mod")
	p.done()
	s.down(syscall.SIGKILL)
	p.wait(`document.getElementById('status').dataset.state === 'off'`)
	p.say("/show README.md")
	p.has(".toast[data-how=ask]",
		"Offline: your prompt is saved and will be sent when the connection returns")
	p.is(prompt+`.value`, "/show README.md")
	p.press("Enter") // impatience sends it no second time
	s.again()
	p.wait(`document.querySelectorAll('#turns [data-card][data-state=done]').length === 1 && [...document.querySelectorAll('#turns h2')].filter((h) => h.textContent.includes('README.md')).length === 1`)
	p.is(prompt+`.value`, "")
	p.done()
}

// A connection that came back before a request was given up is not waited for again.
func TestPromptGoesWhenTheConnectionIsThere(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.expect(refused...)
	p.told("say hello")
	p.js(`const f = window.fetch
		const broken = new Promise((done) => { window.breaks = done })
		window.sent = 0
		window.fetch = async (...a) => {
			if (!String(a[0]).endsWith('/messages') || ++sent > 2) return f(...a)
			const lost = sent === 2 // its reply
			await broken
			if (lost) await f(...a)
			throw new TypeError('broken')
		}`)
	p.say("say good evening")
	p.wait(`sent === 1`)
	s.down(syscall.SIGKILL)
	p.wait(`document.getElementById('status').dataset.state === 'off'`)
	s.again()
	p.live()
	p.js(`breaks()`)
	p.wait(prompt + `.value === ''`)
	p.settled()
	p.is(`String([...document.querySelectorAll('#turns h2')].filter((h) => h.textContent.includes('good evening')).length)`, "1")
}

func TestSignedOutIsSaid(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.expect("401", "Failed to load resource")
	p.say("/show go.mod")
	p.done()
	if out, err := exec.Command(binary, "logout", "--data-dir", s.data, "--workspace",
		s.workspace).CombinedOutput(); err != nil {
		t.Fatalf("logout: %v\n%s", err, out)
	}
	p.say("/show README.md")
	p.has(".toast", "Signed out. Your draft is kept.")
	p.is(prompt+`.value`, "/show README.md")
	p.shot("signed-out")
	p.do(chromedp.Reload())
	p.has("h1", "Not signed in here")
	p.shots("sign-in")
}

func TestLinkFromAnotherSiteDoesNotLookSignedOut(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("/show go.mod")
	p.done()
	at := "/sessions/" + p.session()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><a href="%s%s">see</a>`,
			s.url, at)
	}))
	defer other.Close()
	p.expect("401") // the first look, without the cookie
	p.do(chromedp.Navigate(other.URL))
	p.click("a")
	p.wait(`document.body.dataset.session`)
	p.live()
	p.wait(card)
}

func TestBackAndFrozen(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("/show go.mod")
	p.done()
	at := "/sessions/" + p.session()
	q := s.open(at)
	p.do(chromedp.Navigate(s.url + "/"))
	p.live()
	q.say("/show README.md")
	q.done()
	p.js(`setTimeout(() => history.back())`)
	p.wait(`document.body.dataset.session`)
	p.live()
	p.has("#turns", "Carries frames")
	// A frozen page runs no handler, then all of them at once: so does one that is
	// busy. What the browser says at its end makes it ask for one snapshot.
	p.js(`setTimeout(() => { const end = performance.now() + 1500; while (performance.now() < end); document.dispatchEvent(new Event('resume')) })`)
	for range 3 {
		q.js(send +
			`await send('post', '/api/sessions/' + document.body.dataset.session + '/messages', { content: 'what can you do?' })`)
	}
	p.wait(`document.querySelectorAll('#turns [data-turn]').length === 5`)
	for _, tab := range []*page{p, q} {
		tab.wait(`[...document.querySelectorAll('[data-turn]')].every((t) => t.dataset.state === 'completed') && !document.querySelector('#turns [aria-busy=true]')`)
	}
	if x, y := eval[string](p, dom), eval[string](q, dom); x != y {
		t.Errorf("the frozen tab differs: %s", firstDifference(x, y))
	}
}

// Six connections are all a browser grants one server over HTTP/1.1.
func TestTwentyTabs(t *testing.T) {
	s := start(t)
	first := s.open("/")
	first.say("/show go.mod")
	first.done()
	ids := []string{first.session()}
	for range 6 {
		ids = append(ids, eval[string](first, `(async () => { `+send+
			` return (await send('post', '/api/sessions', {})).id })()`))
	}
	tabs := []*page{first}
	for i := 1; i < 20; i++ {
		p := s.tab()
		p.do(chromedp.Navigate(s.url + "/sessions/" + ids[i%len(ids)]))
		tabs = append(tabs, p)
	}
	for _, p := range tabs {
		p.wait(`'joined' in document.body.dataset || document.getElementById('status').textContent.includes('Live')`)
	}
	last := tabs[len(tabs)-1]
	for _, id := range ids { // the last tab's requests get through, and reach all tabs
		last.js(send + `await send('post', '/api/sessions/` + id +
			`/display', { tool: 'render_file_contents', arguments: { path: 'README.md' } })`)
	}
	for _, p := range tabs {
		p.has("#turns", "Carries frames")
	}
}

func TestWithoutSharedWorker(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.before(`delete window.SharedWorker; Object.defineProperty(document, 'hidden', { get: () => Boolean(window.away) })`)
	p.do(chromedp.Navigate(s.url + "/"))
	p.live()
	p.say("/show go.mod")
	p.wait(card)
	p.done()
	p.js(`window.away = true; document.dispatchEvent(new Event('visibilitychange'))`)
	p.js(send +
		`await send('post', '/api/sessions/' + document.body.dataset.session + '/display', { tool: 'render_file_contents', arguments: { path: 'README.md' } })`)
	p.js(`window.away = false; document.dispatchEvent(new Event('visibilitychange'))`)
	p.has("#turns", "Carries frames")
}

func TestLongAnswerStaysSmooth(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("/show go.mod")
	p.done()
	p.js(`window.longest = 0; new PerformanceObserver((l) => { for (const e of l.getEntries()) longest = Math.max(longest, e.duration) }).observe({ type: 'longtask' })`)
	p.say("stream 5000 words")
	p.wait(`document.querySelector('#turns .said')`)
	p.done()
	if n := strings.Count(eval[string](p, `document.querySelector('#turns .said').textContent`),
		" "); n < 4000 {
		t.Errorf("%d words of 5000 arrived", n)
	}
	t.Logf("longest task: %v ms", eval[float64](p, `longest`))
}
