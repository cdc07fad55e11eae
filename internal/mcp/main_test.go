package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"webchat/internal/agent"
	"webchat/internal/event"
	webmcp "webchat/internal/mcp"
	"webchat/internal/proc"
)

func TestMain(m *testing.M) {
	proc.Main()
	switch os.Getenv("MCP_STANDIN") {
	case "good":
		_ = server().Run(context.Background(), &mcp.StdioTransport{})
		return
	case "weak":
		_ = weak().Run(context.Background(), &mcp.StdioTransport{})
		return
	case "conforming":
		if err := conforming(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	case "bad":
		fmt.Fprintln(os.Stderr, "no licence found")
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// The two eras of the protocol, as the versions clients force.
var eras = []string{"2025-11-25", "2026-07-28"}

// toys are sessions in memory whose tools do what run says.
type toys struct {
	run     func(ctx context.Context, call agent.ToolCall) (agent.Result, error)
	asks    *event.PermissionRequested // about each call; nil: nothing
	settled chan event.Decision        // takes the answer; nil: the question stays open

	backend agent.Backend

	mu       sync.Mutex // guards what follows
	begun    []string   // for which clients
	at       []webmcp.Workspace
	gone     map[string]bool
	open     map[string]agent.Conn
	turns    []string // why they were begun
	calls    []agent.ToolCall
	in       []string // the sessions of calls
	reported []event.Data
	heard    chan struct{} // has room for one: something was reported
}

func newToys(run func(context.Context, agent.ToolCall) (agent.Result, error)) *toys {
	return &toys{run: run, gone: map[string]bool{}, open: map[string]agent.Conn{}, heard: make(chan struct{}, 1)}
}

func (t *toys) Begin(_ context.Context, client, _ string, w webmcp.Workspace) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun, t.at = append(t.begun, client), append(t.at, w)
	return fmt.Sprint("session ", len(t.begun)), nil
}

func (t *toys) Wake(ctx context.Context, id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone[id] {
		return fmt.Errorf("%s: %w", id, webmcp.ErrGone)
	}
	if t.open[id] != nil {
		return nil
	}
	c, err := t.backend.Open(ctx, agent.Options{SessionID: id}, &toyHost{toys: t, id: id})
	t.open[id] = c
	return err
}

func (*toys) Printed(context.Context, string, string) int64 { return 0 }

func (t *toys) Questions(ctx context.Context, _, _ string, asked func(context.Context, event.PermissionRequested)) (func(), error) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	if t.asks != nil {
		running.Go(func() { asked(ctx, *t.asks) })
	}
	return func() { cancel(); running.Wait() }, nil
}

func (t *toys) Decide(_ context.Context, _, _ string, d event.Decision) error {
	t.settled <- d
	return nil
}

func (t *toys) made() ([]agent.ToolCall, []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calls, t.in
}

// toyHost runs one turn after the other.
type toyHost struct {
	*toys
	id   string
	turn sync.Mutex
	runs atomic.Bool // a turn
}

func (h *toyHost) RunTurn(ctx context.Context, cause string, work func(context.Context) error) error {
	h.turn.Lock()
	defer h.turn.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	h.mu.Lock()
	h.turns = append(h.turns, cause)
	h.mu.Unlock()
	h.runs.Store(true)
	defer h.runs.Store(false)
	return work(context.WithoutCancel(ctx))
}

func (h *toyHost) CallTool(ctx context.Context, c agent.ToolCall) (agent.Result, error) {
	if !h.runs.Load() {
		return agent.Result{}, errors.New("no turn runs")
	}
	h.mu.Lock()
	h.calls, h.in = append(h.calls, c), append(h.in, h.id)
	h.mu.Unlock()
	return h.run(ctx, c)
}

func (h *toyHost) Report(_ context.Context, d event.Data) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reported = append(h.reported, d)
	select {
	case h.heard <- struct{}{}:
	default:
	}
	return nil
}

func (*toyHost) AskPermission(context.Context, agent.Permission) (agent.Verdict, error) {
	panic("not a caller's to ask")
}

func (*toyHost) AskUser(context.Context, agent.Question) (agent.Answer, error) {
	panic("not a caller's to ask")
}

func (*toyHost) RunHook(context.Context, agent.HookCall) (agent.HookVerdict, error) {
	panic("not a caller's to run")
}

var tools = []webmcp.Tool{
	{ToolSpec: agent.ToolSpec{Name: "show", Description: "Show a file.", Parameters: json.RawMessage(
		`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)}, Title: "Show a file", ReadOnly: true},
	{ToolSpec: agent.ToolSpec{Name: "run", Description: "Run a command.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}, OpenWorld: true},
}

// specs are tools as a session has them.
func specs(tools []webmcp.Tool) (all []agent.ToolSpec) {
	for _, t := range tools {
		all = append(all, t.ToolSpec)
	}
	return all
}

// clock is moved by tests.
type clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *clock) pass(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

func newServer(t *testing.T, s *toys, change func(*webmcp.ServerConfig)) *webmcp.Server {
	t.Helper()
	c := webmcp.ServerConfig{Sessions: s, Tools: tools, Base: func() (string, bool) { return "http://here", false },
		Visitor: func(r *http.Request) (webmcp.Visitor, bool) {
			id := strings.TrimPrefix(r.URL.Path, "/mcp")
			return webmcp.Visitor{Workspace: webmcp.Workspace{ID: id, Name: "relay"}, Key: r.Header.Get("Authorization"), Hosted: strings.HasPrefix(r.Header.Get("Authorization"), "s-"), Reads: id != ""}, id != "/nowhere"
		}}
	if change != nil {
		change(&c)
	}
	server, err := webmcp.NewServer(c)
	if err != nil {
		t.Fatal(err)
	}
	s.backend = server.Backend()
	t.Cleanup(func() {
		server.Close()
		for _, c := range s.open {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return server
}

// onHTTP serves s and returns its address.
func onHTTP(t *testing.T, s *webmcp.Server) string {
	t.Helper()
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	t.Cleanup(s.Close)
	return h.URL + "/mcp"
}

// recorder adds a key to each request and records what is answered to POST.
type recorder struct {
	key string

	mu   sync.Mutex // guards what follows
	got  strings.Builder
	last string // the session of the protocol
}

func (r *recorder) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.Header.Set("Authorization", r.key)
	res, err := http.DefaultTransport.RoundTrip(q)
	if err == nil && q.Method == http.MethodPost {
		r.mu.Lock()
		if id := res.Header.Get("Mcp-Session-Id"); id != "" {
			r.last = id
		}
		r.mu.Unlock()
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(res.Body, r), res.Body}
	}
	return res, err
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got.Write(b)
}

func (r *recorder) text() string { r.mu.Lock(); defer r.mu.Unlock(); return r.got.String() }

// connect is a client of that era with that key.
func connect(t *testing.T, url, era, key string, o *mcp.ClientOptions) (*mcp.ClientSession, *recorder) {
	t.Helper()
	r := &recorder{key: key}
	client := mcp.NewClient(&mcp.Implementation{Name: "term", Title: "Terminal\u202e agent", Version: "1"}, o)
	s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: r}, MaxRetries: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, r
}

func call(t *testing.T, s *mcp.ClientSession, tool string, args any) *mcp.CallToolResult {
	t.Helper()
	p := &mcp.CallToolParams{Name: tool, Arguments: args}
	p.SetProgressToken("p1")
	res, err := s.CallTool(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func text(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	if len(r.Content) != 1 {
		t.Fatalf("the result has %d blocks, want 1", len(r.Content))
	}
	return r.Content[0].(*mcp.TextContent).Text
}
