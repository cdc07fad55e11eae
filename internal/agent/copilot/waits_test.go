package copilot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
)

// busy is a session that takes no report until it may.
type busy struct {
	agent.Host
	may   chan struct{}
	bytes int
}

func (b *busy) Report(_ context.Context, d event.Data) error {
	<-b.may
	if d, ok := d.(event.AssistantMessageDelta); ok {
		b.bytes += len(d.DeltaContent)
	}
	return nil
}

// deltaOf is a piece of a message, of so many bytes.
func deltaOf(bytes int) cli.Event {
	return cli.Event{
		Type: "assistant.message_delta",
		Data: fmt.Appendf(nil, `{"messageId":"m1","deltaContent":%q}`, strings.Repeat("x", bytes)),
	}
}

// While a session takes no report, what the CLI goes on to say stays in its pipe: only a few
// megabytes of it wait here, and all of it comes in the end.
func TestABusySessionHoldsWhatIsRead(t *testing.T) {
	const piece, pieces, most = 256 << 10, 200, 8 << 20
	synctest.Test(t, func(t *testing.T) {
		host := &busy{Host: agenttest.NewHost(nil), may: make(chan struct{})}
		handle, end := copilot.Begin(t, host, nil)
		var taken atomic.Int64
		read := make(chan struct{})
		go func() {
			defer close(read)
			for range pieces {
				handle(deltaOf(piece))
				taken.Add(piece)
			}
		}()
		synctest.Wait()
		if n := taken.Load(); n == 0 || n > most {
			t.Errorf("%d bytes were read while the session took none", n)
		}
		close(host.may)
		<-read
		end()
		if host.bytes != piece*pieces {
			t.Errorf("the session got %d bytes of %d", host.bytes, piece*pieces)
		}
	})
}

// full is a session that begins no turn of the agent's own.
type full struct {
	agent.Host
	refused chan struct{}
}

func (f *full) RunTurn(ctx context.Context, _ string, _ func(context.Context) error) error {
	<-ctx.Done()
	close(f.refused)
	return ctx.Err()
}

// What an agent does by itself is held only so long as the session has not begun a turn for it: of
// very much the turn is given up.
func TestATurnThatIsNotBegunHoldsOnlySoMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &full{agenttest.NewHost(nil), make(chan struct{})}
		c := copilot.Without(t, host, nil)
		c.Handle(cli.Event{Type: "assistant.turn_start", Data: []byte(`{}`)})
		for range 200 {
			c.Handle(deltaOf(256 << 10))
		}
		<-host.refused
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A stop reaches a turn of which more has come than may wait here, and the conversation goes on.
func TestAStopReachesATurnThatIsHeld(t *testing.T) {
	piece := fmt.Sprintf(`event assistant.message_delta {"messageId":"$M-a","deltaContent":%q}`+"\n",
		strings.Repeat("x", 100<<10))
	c, _ := scripted(t, []byte("-- > flood --\nevent assistant.turn_start {}\n"+
		strings.Repeat(piece, 120)+"hang\n"+
		"-- > hello --\nevent assistant.turn_start {}\nevent assistant.message "+
		"{\"messageId\":\"$M-b\",\"content\":\"Hello.\"}\nevent assistant.turn_end {}\n"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	host := agenttest.NewHost(agenttest.DisplayTools())
	host.Fault = func(what string) {
		if strings.HasPrefix(what, "Report of assistant.message") {
			<-ctx.Done()
		}
	}
	conn, err := backend(t, c).Open(t.Context(), options(t, "held", false), host)
	if err != nil {
		t.Fatal(err)
	}
	came, full := 0, make(chan struct{})
	copilot.Tap(conn, func(e cli.Event) {
		// the reader waits with this one
		if came += len(e.Data); came-len(e.Data) <= 4<<20 && came > 4<<20 {
			close(full)
		}
	})
	prompt := func(ctx context.Context, content string) error {
		host.Begin()
		err := conn.Prompt(ctx, agent.Prompt{MessageID: content, Content: content})
		host.End(err)
		return err
	}
	go func() {
		<-full
		cancel()
	}()
	if err := prompt(ctx, "flood"); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped, Prompt returned %v", err)
	}
	if err := prompt(t.Context(), "hello"); err != nil || !slices.Contains(host.Said(), "Hello.") {
		t.Errorf("then %v, and it said %d texts", err, len(host.Said()))
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	host.Closed()
	for _, broken := range host.Broken() {
		t.Error("broken rule: ", broken)
	}
}
