package jsonrpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"webchat/internal/jsonrpc"
	"webchat/internal/proc"
)

func TestMain(m *testing.M) {
	proc.Main()
	goleak.VerifyTestMain(m)
}

var framings = map[string]jsonrpc.Framing{"headers": jsonrpc.Headers, "lines": jsonrpc.Lines}

// pair connects two of our own ends.
func pair(t *testing.T, f jsonrpc.Framing, a, b jsonrpc.Config) (*jsonrpc.Conn, *jsonrpc.Conn) {
	t.Helper()
	pa, pb := net.Pipe()
	a.Framing, b.Framing = f, f
	ca, cb := jsonrpc.New(pa, a), jsonrpc.New(pb, b)
	t.Cleanup(func() { _ = ca.Close(); _ = cb.Close() })
	return ca, cb
}

func TestCallsBothWaysAtOnce(t *testing.T) {
	for name, f := range framings {
		t.Run(name, func(t *testing.T) {
			double := func(_ context.Context, method string, p json.RawMessage) (any, error) {
				var n int
				if err := json.Unmarshal(p, &n); err != nil || method != "double" {
					return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "want a number"}
				}
				return 2 * n, nil
			}
			a, b := pair(t, f, jsonrpc.Config{Request: double}, jsonrpc.Config{Request: double})
			var wg sync.WaitGroup
			for i := range 50 {
				for _, c := range []*jsonrpc.Conn{a, b} {
					wg.Go(func() {
						var got int
						if err := c.Call(t.Context(), "double", i, &got); err != nil || got != 2*i {
							t.Errorf("double %d: %d, %v", i, got, err)
						}
					})
				}
			}
			wg.Wait()
			var e *jsonrpc.Error
			if err := a.Call(t.Context(), "double", "x", nil); !errors.As(err, &e) ||
				e.Code != jsonrpc.CodeInvalidParams || e.Message != "want a number" {
				t.Errorf("error came back as %v", err)
			}
		})
	}
}

func TestForeignErrorsKeepTheirTextToThemselves(t *testing.T) {
	secret := func(context.Context, string, json.RawMessage) (any, error) {
		return nil, errors.New("key sk-123")
	}
	a, _ := pair(t, jsonrpc.Lines, jsonrpc.Config{}, jsonrpc.Config{Request: secret})
	err := a.Call(t.Context(), "x", nil, nil)
	var e *jsonrpc.Error
	if !errors.As(err, &e) || e.Code != jsonrpc.CodeInternal ||
		strings.Contains(err.Error(), "sk-123") {
		t.Errorf("got %v", err)
	}
}

func TestUnknownMethod(t *testing.T) {
	a, _ := pair(t, jsonrpc.Headers, jsonrpc.Config{}, jsonrpc.Config{})
	var e *jsonrpc.Error
	if err := a.Call(t.Context(), "nope", nil, nil); !errors.As(err, &e) ||
		e.Code != jsonrpc.CodeMethodNotFound {
		t.Errorf("got %v", err)
	}
}

func TestNotificationsStayInOrder(t *testing.T) {
	for name, f := range framings {
		t.Run(name, func(t *testing.T) {
			var got []string
			done := make(chan struct{})
			a, _ := pair(t, f, jsonrpc.Config{}, jsonrpc.Config{Notify: func(_ string, p json.RawMessage) {
				if got = append(got, string(p)); len(got) == 100 {
					close(done)
				}
			}})
			var want []string
			for i := range 100 {
				want = append(want, fmt.Sprint(i))
				if err := a.Notify(t.Context(), "n", i); err != nil {
					t.Fatal(err)
				}
			}
			<-done
			if !slices.Equal(got, want) {
				t.Errorf("order %v", got)
			}
		})
	}
}

// raw is a peer that writes bytes as they are.
type raw struct {
	net.Conn
	r *bufio.Reader
}

func rawPeer(t *testing.T, cfg jsonrpc.Config) (*jsonrpc.Conn, raw) {
	t.Helper()
	a, b := net.Pipe()
	c := jsonrpc.New(a, cfg)
	t.Cleanup(func() { _ = b.Close(); _ = c.Close() })
	return c, raw{b, bufio.NewReader(b)}
}

