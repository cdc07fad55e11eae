package guard

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// The names by which a browser on this machine reaches it.
const (
	localhost = "localhost"
	loopback4 = "127.0.0.1"
	loopback6 = "[::1]"
)

// hostAllowed compares a Host header with the closed list. Anything unusual (no name, a trailing
// dot, other spellings of an address, user info) is not on it.
func (g *Guard) hostAllowed(host string) bool {
	name, _, ok := splitHost(host)
	if !ok {
		return false
	}
	if g.public != nil {
		// A proxy may or may not pass its port on.
		public, _, ok := splitHost(g.public.Host)
		return ok && name == public
	}
	return loopbackName(name)
}

// callsHere reports whether an agent calls the tools that this server lends it, at its own address.
// Nothing that a browser sends is such a call.
func (g *Guard) callsHere(r *http.Request) bool {
	name, _, ok := splitHost(r.Host)
	if !ok || !loopbackName(name) || r.URL.Path != "/mcp" || len(r.Header["Origin"]) > 0 ||
		len(r.Header["Sec-Fetch-Site"]) > 0 {
		return false
	}
	_, ok = g.mayMCP(r)
	return ok
}

func loopbackName(name string) bool {
	return name == localhost || name == loopback4 || name == loopback6
}

func (g *Guard) hostHint() string {
	if g.public != nil {
		return fmt.Sprintf(
			"This server answers as %s only. Behind a proxy, pass the name on (nginx: proxy_set_header Host $host).", g.public)
	}
	return "This server answers as localhost, 127.0.0.1 and [::1] only. Behind a proxy, start it with --public-url."
}

// splitHost takes the lower-cased name (an IPv6 address keeps its brackets) and the port, empty if
// none, from a Host header.
func splitHost(host string) (name, port string, ok bool) {
	name = strings.ToLower(host)
	end := 0
	if strings.HasPrefix(name, "[") {
		if end = strings.IndexByte(name, ']'); end < 0 {
			return "", "", false
		}
	}
	if i := strings.IndexByte(name[end:], ':'); i >= 0 {
		name, port = name[:end+i], name[end+i+1:]
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || strings.ContainsAny(port, "+-_") {
			return "", "", false
		}
	}
	return name, port, name != ""
}

// elsewhere returns where a page asked for under another loopback name lives: a browser keeps
// cookies and storage by name, so pages are shown under one name.
func (g *Guard) elsewhere(r *http.Request) (string, bool) {
	name, port, ok := splitHost(r.Host)
	if !ok || g.public != nil || name == localhost || r.Method != http.MethodGet &&
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
