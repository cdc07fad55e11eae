package copilot

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot/cli"
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

// Guide is what every conversation starts with.
const Guide = guide

// PID is the running CLI; 0: none runs.
func PID(b *Backend) int { return b.cli.PID() }

// Home is where the CLI keeps its state.
func Home(b *Backend) string { return b.cfg.Home }

// Play gives a conversation without a CLI what one says in a turn, an event
// a line, and returns when that turn has ended.
func Play(tb testing.TB, host agent.Host, tools []agent.ToolSpec, events []byte) {
	b, err := New(Config{Home: tb.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	c := newConn(b, &cli.Process{}, agent.Options{SessionID: "s", Workspace: tb.TempDir(), Tools: tools}, host)
	t := newTurn(context.Background(), "p1")
	c.post(func() { c.begin(t); t.heard = true })
	for line := range bytes.Lines(events) {
		var e cli.Event
		if json.Unmarshal(line, &e) == nil {
			c.Handle(e)
		}
	}
	c.post(func() { c.finish(t, nil) })
	<-t.done
	t.work.Wait()
	t.stop(nil)
	c.end()
	<-c.done
}
