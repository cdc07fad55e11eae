package copilot

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"slices"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/jsonrpc"
)

// Offered returns the tools a conversation was last seen to offer.
func Offered(c agent.Conn) []string {
	cc := c.(*conn)
	cc.mu.Lock()
	defer cc.mu.Unlock()
	return slices.Clone(cc.offered)
}

// NativeID is the CLI's name of a session.
func NativeID(sessionID string) string { return nativeID(sessionID) }

// Platform and BinaryName are how npm names what runs here.
func Platform() string   { return platforms()[0] }
func BinaryName() string { return name() }

// Locate finds the native binary.
func Locate(given string, env []string) (string, error) { return locate(given, env) }

// Environment is what the CLI of c is started with.
func Environment(tb testing.TB, c Config) []string {
	b, err := New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return b.environment()
}

// Guide is what every conversation starts with.
const Guide = guide

// PID is the running CLI.
func PID(b *Backend) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.process.child.PID()
}

// Home is where the CLI keeps its state.
func Home(b *Backend) string { return b.cfg.Home }

// Play gives a conversation without a CLI what one says in a turn, an event
// a line, and returns when that turn has ended.
func Play(tb testing.TB, host agent.Host, tools []agent.ToolSpec, events []byte) {
	b, err := New(Config{Home: tb.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	ours, theirs := net.Pipe()
	theirs.Close()
	p := &process{b: b, gone: make(chan struct{}), death: &deathError{"there is no CLI"}, conns: map[string]*conn{}}
	p.rpc = jsonrpc.New(ours, jsonrpc.Config{Framing: jsonrpc.Headers})
	close(p.gone)
	c := newConn(b, p, agent.Options{SessionID: "s", Workspace: tb.TempDir(), Tools: tools}, host)
	t := newTurn(context.Background(), "p1")
	c.post(func() { c.begin(t); t.heard = true })
	for line := range bytes.Lines(events) {
		var e nativeEvent
		if json.Unmarshal(line, &e) == nil && handlers[e.Type] != nil {
			c.post(func() { c.handle(e) })
		}
	}
	c.post(func() { c.finish(t, nil) })
	<-t.done
	t.work.Wait()
	t.stop(nil)
	c.end()
	<-c.done
	if err := p.rpc.Close(); err != nil {
		tb.Log(err)
	}
}

// Advise says what happened and what to do.
func Advise(b *Backend, status int, text string) string { return b.advise(status, text) }

// Running reports whether a CLI runs.
func Running(b *Backend) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.process != nil
}
