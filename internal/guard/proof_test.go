package guard_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"webchat/internal/guard"
)

// browser is what one keeps of a sign-in.
type browser struct {
	t              *testing.T
	key            *ecdsa.PrivateKey
	at             *net.TCPAddr // where the server listens; nil: it does not say
	cookie, secret string
}

// newBrowser signs in on g, which listens on port.
func newBrowser(t *testing.T, g *guard.Guard, port string) *browser {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, key: key}
	if port != "" {
		if b.at, err = net.ResolveTCPAddr("tcp", "127.0.0.1:"+port); err != nil {
			t.Fatal(err)
		}
	}
	w := httptest.NewRecorder()
	if b.secret, err = g.SignIn(w, b.request(), launchOf(g), public); err != nil {
		t.Fatal(err)
	}
	c := w.Result().Cookies()[0]
	b.cookie = c.Name + "=" + c.Value
	return b
}

// request has the cookie, and comes over a connection to where the server listens.
func (b *browser) request() *http.Request {
	r := httptest.NewRequest("POST", "/api/sign-in", nil)
	r.Host = host
	r.Header.Set("Cookie", b.cookie)
	if b.at != nil {
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, b.at))
	}
	return r
}

func (b *browser) sign(challenge string) []byte {
	sum := sha256.Sum256([]byte("webchat sign-in " + challenge))
	r, s, err := ecdsa.Sign(rand.Reader, b.key, sum[:])
	if err != nil {
		b.t.Fatal(err)
	}
	return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
}

// may reads with the stored cookie, and writes with the stored secret, on h.
func (b *browser) may(h http.Handler) (read, write int) {
	try := func(method, path string) int {
		r := b.request()
		r.Method, r.URL.Path = method, path
		if method == "POST" {
			r.Header.Set("Authorization", "Bearer "+b.secret)
			r.Header.Del("Cookie")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	return try("GET", "/read"), try("POST", "/write")
}

// THREATS 80: what a browser stored is worth something to the server that made it,
// on its port, and to no other.
func TestSigninHoldsForOneServer(t *testing.T) {
	dir := t.TempDir()
	g := newGuard(t, guard.Config{Dir: dir})
	b := newBrowser(t, g, "24287")
	if read, write := b.may(routes(g)); read != 200 || write != 200 {
		t.Fatalf("here: %d, %d", read, write)
	}
	port := b.at
	b.at = &net.TCPAddr{IP: port.IP, Port: port.Port + 1}
	if read, write := b.may(routes(g)); read != 401 || write != 401 {
		t.Errorf("the same server on another port: %d, %d", read, write)
	}
	if _, err := g.Renew(b.request(), b.sign(g.Challenge())); !errors.Is(err, guard.ErrProof) {
		t.Errorf("a proof on another port: %v", err)
	}
	b.at = port
	other := newGuard(t, guard.Config{})
	if read, write := b.may(routes(other)); read != 401 || write != 401 {
		t.Errorf("another data folder: %d, %d", read, write)
	}
	later := newGuard(t, guard.Config{Dir: dir})
	if read, write := b.may(routes(later)); read != 200 || write != 401 {
		t.Errorf("the same server, begun again: %d, %d, and only its own secret writes", read, write)
	}
	if public := newGuard(t, guard.Config{Dir: dir, PublicURL: "http://localhost"}); public.Secure() {
		t.Fatal("secure")
	} else if read, write := b.may(routes(public)); read != 401 || write != 401 {
		t.Errorf("under a public URL: %d, %d", read, write)
	}
}

// THREATS 80: nothing that can be signed before a process begins, or taken from its
// disk, makes a proof.
func TestProofs(t *testing.T) {
	dir := t.TempDir()
	first := newGuard(t, guard.Config{Dir: dir})
	b := newBrowser(t, first, "")
	second := newGuard(t, guard.Config{Dir: dir})
	for what, signature := range map[string][]byte{
		"of the process before": b.sign(first.Challenge()), "of nothing": b.sign(""), "empty": nil,
		"zero":  make([]byte, 64),
		"short": b.sign(second.Challenge())[:63], "of another key": newBrowser(t, first,
			"").sign(second.Challenge()),
	} {
		if secret, err := second.Renew(b.request(), signature); !errors.Is(err, guard.ErrProof) ||
			secret != "" {
			t.Errorf("a signature %s: %v", what, err)
		}
	}
	r := b.request()
	r.Header.Del("Cookie")
	if _, err := second.Renew(r, b.sign(second.Challenge())); !errors.Is(err, guard.ErrProof) {
		t.Errorf("without the cookie: %v", err)
	}
	one, err := second.Renew(b.request(), b.sign(second.Challenge()))
	two, err2 := second.Renew(b.request(), b.sign(second.Challenge()))
	if err != nil || err2 != nil || one != two || one == b.secret {
		t.Errorf("two tabs do not share one new secret: %v, %v", err, err2)
	}
	if _, err := second.Revoke(""); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Renew(b.request(), b.sign(second.Challenge())); !errors.Is(err,
		guard.ErrProof) {
		t.Errorf("after the sign-out: %v", err)
	}
	// Without a key a sign-in ends with the process, and a key has to be one.
	cookie, _ := signIn(t, second)
	b.cookie = cookie
	if _, err := second.Renew(b.request(), b.sign(second.Challenge())); !errors.Is(err,
		guard.ErrProof) {
		t.Errorf("without a key: %v", err)
	}
	if _, err := second.SignIn(httptest.NewRecorder(), b.request(), launchOf(second),
		make([]byte, 65)); !errors.Is(err, guard.ErrKey) {
		t.Errorf("a key that is none: %v", err)
	}
}

// THREATS 80: a service worker's script is asked for under whatever path it has.
func TestStaleWorkersGetTheirEnd(t *testing.T) {
	h := routes(newGuard(t, guard.Config{}))
	for _, path := range []string{"/sw.js", "/static", "/write", "/deep/below/x.js"} {
		res := want(t, h, call{target: path, header: map[string]string{"Service-Worker": "script",
			"Sec-Fetch-Dest": "serviceworker"}}, 200)
		if res.Header.Get("Content-Type") != "text/javascript; charset=utf-8" ||
			res.Header.Get("Service-Worker-Allowed") != "/" ||
			res.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", path, res.Header)
		}
		if res.Header.Get("Clear-Site-Data") != "" || len(res.Cookies()) > 0 {
			t.Errorf("%s: other programs' cookies are touched: %v", path, res.Header)
		}
	}
	want(t, h, call{
		target: "/sw.js",
		host:   "evil.test",
		header: map[string]string{"Service-Worker": "script"},
	}, 403)
}
