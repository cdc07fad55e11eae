package mcp_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/event"
	webmcp "webchat/internal/mcp"
)

const asksTo = "term asks to run a command: “make all”. A webchat started with --permissions allow does not ask. Answer "

func TestAClientHearsAtOnceAndEveryTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		toys := newToys(func(context.Context, agent.ToolCall) (agent.Result, error) {
			time.Sleep(35 * time.Second)
			return agent.Result{TextForModel: "Done"}, nil
		})
		server := newServer(t, toys, nil)
		ours, theirs := net.Pipe()
		served := make(chan error, 1)
		go func() { served <- server.ServeConn(t.Context(), ours, webmcp.Workspace{ID: "1", Name: "relay"}) }()
		start := time.Now()
		var at []time.Duration
		var said []string
		client := mcp.NewClient(&mcp.Implementation{Name: "term", Version: "1"}, &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
				at, said = append(at, time.Since(start)), append(said, r.Params.Message)
			}})
		s, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: theirs, Writer: theirs}, nil)
		if err != nil {
			t.Fatal(err)
		}
		call(t, s, "run", nil)
		if want := []time.Duration{0, 10 * time.Second, 20 * time.Second, 30 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("signs at %v, want %v", at, want)
		}
		if want := []string{"Started", "Running", "Running", "Running"}; !slices.Equal(said, want) {
			t.Errorf("it says %q, want %q", said, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Errorf("the connection ended with %v", err)
		}
	})
}

// makeAll is a question about a command.
func makeAll() event.PermissionRequested {
	return event.PermissionRequested{RequestID: "r", Kind: "shell", Action: "run a command", Resource: "make all", Cwd: "/work"}
}

// waits serves one call that needs the user's permission, with the time limit patience, and returns
// its result, the progress messages and when it ended. elicit is the client's elicitation handler;
// nil: it has none.
func waits(t *testing.T, q event.PermissionRequested, token any, patience time.Duration, change func(*webmcp.ServerConfig),
	elicit func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)) (res *mcp.CallToolResult, said []string, after time.Duration) {
	settled := make(chan event.Decision, 1)
	toys := newToys(func(ctx context.Context, _ agent.ToolCall) (agent.Result, error) {
		select {
		case <-ctx.Done():
			return agent.Result{}, ctx.Err()
		case d := <-settled:
			return agent.Result{Type: agent.Denied, TextForModel: "The answer is " + string(d)}, nil
		case <-time.After(patience):
			return agent.Result{Type: agent.Denied, TextForModel: "No answer, so it was denied"}, nil
		}
	})
	toys.asks, toys.settled = &q, settled
	server := newServer(t, toys, change)
	ours, theirs := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- server.ServeConn(t.Context(), ours, webmcp.Workspace{ID: "1", Name: "relay"}) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "term", Version: "1"}, &mcp.ClientOptions{ElicitationHandler: elicit,
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			said = append(said, r.Params.Message)
		}})
	s, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: theirs, Writer: theirs}, &mcp.ClientSessionOptions{ProtocolVersion: eras[0]})
	if err != nil {
		t.Fatal(err)
	}
	p := &mcp.CallToolParams{Name: "run"}
	if token != nil {
		p.SetProgressToken(token)
	}
	start := time.Now()
	if res, err = s.CallTool(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	after = time.Since(start)
	if err := errors.Join(s.Close(), <-served); err != nil {
		t.Error(err)
	}
	return res, said, after
}

// A question says where it is: in the progress, and to a client without it in the result. It does not wait where no page shows it.
func TestAQuestionSaysWhereItIs(t *testing.T) {
	const unseen = "Nothing was done: the user has to allow it, and no page of webchat is open to ask them. Tell them to open it at http://here"
	const url = `in the page: "webchat url" prints a link that signs you in at http://here`
	for name, c := range map[string]struct {
		token    any
		watched  bool
		says     string
		progress []string
		after    time.Duration
	}{
		"seen, with progress":   {token: "p", watched: true, says: "No answer, so it was denied", progress: []string{"Started", asksTo + "at http://here", asksTo + "at http://here"}, after: 15 * time.Second},
		"seen, without":         {watched: true, says: "No answer, so it was denied. The user was asked at http://here.", after: 15 * time.Second},
		"unseen, without":       {says: unseen, after: 10 * time.Second},
		"unseen, with progress": {token: "p", says: unseen, progress: []string{"Started", asksTo + url, asksTo + url, asksTo + url}, after: 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				patience := 15 * time.Second
				if !c.watched {
					patience = time.Hour
				}
				res, said, after := waits(t, makeAll(), c.token, patience, func(m *webmcp.ServerConfig) { m.Watched = func() bool { return c.watched } }, nil)
				if got := text(t, res); !res.IsError || !strings.HasPrefix(got, c.says) || !slices.Equal(said, c.progress) || after != c.after {
					t.Errorf("after %v it says %q, and before that %q", after, got, said)
				}
			})
		})
	}
}

// blocked is a tool that runs until it is stopped; begun is closed when it runs.
func blocked(begun, ended chan struct{}, release <-chan struct{}) func(context.Context, agent.ToolCall) (agent.Result, error) {
	return func(ctx context.Context, _ agent.ToolCall) (agent.Result, error) {
		close(begun)
		defer close(ended)
		select {
		case <-release:
		case <-ctx.Done():
		}
		return agent.Result{TextForModel: "Done", Type: agent.Success}, ctx.Err()
	}
}

func TestACancelledCallIsStopped(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			begun, ended := make(chan struct{}), make(chan struct{})
			toys := newToys(blocked(begun, ended, nil))
			s, _ := connect(t, onHTTP(t, newServer(t, toys, nil)), era, "a", nil)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-begun; cancel() }()
			if _, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "run"}); err == nil {
				t.Error("a cancelled call succeeded")
			}
			<-ended
		})
	}
}

func TestAClientThatLeavesStopsItsCalls(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	toys := newToys(blocked(begun, ended, nil))
	url := onHTTP(t, newServer(t, toys, nil))
	s, sent := connect(t, url, eras[0], "a", nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "run"}) // its connection may break first
	}()
	<-begun
	r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"a"}, "Mcp-Session-Id": {sent.last}}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || res.StatusCode != http.StatusNoContent {
		t.Fatalf("DELETE: %v %v", res, err)
	}
	_ = res.Body.Close()
	<-ended
	<-done
}

func TestTheEndOfTheServerEndsCalls(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	server := newServer(t, newToys(blocked(begun, ended, nil)), nil)
	s, _ := connect(t, onHTTP(t, server), eras[0], "a", nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "run"})
	}()
	<-begun
	server.Close()
	<-ended
	_ = s.Close()
	<-done
}
