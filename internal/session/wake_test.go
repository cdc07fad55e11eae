package session

import (
	"context"
	"sync"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/eventlog"
)

// An agent that begins its turns by itself needs its conversation before any prompt:
// there is one, however it was opened.
func TestWakeOpensOneConversation(t *testing.T) {
	play(t, nil, func(r *rig) {
		opened := 0
		r.backend.open = func(agent.Options) error { opened++; return nil }
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := r.s.Wake(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		id := r.send("hello")
		wg.Wait()
		r.wait(id)
		equal(t, "conversations", opened, 1)
		r.stop()
		is(t, r.s.Wake(context.Background()), eventlog.ErrClosed)
	})
}
