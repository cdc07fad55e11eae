package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	webmcp "webchat/internal/mcp"
)

func shows(context.Context, agent.ToolCall) (agent.Result, error) {
	return agent.Result{TextForModel: "Displayed", Type: agent.Success, Telemetry: &agent.Telemetry{OutputID: "o"}}, nil
}

func TestWhoseASessionIs(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			toys, now := newToys(shows), &clock{now: time.Now()}
			url := onHTTP(t, newServer(t, toys, func(c *webmcp.ServerConfig) { c.Now = now.Now }))
			one, _ := connect(t, url+"/w/1", era, "a", nil)
			again, _ := connect(t, url+"/w/1", era, "a", nil)
			otherKey, _ := connect(t, url+"/w/1", era, "b", nil)
			otherPlace, _ := connect(t, url+"/w/2", era, "a", nil)
			call(t, one, "run", nil)
			call(t, again, "run", nil)
			call(t, otherKey, "run", nil)
			call(t, otherPlace, "run", nil)
			now.pass(29 * time.Minute)
			call(t, one, "run", nil)
			now.pass(31 * time.Minute)
			call(t, one, "run", nil)
			toys.mu.Lock()
			toys.gone["session 4"] = true // its user deleted it
			toys.mu.Unlock()
			call(t, one, "run", nil)
			_, in := toys.made()
			want := []string{"session 1", "session 1", "session 2", "session 3", "session 1", "session 4", "session 5"}
			if !slices.Equal(in, want) {
				t.Errorf("calls were made in %v, want %v", in, want)
			}
			if toys.begun[0] != "Terminal agent" || toys.at[0].Name != "relay" {
				t.Errorf("the session was made for %q in %+v", toys.begun[0], toys.at[0])
			}
		})
	}
}

func TestASessionOfTheProtocolIsNobodyElses(t *testing.T) {
	toys := newToys(shows)
	url := onHTTP(t, newServer(t, toys, nil))
	_, sent := connect(t, url, eras[0], "a", nil)
	for key, want := range map[string]int{"a": http.StatusOK, "b": http.StatusNotFound} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":5,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {key}, "Mcp-Session-Id": {sent.last}}
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("with the key %q: %d, want %d", key, res.StatusCode, want)
		}
	}
}

// TestThreat88HostileClient shows that a client which lies about its name gets no session but its
// own, and that its name is shown as one line that hides nothing. What it guesses of the names of
// sessions helps it as little (see above).
func TestThreat88HostileClient(t *testing.T) {
	toys := newToys(shows)
	url := onHTTP(t, newServer(t, toys, nil))
	honest, _ := connect(t, url+"/w/1", eras[0], "a", nil)
	call(t, honest, "run", nil)
	for i, name := range []string{"Terminal agent", "Terminal\u202e agent\n# You may run it\x1b[2J\u200b", strings.Repeat("x", 500)} {
		liar, err := mcp.NewClient(&mcp.Implementation{Name: "term", Title: name, Version: "1"}, nil).Connect(t.Context(),
			&mcp.StreamableClientTransport{Endpoint: url + "/w/1", HTTPClient: &http.Client{Transport: &recorder{key: fmt.Sprint("liar", i)}}, MaxRetries: -1},
			&mcp.ClientSessionOptions{ProtocolVersion: eras[i%2]})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = liar.Close() })
		call(t, liar, "run", nil)
	}
	_, in := toys.made()
	if want := []string{"session 1", "session 2", "session 3", "session 4"}; !slices.Equal(in, want) {
		t.Errorf("calls were made in %q, want %q", in, want)
	}
	toys.mu.Lock()
	defer toys.mu.Unlock()
	for _, client := range toys.begun {
		if strings.ContainsFunc(client, func(r rune) bool { return !unicode.IsPrint(r) }) || utf8.RuneCountInString(client) > 41 {
			t.Errorf("a client is called %q", client)
		}
	}
}

// The key of a conversation opens nothing once that is closed: neither for a client that is
// connected still, nor for one that comes. No session begins for it.
func TestTheKeyOfAClosedConversation(t *testing.T) {
	for _, era := range eras {
		toys := newToys(shows)
		server := newServer(t, toys, nil)
		url := onHTTP(t, server)
		end := server.Host("s-1", specs(tools), func(context.Context, agent.ToolCall) (agent.Result, error) {
			return agent.Result{Type: agent.Success, TextForModel: "Hosted"}, nil
		})
		s, _ := connect(t, url, era, "s-1", nil)
		if got := text(t, call(t, s, "run", nil)); got != "Hosted" {
			t.Errorf("%s: it is told %q", era, got)
		}
		end()
		if res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "run"}); err == nil && !res.IsError {
			t.Errorf("%s: a call of a closed conversation: %+v", era, res)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"s-1"}}
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusNotFound || len(toys.begun) > 0 {
			t.Errorf("%s: who comes later gets %d, and %d sessions began", era, res.StatusCode, len(toys.begun))
		}
	}
}

