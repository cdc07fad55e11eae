package guard_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"webchat/internal/guard"
)

// person is whom the provider knows; change is what it says wrong, and own what the person says.
type person struct {
	*mockoidc.MockUser
	change func(*mockoidc.IDTokenClaims)
	own    jwt.MapClaims
}

// Claims implements [mockoidc.User].
func (p person) Claims(scopes []string, c *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	if p.change != nil {
		p.change(c)
	}
	all, err := p.MockUser.Claims(scopes, c)
	if p.own == nil || err != nil {
		return all, err
	}
	b, err := json.Marshal(all)
	if err == nil {
		err = json.Unmarshal(b, &p.own)
	}
	return p.own, err
}

// A provider's word about who somebody is counts if all of it fits: state, nonce, issuer, audience,
// time, a confirmed address, and that the person is allowed. Otherwise nothing is linked, and one
// line is logged, without a secret.
func TestIdentityOIDC(t *testing.T) {
	provider, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	provider.AccessTTL = 24 * time.Hour // the clock moves
	defer func() { _ = provider.Shutdown() }()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(provider.ClientSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	logger, at := slog.New(slog.NewTextHandler(&log, nil)), &clock{now: time.Now()}
	config := guard.OIDCConfig{
		Issuer:     provider.Issuer(),
		ClientID:   provider.ClientID,
		SecretFile: secret,
		Allowed:    []string{"@example.com", "@desk.test", "group:staff"},
		Now:        at.Now,
	}
	users, err := guard.NewOIDC(config, logger)
	if err != nil {
		t.Fatal(err)
	}
	g := newGuard(t, guard.Config{
		Users:     users,
		Logger:    logger,
		Now:       at.Now,
		PublicURL: "https://chat.example/team",
	})
	sign := func(target string, cookies ...*http.Cookie) (*http.Response, error) {
		r := httptest.NewRequest("GET", target, nil)
		for _, c := range cookies {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		err := g.SignInAs(w, r)
		return w.Result(), err
	}
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	// there has a person go to the provider and back: it returns where to, and the cookie.
	there := func(who person) (back string, c *http.Cookie) {
		t.Helper()
		provider.QueueUser(who)
		res, err := sign("/auth/user")
		if err != nil || res.StatusCode != http.StatusSeeOther || len(res.Cookies()) != 1 {
			t.Fatalf("%v %d %v", err, res.StatusCode, res.Header)
		}
		c = res.Cookies()[0]
		to, _ := url.Parse(res.Header.Get("Location"))
		q := to.Query()
		if c.SameSite != http.SameSiteLaxMode || !c.HttpOnly || !c.Secure || c.MaxAge != 600 ||
			!strings.HasPrefix(c.Name, "__Host-") ||
			q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" ||
			q.Get("redirect_uri") != "https://chat.example/team/auth/user" {
			t.Errorf("%v %v", c, to)
		}
		// neither says the other, nor the verifier
		for _, shown := range []string{c.Value, q.Get("state")} {
			if strings.Contains(to.String(), c.Value) || len(shown) < 32 {
				t.Errorf("%v %v", c, to)
			}
		}
		answer, err := browser.Get(to.String())
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		from, err := answer.Location()
		if err != nil {
			t.Fatalf("%d %v", answer.StatusCode, err)
		}
		return "/auth/user?" + from.RawQuery, c
	}
	ann := func(change ...func(*mockoidc.MockUser)) person {
		u := &mockoidc.MockUser{Subject: "1", Email: "ann@example.com", EmailVerified: true}
		for _, f := range change {
			f(u)
		}
		return person{u, nil, nil}
	}
	address := func(a string) person { return ann(func(u *mockoidc.MockUser) { u.Email = a }) }
	token := func(f func(*mockoidc.IDTokenClaims)) person { return person{ann().MockUser, f, nil} }
	edit := func(f func(url.Values)) func(string) string {
		return func(back string) string {
			path, query, _ := strings.Cut(back, "?")
			q, _ := url.ParseQuery(query)
			f(q)
			return path + "?" + q.Encode()
		}
	}
	set := func(name, value string) func(string) string {
		return edit(func(q url.Values) { q.Set(name, value) })
	}
	otherCode, _ := there(ann())
	other, _ := url.Parse(otherCode)
	for what, c := range map[string]struct {
		who  person
		back func(string) string
		want error
	}{
		"a wrong state": {ann(), set("state", "x"), guard.ErrIdentity},
		"no state": {ann(), edit(func(q url.Values) {
			q.Del("state")
		}), guard.ErrIdentity},
		"two states": {ann(), edit(func(q url.Values) {
			q.Add("state", q.Get("state"))
		}), guard.ErrIdentity},
		"no code": {ann(), edit(func(q url.Values) {
			q.Del("code")
		}), guard.ErrIdentity},
		"a made-up code":          {ann(), set("code", "x"), guard.ErrIdentity},
		"a code of another begin": {ann(), set("code", other.Query().Get("code")), guard.ErrIdentity},
		"a refusal":               {ann(), set("error", "access_denied"), guard.ErrIdentity},
		"a wrong nonce": {token(func(c *mockoidc.IDTokenClaims) {
			c.Nonce = "x"
		}), nil, guard.ErrIdentity},
		"no nonce": {token(func(c *mockoidc.IDTokenClaims) {
			c.Nonce = ""
		}), nil, guard.ErrIdentity},
		"a wrong issuer": {token(func(c *mockoidc.IDTokenClaims) {
			c.Issuer = "https://evil.test"
		}), nil, guard.ErrIdentity},
		"a wrong audience": {token(func(c *mockoidc.IDTokenClaims) {
			c.Audience = jwt.ClaimStrings{"another"}
		}), nil, guard.ErrIdentity},
		"a token that has expired": {token(func(c *mockoidc.IDTokenClaims) {
			c.ExpiresAt = jwt.NewNumericDate(at.Now().Add(-time.Second))
		}), nil, guard.ErrEnded},
		"a token of the future": {token(func(c *mockoidc.IDTokenClaims) {
			c.NotBefore = jwt.NewNumericDate(at.Now().Add(time.Hour))
		}), nil, guard.ErrIdentity},
		"an unconfirmed address": {ann(func(u *mockoidc.MockUser) {
			u.EmailVerified = false
		}), nil, guard.ErrIdentity},
		"no address":              {address(""), nil, guard.ErrIdentity},
		"no name":                 {address("@example.com"), nil, guard.ErrIdentity},
		"two domains":             {address("ann@evil.test@example.com"), nil, guard.ErrIdentity},
		"a foreign domain":        {address("ann@evil.test"), nil, guard.ErrIdentity},
		"a domain below":          {address("ann@sub.example.com"), nil, guard.ErrIdentity},
		"a domain that begins so": {address("ann@example.com.evil.test"), nil, guard.ErrIdentity},
		"a sign of kelvin":        {address("ann@des\u212a.test"), nil, guard.ErrIdentity},
		"claims of nearly the name": {person{&mockoidc.MockUser{Subject: "1"}, nil,
			jwt.MapClaims{"Email": "ann@example.com", "EMAIL_VERIFIED": true}}, nil, guard.ErrIdentity},
		"a hidden character": {address("ann\u202e@example.com"), nil, guard.ErrIdentity},
		"another group": {ann(func(u *mockoidc.MockUser) {
			u.Email, u.Groups = "ann@evil.test", []string{"staff of others"}
		}), nil, guard.ErrIdentity},
	} {
		back, cookie := there(c.who)
		if c.back != nil {
			back = c.back(back)
		}
		at.add(time.Minute)
		log.Reset()
		res, err := sign(back, cookie)
		if !errors.Is(err, c.want) || len(res.Cookies()) > 0 || res.Header.Get("Location") != "" {
			t.Errorf("%s: %v %v", what, err, res.Header)
		}
		said := log.String()
		for _, word := range []string{provider.ClientSecret, cookie.Value, "eyJ", "ann@", "code="} {
			if strings.Count(said, "\n") != 1 || strings.Contains(said, word) {
				t.Errorf("%s: logged %q", what, said)
			}
		}
	}
	let := func(who person) (back string, c *http.Cookie) {
		t.Helper()
		back, c = there(who)
		res, err := sign(back, c)
		to, launch, _ := strings.Cut(res.Header.Get("Location"), "#t=")
		if err != nil || to != "/team/auth" || len(res.Cookies()) != 2 || res.Cookies()[0].MaxAge >= 0 {
			t.Fatalf("%v %v", err, res.Header)
		}
		r := httptest.NewRequest("POST", "/", nil)
		r.AddCookie(res.Cookies()[1])
		if _, err := g.SignIn(httptest.NewRecorder(), r, launch, nil); err != nil {
			t.Error(err)
		}
		return back, c
	}
	back, cookie := let(ann())
	if _, err := sign(back, cookie); !errors.Is(err, guard.ErrIdentity) {
		t.Errorf("a code twice: %v", err)
	}
	let(address("bob@EXAMPLE.com"))
	let(person{ann().MockUser, nil, jwt.MapClaims{"Email": "eve@example.com", "Groups": "none"}})
	let(ann(func(u *mockoidc.MockUser) {
		u.Email, u.Groups = "eve@elsewhere.test", []string{"others", "staff"}
	}))
	back, cookie = there(ann())
	_, another := there(ann())
	if _, err := sign(back); !errors.Is(err, guard.ErrEnded) {
		t.Errorf("without its cookie: %v", err)
	}
	if _, err := sign(back, another); !errors.Is(err, guard.ErrIdentity) {
		t.Errorf("with the cookie of another begin: %v", err)
	}
	if _, err := sign(back, cookie, another); !errors.Is(err, guard.ErrEnded) {
		t.Errorf("with two cookies: %v", err)
	}
	at.add(10 * time.Minute)
	if _, err := sign(back, cookie); !errors.Is(err, guard.ErrEnded) {
		t.Errorf("after ten minutes: %v", err)
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("another origin was asked")
	}))
	defer elsewhere.Close()
	leads := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer leads.Close()
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write(make([]byte, 64<<10))
		}
	}))
	defer endless.Close()
	for _, config.Issuer = range []string{"http://127.0.0.1:1/oidc", leads.URL, endless.URL} {
		if users, err = guard.NewOIDC(config, logger); err != nil {
			t.Fatal(err)
		}
		g = newGuard(t, guard.Config{Users: users, Logger: logger, PublicURL: "https://chat.example"})
		for range 2 {
			if res, err := sign("/auth/user"); !errors.Is(err, guard.ErrProvider) || len(res.Cookies()) > 0 {
				t.Errorf("a provider that does not answer as one: %v", err)
			}
		}
	}
}
