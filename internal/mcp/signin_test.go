package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/document"
	webmcp "webchat/internal/mcp"
)

// locked is a server behind OAuth, with what gives out tokens: they hold for an hour.
func locked(t *testing.T) (address string, valid *atomic.Value, refreshed *atomic.Int64) {
	t.Helper()
	valid, refreshed = &atomic.Value{}, &atomic.Int64{}
	valid.Store("")
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server() }, &mcp.StreamableHTTPOptions{Stateless: true})
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	reply := func(path string, body func(r *http.Request) any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.Method == http.MethodPost && path == "/register" {
				w.WriteHeader(http.StatusCreated)
			}
			_ = json.NewEncoder(w).Encode(body(r))
		})
	}
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if token := valid.Load().(string); token == "" || r.Header.Get("Authorization") != "Bearer "+token {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+web.URL+`/.well-known/oauth-protected-resource"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	})
	reply("/.well-known/oauth-protected-resource", func(*http.Request) any {
		return map[string]any{"resource": web.URL + "/mcp", "authorization_servers": []string{web.URL}}
	})
	reply("/.well-known/oauth-authorization-server", func(*http.Request) any {
		return map[string]any{"issuer": web.URL, "authorization_endpoint": web.URL + "/authorize", "token_endpoint": web.URL + "/token", "registration_endpoint": web.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"}}
	})
	reply("/register", func(r *http.Request) any {
		var asked map[string]any
		_ = json.NewDecoder(r.Body).Decode(&asked)
		asked["client_id"] = "client-1"
		return asked
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"code-1"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	})
	reply("/token", func(r *http.Request) any {
		token := "first"
		if r.FormValue("grant_type") == "refresh_token" && r.FormValue("refresh_token") == "again" {
			token = fmt.Sprint("renewed ", refreshed.Add(1))
		} else if r.FormValue("code") != "code-1" {
			return map[string]any{"error": "invalid_grant"}
		}
		valid.Store(token)
		return map[string]any{"access_token": token, "token_type": "Bearer", "refresh_token": "again", "expires_in": 3600}
	})
	return web.URL + "/mcp", valid, refreshed
}

// A server that wants its user to sign in is reached once they did, also by another process, and
// with another token when theirs ran out.
func TestSignIn(t *testing.T) {
	address, valid, refreshed := locked(t)
	open := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server() }, &mcp.StreamableHTTPOptions{Stateless: true}))
	defer open.Close()
	c := webmcp.UserServersConfig{Servers: map[string]agent.MCPServer{"locked": {Type: "http", URL: address}, "program": {Type: "stdio", Command: "x"}, "open": {Type: "http", URL: open.URL}},
		Documents: document.Folder(t.TempDir())}
	tokens := filepath.Join(string(c.Documents.(document.Folder)), "mcp-tokens.json")
	s := webmcp.NewUserServers(c)
	all, err := s.Status(t.Context(), webmcp.In{})
	if err != nil || all[0].State != webmcp.SignIn || !strings.Contains(all[0].Failure, `Run "webchat mcp login locked" in a terminal`) {
		t.Fatalf("found %+v, %v", all, err)
	}
	var visits sync.WaitGroup
	defer visits.Wait()
	visit := func(address string) {
		visits.Go(func() {
			res, err := http.Get(address) // as a browser that follows to the port of this machine
			if err != nil {
				t.Errorf("the browser got %v", err)
				return
			}
			defer func() { _ = res.Body.Close() }()
			if page, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(page), "can be closed") {
				t.Errorf("the browser got %s %q, %v", res.Status, page, err)
			}
		})
	}
	if err := s.SignIn(t.Context(), "locked", visit); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(tokens); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the tokens: %v, %v", info.Mode(), err)
	}
	s = webmcp.NewUserServers(c)
	if got := offered(t, s); !slices.ContainsFunc(got, ofLocked) {
		t.Errorf("agents get %q", got)
	}
	// The token ran out an hour ago.
	text, err := os.ReadFile(tokens)
	if err != nil {
		t.Fatal(err)
	}
	var kept map[string]map[string]any
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	kept["locked"]["token"].(map[string]any)["expiry"] = time.Now().Add(-time.Hour)
	text, err = json.Marshal(kept)
	if err == nil {
		err = os.WriteFile(tokens, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	valid.Store("")
	for range 2 {
		all, err := webmcp.NewUserServers(c).Status(t.Context(), webmcp.In{})
		if err != nil || all[0].State != webmcp.Ready || refreshed.Load() != 1 {
			t.Errorf("found %+v, %v; it was renewed %d times", all, err, refreshed.Load())
		}
	}
	// The token is revoked within a session.
	s = webmcp.NewUserServers(c)
	set, tools := lend(t, s, "", shown{})
	for i, want := range []string{"looked {}", `run "webchat mcp login locked" in a terminal`} {
		if i > 0 {
			valid.Store("revoked")
		}
		if _, res := run(t, tools["locked-look"], `{}`); !strings.Contains(res.TextForModel, want) {
			t.Errorf("call %d is %q, without %q", i+1, res.TextForModel, want)
		}
	}
	if err := set.Close(); err != nil {
		t.Error(err)
	}
	if err := s.SignIn(t.Context(), "open", visit); err == nil || !strings.Contains(err.Error(), "open does not ask for a sign-in") {
		t.Errorf("signing in where that is not needed: %v", err)
	}
	if err := s.SignIn(t.Context(), "none", visit); !errors.Is(err, webmcp.ErrUnknown) {
		t.Errorf("signing in to no server: %v", err)
	}
	if err := s.SignIn(t.Context(), "program", visit); err == nil || !strings.Contains(err.Error(), "only servers of the type http") {
		t.Errorf("signing in to a program: %v", err)
	}
	http.DefaultClient.CloseIdleConnections()
}

// ofLocked reports whether a tool is of the server that wants a sign-in.
func ofLocked(name string) bool { return strings.HasPrefix(name, "locked-") }
