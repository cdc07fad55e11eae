package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"webchat/internal/agent"
)

// signedIn is a token with what another is had by.
type signedIn struct {
	Server string         `json:"server"` // serverSum it is for
	Client *oauth2.Config `json:"client"`
	Token  *oauth2.Token  `json:"token"`
	// Wants is what the server has since asked for in addition.
	Wants []string `json:"wants,omitempty"`
}

// token returns what a request to the server has as Authorization; empty if the user has not signed
// in, or that ended. A token that ran out is renewed.
func (s *UserServers) token(ctx context.Context, name string, m agent.MCPServer) string {
	signed, ok := s.tokens.Get()[name]
	if !ok || signed.Server != serverSum(m) || signed.Token == nil || signed.Client == nil {
		return ""
	}
	now, err := signed.Client.TokenSource(ctx, signed.Token).Token()
	if err != nil {
		return ""
	}
	if now.AccessToken != signed.Token.AccessToken {
		signed.Token = now
		_ = s.tokens.Hold(with(name, signed)) // else it is renewed again by the next process
	}
	return now.Type() + " " + now.AccessToken
}

// signed is a server as it is reached: with the token of its user, if they signed in.
func (s *UserServers) signed(ctx context.Context, name string) agent.MCPServer {
	m := s.cfg.Servers[name]
	if m.Type == "stdio" || m.Headers["Authorization"] != "" {
		return m
	}
	if token := s.token(ctx, name, m); token != "" {
		headers := map[string]string{}
		maps.Copy(headers, m.Headers)
		headers["Authorization"] = token
		m.Headers = headers
	}
	return m
}

var (
	errSignIn = errors.New("it wants a sign-in")
	errWants  = errors.New("the sign-in does not allow this")
)

// signInTo is how a user does that.
func signInTo(name string) string {
	return fmt.Sprintf("run \"webchat mcp login %s\" in a terminal", name)
}

// denied is what a server that is reached fails with: it wants a sign-in, or one that allows more,
// which the next asks for.
func (s *UserServers) denied(c *connected, err error) error {
	if c.seen.refused.Load() {
		return errSignIn
	}
	wants := c.seen.wants.Load()
	if wants == nil {
		return withoutAddress(err)
	}
	if signed, ok := s.tokens.Get()[c.name]; ok {
		signed.Wants = *wants
		if err := s.tokens.Change(with(c.name, signed)); err != nil {
			s.cfg.Logger.Warn("what an MCP server wants is not kept", "server", c.name, "error", err)
		}
	}
	return errWants
}

// wantsSignIn reports whether the server refused a request for its credentials.
func (c *connected) wantsSignIn() bool {
	return c.seen.refused.Load() || c.seen.wants.Load() != nil
}

// SignIn has the user sign in to a server: open is called with the address that they visit, whose
// answer comes to a port of this machine. The token is kept and renewed; agents get it as a header.
func (s *UserServers) SignIn(ctx context.Context, name string, open func(url string)) error {
	m, ok := s.cfg.Servers[name]
	switch {
	case !ok:
		return fmt.Errorf("%s: %w", name, ErrUnknown)
	case m.Type != "http":
		return fmt.Errorf("%s is of the type %s; only servers of the type http take a sign-in", name,
			m.Type)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	answers := make(callbacks, 1)
	web := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: answers}
	var serving sync.WaitGroup
	serving.Go(func() { _ = web.Serve(l) }) // it ends when it is closed
	defer serving.Wait()
	defer web.Close()
	asked := false
	handler, err := s.handler(name, "http://"+l.Addr().String()+"/callback", answers, open,
		func() { asked = true })
	if err != nil {
		return err
	}
	seen := newHeaders(m, func() {})
	defer seen.next.CloseIdleConnections()
	conn, err := newClient().Connect(ctx, seen.transport(m, handler), nil)
	if err == nil { // some ask for it only then
		_, err = conn.ListTools(ctx, nil)
		if _, ok := answered(err); ok { // it has no tools
			err = nil
		}
		err = errors.Join(err, conn.Close())
	}
	switch {
	case err != nil:
		return fmt.Errorf("sign in to %s: %w", name, withoutAddress(err))
	case !asked:
		return fmt.Errorf("%s does not ask for a sign-in", name)
	}
	return nil
}

