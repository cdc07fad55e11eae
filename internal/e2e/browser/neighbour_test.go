package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// attempts are what a page of another port, or of another site, tries on somebody
// who is signed in to SITE. Each is true when it got something.
const attempts = `async (site, output, session) => {
	const got = {}
	const load = (make) => new Promise((done) => {
		const e = make()
		e.onload = () => done(true)
		e.onerror = () => done(false)
		document.body.append(e)
	})
	const img = (src) => load(() => { const e = new Image(); e.src = src; return e })
	const script = (src) => load(() => { const e = document.createElement('script'); e.src = src; return e })
	const sheet = (href) => load(() => { const e = document.createElement('link'); e.rel = 'stylesheet'; e.href = href; return e })
	const read = (url, init) => fetch(site + url, { credentials: 'include', ...init }).then((r) => r.type === 'opaque' ? false : r.ok, () => false)
	got['row 10, a picture'] = await img(site + '/api/outputs/' + output)
	got['row 10, a script'] = await script(site + '/api/sessions')
	got['row 27, an output as a script'] = await script(site + '/api/outputs/' + output)
	got['row 10, a style sheet'] = await sheet(site + '/api/sessions')
	got['row 9, reading a list'] = await read('/api/sessions')
	got['row 9, reading a page'] = await read('/')
	got['row 9, reading an output'] = await read('/api/outputs/' + output)
	got['row 4, writing'] = await read('/api/sessions', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' })
	got['row 7, writing as text'] = await read('/api/sessions', { method: 'POST', mode: 'no-cors', body: '{"title":"pwned"}' })
	got['row 4, prompting'] = await read(session + '/messages', { method: 'POST', mode: 'no-cors', body: '{"content":"run date"}' })
	got['row 4, a beacon'] = navigator.sendBeacon(site + session + '/messages', '{"content":"run date"}') && false
	got['row 10, a stream'] = await new Promise((done) => {
		const e = new EventSource(site + '/api/stream', { withCredentials: true })
		e.onopen = () => { e.close(); done(true) }
		e.onerror = () => { e.close(); done(false) }
	})
	got['row 14, a socket'] = await new Promise((done) => {
		const e = new WebSocket(site.replace('http', 'ws') + '/api/stream')
		e.onopen = () => done(true)
		e.onerror = () => done(false)
	})
	const form = document.createElement('form')
	form.method = 'post'
	form.enctype = 'text/plain'
	form.action = site + session + '/messages'
	form.target = 'nowhere'
	form.innerHTML = '<input name="{&quot;content&quot;:&quot;run date&quot;}" value="">'
	const nowhere = document.createElement('iframe')
	nowhere.name = 'nowhere'
	document.body.append(nowhere, form)
	await new Promise((done) => { nowhere.onload = done; form.submit() })
	return Object.keys(got).filter((k) => got[k])
}`

// THREATS 4, 5, 7, 9, 10, 14, 20 and 27 in a browser that is signed in: a page
// of another port of this very name, whose requests carry our cookie, and one of
// another name get nothing and change nothing.
func TestNeighbours(t *testing.T) {
	h := newHouse(t)
	h.site.open("/") // signs in: the cookie goes to all ports of the name
	id := h.session(t)
	h.write("x.png", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde"))
	if !h.display(id, "display_image", "path", "x.png") {
		t.Fatal("the picture could not be shown")
	}
	var list struct{ Outputs []struct{ ID string } }
	h.api(t, "GET", "/api/sessions/"+id+"/outputs", nil, &list)
	state := func() string {
		return string(h.api(t, "GET", "/api/sessions", nil, nil)) + string(h.api(t, "GET", "/api/sessions/"+id+"/events", nil, nil))
	}
	before := state()
	var mu sync.Mutex
	var cookies []string // guarded by mu
	neighbour := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		cookies = append(cookies, r.Header.Get("Cookie"))
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>neighbour</title><body>")
	}))
	defer neighbour.Close()
	for _, name := range []string{"localhost", "127.0.0.1", "evil.localhost"} {
		p := h.site.tab()
		p.expect("") // every refusal is a complaint
		p.do(chromedp.Navigate(strings.Replace(neighbour.URL, "127.0.0.1", name, 1)))
		got := eval[[]string](p, fmt.Sprintf("(%s)(%s, %s, %s)", attempts, quote(h.site.url), quote(list.Outputs[0].ID), quote("/api/sessions/"+id)))
		if len(got) > 0 {
			t.Errorf("a page of %s got through by %q", name, got)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(strings.Join(cookies, " "), "webchat_") {
		t.Error("the neighbour never had our cookie, so nothing was tried")
	}
	if after := state(); after != before {
		t.Errorf("something was changed:\n%s\nwas\n%s", after, before)
	}
	// The cookie that the neighbour's server has by now reads, and does not write.
	for _, c := range cookies {
		if !strings.Contains(c, "webchat_") {
			continue
		}
		r, err := http.NewRequest("POST", h.site.url+"/api/sessions", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Cookie", c)
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil || res.StatusCode != 401 {
			t.Errorf("row 20: a stolen cookie writes: %v, %v", res, err)
		}
		_ = res.Body.Close()
	}
}
