package guard

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
)

// ErrKeyName is returned for a name that no key can have.
var ErrKeyName = errors.New("the name of a key has 1 to 64 letters, digits, - and _")

var keyName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// The tokens for MCP alone follow from the API token, so nothing has to be kept of them, and a new
// API token revokes them all.

// KeyName returns which token for MCP a request has: the name of a key, "mcp", or "api" for the API
// token itself; empty for none.
func (g *Guard) KeyName(r *http.Request) string {
	b, ok := bearer(r)
	if !ok {
		return ""
	}
	got := sumOf(b)
	switch name, _, named := strings.Cut(b, "."); {
	case got.equal(sumOf(g.token)):
		return "api"
	case got.equal(sumOf(g.MCPToken())):
		return "mcp"
	case named:
		if key, err := g.MCPKey(name); err == nil && got.equal(sumOf(key)) {
			return "key " + name
		}
	}
	return ""
}

func (g *Guard) mayMCP(r *http.Request) (user string, ok bool) { return "", g.KeyName(r) != "" }
