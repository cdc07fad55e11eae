package copilot

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/tokens"
)

// Offered returns the tools a conversation was last seen to offer.
func Offered(c agent.Conn) []string {
	cc := c.(*conn)
	return cc.tools.now()
}

// NativeID is the CLI's name of a session.
func NativeID(sessionID string) string { return nativeID(sessionID) }

// Guide is what every conversation starts with.
var Guide = guide

// PID is the running CLI; 0 if none runs.
func PID(b *Backend) int { return b.cli.PID() }

// Home is where the CLI keeps its state.
func Home(b *Backend) string { return b.cfg.Home }

// Play gives a conversation without a CLI what one says in a turn, an event
// a line, and returns when that turn has ended.
func Play(tb testing.TB, host agent.Host, tools []agent.ToolSpec, events []byte) {
	handle, end := Begin(tb, host, tools)
	for line := range bytes.Lines(events) {
		var e cli.Event
		if json.Unmarshal(line, &e) == nil {
			handle(e)
		}
	}
	end()
}

// Without gives a conversation without a CLI.
func Without(tb testing.TB, host agent.Host, tools []agent.ToolSpec) (c *conn) {
	b, err := New(Config{Home: tb.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	return newConn(b, &cli.Process{}, agent.Options{
		SessionID: "s",
		Workspace: tb.TempDir(),
		Tools:     tools,
	}, host)
}

// Begin begins a turn in a conversation without a CLI: handle takes what one says, end ends both.
func Begin(tb testing.TB, host agent.Host,
	tools []agent.ToolSpec) (handle func(cli.Event), end func()) {
	c := Without(tb, host, tools)
	t := newTurn(c.NewTurn(tb.Context()), "p1")
	c.Do(func() { c.turns.take(t); t.heard = true })
	return c.Handle, func() {
		c.Do(func() { c.turns.finish(t, nil) })
		<-t.Done
		t.Wait()
		t.Cancel(nil)
		if err := c.Close(); err != nil {
			tb.Error(err)
		}
	}
}

// Impatient has the backend give up soon a CLI that does not respond.
func Impatient(b *Backend) { b.destroyPatience = 100 * time.Millisecond }

// Share has a backend use the CLI of another.
func Share(b, with *Backend) { b.cli, b.cfg.Home = with.cli, with.cfg.Home }

// Definitions are tools in the CLI's words.
var Definitions = definitionsOf

// Added is what the tools and the guide add to each call, as the ledger counts it.
func Added(tools []agent.ToolSpec) int64 {
	b := Backend{cfg: Config{Count: func(text string) int { n, _ := tokens.Count(text); return n }}}
	return b.definitions(tools)
}

// Tap gives f each event that the CLI sends to a conversation, before the conversation has it.
func Tap(c agent.Conn, f func(cli.Event)) {
	cc := c.(*conn)
	cc.p.Remove(cc.id)
	if err := cc.p.Add(cc.id, tap{cc, f}); err != nil {
		panic(err)
	}
}

type tap struct {
	*conn
	f func(cli.Event)
}

func (t tap) Handle(e cli.Event) {
	t.f(e)
	t.conn.Handle(e)
}
