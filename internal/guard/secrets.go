package guard

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"strconv"
)

// secrets are the API token and what follows from it.
type secrets struct {
	token string // the API token
	// start is another one at each start, but for [Config.Start]: what browsers sign to prove
	// themselves, and the secrets that write, follow from it and the API token.
	start string
}

// MCPToken returns the token for MCP alone. The API token cannot be derived from it.
func (s *secrets) MCPToken() string { return s.derived("mcp token") }

// MCPKey returns a token for MCP alone that says who uses it: [Guard.KeyName] gives the name back.
// [ErrKeyName] for a name that has other characters.
func (s *secrets) MCPKey(name string) (string, error) {
	if len(name) > 64 || !keyName.MatchString(name) {
		return "", ErrKeyName
	}
	return name + "." + s.derived("mcp key "+name), nil
}

// derived returns a secret of 160 bits that follows from the API token.
func (s *secrets) derived(purpose string) string {
	h := hmac.New(sha256.New, []byte(s.token))
	_, _ = h.Write([]byte("webchat " + purpose)) // a hash takes everything
	return base32.StdEncoding.EncodeToString(h.Sum(nil)[:20])
}

// ReplicaProof returns the answer by which a server proves that it has this API token and is the
// replica of a number. asked is a fresh random text.
func (s *secrets) ReplicaProof(number int64, asked string) string {
	return s.derived("replica " + strconv.FormatInt(number, 10) + " " + asked)
}

// Challenge is what a browser signs to get another secret. Each start has its own.
func (s *secrets) Challenge() string { return s.derived("challenge " + s.start) }

// secret is what the browser of a sign-in writes with, until the next start.
func (s *secrets) secret(in signin) string {
	return s.derived("sign-in " + s.start + " " + string(in.Cookie))
}

// Token returns the API token.
func (s *secrets) Token() string { return s.token }
