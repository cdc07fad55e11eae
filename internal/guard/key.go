package guard

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// ErrKeyName is returned for a name that no key can have.
var ErrKeyName = errors.New("the name of a key has 1 to 64 letters, digits, - and _")

var keyName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// The tokens for MCP alone follow from the API token, so nothing has to be kept of them, and a new
// API token revokes them all.

// MCPToken returns the token for MCP alone. The API token cannot be derived from it.
func (g *Guard) MCPToken() string { return g.derived("mcp token") }

// MCPKey returns a token for MCP alone that says who uses it: [Guard.KeyName] gives the name back.
// [ErrKeyName] for a name that has other characters.
func (g *Guard) MCPKey(name string) (string, error) {
	if len(name) > 64 || !keyName.MatchString(name) {
		return "", ErrKeyName
	}
	return name + "." + g.derived("mcp key "+name), nil
}

// derived returns a secret of 160 bits that follows from the API token.
func (g *Guard) derived(purpose string) string {
	h := hmac.New(sha256.New, []byte(g.token))
	_, _ = h.Write([]byte("webchat " + purpose)) // a hash takes everything
	return base32.StdEncoding.EncodeToString(h.Sum(nil)[:20])
}

// ReplicaProof returns the answer by which a server proves that it has this API token and is the
// replica of a number. asked is a fresh random text.
func (g *Guard) ReplicaProof(number int64, asked string) string {
	return g.derived("replica " + strconv.FormatInt(number, 10) + " " + asked)
}

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