// handler has a user sign in to a server, who visits what open is called with. answers has what
// they bring back; had is called when there is a token.
func (s *UserServers) handler(name, redirect string, answers callbacks, open func(url string),
	had func()) (*auth.AuthorizationCodeHandler, error) {
	wants := s.tokens.Get()[name].Wants
	return auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName:   "webchat",
			RedirectURIs: []string{redirect},
			GrantTypes:   []string{"authorization_code", "refresh_token"},
		}},
		RedirectURL: redirect, RequestRefreshToken: true,
		ScopeFilter: func(found []string) []string {
			for _, scope := range wants {
				if !slices.Contains(found, scope) {
					found = append(slices.Clip(found), scope)
				}
			}
			return found
		},
		AuthorizationCodeFetcher: func(ctx context.Context,
			to *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			select {
			case <-answers: // an address that was visited twice
			default:
			}
			open(to.URL)
			select {
			case got := <-answers:
				return got, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource,
			error) {
			had()
			return c.TokenSource(ctx, t), s.tokens.Change(with(name,
				signedIn{Server: serverSum(s.cfg.Servers[name]), Client: c, Token: t}))
		},
	})
}

// callbacks has what a browser brings from a sign-in, with room for one.
type callbacks chan *auth.AuthorizationResult

func (c callbacks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	got := &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}
	if r.URL.Path != "/callback" || got.Code == "" {
		http.Error(w, "webchat: the sign-in did not succeed. Try again in the terminal.",
			http.StatusBadRequest)
		return
	}
	// All of the page goes out before the sign-in goes on, at whose end nothing is served.
	const page = "webchat: this page can be closed; the terminal says whether you are signed in.\n"
	w.Header().Set("Content-Length", strconv.Itoa(len(page)))
	_, _ = io.WriteString(w, page)
	_ = http.NewResponseController(w).Flush()
	select {
	case c <- got: // also if the browser has closed the page by now
	default:
	}
}

func newClient() *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "webchat", Version: "1"}, nil)
}

// withoutAddress is an error without the address, which may hold a secret.
func withoutAddress(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("it cannot be reached: %w", u.Err)
	}
	return err
}

// headerTransport sends the user's headers with every request to the server's own origin, and notes
// whether one was refused for its credentials. What is requested elsewhere, after a redirect or
// because the server names another address, has no credentials.
type headerTransport struct {
	set     map[string]string
	origin  string
	next    *http.Transport
	refused atomic.Bool
	wants   atomic.Pointer[[]string] // scopes that the credentials lack
	exceed  func()                   // is called when a message is too large
}

func newHeaders(m agent.MCPServer, exceed func()) *headerTransport {
	h := &headerTransport{set: m.Headers, next: &http.Transport{}, exceed: exceed}
	if u, err := url.Parse(m.URL); err == nil { // else there are no requests
		h.origin = originOf(u)
	}
	return h
}

// transport reaches a server by HTTP, signed in by the handler if that is not nil.
func (h *headerTransport) transport(m agent.MCPServer, handler auth.OAuthHandler) mcp.Transport {
	web := &http.Client{Transport: h}
	if m.Type == "sse" {
		return &mcp.SSEClientTransport{Endpoint: m.URL, HTTPClient: web, MaxEventSize: mostLibrary}
	}
	return &mcp.StreamableClientTransport{
		Endpoint:             m.URL,
		HTTPClient:           web,
		OAuthHandler:         handler,
		MaxEventSize:         mostLibrary,
		MaxRetries:           2,              // a stream that its server ends goes on where it was
		DisableStandaloneSSE: handler != nil, // else it says when its tools change
	}
}

// originOf is an address without its path, with the port it stands for.
func originOf(u *url.URL) string {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

func (h *headerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if originOf(r.URL) != h.origin {
		r.Header.Del("Authorization") // net/http keeps them between ports and schemes of one host
		r.Header.Del("Cookie")
		return h.send(r)
	}
	for k, v := range h.set {
		r.Header.Set(k, v)
	}
	res, err := h.send(r)
	switch {
	case err != nil:
	case res.StatusCode == http.StatusUnauthorized:
		h.refused.Store(true)
	case res.StatusCode == http.StatusForbidden:
		h.forbidden(res)
	}
	return res, err
}

// forbidden notes which scopes a server wants.
func (h *headerTransport) forbidden(res *http.Response) {
	all, err := oauthex.ParseWWWAuthenticate(res.Header.Values("WWW-Authenticate"))
	if err != nil {
		return
	}
	for _, c := range all {
		if c.Params["error"] == "insufficient_scope" {
			h.wants.Store(new(strings.Fields(c.Params["scope"])))
		}
	}
}

func (h *headerTransport) send(r *http.Request) (*http.Response, error) {
	res, err := h.next.RoundTrip(r)
	if err == nil {
		res.Body = &bounded{ReadCloser: res.Body, exceed: h.exceed,
			lines: strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")}
	}
	return res, err
}
