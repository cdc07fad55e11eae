package session

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// full is an error of a disk that says what to do.
type full struct{}

func (full) Error() string  { return "the disk is full" }
func (full) Advice() string { return "Free some space" }

// Whoever reads any session already, and whoever comes later, is told that nothing
// can be saved, and that it can again; the log says nothing of it.
func TestTroubleIsTold(t *testing.T) {
	play(t, nil, func(r *rig) {
		other, err := r.m.Create(r.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		live, list := other.Subscribe(), r.m.Watch()
		defer live.Close()
		defer list.Close()
		told := func(e event.Entry, kind, text string) {
			t.Helper()
			d, ok := e.Event.Data.(event.SessionError)
			if !ok || d.ErrorType != kind || !strings.Contains(d.Message, text) || !e.Event.Ephemeral {
				t.Errorf("told %+v", e)
			}
		}
		r.mem.broken(full{})
		_, err = r.s.Send(r.Context(), Message{Content: "hi"})
		is(t, err, ErrLog)
		now := drain(r, live)
		equal(t, "at once", typesOf(now), "session.error")
		told(now[0], ErrorLog, "the disk is full. Free some space")
		snap, err := other.Join(r.Context())
		if err != nil || len(snap.Trouble) != 1 {
			t.Fatalf("%v, %v", snap.Trouble, err)
		}
		told(snap.Trouble[0], ErrorLog, "the disk is full")
		if got, err := list.Next(r.Context()); err != nil || len(got) != 1 {
			t.Errorf("the list heard %v, %v", got, err)
		} else {
			told(got[0], ErrorLog, "the disk is full")
		}
		r.mem.broken(nil)
		time.Sleep(lastRetry)
		over := drain(r, live)
		equal(t, "over", typesOf(over), "session.error")
		told(over[0], ErrorSaved, "saved again")
		if snap, err = other.Join(r.Context()); err != nil || len(snap.Trouble) != 0 || r.m.Unsaved() != "" {
			t.Errorf("%v, %v", snap.Trouble, err)
		}
		if got, err := list.Next(r.Context()); err != nil || len(got) != 1 {
			t.Errorf("the list heard %v, %v", got, err)
		} else {
			told(got[0], ErrorSaved, "saved again")
		}
		equal(t, "log", other.Summary().LastSeq, 1)
	})
}

// Stop ends a turn that waits for the log, at once; the log hears of it later.
func TestStopWhileTheLogRefuses(t *testing.T) {
	play(t, func(r *rig, c *Config) {
		r.tools.tools = []agent.Tool{acts("run", nil, func(ctx context.Context, _ json.RawMessage, _ agent.Progress) (agent.Result, error) {
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
		queued := r.send("and then")
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
		equal(t, "log", r.types(), "session.start user.message session.title_changed turn.start tool.execution_start user.message")
		r.mem.broken(nil)
		equal(t, "outcome", r.wait(id).Outcome, event.Aborted)
		equal(t, "outcome", r.wait(queued).Outcome, event.Aborted)
		equal(t, "log", r.types(), "session.start user.message session.title_changed turn.start tool.execution_start user.message "+
			"abort tool.execution_complete turn.end turn.start turn.end")
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
		go r.backend.host.Report(context.Background(), event.AssistantMessageDelta{MessageID: "m2", DeltaContent: "behind"})
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
		equal(t, "log", r.types(), "session.start user.message session.title_changed turn.start assistant.message abort turn.end")
		equal(t, "partial", all[event.AssistantMessage](r)[0].Partial, false)
		r.mem.slowly(0)
		r.ask("again")
		equal(t, "conversations", len(r.backend.opened), 1)
	})
}

// Prompts that a stop drops while the end of the turn is being logged are not lost.
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
		for _, id := range rest {
			equal(t, "dropped", r.wait(id).Outcome, event.Aborted)
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
		r.tools.tools = []agent.Tool{shows("show"), acts("secret", secret, func(context.Context, json.RawMessage, agent.Progress) (agent.Result, error) {
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
		s, err := again.m.Get(r.Context(), r.s.ID())
		if err != nil {
			t.Fatal(err)
		}
		if entries, err := s.Events(r.Context(), 0, 10); err != nil || len(entries) != 4 {
			t.Errorf("%d entries, %v", len(entries), err)
		}
		_, err = s.Send(r.Context(), Message{Content: "more"})
		is(t, err, ErrLog)
		left.broken(nil)
		time.Sleep(lastRetry)
		again.s = s
		again.ask("more")
		equal(t, "ends", len(all[event.TurnEnd](again)), 2)
		if err := again.stop(); err != nil {
			t.Error(err)
		}
		checkLog(t, left.entries(s.ID()), true)
	})
}

// Marks and deletions are refused like everything else, and a deletion that was
// accepted is finished when it can be.
func TestDeletingWhileTheLogRefuses(t *testing.T) {
	play(t, nil, func(r *rig) {
		other, err := r.m.Create(r.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		pinned := true
		r.mem.broken(errDisk)
		_, err = r.m.Update(r.Context(), other.ID(), Patch{Pinned: &pinned})
		is(t, err, ErrLog)
		is(t, r.m.Delete(r.Context(), other.ID()), ErrLog)
		if sum := other.Summary(); sum.Pinned || !sum.DeletedAt.IsZero() {
			t.Errorf("it is %+v", sum)
		}
		r.mem.broken(nil)
		is(t, r.m.Delete(r.Context(), other.ID()), nil)
		r.mem.broken(errDisk)
		time.Sleep(2 * UndoDelete)
		equal(t, "sessions", r.mem.count(), 2)
		_, err = r.m.Restore(r.Context(), other.ID())
		is(t, err, ErrNotFound)
		r.mem.broken(nil)
		time.Sleep(2 * lastRetry)
		equal(t, "sessions", r.mem.count(), 1)
	})
}

// A write that fails for what was to be written is nobody's trouble.
func TestOtherErrorsAreNoTrouble(t *testing.T) {
	play(t, nil, func(r *rig) {
		for _, err := range []error{ErrInvalid, ErrNotFound, context.Canceled} {
			if got := r.m.wrote(err, 0); !errors.Is(got, err) || errors.Is(got, ErrLog) || r.m.Unsaved() != "" {
				t.Errorf("%v became %v", err, got)
			}
		}
	})
}