func (r raw) send(t *testing.T, s string) {
	t.Helper()
	if _, err := io.WriteString(r, s); err != nil {
		t.Fatal(err)
	}
}

func header(body string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body),
		body)
}

func TestMalformedFramesAreSkipped(t *testing.T) {
	deep := strings.Repeat("[", 10001)
	good := `{"jsonrpc":"2.0","method":"ok","params":1}`
	long := `{"x":"` + strings.Repeat("y", 5000) + `"}`
	for _, c := range []struct {
		name    string
		framing jsonrpc.Framing
		in      string
		skipped int
	}{
		{"headers", jsonrpc.Headers, header("{") + header("[]") + header("null and void") +
			header(deep[:2000]) + header(long) + header(good), 5},
		{"extra header", jsonrpc.Headers, "Content-Type: x\r\ncontent-length: 42\r\n\r\n" + good, 0},
		{"a banner", jsonrpc.Lines, strings.Repeat("\x1b[1m*** Welcome! ***\x1b[0m\n", 300) + good + "\n",
			300},
		{"lines", jsonrpc.Lines, "{\n[]\nhello\n\n   \n" + long + "\n\x1b[2J\x1b[H" + good + "\n", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			var skipped []error
			ok := make(chan struct{})
			_, peer := rawPeer(t, jsonrpc.Config{Framing: c.framing, MaxFrame: 4096,
				Skipped: func(err error) { skipped = append(skipped, err) },
				Notify:  func(string, json.RawMessage) { close(ok) }})
			peer.send(t, c.in)
			<-ok
			if len(skipped) != c.skipped {
				t.Errorf("skipped %d: %v", len(skipped), skipped)
			}
			for _, err := range skipped {
				if strings.Contains(err.Error(), "void") || strings.Contains(err.Error(), "yyy") {
					t.Errorf("the reason repeats the content: %v", err)
				}
			}
		})
	}
}

func TestGarbageEndsTheConnection(t *testing.T) {
	for name, in := range map[string]string{
		"ten bad lines":     strings.Repeat("{nothing\n", 10),
		"lines for ever":    strings.Repeat("nothing\n", 1000),
		"no colon":          "hello there\r\n\r\n",
		"no length":         "Content-Type: x\r\n\r\n{}",
		"negative length":   "Content-Length: -1\r\n\r\n",
		"a header for ever": "X: " + strings.Repeat("x", 70<<10),
	} {
		t.Run(name, func(t *testing.T) {
			f := jsonrpc.Headers
			if strings.Contains(name, "lines") {
				f = jsonrpc.Lines
			}
			c, peer := rawPeer(t, jsonrpc.Config{Framing: f})
			_, _ = io.WriteString(peer, in) // the other end may close before it has read everything
			<-c.Done()
			if !errors.Is(c.Err(), jsonrpc.ErrGarbage) {
				t.Errorf("ended with %v", c.Err())
			}
			if err := c.Call(t.Context(), "x", nil, nil); !errors.Is(err, jsonrpc.ErrClosed) ||
				!errors.Is(err, jsonrpc.ErrGarbage) {
				t.Errorf("a call afterwards: %v", err)
			}
		})
	}
}

func TestPeerGoesAway(t *testing.T) {
	c, peer := rawPeer(t, jsonrpc.Config{Framing: jsonrpc.Headers})
	result := make(chan error, 1)
	go func() { result <- c.Call(context.Background(), "wait", nil, nil) }()
	if _, err := peer.r.ReadString('}'); err != nil {
		t.Fatal(err)
	}
	peer.send(t, "Content-Length: 10\r\n\r\n{")
	_ = peer.Close()
	if err := <-result; !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("pending call: %v", err)
	}
	if !errors.Is(c.Err(), io.EOF) {
		t.Errorf("ended with %v", c.Err())
	}
}

