package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/mcp"
)

// scripted is a client that writes everything and closes its side.
type scripted struct {
	io.Reader

	mu   sync.Mutex // guards said
	said bytes.Buffer
}

func (s *scripted) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.Write(b)
}

func (s *scripted) Close() error { return nil }

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"script","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

func TestWhatAScriptAsksIsAnswered(t *testing.T) {
	toys := newToys(shows)
	c := &scripted{Reader: strings.NewReader(hello + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"show","arguments":{}}}` + "\n")}
	if err := newServer(t, toys, nil).ServeConn(t.Context(), c, mcp.Workspace{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	if got := c.said.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"id":2`) || !strings.Contains(got, "Displayed") {
		t.Errorf("it is answered %s", got)
	}
}

// A client that dies in the middle of a line has not failed; other input than a message is
// reported.
func TestWhatIsNoMessage(t *testing.T) {
	for in, want := range map[string]string{"": "", hello + `{"jsonrpc":"2.0","id":2,"met`: "", "hello\n": "is no message of the Model Context Protocol"} {
		err := newServer(t, newToys(shows), nil).ServeConn(t.Context(), &scripted{Reader: strings.NewReader(in)}, mcp.Workspace{ID: "1"})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("after %q it says %v", in, err)
		}
	}
}

// A connection ends when its client has gone, whatever the client left open, and what it asked is
// stopped.
func TestAConnectionEnds(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run","arguments":{}}}` + "\n"
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}` + "\n"
	for name, more := range map[string]string{"cancelled": cancel, "not JSON": "}{\n", "closed": ""} {
		t.Run(name, func(t *testing.T) {
			begun := make(chan struct{})
			toys := newToys(func(ctx context.Context, _ agent.ToolCall) (agent.Result, error) {
				close(begun)
				<-ctx.Done()
				return agent.Result{}, ctx.Err()
			})
			rest, w := io.Pipe()
			go func() {
				_, wrote := io.WriteString(w, hello+call)
				<-begun
				_, last := io.WriteString(w, more)
				if err := errors.Join(wrote, last, w.Close()); err != nil {
					t.Error(err)
				}
			}()
			_ = newServer(t, toys, nil).ServeConn(t.Context(), &scripted{Reader: rest}, mcp.Workspace{ID: "1"}) // it may say what was wrong
		})
	}
}
