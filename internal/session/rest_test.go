package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// idle is how long an agent's conversation stays open without use.
const idle = 10 * time.Minute

// resting plays a session whose agent's conversation is closed when idle, and can be resumed.
func resting(t *testing.T, test func(r *rig)) {
	t.Helper()
	play(t, func(r *rig, c *Config) {
		c.AgentIdle = idle
		r.backend.info = agent.Info{Available: true, CanResume: true}
	}, test)
}

// pass lets d of a bubble's time pass.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// A conversation that is of no use is closed after a while, but not while somebody
// looks or a task runs, and the next prompt resumes it.
func TestIdleConversationRests(t *testing.T) {
	resting(t, func(r *rig) {
		open := func() bool {
			r.s.mu.Lock()
			defer r.s.mu.Unlock()
			return r.s.conn != nil
		}
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
		if err := r.backend.host.Report(r.Context(), event.TaskStarted{
			TaskID: "t",
			Kind:   event.ShellTask,
			Title:  "x",
		}); err != nil {
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

// works returns the events that open and end an agent's work, and the turns between them.
func works(r *rig) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(r.types()), func(name string) bool {
		return !slices.Contains([]string{"session.start", "session.resume", "session.shutdown",
			"turn.start", "turn.end"}, name)
	}), " ")
}

// The end of a conversation by idleness is in the log, once, and what the next prompt opens goes on
// behind a resume. Neither is activity, and what models took meanwhile counts once.
func TestTheEndOfARestingConversationIsLogged(t *testing.T) {
	resting(t, func(r *rig) {
		r.ask("one")
		used := func() {
			if err := r.backend.host.Report(r.Context(), event.AssistantUsage{
				Model:       "m",
				InputTokens: 7,
			}); err != nil {
				t.Fatal(err)
			}
		}
		used()
		before := r.s.Summary()
		pass(3 * idle)
		equal(t, "after a rest", works(r), "session.start turn.start turn.end session.shutdown")
		after := r.s.Summary()
		equal(t, "it is no activity", after.Open.Active, before.Open.Active)
		equal(t, "its time", after.UpdatedAt, before.UpdatedAt)
		r.ask("two")
		equal(t, "after a prompt", works(r),
			"session.start turn.start turn.end session.shutdown session.resume turn.start turn.end")
		pass(3 * idle)
		r.s.Close()
		ends := all[event.SessionShutdown](r)
		equal(t, "ends, one for each rest and none for the close", len(ends), 2)
		equal(t, "what the first took", ends[0].Usage.InputTokens, 7)
		equal(t, "what the second took", ends[1].Usage.InputTokens, 0)
		equal(t, "in all", r.s.Summary().Usage.InputTokens, 7)
		equal(t, "the first lasted", ends[0].DurationMs, idle.Milliseconds())
		equal(t, "the second lasted", ends[1].DurationMs, idle.Milliseconds())
	})
}

// The end of an agent that died is in the log, once, behind the turn that it ended; a prompt that
// waits has its turn behind a resume.
func TestTheEndOfAKilledAgentIsLogged(t *testing.T) {
	play(t, nil, func(r *rig) {
		killed := make(chan struct{})
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			if p.Content != "dies" {
				return say(ctx, h, "a-"+p.MessageID, "Well")
			}
			<-killed
			return fmt.Errorf("signal: killed: %w", agent.ErrDied)
		}
		r.ask("lives")
		dies, waits := r.send("dies"), r.send("waits")
		close(killed)
		equal(t, "the one", r.wait(dies).Outcome, event.Failed)
		equal(t, "the next", r.wait(waits).Outcome, event.Completed)
		r.s.Close()
		equal(t, "the log", works(r),
			"session.start turn.start turn.end turn.start turn.end session.shutdown "+
				"session.resume turn.start turn.end session.shutdown")
	})
}

// An agent that dies in the last turn of this process has one end.
func TestAnAgentKilledBeforeTheCloseEndsOnce(t *testing.T) {
	play(t, nil, func(r *rig) {
		r.backend.prompt = func(context.Context, agent.Host, agent.Prompt) error { return agent.ErrDied }
		r.ask("dies")
		synctest.Wait()
		equal(t, "before the close", works(r), "session.start turn.start turn.end session.shutdown")
		r.s.Close()
		equal(t, "after it", works(r), "session.start turn.start turn.end session.shutdown")
	})
}

// A log that fails while a conversation rests takes its end with what begins next.
func TestTheEndOfAConversationWaitsForTheLog(t *testing.T) {
	resting(t, func(r *rig) {
		r.ask("one")
		r.mem.broken(errors.New("disk full"))
		pass(3 * idle)
		equal(t, "while it fails", works(r), "session.start turn.start turn.end")
		r.mem.broken(nil)
		r.ask("two")
		equal(t, "afterwards", works(r),
			"session.start turn.start turn.end session.shutdown session.resume turn.start turn.end")
	})
}
