package guard

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// ErrLaunch is returned for a sign-in link that was used, is too old or never was.
var ErrLaunch = errors.New("this sign-in link was used or is too old: run \"webchat url\" for another")

// Link returns a URL that signs one browser in, once, within ten minutes. The secret is in the
// fragment: it reaches no log, no Referer and no prefetch. base is the scheme, name and port under
// which the browser finds the server; a public URL overrides it.
func (g *Guard) Link(base string) string {
	if g.public != nil {
		base = g.public.String()
	}
	return strings.TrimRight(base, "/") + "/auth#t=" + g.launch.create(g.config.Now())
}

// LinkTo is [Guard.Link] for a page of the server, by its path with what may follow, which stays
// behind the # too: it may name an output.
func (g *Guard) LinkTo(base, path string) string {
	link := g.Link(base)
	if path != "" {
		link += "&to=" + url.QueryEscape(path)
	}
	return link
}

// SignIn spends a launch secret: it sets the cookie that reads and returns the second secret, with
// which the browser writes while this process lives. key is the public key by which the browser
// gets another one afterwards, or nothing.
func (g *Guard) SignIn(w http.ResponseWriter, r *http.Request, launch string, key []byte) (secret string, err error) {
	if _, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), key); err != nil && len(key) > 0 {
		return "", ErrKey
	}
	now := g.config.Now()
	if !g.launch.spend(launch, now) {
		return "", ErrLaunch
	}
	cookie := rand.Text() + rand.Text()
	secret = g.signins.add(cookie, key, g.place(r), now)
	c := g.cookie(r)
	c.Value, c.MaxAge = cookie, int(wholeLife.Seconds())
	http.SetCookie(w, c)
	return secret, nil
}

// SignOut revokes the sign-in the request was made with, and its cookie.
func (g *Guard) SignOut(w http.ResponseWriter, r *http.Request) error {
	c := g.cookie(r)
	var cookie, secret sum
	if sent, err := r.Cookie(c.Name); err == nil {
		cookie = sumOf(sent.Value)
	}
	if b, ok := bearer(r); ok {
		secret = sumOf(b)
	}
	c.MaxAge = -1
	http.SetCookie(w, c)
	return g.signins.drop(func(s signin) bool { return s.Cookie.equal(cookie) || s.sum.equal(secret) }, g.config.Now())
}

// RevokeAll signs every browser out and voids all links. The API token stays.
func (g *Guard) RevokeAll() (signedOut int, err error) {
	now := g.config.Now()
	n := g.signins.count(now)
	g.launch.clear()
	return n, g.signins.drop(func(signin) bool { return true }, now)
}

// cookie is named by the port the browser sees, since browsers share cookies between all ports of a
// name.
func (g *Guard) cookie(r *http.Request) *http.Cookie {
	c := &http.Cookie{Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}
	if g.Secure() {
		c.Name, c.Secure = "__Host-webchat"+g.suffix(), true
		return c
	}
	_, port, _ := splitHost(r.Host)
	if port == "" {
		port = "80"
	}
	c.Name = "webchat_" + port + g.suffix()
	return c
}

// suffix tells apart the cookies of servers below different paths of one name: a cookie's own path
// would not keep one's pages from using the other's.
func (g *Guard) suffix() string { return strings.ReplaceAll(g.Base(), "/", "_") }

func (g *Guard) signedIn(r *http.Request) bool {
	c, err := r.Cookie(g.cookie(r).Name)
	if err != nil {
		return false
	}
	_, ok := g.signins.find(cookieOf, sumOf(c.Value), g.place(r), g.config.Now())
	return ok
}

func (g *Guard) mayRead(r *http.Request) bool { return g.signedIn(r) || g.mayWrite(r) }

func (g *Guard) mayWrite(r *http.Request) bool {
	b, ok := bearer(r)
	if !ok {
		return false
	}
	got := sumOf(b)
	if got.equal(sumOf(g.token)) {
		return true
	}
	_, ok = g.signins.find(secretOf, got, g.place(r), g.config.Now())
	return ok
}

func bearer(r *http.Request) (string, bool) {
	scheme, value, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(value), ok && strings.EqualFold(scheme, "Bearer")
}

// Bearer lets only the API token reach next, for a door that has no browsers.
func (g *Guard) Bearer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b, ok := bearer(r); !ok || !sumOf(b).equal(sumOf(g.token)) {
			refuse(w, http.StatusUnauthorized, "unauthorized", "This needs the API token.")
			return
		}
		next.ServeHTTP(w, r)
	})
}
