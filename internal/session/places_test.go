package session

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// A prompt that is sent again under its id is the same prompt: at once, by several
// senders, when its turn is over, and after a restart.
func TestPromptIsSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newMemory(), nil)
		r.s, _ = r.create(t.Context())
		send := func(s *Session, id string) {
			t.Helper()
			got, err := s.Send(t.Context(), Message{ID: id, Content: "hello"})
			if err != nil || got != id {
				t.Errorf("sent %q: %q, %v", id, got, err)
			}
		}
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { send(r.s, "mine-1") })
		}
		wg.Wait()
		r.wait("mine-1")
		send(r.s, "mine-1")
		send(r.s, "mine-2")
		equal(t, "content of a turn that is over", r.wait("mine-1").Content, r.wait("mine-2").Content)
		said := func(of *rig) (n int) {
			for _, e := range of.mem.entries(r.s.ID()) {
				if _, ok := e.Event.Data.(event.UserMessage); ok {
					n++
				}
			}
			return n
		}
		equal(t, "prompts", said(r), 2)
		r.stop()
		next := newRig(t, r.mem, nil)
		s, err := next.load(t.Context(), r.s.ID())
		if err != nil {
			t.Fatal(err)
		}
		send(s, "mine-1")
		equal(t, "prompts after a restart", said(next), 2)
		send(s, "mine-3")
		next.s = s
		next.wait("mine-3")
		equal(t, "prompts in all", said(next), 3)
		for _, id := range []string{"a b", strings.Repeat("x", 65), "é", "../x"} {
			if _, err := s.Send(t.Context(), Message{ID: id, Content: "hello"}); !errors.Is(err,
				eventlog.ErrInvalid) {
				t.Errorf("the id %q: %v", id, err)
			}
		}
		next.stop()
	})
}
