package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"webchat/internal/agent"
)

// plainError is an error without the address, which may hold a secret.
func plainError(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("it cannot be reached: %w", u.Err)
	}
	return err
}

var errSignIn = errors.New("it wants a sign-in")

// headerTransport sends the user's headers with every request to the server's own origin, and notes
// whether one was refused for its credentials. What is requested elsewhere, after a redirect or
// because the server names another address, has no credentials.
type headerTransport struct {
	set    map[string]string
	origin string
	next   *http.Transport

	mu    sync.Mutex // guards unauthorized
	found bool
}

func newHeaders(m agent.MCPServer) *headerTransport {
	h := &headerTransport{set: m.Headers, next: &http.Transport{}}
	if u, err := url.Parse(m.URL); err == nil { // else there are no requests
		h.origin = originOf(u)
	}
	return h
}

// originOf is an address without its path, with the port it stands for.
func originOf(u *url.URL) string {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// RoundTrip implements [http.RoundTripper].
func (h *headerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if originOf(r.URL) != h.origin {
		r.Header.Del("Authorization") // net/http keeps them between ports and schemes of one host
		r.Header.Del("Cookie")
		return h.next.RoundTrip(r)
	}
	for k, v := range h.set {
		r.Header.Set(k, v)
	}
	res, err := h.next.RoundTrip(r)
	if err == nil && res.StatusCode == http.StatusUnauthorized {
		h.mu.Lock()
		h.found = true
		h.mu.Unlock()
	}
	return res, err
}

func (h *headerTransport) refused() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.found
}
