package guard_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"webchat/internal/guard"
)

// A proxy's word about who somebody is counts with its key, said once, and for a name that is one;
// else there is no link, no cookie, and one line in the log that holds no secret.
func TestIdentityHeader(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	users, err := guard.NewHeader("x-forwarded-email", file, logger)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	key := strings.TrimSpace(string(b))
	at := newClock()
	g := newGuard(t, guard.Config{Users: users, Logger: logger, Now: at.Now})
	ask := func(keys []string, names []string, cookies ...*http.Cookie) (*http.Response, error) {
		r := httptest.NewRequest("GET", "/auth/user", nil)
		for _, c := range cookies {
			r.AddCookie(c)
		}
		r.Header["Webchat-Identity-Key"], r.Header["X-Forwarded-Email"] = keys, names
		w := httptest.NewRecorder()
		err := g.SignInAs(w, r)
		return w.Result(), err
	}
	one, ann := []string{key}, []string{"ann@example.com"}
	for what, c := range map[string]struct{ keys, names []string }{
		"no key":             {nil, ann},
		"a wrong key":        {[]string{key + "x"}, ann},
		"an empty key":       {[]string{""}, ann},
		"the key twice":      {[]string{key, key}, ann},
		"no name":            {one, nil},
		"the name twice":     {one, []string{"ann@example.com", "ann@example.com"}},
		"two names":          {one, []string{"ann@example.com", "bob@example.com"}},
		"an empty name":      {one, []string{""}},
		"10 KB":              {one, []string{strings.Repeat("a", 10<<10)}},
		"a control":          {one, []string{"ann\x01@example.com"}},
		"a new line":         {one, []string{"ann@example.com\nSet-Cookie: x=y"}},
		"NUL":                {one, []string{"ann\x00"}},
		"a hidden character": {one, []string{"ann\u202e@example.com"}},
		"broken UTF-8":       {one, []string{"ann\xff"}},
		"spaces around":      {one, []string{" ann@example.com"}},
	} {
		log.Reset()
		at.add(time.Minute)
		res, err := ask(c.keys, c.names)
		if !errors.Is(err, guard.ErrIdentity) || len(res.Cookies()) > 0 ||
			res.Header.Get("Location") != "" {
			t.Errorf("%s: %v %v", what, err, res.Header)
		}
		if said := log.String(); strings.Count(said, "\n") != 1 || strings.Contains(said, key) ||
			strings.Contains(said, "example.com") {
			t.Errorf("%s: logged %q", what, said)
		}
	}
	res, err := ask(one, ann)
	to, secret, found := strings.Cut(res.Header.Get("Location"), "#t=")
	if err != nil || !found || to != "/auth" || res.StatusCode != http.StatusSeeOther ||
		len(res.Cookies()) != 1 {
		t.Fatalf("%v %d %v", err, res.StatusCode, res.Header)
	}
	// A link that is sent to another person does not have that person work as the sender.
	elses := httptest.NewRequest("POST", "/", nil)
	if _, err := g.SignIn(httptest.NewRecorder(), elses, secret, nil); !errors.Is(err,
		guard.ErrLaunch) {
		t.Errorf("in a browser without its cookie: %v", err)
	}
	another, _ := ask(one, ann)
	elses.AddCookie(another.Cookies()[0])
	if _, err := g.SignIn(httptest.NewRecorder(), elses, secret, nil); !errors.Is(err,
		guard.ErrLaunch) {
		t.Errorf("in a browser with another's cookie: %v", err)
	}
	// Two tabs of a browser sign in at once.
	tab, _ := ask(one, ann, res.Cookies()[0])
	_, second, _ := strings.Cut(tab.Header.Get("Location"), "#t=")
	for _, link := range []string{secret, second} {
		r := httptest.NewRequest("POST", "/", nil)
		r.AddCookie(tab.Cookies()[0])
		if _, err := g.SignIn(httptest.NewRecorder(), r, link, nil); err != nil {
			t.Error(err)
		}
	}
	if n, err := g.Revoke("bob@example.com"); n != 0 || err != nil {
		t.Errorf("another user's: %d %v", n, err)
	}
	if n, err := g.Revoke("ann@example.com"); n != 2 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	again, err := guard.NewHeader("X-Forwarded-Email", file, logger)
	if b2, _ := os.ReadFile(file); err != nil || again == nil || !bytes.Equal(b, b2) {
		t.Errorf("the key changed: %v", err)
	}
}
