package copilot_test

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"

	"webchat/internal/agent/copilot"
	"webchat/internal/event"
	"webchat/internal/session"
)

// lines is a log that may be written by many.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A clean stop of many sessions, one of which is in the middle of an answer, is no news:
// no warning, and no word of a CLI that ended by itself or is started again.
func TestRealCleanStop(t *testing.T) {
	log := &lines{}
	t.Cleanup(func() { // behind the stop
		if log.String() != "" {
			t.Errorf("the log says %s", log)
		}
	})
	h := newHouse(t, func(c *copilot.Config) {
		c.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	})
	var last *session.Session
	for range 8 {
		last = h.session()
		h.ask(last, "hello there")
	}
	live := last.Subscribe()
	defer live.Close()
	if _, err := last.Send(t.Context(), session.Message{Content: "talk"}); err != nil {
		t.Fatal(err)
	}
	for streams := false; !streams; {
		entries, err := live.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			_, delta := e.Event.Data.(event.AssistantMessageDelta)
			streams = streams || delta
		}
	}
}