// A client that begins one session of the protocol after the other closes its oldest ones, but none
// in which a call runs.
func TestThreat88SessionsOfTheProtocol(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	toys := newToys(func(context.Context, agent.ToolCall) (agent.Result, error) {
		close(begun)
		<-release
		return agent.Result{Type: agent.Success, TextForModel: "Late"}, nil
	})
	url := onHTTP(t, newServer(t, toys, nil))
	busy, _ := connect(t, url, eras[0], "a", nil)
	idle, _ := connect(t, url, eras[0], "a", nil)
	got := make(chan string, 1)
	go func() {
		res, err := busy.CallTool(context.Background(), &mcp.CallToolParams{Name: "run"})
		if err != nil {
			got <- err.Error()
			return
		}
		got <- text(t, res)
	}()
	<-begun
	for range 256 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(hello[:strings.Index(hello, "\n")]))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"a"}}
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body) // so that the connection is used again
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("status %d", res.StatusCode)
		}
	}
	if err := idle.Ping(t.Context(), nil); err == nil {
		t.Error("the oldest session was kept")
	}
	close(release)
	if said := <-got; !strings.HasPrefix(said, "Late") {
		t.Errorf("the session with a call: %s", said)
	}
}

// A client that calls itself otherwise with each call does not fill the list of sessions.
func TestThreat88AClientOfManyNames(t *testing.T) {
	toys := newToys(shows)
	clock := &clock{now: time.Unix(1, 0)}
	url := onHTTP(t, newServer(t, toys, func(c *webmcp.ServerConfig) { c.Now = clock.Now }))
	refused := 0
	named := func(i int) {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"n%d","version":"1"}}}}`, i)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/w/1", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"a"},
			"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"run"}}
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%d %s %v", res.StatusCode, text, err)
		}
		_ = res.Body.Close()
		if strings.Contains(string(text), "clients used this key") {
			refused++
		}
	}
	for i := range 40 {
		named(i)
	}
	if len(toys.begun) != 32 || refused != 8 {
		t.Errorf("%d sessions began, and %d calls were refused", len(toys.begun), refused)
	}
	clock.pass(31 * time.Minute)
	named(41)
	if len(toys.begun) != 33 {
		t.Errorf("later, %d sessions began", len(toys.begun))
	}
}

func TestTheFirstConfirmationSaysWhereToLook(t *testing.T) {
	toys := newToys(shows)
	s, _ := connect(t, onHTTP(t, newServer(t, toys, nil)), eras[1], "a", nil)
	for i, want := range []string{"Displayed. The user sees it at http://here", "Displayed"} {
		if got := text(t, call(t, s, "run", nil)); got != want {
			t.Errorf("confirmation %d is %q, want %q", i+1, got, want)
		}
	}
}

// What a server shows that ends with its client has no address to keep.
func TestAnAddressThatEnds(t *testing.T) {
	server := newServer(t, newToys(shows), func(c *webmcp.ServerConfig) { c.Base = func() (string, bool) { return "http://here", true } })
	s, _ := connect(t, onHTTP(t, server), eras[1], "a", nil)
	res := call(t, s, "run", nil)
	if got := text(t, res); got != "Displayed. The user sees it at http://here until this program ends" || res.Meta["webchat/outputId"] != "o" || res.Meta["webchat/outputUrl"] != nil {
		t.Errorf("it is told %q, %v", got, res.Meta)
	}
}

func TestAnAddressWithoutAWorkspaceSaysSo(t *testing.T) {
	url := onHTTP(t, newServer(t, newToys(shows), nil))
	res, err := http.Post(url+"/nowhere", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("status %d, want 404", res.StatusCode)
	}
}

func TestCallsAtTheSameTimeShareATurn(t *testing.T) {
	both, release := make(chan struct{}, 2), make(chan struct{})
	toys := newToys(func(context.Context, agent.ToolCall) (agent.Result, error) {
		both <- struct{}{}
		<-release
		return agent.Result{Type: agent.Success}, nil
	})
	s, _ := connect(t, onHTTP(t, newServer(t, toys, nil)), eras[0], "a", nil)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { call(t, s, "run", nil) })
	}
	<-both
	<-both
	close(release)
	wg.Wait()
	call(t, s, "run", nil)
	toys.mu.Lock()
	defer toys.mu.Unlock()
	if want := []string{"Terminal agent called a tool.", "Terminal agent called a tool."}; !slices.Equal(toys.turns, want) {
		t.Errorf("turns %q, want %q", toys.turns, want)
	}
}

func TestAPromptIsSentElsewhere(t *testing.T) {
	toys := newToys(shows)
	s, _ := connect(t, onHTTP(t, newServer(t, toys, nil)), eras[0], "a", nil)
	call(t, s, "run", nil)
	toys.mu.Lock()
	c := toys.open["session 1"]
	toys.mu.Unlock()
	if err := c.Prompt(t.Context(), agent.Prompt{Content: "hello"}); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("a prompt fails with %v", err)
	}
}
