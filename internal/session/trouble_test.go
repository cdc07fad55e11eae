package session

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Stop ends a turn that waits for the log, at once; the log hears of it later.
func TestStopWhileTheLogRefuses(t *testing.T) {
	play(t, func(r *rig, c *Config) {
		r.tools.tools = []agent.Tool{acts("run", nil,
			func(ctx context.Context, _ json.RawMessage, _ agent.Progress) (agent.Result, error) {
				r.mem.broken(errDisk)
				<-ctx.Done()
				return agent.Result{}, ctx.Err()
			})}
	}, func(r *rig) {
		ended := make(chan time.Time, 1)
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			_, err := h.CallTool(ctx, agent.ToolCall{ID: "c1", Name: "run"})
			ended <- time.Now()
			return err
		}
		id := r.send("go")
		synctest.Wait()
		r.mem.broken(nil)
		r.send("and then")
		r.mem.broken(errDisk)
		stopped := time.Now()
		is(t, r.s.Abort(r.Context(), ""), nil)
		if d := time.Since(stopped); d > time.Second {
			t.Errorf("the stop took %v", d)
		}
		if d := (<-ended).Sub(stopped); d > time.Second {
			t.Errorf("the agent went on for %v", d)
		}
		time.Sleep(time.Hour)
		equal(t, "log", r.types(),
			"session.start user.message session.title_changed turn.start tool.execution_start user.message")
		r.mem.broken(nil)
		equal(t, "outcome", r.wait(id).Outcome, event.Aborted)
		equal(t, "queued", len(r.s.queue), 1)
		equal(t, "log", r.types(),
			"session.start user.message session.title_changed turn.start tool.execution_start user.message "+
				"abort tool.execution_complete turn.end")
	})
}

// A log that takes seven seconds for a write holds up what follows, in order, and
// nothing else: not a stop, not those who join or read. The agent that waited for it
// keeps its conversation.
func TestSlowLog(t *testing.T) {
	play(t, nil, func(r *rig) {
		const slow = 7 * time.Second
		stopped := make(chan time.Time, 1)
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			if p.Content == "again" {
				return nil
			}
			context.AfterFunc(ctx, func() { stopped <- time.Now() })
			if err := stream(ctx, h, "m1", "all of it"); err != nil {
				return err
			}
			r.mem.slowly(slow)
			return h.Report(ctx, event.AssistantMessage{MessageID: "m1", Content: "all of it"})
		}
		id := r.send("go")
		synctest.Wait()
		live := r.s.Subscribe()
		defer live.Close()
		go r.backend.host.Report(context.Background(),
			event.AssistantMessageDelta{MessageID: "m2", DeltaContent: "behind"})
		began := time.Now()
		snap, err := r.s.Join(r.Context())
		if err != nil || len(snap.InFlight) != 1 {
			t.Errorf("joined %v, %v", snap.InFlight, err)
		}
		if _, err := r.s.Events(r.Context(), 0, 10); err != nil {
			t.Error(err)
		}
		is(t, r.s.Abort(r.Context(), ""), nil)
		if d := time.Since(began); d > time.Second {
			t.Errorf("reading and stopping took %v", d)
		}
		if d := (<-stopped).Sub(began); d > time.Second {
			t.Errorf("the agent was stopped after %v", d)
		}
		equal(t, "seen before it is durable", typesOf(drain(r, live)), "")
		equal(t, "outcome", r.wait(id).Outcome, event.Aborted)
		equal(t, "log", r.types(),
			"session.start user.message session.title_changed turn.start assistant.message abort turn.end")
		equal(t, "partial", all[event.AssistantMessage](r)[0].Partial, false)
		r.mem.slowly(0)
		r.ask("again")
		equal(t, "conversations", len(r.backend.opened), 1)
	})
}

// Prompts wait also after a stop that comes while the end of the turn is being logged.
func TestStopWhileTheEndIsLogged(t *testing.T) {
	play(t, nil, func(r *rig) {
		queued := make(chan struct{})
		r.backend.prompt = func(context.Context, agent.Host, agent.Prompt) error {
			<-queued
			r.mem.slowly(7 * time.Second)
			return nil
		}
		first := r.send("one")
		var rest []string
		for range 3 {
			rest = append(rest, r.send("more"))
		}
		close(queued)
		synctest.Wait()
		time.Sleep(2 * time.Second) // the end of the first turn is on its way
		is(t, r.s.Abort(r.Context(), ""), nil)
		r.mem.slowly(0)
		equal(t, "first", r.wait(first).Outcome, event.Completed)
		equal(t, "waiting", r.s.Summary().Open.Queued, len(rest))
		_, err := r.s.SendEarlier(r.Context(), rest[0])
		is(t, err, nil)
		for _, id := range rest {
			equal(t, "sent", r.wait(id).Outcome, event.Completed)
		}
		equal(t, "aborts", len(all[event.Abort](r)), 1)
	})
}

// What a user looks at is shown without the log, and says that it is not kept.
func TestLookingGoesOnWithoutTheLog(t *testing.T) {
	secret := asked()
	secret.Sensitive = true
	ran := 0
	play(t, func(r *rig, c *Config) {
		r.tools.tools = []agent.Tool{shows("show"), acts("secret", secret,
			func(context.Context, json.RawMessage, agent.Progress) (agent.Result, error) {
				ran++
				return agent.Result{}, nil
			})}
	}, func(r *rig) {
		r.mem.broken(errDisk)
		res, err := r.s.Display(r.Context(), "show", nil)
		if err != nil || !res.NotKept || res.Output == nil || res.Error != nil {
			t.Fatalf("%+v, %v", res, err)
		}
		res, err = r.s.Display(r.Context(), "secret", nil)
		if err != nil || !res.NotKept || res.Error == nil || ran != 0 {
			t.Errorf("%+v, %v, ran %d times", res, err, ran)
		}
		equal(t, "log", r.types(), "session.start")
		r.mem.broken(nil)
		if res, err = r.s.Display(r.Context(), "show", nil); err != nil || res.NotKept {
			t.Errorf("%+v, %v", res, err)
		}
		equal(t, "log", r.types(), "session.start tool.execution_start tool.execution_complete")
	})
}

// What a process left open can be read although the log cannot be written, and is
// closed when it can.
func TestReadingWhatCouldNotBeRecovered(t *testing.T) {
	play(t, nil, func(r *rig) {
		r.ask("go")
		left := r.mem.prefix(r.s.ID(), 4) // … user.message, session.title_changed, turn.start
		left.broken(errDisk)
		again := newRig(r.T, left, nil)
		s, err := again.load(r.Context(), r.s.ID())
		if err != nil {
			t.Fatal(err)
		}
		if entries, err := s.Events(r.Context(), 0, 10); err != nil || len(entries) != 4 {
			t.Errorf("%d entries, %v", len(entries), err)
		}
		_, err = s.Send(r.Context(), Message{Content: "more"})
		is(t, err, eventlog.ErrLog)
		left.broken(nil)
		time.Sleep(5 * time.Second)
		again.s = s
		again.ask("more")
		equal(t, "ends", len(all[event.TurnEnd](again)), 2)
		again.stop()
		checkLog(t, left.entries(s.ID()), true)
	})
}
