package guard

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

var (
	// ErrLaunch is returned for a sign-in link that was used, is too old or never was.
	ErrLaunch = errors.New("this sign-in link was used or is too old: run \"webchat url\" for another")
	// ErrKey is returned for a key that is not a point of the curve P-256.
	ErrKey = errors.New(
		"the key must be an uncompressed point of P-256 in base64: sign in again, or leave it out")
	// ErrProof is returned for a proof that is none: the browser has to sign in again.
	ErrProof = errors.New(
		"this browser's sign-in has ended: open the link that \"webchat url\" prints")
)

// Link returns a URL that signs one browser in, once, within ten minutes. The secret is in the
// fragment: it reaches no log, no Referer and no prefetch. base is the scheme, name and port under
// which the browser finds the server; a public URL overrides it.
func (g *Guard) Link(base string) string {
	if g.public != nil {
		base = g.public.String()
	}
	return strings.TrimRight(base, "/") + "/auth#t=" + g.launch("", "")
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
func (g *Guard) SignIn(w http.ResponseWriter, r *http.Request, launch string,
	key []byte) (secret string, err error) {
	if _, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), key); err != nil && len(key) > 0 {
		return "", ErrKey
	}
	now := g.config.Now()
	var browser sum
	if c := g.linkCookie(r); c.Value != "" {
		browser = sumOf(c.Value)
	}
	user, good := g.spend(launch, browser)
	if !good {
		return "", ErrLaunch
	}
	c := g.cookie(r)
	c.Value, c.MaxAge = rand.Text()+rand.Text(), int(wholeLife.Seconds())
	s := signin{
		Cookie:  sumOf(c.Value),
		User:    user,
		Key:     key,
		Place:   g.place(r),
		Created: now.UTC(),
		Used:    now.UTC(),
	}
	if err := g.changeSignins(now, func(all []signin) []signin { return append(all, s) }); err != nil {
		g.config.Logger.Warn("a sign-in ends with the server: it cannot be saved", "error", err)
	}
	http.SetCookie(w, c)
	return g.secret(s), nil
}

// SignOut revokes the sign-in the request was made with, and its cookie.
func (g *Guard) SignOut(w http.ResponseWriter, r *http.Request) error {
	c := g.cookie(r)
	var cookie sum
	if sent, err := r.Cookie(c.Name); err == nil {
		cookie = sumOf(sent.Value)
	}
	b, _ := bearer(r)
	c.MaxAge = -1
	http.SetCookie(w, c)
	_, err := g.drop(func(s signin) bool { return s.Cookie.equal(cookie) || g.signs(b, s) })
	return err
}

// Revoke signs every browser of a user out and voids the user's links and tokens; without a user,
// everybody's. The API token stays.
func (g *Guard) Revoke(user string) (signedOut int, err error) {
	voided := g.launches.Hold(func(all []launched) (rest []launched) {
		for _, x := range all {
			if user != "" && x.User != user {
				rest = append(rest, x)
			}
		}
		return rest
	})
	ended := g.tokens.Hold(func(all []personal) []personal {
		return slices.DeleteFunc(slices.Clone(all), func(x personal) bool {
			return user == "" || x.User == user
		})
	})
	signedOut, err = g.drop(func(s signin) bool { return user == "" || s.User == user })
	return signedOut, errors.Join(voided, ended, err)
}

// cookie is named by the port the browser sees, since browsers share cookies between all ports of a
// name, and by the path before all paths: a cookie's own path would not keep the pages of one
// server from using the other's.
func (g *Guard) cookie(r *http.Request) *http.Cookie {
	c := &http.Cookie{Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}
	_, port, _ := splitHost(r.Host)
	if port == "" {
		port = "80"
	}
	if c.Name = "webchat_" + port; g.Secure() {
		c.Name, c.Secure = "__Host-webchat", true
	}
	c.Name += strings.ReplaceAll(g.Base(), "/", "_")
	return c
}

// signedIn returns the sign-in whose cookie a request has.
func (g *Guard) signedIn(r *http.Request) (signin, bool) {
	c, err := r.Cookie(g.cookie(r).Name)
	if err != nil {
		return signin{}, false
	}
	want := sumOf(c.Value)
	return g.find(r, func(s signin) bool { return s.Cookie.equal(want) })
}

// mayRead says which user reads: whom the bearer token names, else whom the cookie does.
func (g *Guard) mayRead(r *http.Request) (user string, ok bool) {
	if user, ok = g.mayWrite(r); ok {
		return user, true
	}
	s, ok := g.signedIn(r)
	return s.User, ok
}

func (g *Guard) mayWrite(r *http.Request) (user string, ok bool) {
	b, ok := bearer(r)
	if !ok {
		return "", false
	}
	if sumOf(b).equal(sumOf(g.token)) {
		return "", true
	}
	if user, ok := g.tokenOf(b); ok {
		return user, true
	}
	s, ok := g.find(r, func(s signin) bool { return g.signs(b, s) })
	return s.User, ok
}

func bearer(r *http.Request) (string, bool) {
	scheme, value, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(value), ok && strings.EqualFold(scheme, "Bearer")
}

// Bearer lets only the API token reach next, for a listener that has no browsers.
func (g *Guard) Bearer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b, ok := bearer(r); !ok || !sumOf(b).equal(sumOf(g.token)) {
			refuse(w, http.StatusUnauthorized, "unauthorized", "This needs the API token.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// What follows keeps a secret that a browser stored from being worth anything once the server has
// gone, when another program may listen on the port and read it. The secret ends with the process.
// A browser that signed in with a key of its own, of which the private half cannot be read by
// anybody, gets the next one for a signature on the challenge of that process, which was not known
// before it began.

// signs reports whether a bearer token is the secret of a sign-in.
func (g *Guard) signs(bearer string, s signin) bool {
	return subtle.ConstantTimeCompare([]byte(bearer), []byte(g.secret(s))) == 1
}

// Renew returns the secret of a browser that has the cookie of a sign-in and proves to have its
// key. signature is r and s, 32 bytes each, of ECDSA with SHA-256 over "webchat sign-in " and the
// challenge, as Web Cryptography makes it.
func (g *Guard) Renew(r *http.Request, signature []byte) (secret string, err error) {
	s, ok := g.signedIn(r)
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), s.Key)
	if !ok || err != nil || len(signature) != 64 {
		return "", ErrProof
	}
	signed := sha256.Sum256([]byte("webchat sign-in " + g.Challenge()))
	if !ecdsa.Verify(public, signed[:], new(big.Int).SetBytes(signature[:32]),
		new(big.Int).SetBytes(signature[32:])) {
		return "", ErrProof
	}
	return g.secret(s), nil
}
