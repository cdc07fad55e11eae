package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/event"
	webmcp "webchat/internal/mcp"
)

// linked gives clients over a connection a link that signs in. No page is open.
func linked(c *webmcp.ServerConfig) {
	c.Link = func(session string) string {
		return "http://here/auth#t=secret&to=" + strings.ReplaceAll(session, " ", "-")
	}
	c.Watched = func() bool { return false }
}

const link = asksTo + "at http://here/auth#t=secret&to=session-1"

// A client that can ask its user does, and what they choose decides. Whatever else comes leaves the
// question in the page. The link is in the progress alone.
func TestAClientAsksItsUser(t *testing.T) {
	unseen := "Nothing was done: the user has to allow it"
	for name, c := range map[string]struct {
		res  mcp.ElicitResult
		fail error
		want string
		said int // how often the question is in the progress
	}{
		"allowed":      {res: mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "Allow once"}}, want: "The answer is allow", said: 1},
		"denied":       {res: mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "Deny"}}, want: "The answer is deny", said: 1},
		"declined":     {res: mcp.ElicitResult{Action: "decline"}, want: unseen, said: 3},
		"cancelled":    {res: mcp.ElicitResult{Action: "cancel"}, want: unseen, said: 3},
		"without form": {res: mcp.ElicitResult{Action: "accept"}, want: unseen, said: 3},
		"another":      {res: mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "Allow always"}}, want: unseen, said: 3},
		"failed":       {fail: errors.New("no terminal"), want: unseen, said: 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []string
				res, said, _ := waits(t, makeAll(), "p", time.Hour, linked, func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					asked = append(asked, r.Params.Message, fmt.Sprint(r.Params.RequestedSchema))
					return &c.res, c.fail
				})
				want := []string{"term asks to run a command in /work:\n\nmake all", "map[properties:map[answer:map[enum:[Allow once Deny] title:Answer type:string]] required:[answer] type:object]"}
				if !slices.Equal(asked, want) {
					t.Errorf("its user is asked %q", asked)
				}
				if got := text(t, res); !strings.HasPrefix(got, c.want) || strings.Contains(fmt.Sprint(got, res.Meta), "#t=") {
					t.Errorf("the result is %q", got)
				}
				if want := append([]string{"Started"}, slices.Repeat([]string{link}, c.said)...); !slices.Equal(said, want) {
					t.Errorf("the progress says %q, want %q", said, want)
				}
			})
		})
	}
}

// While a client asks, its call waits though no page is open; when the question is over, the client
// no longer asks.
func TestAClientStopsAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withdrawn := make(chan struct{})
		res, _, after := waits(t, makeAll(), nil, 2*time.Minute, linked, func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			<-ctx.Done()
			close(withdrawn)
			return nil, ctx.Err()
		})
		<-withdrawn
		if got := text(t, res); !strings.HasPrefix(got, "No answer") || after != 2*time.Minute {
			t.Errorf("after %v the result is %q", after, got)
		}
	})
}

// A connection ends within half a second though its client was asking, and what was asked with it.
func TestAConnectionEndsWhileItsClientAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		toys := newToys(blocked(make(chan struct{}), ended, nil))
		q := makeAll()
		toys.asks = &q
		server := newServer(t, toys, linked)
		ours, theirs := net.Pipe()
		served := make(chan error, 1)
		go func() { served <- server.ServeConn(t.Context(), ours, webmcp.Workspace{ID: "1"}) }()
		asked := make(chan struct{})
		client := mcp.NewClient(&mcp.Implementation{Name: "term", Version: "1"}, &mcp.ClientOptions{
			ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				close(asked)
				<-ctx.Done()
				return nil, ctx.Err()
			}})
		s, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: theirs, Writer: theirs}, &mcp.ClientSessionOptions{ProtocolVersion: eras[0]})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "run"}) // its connection ends
		}()
		<-asked
		start := time.Now()
		if err := theirs.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil || time.Since(start) > 500*time.Millisecond {
			t.Errorf("after %v it ends with %v", time.Since(start), err)
		}
		<-ended
		<-done
		_ = s.Close()
	})
}

// What is not one plain command is asked about in the page only.
func TestWhatAClientDoesNotAsk(t *testing.T) {
	for name, change := range map[string]func(*event.PermissionRequested){
		"a sensitive command": func(q *event.PermissionRequested) { q.Sensitive = true },
		"a secret": func(q *event.PermissionRequested) {
			q.Secret = &event.Secret{File: "id", Looks: "looks like a private key"}
		},
		"a file":                    func(q *event.PermissionRequested) { q.Kind = "write" },
		"several":                   func(q *event.PermissionRequested) { q.Resources = make([]event.Resource, 2) },
		"a command of two lines":    func(q *event.PermissionRequested) { q.Resource = "make\nmake all" },
		"a command that hides some": func(q *event.PermissionRequested) { q.Resource = "make \u202e all" },
		"a command too long":        func(q *event.PermissionRequested) { q.Resource = strings.Repeat("a", 1001) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := makeAll()
				change(&q)
				_, said, _ := waits(t, q, "p", time.Second, linked, func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					t.Error("the client asks")
					return &mcp.ElicitResult{Action: "decline"}, nil
				})
				if len(said) != 2 || !strings.HasSuffix(said[1], "Answer at http://here/auth#t=secret&to=session-1") || strings.ContainsAny(said[1], "\n\u202e") {
					t.Errorf("the progress says %q", said)
				}
			})
		})
	}
}

// A key opens the tools and nothing more: its client gets no link that signs in, and brings no answer.
func TestThreat88AKeyAnswersNothing(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			toys := newToys(shows)
			q := makeAll()
			toys.asks = &q
			said := make(chan string, 2)
			begun := make(chan struct{})
			toys.run = blocked(make(chan struct{}), make(chan struct{}), begun)
			s, got := connect(t, onHTTP(t, newServer(t, toys, linked)), era, "a", &mcp.ClientOptions{
				ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					t.Error("the client asks")
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "Allow once"}}, nil
				},
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
					if said <- r.Params.Message; r.Params.Progress == 2 {
						close(begun)
					}
				}})
			call(t, s, "run", nil)
			if <-said != "Started" || !strings.Contains(<-said, "Answer in the page") || strings.Contains(got.text(), "#t=") {
				t.Errorf("the client gets %s", got.text())
			}
		})
	}
}
