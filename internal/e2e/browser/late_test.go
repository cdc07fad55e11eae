package browser

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"webchat/internal/e2e/ports"
)

// far starts a site behind a line on which every answer of the API takes 250 ms longer, and
// opens it. In its pages busy is how many requests are under way, and said what was sent last.
func far(t *testing.T) (*site, *page) {
	t.Helper()
	if noBrow != "" {
		t.Skip(noBrow)
	}
	t.Parallel()
	listen := "127.0.0.1:" + ports.Free()
	line := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: listen})
	line.FlushInterval = -1                    // streams go on at once
	line.ErrorLog = log.New(io.Discard, "", 0) // of a server that has ended
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/api/") {
			select {
			case <-time.After(250 * time.Millisecond):
			case <-r.Context().Done():
				return
			}
		}
		line.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	_, port, _ := net.SplitHostPort(proxy.Listener.Addr().String())
	s := &site{
		t:         t,
		workspace: workspace(t),
		data:      filepath.Join(t.TempDir(), "data"),
		flags:     []string{"--public-url", "http://localhost:" + port},
	}
	s.up(listen)
	t.Cleanup(func() {
		s.down(syscall.SIGTERM)
		if t.Failed() {
			t.Logf("server log:\n%s", s.log.String())
		}
	})
	for _, name := range []string{"relay.log", "relay.log.1", "relay-of-old.log", "a-relay.log"} {
		s.put(name, "text of "+name+"\n")
	}
	p := s.tab()
	p.before(`window.busy = 0
		const f = window.fetch
		window.fetch = async (...a) => {
			const body = /\/(messages|display)$/.test(String(a[0])) ? JSON.parse(a[1].body) : null
			if (body) sessionStorage.setItem('said', body.content ?? body.arguments.path)
			busy++
			try { return await f(...a) } finally { busy-- }
		}`)
	p.do(chromedp.Navigate(s.link))
	p.wait(`location.pathname === '/'`)
	p.live()
	return s, p
}

// What is between two keys.
const (
	atOnce   = iota
	answered // what the first one brought has come
	human    // 20 to 90 ms
)

// keys strikes a key for each character, wherever the focus is.
func (p *page) keys(text string, pace int) {
	p.t.Helper()
	for i, r := range text {
		key := string(r)
		if r == ' ' {
			key = "Space"
		}
		p.press(key)
		switch pace {
		case answered:
			p.wait(`busy === 0`)
		case human:
			p.js(fmt.Sprintf(`await new Promise((done) => setTimeout(done, %d))`, 20+i*37%71))
		}
	}
}

// Enter sends what was typed, however slow the line, wide the page, and whatever the menus offer by
// then; answers to older text are dropped, and no menu opens over the empty field.
func TestEnterSendsWhatWasTyped(t *testing.T) {
	_, p := far(t)
	p.expect("422") // of files that are not there
	for _, c := range []struct {
		width, height int64
		text, said    string
	}{
		{1440, 900, "/show relay.log", "relay.log"}, {1100, 800, "what is @rel", "what is @rel"},
		{840, 1000, "@relay", "@relay"},
		{390, 844, "/show rel", "rel"}, {360, 740, "//show go.mod", "/show go.mod"},
	} {
		p.look(c.width, c.height, "light")
		for pace := range human + 1 {
			p.js(`sessionStorage.removeItem('said')`)
			p.keys(c.text, pace)
			p.is(prompt+`.value`, c.text)
			p.press("Enter")
			p.is(`sessionStorage.getItem('said') ?? `+prompt+`.value`, c.said)
			p.wait(`busy === 0 && document.getElementById('composer').ariaBusy !== 'true' && location.pathname.startsWith('/sessions/') && 'joined' in document.body.dataset`)
			if p.true(`!document.getElementById('menu').hidden`) {
				t.Errorf("%q at %d px, pace %d: a menu stands there after it was sent", c.text, c.width, pace)
			}
			p.js(prompt + `.select()`)
			p.press("Delete")
			p.is(prompt+`.value`, "")
		}
	}
}

// Arrows and Tab choose an entry, of the text that stands there: what was offered for older
// text cannot be taken.
func TestEntriesAreChosen(t *testing.T) {
	_, p := far(t)
	p.keys("/show relay.l", atOnce)
	p.press("Tab") // nothing is offered for it yet: it waits for that, and takes the first
	p.wait(prompt + `.value.endsWith('relay.log')`)
	p.js(prompt + `.select()`)
	p.keys("/show relay.l", answered)
	p.wait(`document.querySelectorAll('#menu [role=option]').length > 1`)
	second := eval[string](p,
		`document.querySelectorAll('#menu [role=option]')[1].querySelector('[data-part=name]').textContent`)
	if p.true(`document.querySelector('#menu [aria-selected=true]')`) {
		t.Error("an entry is chosen by nobody")
	}
	p.press("ArrowDown", "ArrowDown", "Enter")
	p.is(prompt+`.value`, "/show "+second)
	p.wait(`busy === 0`)
	p.js(prompt + `.select()`)
	p.keys("@relay-", answered)
	p.press("Tab")
	p.is(prompt+`.value`, "@relay-of-old.log ")
	p.press("Escape", "i")
	p.js(prompt + `.select()`)

	// A picker whose answer comes after one wrote on does not open.
	p.press("Delete")
	p.wait(`busy === 0`)
	p.click("[data-act=pick]")
	p.keys("hello", atOnce)
	p.wait(`busy === 0`)
	if p.true(`!document.getElementById('menu').hidden`) {
		t.Error("the list of agents opens over what was written meanwhile")
	}
	p.press("Enter")
	p.is(`sessionStorage.getItem('said')`, "hello")
}

// The bar opens and hands over what is offered for what stands in it.
func TestBarTakesWhatIsTyped(t *testing.T) {
	_, p := far(t)
	p.look(1440, 900, "light")
	for pace := range human + 1 {
		p.press("Control+k")
		p.wait(`document.querySelector('#open-bar[open] input') === document.activeElement`)
		p.wait(`busy === 0`)
		p.keys("relay-of", pace)
		p.press("Tab")
		p.is(prompt+`.value`, "@relay-of-old.log ")
		p.wait(`!document.getElementById('open-bar').open`)
		p.js(prompt + `.select()`)
		p.press("Delete")
	}
	p.press("Control+k")
	p.wait(`document.querySelector('#open-bar[open] input') === document.activeElement`)
	p.keys("relay-of", atOnce)
	p.press("Enter")
	p.front("relay-of-old.log")
}
