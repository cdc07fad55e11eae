package guard

import (
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
