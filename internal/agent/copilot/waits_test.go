package copilot_test

import (
	"context"
	"fmt"
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
	return cli.Event{Type: "assistant.message_delta", Data: fmt.Appendf(nil, `{"messageId":"m1","deltaContent":%q}`, strings.Repeat("x", bytes))}
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
