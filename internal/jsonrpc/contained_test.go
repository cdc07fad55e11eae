package jsonrpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"webchat/internal/contain"
	"webchat/internal/jsonrpc"
	"webchat/internal/proc"
)

// A panic in what handles a peer's words ends the connection to that peer, says so in its
// error, and nothing of what comes behind it is handled.
func TestPanicsEndTheConnection(t *testing.T) {
	var calls atomic.Int32
	fault := func() {
		calls.Add(1)
		panic("of a handler")
	}
	for name, c := range map[string]struct {
		with jsonrpc.Config
		sent string
	}{
		"a notification": {jsonrpc.Config{Notify: func(string, json.RawMessage) {
			fault()
		}}, `{"jsonrpc":"2.0","method":"x"}`},
		"a request": {jsonrpc.Config{Request: func(context.Context, string, json.RawMessage) (any,
			error) {
			fault()
			return nil, nil
		}}, `{"jsonrpc":"2.0","id":1,"method":"x"}`},
		"an error of no id": {jsonrpc.Config{Lost: func(*jsonrpc.Error) {
			fault()
		}}, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`},
		"a skipped frame": {jsonrpc.Config{Skipped: func(error) { fault() }}, `{`},
	} {
		t.Run(name, func(t *testing.T) {
			calls.Store(0)
			c.with.Framing = jsonrpc.Lines
			conn, peer := rawPeer(t, c.with)
			_, _ = io.WriteString(peer, c.sent+"\n"+c.sent+"\n") // the other end closes
			<-conn.Done()
			if !errors.Is(conn.Err(), contain.ErrPanic) {
				t.Errorf("it ended with %v", conn.Err())
			}
			if err := conn.Call(t.Context(), "x", nil, nil); !errors.Is(err, jsonrpc.ErrClosed) ||
				!errors.Is(err, contain.ErrPanic) {
				t.Errorf("a call afterwards: %v", err)
			}
			if n := calls.Load(); n != 1 && name != "a request" { // requests run beside each other
				t.Errorf("%d messages were handled", n)
			}
		})
	}
	t.Run("and the answer behind it", func(t *testing.T) {
		conn, peer := rawPeer(t, jsonrpc.Config{
			Framing: jsonrpc.Lines,
			Notify:  func(string, json.RawMessage) { fault() },
		})
		go func() {
			_, _ = peer.r.ReadString('\n')
			_, _ = io.WriteString(peer, `{"jsonrpc":"2.0","method":"x"}`+"\n"+
				`{"jsonrpc":"2.0","id":1,"result":1}`+"\n")
		}()
		if err := conn.Call(t.Context(), "x", nil, nil); !errors.Is(err, contain.ErrPanic) {
			t.Errorf("a call that was answered after a panic: %v", err)
		}
	})
	t.Run("a goroutine", func(t *testing.T) {
		conn, _ := rawPeer(t, jsonrpc.Config{Framing: jsonrpc.Lines})
		conn.Contained(fault)()
		<-conn.Done()
		if !errors.Is(conn.Err(), contain.ErrPanic) {
			t.Errorf("it ended with %v", conn.Err())
		}
	})
}

// A program whose words made a handler panic is ended with what it started, before its
// caller stops it.
func TestPanicsEndTheProgram(t *testing.T) {
	p, err := jsonrpc.Start(proc.Command{Args: []string{"sh", "-c",
		`sleep 600 & echo '{"jsonrpc":"2.0","method":"x"}'; sleep 600`}, Env: os.Environ()},
		jsonrpc.Config{Framing: jsonrpc.Lines, Notify: func(string, json.RawMessage) {
			panic("of a handler")
		}})
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for len(p.Left()) > 0 {
		<-tick.C
	}
	if err := p.Stop(time.Second); err != nil {
		t.Error(err)
	}
	if !errors.Is(p.Err(), contain.ErrPanic) {
		t.Errorf("it ended with %v", p.Err())
	}
}
