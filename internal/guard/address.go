package guard

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// address is how the server is reached.
type address struct {
	public *url.URL // nil: by loopback names only
}

// hostAllowed compares a Host header with the closed list. Anything unusual (no name, a trailing
// dot, other spellings of an address, user info) is not on it.
func (a *address) hostAllowed(host string) bool {
	name, _, ok := splitHost(host)
	if !ok {
		return false
	}
	if a.public != nil {
		// A proxy may or may not pass its port on.
		public, _, ok := splitHost(a.public.Host)
		return ok && name == public
	}
	return loopbackName(name)
}

func (a *address) hostHint() string {
	if a.public != nil {
		return fmt.Sprintf(
			"This server answers as %s only. Behind a proxy, pass the name on (nginx: proxy_set_header "+
				"Host $host).", a.public)
	}
	return "This server answers as localhost, 127.0.0.1 and [::1] only. Behind a proxy, start it " +
		"with --public-url."
}

// elsewhere returns where a page asked for under another loopback name lives: a browser keeps
// cookies and storage by name, so pages are shown under one name.
func (a *address) elsewhere(r *http.Request) (string, bool) {
	name, port, ok := splitHost(r.Host)
	if !ok || a.public != nil || name == localhost || r.Method != http.MethodGet &&
		r.Method != http.MethodHead {
		return "", false
	}
	if port != "" {
		port = ":" + port
	}
	u := *r.URL
	u.Scheme, u.Host = "http", localhost+port
	return u.String(), true
}

// Base returns the path of the public URL, before all of the server's paths; usually it is empty. A
// proxy may pass it on or take it away.
func (a *address) Base() string {
	if a.public == nil {
		return ""
	}
	return a.public.Path
}

// origin is what a browser calls the public URL's pages.
func (a *address) origin() string { return a.public.Scheme + "://" + a.public.Host }

// withoutBase takes the base from the path, if a proxy left it there, before anything is decided by
// the path.
func (a *address) withoutBase(r *http.Request) *http.Request {
	base := a.Base()
	rest, ok := strings.CutPrefix(r.URL.Path, base)
	raw, okRaw := strings.CutPrefix(r.URL.RawPath, base)
	if base == "" || !ok || rest != "" && rest[0] != '/' || r.URL.RawPath != "" && !okRaw {
		return r
	}
	u, inner := *r.URL, *r
	u.Path, u.RawPath = cmp.Or(rest, "/"), raw
	inner.URL = &u
	return &inner
}

// originAllowed reports whether the Origin, if any, is this server's own. CrossOriginProtection
// looks at writes only and forgives another scheme; an event source of another port is a read. A
// preflight has no effect and is answered by the router without any CORS header.
func (a *address) originAllowed(r *http.Request) bool {
	origins := r.Header["Origin"]
	if len(origins) == 0 || r.Method == http.MethodOptions {
		return true
	}
	// A browser leaves out the port 80, which may stand in a Host by hand.
	own := "http://" + strings.TrimSuffix(strings.ToLower(r.Host), ":80")
	if a.public != nil {
		own = a.origin()
	}
	return len(origins) == 1 && origins[0] == own
}

// Secure reports whether browsers reach the server by https.
func (a *address) Secure() bool { return a.public != nil && a.public.Scheme == "https" }

// place is where a sign-in holds: the public URL, or the port that this server listens on. It is
// not what the request says: that is whatever its sender likes.
func (a *address) place(r *http.Request) string {
	if a.public != nil {
		return a.public.String()
	}
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return "port " + strconv.Itoa(at.Port)
	}
	return ""
}
