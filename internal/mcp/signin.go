package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"webchat/internal/agent"
)

// tokenFile are what the user's signing in to servers came to.
type tokenFile struct {
	file string // empty: nothing is kept, and nobody can sign in

	mu sync.Mutex // guards the file
}

// signedIn is a token with what another is had by.
type signedIn struct {
	Server string         `json:"server"` // serverSum it is for
	Client *oauth2.Config `json:"client"`
	Token  *oauth2.Token  `json:"token"`
}

func (t *tokenFile) read() map[string]signedIn {
	all := map[string]signedIn{}
	if text, err := os.ReadFile(t.file); t.file != "" && err == nil {
		_ = json.Unmarshal(text, &all) // then nobody is signed in
	}
	return all
}

// keep notes a token of a server.
func (t *tokenFile) keep(name string, one signedIn) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.read()
	all[name] = one
	return writeWhole(t.file, all)
}

// header is what a request to the server says of who sends it; empty: the user has not signed in,
// or that ended. A token that ran out is renewed.
func (t *tokenFile) header(ctx context.Context, name string, m agent.MCPServer) string {
	one, ok := t.read()[name]
	if !ok || one.Server != serverSum(m) || one.Token == nil || one.Client == nil {
		return ""
	}
	now, err := one.Client.TokenSource(ctx, one.Token).Token()
	if err != nil {
		return ""
	}
	if now.AccessToken != one.Token.AccessToken {
		one.Token = now
		_ = t.keep(name, one) // else it is renewed again the next time
	}
	return now.Type() + " " + now.AccessToken
}

// signed is a server as it is reached: with the token of its user, if they signed in.
func (s *UserServers) signed(ctx context.Context, name string) agent.MCPServer {
	m := s.cfg.Servers[name]
	if m.Type == "stdio" || m.Headers["Authorization"] != "" {
		return m
	}
	if header := s.tokens.header(ctx, name, m); header != "" {
		m.Headers = maps.Clone(m.Headers)
		if m.Headers == nil {
			m.Headers = map[string]string{}
		}
		m.Headers["Authorization"] = header
	}
	return m
}

// SignIn has the user sign in to a server: open is called with the address that they visit, whose
// answer comes to a port of this machine. The token is kept and renewed; agents get it as a header.
func (s *UserServers) SignIn(ctx context.Context, name string, open func(url string)) error {
	m, ok := s.cfg.Servers[name]
	switch {
	case !ok:
		return fmt.Errorf("%s: %w", name, ErrUnknown)
	case m.Type != "http":
		return fmt.Errorf("%s is of the type %s; only servers of the type http take a sign-in", name, m.Type)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	answers := make(chan *auth.AuthorizationResult)
	web := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		got := &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}
		if r.URL.Path != "/callback" || got.Code == "" {
			http.Error(w, "webchat: the sign-in did not succeed. Try again in the terminal.", http.StatusBadRequest)
			return
		}
		// All of the page goes out before the sign-in goes on, at whose end nothing is served.
		const page = "webchat: this page can be closed; the terminal says whether you are signed in.\n"
		w.Header().Set("Content-Length", strconv.Itoa(len(page)))
		_, _ = io.WriteString(w, page)
		_ = http.NewResponseController(w).Flush()
		select {
		case answers <- got:
		case <-r.Context().Done():
		}
	})}
	var serving sync.WaitGroup
	serving.Go(func() { _ = web.Serve(l) }) // it ends when it is closed
	defer serving.Wait()
	defer web.Close()

	redirect := "http://" + l.Addr().String() + "/callback"
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "webchat",
			RedirectURIs: []string{redirect}, GrantTypes: []string{"authorization_code", "refresh_token"}}},
		RedirectURL: redirect, RequestRefreshToken: true,
		AuthorizationCodeFetcher: func(ctx context.Context, to *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			open(to.URL)
			select {
			case got := <-answers:
				return got, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			return c.TokenSource(ctx, t), s.tokens.keep(name, signedIn{serverSum(m), c, t})
		},
	})
	if err != nil {
		return err
	}
	seen := newHeaders(m)
	defer seen.next.CloseIdleConnections()
	conn, err := mcp.NewClient(&mcp.Implementation{Name: "webchat", Version: "1"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: m.URL, HTTPClient: &http.Client{Transport: seen}, OAuthHandler: handler, MaxRetries: -1, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return fmt.Errorf("sign in to %s: %w", name, plainError(err))
	}
	return conn.Close()
}

// writeWhole writes a file that only its owner reads, all of it or nothing.
func writeWhole(name string, content any) error {
	text, err := json.MarshalIndent(content, "", " ")
	if err != nil {
		return err
	}
	next := name + ".new"
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(next, text, 0o600)); err != nil {
		return err
	}
	return os.Rename(next, name)
}
