package convo

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// log is a session that keeps what it is reported.
type log struct {
	agent.Host
	mu  sync.Mutex
	all []event.Data
}

func (l *log) Report(_ context.Context, d event.Data) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, d)
	return nil
}

func (l *log) warnings() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range l.all {
		if _, ok := d.(event.SessionError); ok {
			n++
		}
	}
	return n
}

// scripted is an agent without a process, whose turn is a function.
type scripted struct{ work func(*Turn) }

func (scripted) Ready(context.Context) error { return nil }
func (s scripted) Send(t *Turn, _ agent.Prompt) error {
	t.Spawn(func() { s.work(t) })
	return nil
}
func (scripted) Abort(*Turn)  {}
func (scripted) Finish(*Turn) {}
func (scripted) End()         {}

// An agent that works on a call may be silent for as long as that takes; one that does nothing is
// reported once.
func TestALongCallIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &log{}
		var during, after int
		c := New(Config{
			Title:   "Agent",
			Host:    host,
			Silence: time.Minute,
			Agent: scripted{func(turn *Turn) {
				k := &Call{ID: "c1", Tool: "bash"}
				turn.c.Do(func() { turn.Begin(k) })
				<-time.After(time.Hour + 30*time.Second)
				during = host.warnings()
				turn.c.Do(func() { turn.Complete(k, event.ToolExecutionComplete{Success: true}) })
				<-time.After(time.Hour + 30*time.Second)
				after = host.warnings()
				turn.c.Do(func() { turn.End(nil) })
			}},
		})
		if err := c.Prompt(t.Context(), agent.Prompt{}); err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if during != 0 || after != 1 {
			t.Errorf("warned %d times during the call, %d times after it", during, after)
		}
	})
}

// A very long answer is kept as several, with no character cut in two.
func TestAVeryLongAnswer(t *testing.T) {
	host := &log{}
	c := New(Config{Title: "Agent", Host: host, Agent: scripted{func(turn *Turn) {
		turn.c.Do(func() {
			turn.Say(Answer, "", strings.Repeat("é", mostSaid/2+100))
			turn.End(nil)
		})
	}}})
	if err := c.Prompt(t.Context(), agent.Prompt{}); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	var said []string
	for _, d := range host.all {
		if m, ok := d.(event.AssistantMessage); ok {
			said = append(said, m.Content)
		}
	}
	if len(said) != 2 || len(said[0])+len(said[1]) != mostSaid+200 ||
		strings.Trim(said[0]+said[1], "é") != "" {
		t.Errorf("%d messages of %d bytes", len(said), len(strings.Join(said, "")))
	}
}

// The loop itself posts while a reader waits for room, and both go on.
func TestTheLoopPostsWhileAReaderWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Config{Title: "Agent", Host: &log{}, Agent: scripted{}})
		may := make(chan struct{})
		c.Post(func() { <-may })
		received, posted := 0, 0
		read := make(chan struct{})
		go func() {
			defer close(read)
			for range 20 {
				c.Receive(mostWaiting/2, func() {
					received++
					for range 1000 {
						c.Post(func() { posted++ })
					}
				})
			}
		}()
		synctest.Wait()
		select {
		case <-read:
			t.Error("a reader did not wait")
		default:
		}
		close(may)
		<-read
		for range 2 { // what the last report posts comes behind the first
			c.Do(func() {})
		}
		if received != 20 || posted != 20_000 {
			t.Errorf("%d of 20 reports, %d of 20000 posts", received, posted)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The end of a conversation lets go of a reader that waits for room.
func TestTheEndLetsGoOfAReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Config{Title: "Agent", Host: &log{}, Agent: scripted{}})
		may, read := make(chan struct{}), make(chan struct{})
		c.Post(func() { <-may })
		c.Post(c.end) // the loop takes nothing behind this
		go func() {
			defer close(read)
			for range 3 {
				c.Receive(mostWaiting, func() {})
			}
		}()
		synctest.Wait()
		close(may)
		<-read
	})
}
