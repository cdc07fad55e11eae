package session

import (
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// A conversation that is of no use is closed after a while, but not while somebody
// looks or a task runs, and the next prompt resumes it.
func TestIdleConversationRests(t *testing.T) {
	const idle = 10 * time.Minute
	play(t, func(r *rig, c *Config) {
		c.AgentIdle = idle
		r.backend.info = agent.Info{Available: true, CanResume: true}
	}, func(r *rig) {
		open := func() bool {
			r.s.mu.Lock()
			defer r.s.mu.Unlock()
			return r.s.conn != nil
		}
		pass := func(d time.Duration) { time.Sleep(d); synctest.Wait() } // of fake time
		r.ask("one")
		pass(idle - time.Second)
		equal(t, "open before its time", open(), true)
		r.ask("two")
		pass(idle - time.Second)
		equal(t, "open after another turn", open(), true)
		live := r.s.Subscribe()
		pass(5 * idle)
		equal(t, "open while somebody looks", open(), true)
		live.Close()
		if err := r.backend.host.Report(r.Context(), event.TaskStarted{TaskID: "t", Kind: event.ShellTask, Title: "x"}); err != nil {
			t.Fatal(err)
		}
		pass(5 * idle)
		equal(t, "open while a task runs", open(), true)
		if err := r.backend.host.Report(r.Context(), event.TaskCompleted{TaskID: "t"}); err != nil {
			t.Fatal(err)
		}
		pass(2 * idle)
		equal(t, "open when nothing needs it", open(), false)
		n := len(r.backend.opened)
		if res := r.ask("three"); res.Error != "" {
			t.Error(res.Error)
		}
		equal(t, "opened again", len(r.backend.opened), n+1)
		equal(t, "resumed", r.backend.opened[n].Resume, true)
	})
}