func TestCallEndsWithItsContext(t *testing.T) {
	c, peer := rawPeer(t, jsonrpc.Config{Framing: jsonrpc.Lines})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { _, _ = peer.r.ReadString('\n'); cancel() }()
	if err := c.Call(ctx, "wait", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	peer.send(t, `{"jsonrpc":"2.0","id":1,"result":"late"}`+"\n") // harmless
	peer.send(t, `{"jsonrpc":"2.0","id":77,"result":"unknown"}`+"\n")
	go func() {
		_, _ = peer.r.ReadString('\n')
		peer.send(t, `{"jsonrpc":"2.0","id":2,"result":"yes"}`+"\n")
	}()
	var got string
	if err := c.Call(t.Context(), "again", nil, &got); err != nil || got != "yes" {
		t.Errorf("the next call: %q, %v", got, err)
	}
}

func TestPeerThatStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe() // unbuffered: a write waits for its reader
		defer func() { _ = b.Close() }()
		c := jsonrpc.New(a, jsonrpc.Config{Framing: jsonrpc.Headers, WriteTimeout: 5 * time.Second})
		defer func() { _ = c.Close() }()
		if err := c.Call(t.Context(), "big", strings.Repeat("x", 1<<20), nil); !errors.Is(err,
			jsonrpc.ErrClosed) {
			t.Errorf("got %v", err)
		}
		if !errors.Is(c.Err(), jsonrpc.ErrStuck) {
			t.Errorf("ended with %v", c.Err())
		}
	})
}

func TestCloseWaitsForHandlers(t *testing.T) {
	started, ended := make(chan struct{}), false
	a, b := pair(t, jsonrpc.Lines, jsonrpc.Config{},
		jsonrpc.Config{Request: func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
			close(started)
			<-ctx.Done()
			ended = true
			return nil, ctx.Err()
		}})
	go func() { _ = a.Call(context.Background(), "x", nil, nil) }()
	<-started
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if !ended {
		t.Error("Close returned before the handler did")
	}
	if err := b.Close(); err != nil || b.Err() != nil {
		t.Errorf("second Close: %v; Err: %v", err, b.Err())
	}
}

// A peer may withdraw a request of its own, and open so many at the same time and no more,
// whatever ids it gives them.
func TestRequestsOfThePeer(t *testing.T) {
	waiting := make(chan struct{}, 1000)
	_, peer := rawPeer(t, jsonrpc.Config{
		Framing: jsonrpc.Lines,
		Request: func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
			waiting <- struct{}{}
			<-ctx.Done()
			return nil, &jsonrpc.Error{Code: 1, Message: "withdrawn"}
		},
	})
	for range 255 {
		peer.send(t, `{"jsonrpc":"2.0","id":"same","method":"ask"}`+"\n")
	}
	peer.send(t, `{"jsonrpc":"2.0","id":7,"method":"ask"}`+"\n")
	for range 256 {
		<-waiting
	}
	for _, step := range [][2]string{
		{`{"jsonrpc":"2.0","id":8,"method":"ask"}`, "too many requests are open"},
		{`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":[1]}}` + "\n" +
			`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":99}}` + "\n" +
			`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}`, "withdrawn"},
	} {
		peer.send(t, step[0]+"\n")
		if line, err := peer.r.ReadString('\n'); err != nil || !strings.Contains(line, step[1]) {
			t.Errorf("answered %q, %v, want %s", line, err, step[1])
		}
	}
}

// FuzzFrames: whatever bytes come, the reader neither panics nor hangs, and a
// good frame that stands in front is delivered.
func FuzzFrames(f *testing.F) {
	good := `{"jsonrpc":"2.0","method":"ok"}`
	for _, s := range []string{"", "{", good, header(good), "Content-Length: 99999999\r\n\r\n{",
		"\x00\x1b[0m{}\n", "[]\n[]\n", "Content-Length: 1\n\n{"} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, tail []byte, lines bool) {
		first, framing := header(good), jsonrpc.Headers
		if lines {
			first, framing = good+"\n", jsonrpc.Lines
		}
		got := make(chan struct{}, 1)
		c := jsonrpc.New(dead{bytes.NewReader(append([]byte(first), tail...))},
			jsonrpc.Config{Framing: framing, MaxFrame: 1 << 16,
				Notify: func(string, json.RawMessage) {
					select {
					case got <- struct{}{}:
					default:
					}
				}})
		<-c.Done()
		_ = c.Close()
		select {
		case <-got:
		default:
			t.Fatal("the first frame was lost")
		}
		if c.Err() == nil {
			t.Fatal("the end has no cause")
		}
	})
}

// dead is a peer that has said all it will ever say.
type dead struct{ io.Reader }

func (dead) Write(b []byte) (int, error) { return len(b), nil }
func (dead) Close() error                { return nil }
