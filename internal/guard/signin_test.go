package guard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/guard"
)

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *clock) add(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

func launchOf(g *guard.Guard) string {
	_, secret, _ := strings.Cut(g.Link("http://localhost:8080"), "#t=")
	return secret
}

func signInOn(t *testing.T, g *guard.Guard, host string) *http.Response {
	t.Helper()
	r := httptest.NewRequest("POST", "/api/sign-in", nil)
	r.Host = host
	w := httptest.NewRecorder()
	secret, err := g.SignIn(w, r, launchOf(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Header().Set("Secret", secret)
	return w.Result()
}

// signIn returns the Cookie header and the second secret of a fresh sign-in.
func signIn(t *testing.T, g *guard.Guard) (cookie, secret string) {
	t.Helper()
	res := signInOn(t, g, host)
	c := res.Cookies()[0]
	return c.Name + "=" + c.Value, res.Header.Get("Secret")
}

func get(h http.Handler, cookie string) int {
	return do(h, call{target: "/read", header: map[string]string{"Cookie": cookie}}).StatusCode
}

func post(h http.Handler, secret string) int {
	return do(h, call{
		method: "POST",
		target: "/write",
		header: map[string]string{"Authorization": "Bearer " + secret},
	}).StatusCode
}

func TestCookie(t *testing.T) {
	g := newGuard(t, guard.Config{})
	c := signInOn(t, g, host).Cookies()[0]
	if c.Name != "webchat_8080" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode ||
		c.Path != "/" || c.Domain != "" || c.Secure || len(c.Value) < 52 {
		t.Errorf("cookie %v", c)
	}
	if c := signInOn(t, g, "localhost").Cookies()[0]; c.Name != "webchat_80" {
		t.Errorf("cookie on the default port: %v", c)
	}
}

func TestLaunchSecretWorksOnceAndTenMinutes(t *testing.T) {
	at := newClock()
	g := newGuard(t, guard.Config{Now: at.Now})
	try := func(secret string) error {
		r := httptest.NewRequest("POST", "/api/sign-in", nil)
		r.Host = host
		_, err := g.SignIn(httptest.NewRecorder(), r, secret, nil)
		return err
	}
	first, second, third := launchOf(g), launchOf(g), launchOf(g)
	for _, bad := range []string{"", "wrong", g.Token()} {
		if err := try(bad); !errors.Is(err, guard.ErrLaunch) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := try(first); err != nil {
		t.Error(err)
	}
	if err := try(first); !errors.Is(err, guard.ErrLaunch) {
		t.Errorf("second use: %v", err)
	}
	at.add(10*time.Minute - time.Second)
	if err := try(second); err != nil {
		t.Errorf("just in time: %v", err)
	}
	at.add(time.Second)
	if err := try(third); !errors.Is(err, guard.ErrLaunch) {
		t.Errorf("too late: %v", err)
	}
}

func TestLaunchSecretHasOneWinner(t *testing.T) {
	g := newGuard(t, guard.Config{})
	secret := launchOf(g)
	wins := make(chan bool)
	for range 20 {
		go func() {
			r := httptest.NewRequest("POST", "/api/sign-in", nil)
			r.Host = host
			_, err := g.SignIn(httptest.NewRecorder(), r, secret, nil)
			wins <- err == nil
		}()
	}
	n := 0
	for range 20 {
		if <-wins {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d browsers came in by one link", n)
	}
}

func TestSigninEnds(t *testing.T) {
	at := newClock()
	g := newGuard(t, guard.Config{Now: at.Now})
	h := routes(g)
	cookie, secret := signIn(t, g)
	for range 14 { // used every 11 hours: 6 days and 10 hours
		at.add(11 * time.Hour)
		if get(h, cookie) != 200 || post(h, secret) != 200 {
			t.Fatalf("signed out at %s", at.Now())
		}
	}
	at.add(11 * time.Hour)
	if get(h, cookie) != 200 {
		t.Errorf("signed out before 7 days")
	}
	at.add(4 * time.Hour)
	if get(h, cookie) != 401 || post(h, secret) != 401 {
		t.Error("still in after 7 days")
	}
	cookie, secret = signIn(t, g)
	at.add(12 * time.Hour)
	if get(h, cookie) != 401 || post(h, secret) != 401 {
		t.Error("still in after 12 idle hours")
	}
}

func TestSigninSurvivesARestart(t *testing.T) {
	at := newClock()
	dir := t.TempDir()
	first := newGuard(t, guard.Config{Dir: dir, Now: at.Now})
	b := newBrowser(t, first, "")
	cookie := b.cookie
	launch := launchOf(first)
	at.add(11 * time.Hour)
	if get(routes(first), cookie) != 200 {
		t.Fatal("signed out")
	}
	at.add(11 * time.Hour) // the use above must have reached the disk
	second := newGuard(t, guard.Config{Dir: dir, Now: at.Now})
	if get(routes(second), cookie) != 200 || post(routes(second), first.Token()) != 200 {
		t.Error("a restart signed out")
	}
	if post(routes(second), b.secret) != 401 {
		t.Error("the secret of the process before acts")
	}
	if secret, err := second.Renew(b.request(), b.sign(second.Challenge())); err != nil ||
		post(routes(second), secret) != 200 {
		t.Errorf("who proves to be the browser that signed in may not act: %v", err)
	}
	r := httptest.NewRequest("POST", "/api/sign-in", nil)
	if _, err := second.SignIn(httptest.NewRecorder(), r, launch, nil); !errors.Is(err,
		guard.ErrLaunch) {
		t.Errorf("a link of the server before: %v", err)
	}
}

func TestNothingToReplayOnDisk(t *testing.T) {
	dir := t.TempDir()
	g := newGuard(t, guard.Config{Dir: dir})
	cookie, secret := signIn(t, g)
	_, value, _ := strings.Cut(cookie, "=")
	launch := launchOf(g)
	b, err := os.ReadFile(filepath.Join(dir, "signins"))
	links, err2 := os.ReadFile(filepath.Join(dir, "links"))
	if err != nil || err2 != nil || !bytes.Contains(links, []byte("sum")) {
		t.Fatal(err, err2)
	}
	b = append(b, links...)
	for _, s := range []string{value, secret, launch, g.Token()} {
		if bytes.Contains(b, []byte(s)) {
			t.Error("a secret is on disk")
		}
	}
	// What is on disk is not a key either.
	h := routes(g)
	for word := range strings.FieldsFuncSeq(string(b), func(r rune) bool {
		return r == '"' || r == '\n'
	}) {
		if get(h, "webchat_8080="+word) == 200 || post(h, word) == 200 {
			t.Errorf("%s lets in", word)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
		if !slices.Contains([]string{"token", "signins", "links", "documents.lock"}, e.Name()) {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

func TestSignOutAndRevoke(t *testing.T) {
	g := newGuard(t, guard.Config{})
	h := routes(g)
	cookieA, secretA := signIn(t, g)
	cookieB, secretB := signIn(t, g)
	r := httptest.NewRequest("POST", "/api/sign-out", nil)
	r.Host = host
	r.Header.Set("Authorization", "Bearer "+secretA)
	w := httptest.NewRecorder()
	if err := g.SignOut(w, r); err != nil {
		t.Fatal(err)
	}
	if c := w.Result().Cookies()[0]; c.MaxAge >= 0 || c.Value != "" || c.Name != "webchat_8080" {
		t.Errorf("the cookie stays: %v", c)
	}
	if get(h, cookieA) != 401 || post(h, secretA) != 401 {
		t.Error("still in after sign-out")
	}
	if get(h, cookieB) != 200 || post(h, secretB) != 200 {
		t.Error("one browser's sign-out signed another out")
	}
	launch := launchOf(g)
	n, err := g.Revoke("")
	if err != nil || n != 1 {
		t.Errorf("revoked %d, %v", n, err)
	}
	if get(h, cookieB) != 401 || post(h, secretB) != 401 || post(h, g.Token()) != 200 {
		t.Error("revoking all did not sign out, or took the API token")
	}
	if _, err := g.SignIn(httptest.NewRecorder(), r, launch, nil); !errors.Is(err, guard.ErrLaunch) {
		t.Errorf("a link outlived the revocation: %v", err)
	}
}

func TestGuessing(t *testing.T) {
	var log bytes.Buffer
	g := newGuard(t, guard.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	h := routes(g)
	for i := range 10_000 {
		if s := post(h, fmt.Sprint("guess", i)); s != 401 {
			t.Fatalf("guess %d: %d", i, s)
		}
	}
	if n := bytes.Count(log.Bytes(), []byte("\n")); n > 100 {
		t.Errorf("%d log lines", n)
	}
	if post(h, g.Token()) != 200 {
		t.Error("the right token does not work any more")
	}
}

func TestTokenFile(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "own")
	if err := os.WriteFile(own, []byte("  abcdefghijklmnopqrstuvwxyz0123\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if g := newGuard(t, guard.Config{
		Dir:       dir,
		TokenFile: own,
	}); g.Token() != "abcdefghijklmnopqrstuvwxyz0123" {
		t.Errorf("token %q", g.Token())
	}
	a, b := newGuard(t, guard.Config{}).Token(), newGuard(t, guard.Config{}).Token()
	if a == b || len(a) < 26 {
		t.Errorf("tokens %q, %q", a, b)
	}
	for _, bad := range []string{"", "short", "abcdefghijklmnopqrstuvwxyz 0123",
		"abcdefghijklmnopqrstuvwxyz\x000123"} {
		if err := os.WriteFile(own, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := guard.New(guard.Config{Dir: dir, TokenFile: own}); err == nil ||
			!strings.Contains(err.Error(), own) {
			t.Errorf("token %q: %v", bad, err)
		}
	}
	if _, err := guard.New(guard.Config{Dir: filepath.Join(dir, "missing")}); err == nil {
		t.Error("a missing folder was accepted")
	}
	if _, err := guard.New(guard.Config{}); err == nil {
		t.Error("no folder was accepted")
	}
}

// THREATS 109: a key that others may have put there is not taken.
func TestThreat109KeyFilesThatOthersWrite(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes on this system")
	}
	name := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(name, []byte("abcdefghijklmnopqrstuvwxyz0123"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, good := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: true, 0o620: false,
		0o602: false, 0o666: false} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		g, err := guard.New(guard.Config{
			Dir:       t.TempDir(),
			TokenFile: name,
			Logger:    slog.New(slog.DiscardHandler),
		})
		if good {
			if err != nil {
				t.Errorf("%o: %v", mode, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "chmod 600") ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%o: %v, %v", mode, g, err)
		}
	}
}

func TestOpenTokenFileIsSaid(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes on this system")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("abcdefghijklmnopqrstuvwxyz0123"),
		0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	newGuard(t, guard.Config{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if !strings.Contains(log.String(), "chmod 600") || strings.Contains(log.String(), "abcdef") {
		t.Errorf("log: %s", log.String())
	}
}

func TestDamagedSigninsSignOut(t *testing.T) {
	for _, content := range []string{"{", "[1]", `[{"cookie":"00"}]`, "\x00\x00"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "signins"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		g := newGuard(t, guard.Config{Dir: dir})
		cookie, _ := signIn(t, g)
		if get(routes(g), cookie) != 200 {
			t.Errorf("%q: no one can sign in", content)
		}
	}
	// A record without sums must not be opened by an empty secret.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "signins"),
		[]byte(`[{"created":"2026-11-20T12:00:00Z","used":"2026-11-20T12:00:00Z"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	h := routes(newGuard(t, guard.Config{Dir: dir, Now: newClock().Now}))
	if get(h, "webchat_8080=") != 401 || post(h, "") != 401 {
		t.Error("an empty secret lets in")
	}
}

func TestBearerTakesTheAPITokenOnly(t *testing.T) {
	g := newGuard(t, guard.Config{})
	_, secret := signIn(t, g)
	h := g.Bearer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for header, status := range map[string]int{"Bearer " + g.Token(): 200, "Bearer " + secret: 401,
		"": 401, "Bearer ": 401} {
		want(t, h, call{method: "POST", target: "/", header: map[string]string{"Authorization": header}},
			status)
	}
}

// A full disk does not prevent a sign-in: the sign-in holds as long as the server.
func TestSignInThatCannotBeSaved(t *testing.T) {
	at, dir := newClock(), t.TempDir()
	var log bytes.Buffer
	g := newGuard(t, guard.Config{
		Dir:    dir,
		Now:    at.Now,
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	h := routes(g)
	cookie, secret := signIn(t, g)
	at.add(time.Hour) // its use is to be saved, too
	if a, b := get(h, cookie), post(h, secret); a != 200 || b != 200 {
		t.Errorf("signed in, %d and %d", a, b)
	}
	if !strings.Contains(log.String(), "cannot be saved") {
		t.Errorf("the log says %s", &log)
	}
}

// A stream ends soon after the sign-in it was opened with, however it ends: by the browser,
// "webchat logout", or time. Others go on, and an open stream does not extend its sign-in.
func TestThreat100StreamsEndWithTheSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		users := testUsers("ann@example.com")
		g := newGuard(t, guard.Config{Users: users})
		open := func(class guard.Class, header ...string) (ended func() bool) {
			done := make(chan struct{})
			h := g.Handler(g.Class(class)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				guard.Streaming(r, 1)
				time.Sleep(5 * time.Second)
				r.Header.Set("Range", "") // as a handler may, while it is looked at
				<-r.Context().Done()
			})))
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			r := httptest.NewRequestWithContext(ctx, "GET", "/read", nil)
			r.Host = host
			r.Header.Set(header[0], header[1])
			go func() { defer close(done); h.ServeHTTP(httptest.NewRecorder(), r) }()
			return func() bool {
				time.Sleep(6 * time.Second) // of the bubble
				synctest.Wait()
				select {
				case <-done:
					return true
				default:
					return false
				}
			}
		}
		cookie, secret := signIn(t, g)
		other, _ := signIn(t, g)
		token, err := g.NewToken("ann@example.com")
		if err != nil {
			t.Fatal(err)
		}
		byCookie, byOutput, bySecret := open(guard.Read, "Cookie", cookie),
			open(guard.Output, "Cookie", cookie), open(guard.Read, "Authorization", "Bearer "+secret)
		byOther, byToken := open(guard.Read, "Cookie", other),
			open(guard.Read, "Authorization", "Bearer "+token)
		byAPI, byMCP := open(guard.Read, "Authorization", "Bearer "+g.Token()),
			open(guard.MCP, "Authorization", "Bearer "+g.MCPToken())
		if byCookie() || byOutput() || bySecret() || byToken() {
			t.Error("a stream ended before its sign-in")
		}
		r := httptest.NewRequest("POST", "/", nil)
		r.Host = host
		r.Header.Set("Cookie", cookie)
		if err := g.SignOut(httptest.NewRecorder(), r); err != nil {
			t.Fatal(err)
		}
		if !byCookie() || !byOutput() || !bySecret() || byOther() || byToken() {
			t.Error("not what was signed out has ended")
		}
		if _, err := g.Revoke("ann@example.com"); err != nil {
			t.Fatal(err)
		}
		if !byToken() || byOther() {
			t.Error("not what was revoked has ended")
		}
		time.Sleep(12 * time.Hour)
		if !byOther() || byAPI() || byMCP() {
			t.Error("an open stream made its sign-in last, or one that does not end was ended")
		}
	})
}

// testUsers is a user whom everybody is.
type testUsers string

func (u testUsers) Begin(http.ResponseWriter, *http.Request, guard.Place) (string, error) {
	return string(u), nil
}
