package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// drain returns the entries a subscription has now.
func drain(r *rig, sub *eventlog.Subscription) []event.Entry {
	r.Helper()
	synctest.Wait()
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	entries, err := sub.Next(ctx)
	if err != nil && ctx.Err() == nil {
		r.Fatal(err)
	}
	return entries
}

func TestNothingIsSeenBeforeItIsDurable(t *testing.T) {
	play(t, nil, func(r *rig) {
		live := r.s.Subscribe()
		defer live.Close()
		r.mem.broken(errDisk)
		for range 3 {
			_, err := r.s.Send(r.Context(), Message{Content: "hi"})
			is(t, err, eventlog.ErrLog)
			is(t, err, errDisk)
		}
		equal(t, "seen", typesOf(drain(r, live)), "")
		r.mem.broken(nil)
		r.ask("hi")
		equal(t, "log", r.types(),
			"session.start user.message session.title_changed turn.start assistant.message turn.end")
	})
}

// A disk that fills in the middle of a turn: the turn waits, prompts are refused, and
// when there is room the turn goes on as if nothing had been.
func TestTurnWaitsForTheLog(t *testing.T) {
	play(t, func(r *rig, c *Config) {
		r.tools.tools = []agent.Tool{acts("run", nil,
			func(context.Context, json.RawMessage, agent.Progress) (agent.Result, error) {
				r.mem.broken(errDisk)
				return agent.Result{TextForModel: "ran"}, nil
			})}
	}, func(r *rig) {
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			res, err := h.CallTool(ctx, agent.ToolCall{ID: "c1", Name: "run"})
			is(t, err, nil)
			equal(t, "result", res.TextForModel, "ran")
			return say(ctx, h, "m1", "all of it")
		}
		id := r.send("go")
		synctest.Wait()
		time.Sleep(time.Minute)
		equal(t, "status", r.s.Summary().Status, event.Running)
		equal(t, "log", r.types(),
			"session.start user.message session.title_changed turn.start tool.execution_start")
		_, err := r.s.Send(r.Context(), Message{Content: "more"})
		is(t, err, eventlog.ErrLog)
		r.mem.broken(nil)
		res := r.wait(id)
		equal(t, "content", res.Content, "all of it")
		equal(t, "log", r.types(),
			"session.start user.message session.title_changed turn.start tool.execution_start "+
				"tool.execution_complete assistant.message turn.end")
		equal(t, "success", all[event.ToolExecutionComplete](r)[0].Success, true)
		equal(t, "partial", all[event.AssistantMessage](r)[0].Partial, false)
	})
}

func TestDisplayEndsWhenTheLogIsBack(t *testing.T) {
	play(t, func(r *rig, c *Config) {
		secret := asked()
		secret.Sensitive = true
		r.tools.tools = []agent.Tool{acts("run", secret,
			func(context.Context, json.RawMessage, agent.Progress) (agent.Result, error) {
				return agent.Result{}, nil
			})}
	}, func(r *rig) {
		go r.s.Display(context.Background(), "run", nil)
		r.request()
		r.mem.broken(errDisk)
		time.Sleep(10 * time.Minute) // the question times out unlogged
		r.mem.broken(nil)
		time.Sleep(time.Minute)
		equal(t, "log", r.types(),
			"session.start tool.execution_start permission.requested permission.completed "+
				"tool.execution_complete")
		equal(t, "code", all[event.ToolExecutionComplete](r)[0].Error.Code, "denied")
	})
}

// A prompt is started when the log fails just then: the start is logged later.
func TestTurnStartWaitsForTheLog(t *testing.T) {
	play(t, nil, func(r *rig) {
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			if p.Content == "one" {
				<-ctx.Done()
			}
			return ctx.Err()
		}
		r.send("one")
		second := r.send("two")
		synctest.Wait()
		r.mem.broken(errDisk)
		r.s.mu.Lock()
		r.s.turn.cancel(errTurnOver) // the agent becomes idle
		r.s.mu.Unlock()
		time.Sleep(time.Second)
		r.mem.broken(nil)
		equal(t, "outcome", r.wait(second).Outcome, event.Completed)
	})
}

// manyEvents are more than wait for a subscriber before deltas are joined.
const manyEvents = 10_000

// However long a reader is busy, it misses nothing that is not a delta.
func TestSlowReadersMissNothing(t *testing.T) {
	play(t, nil, func(r *rig) {
		slow := r.s.Subscribe()
		defer slow.Close()
		during(r, func(ctx context.Context, h agent.Host) {
			for range manyEvents + 10 {
				if err := h.Report(ctx, event.SessionUsageInfo{}); err != nil {
					t.Error(err)
				}
			}
		})
		n := 0
		for _, e := range drain(r, slow) {
			if e.Event.Type() == "session.usage_info" {
				n++
			}
		}
		equal(t, "events", n, manyEvents+10)
	})
}

// Deltas that wait are joined, so that they cost no more than their text.
func TestDeltasAreCoalesced(t *testing.T) {
	play(t, nil, func(r *rig) {
		slow := r.s.Subscribe()
		defer slow.Close()
		text := strings.Repeat("word ", 3*manyEvents)
		during(r, func(ctx context.Context, h agent.Host) {
			if err := say(ctx, h, "m", text); err != nil {
				t.Error(err)
			}
		})
		entries := drain(r, slow)
		got, pos := "", int64(0)
		for _, e := range entries {
			if d, ok := e.Event.Data.(event.AssistantMessageDelta); ok {
				got = got[:d.Offset] + d.DeltaContent
			}
			if e.Pos <= pos {
				t.Errorf("position %d after %d", e.Pos, pos)
			}
			pos = e.Pos
		}
		equal(t, "text", got == text, true)
		if len(entries) > 100 {
			t.Errorf("%d entries", len(entries))
		}
	})
}

// state is what a reader knows of a session.
type view struct {
	log  string
	text map[string]string
}

func (v *view) take(e event.Entry) {
	switch d := e.Event.Data.(type) {
	case event.AssistantMessageDelta:
		v.text[d.MessageID] = v.text[d.MessageID][:d.Offset] + d.DeltaContent
	case event.AssistantMessage:
		v.text[d.MessageID] = d.Content
	}
	if !e.Event.Ephemeral {
		v.log += fmt.Sprintf("%d:%s ", e.Seq, e.Event.ID)
	}
}

// join makes a view as a stream does: subscribe, read the past, join, go on live.
func join(t testing.TB, s *Session) (*view, func()) {
	v := &view{text: map[string]string{}}
	sub := s.Subscribe()
	snap, err := s.Join(context.Background())
	if err != nil {
		t.Error(err)
	}
	past, err := s.Events(context.Background(), 0, 1000)
	if err != nil {
		t.Error(err)
	}
	for _, e := range past {
		if e.Seq <= snap.LastSeq {
			v.take(e)
		}
	}
	for _, e := range snap.InFlight {
		v.take(e)
	}
	return v, func() {
		for {
			entries, err := sub.Next(context.Background())
			for _, e := range entries {
				if e.Pos > snap.Pos {
					v.take(e)
				}
			}
			if err != nil {
				return
			}
		}
	}
}

// Every reader ends with the same view, whenever it joins.
func TestJoiningIsExact(t *testing.T) {
	var views []*view
	var want *view
	play(t, func(r *rig, _ *Config) { r.tools.tools = []agent.Tool{shows("show")} }, func(r *rig) {
		first, follow := join(t, r.s)
		want = first
		done := make(chan struct{})
		readers := 1
		go func() { follow(); done <- struct{}{} }()
		joinNow := func() {
			v, follow := join(t, r.s)
			views = append(views, v)
			readers++
			go func() { follow(); done <- struct{}{} }()
		}
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			offset := int64(0)
			for i := range 50 {
				w := fmt.Sprint("word", i, " ")
				if err := h.Report(ctx, event.AssistantMessageDelta{
					MessageID:    "m" + p.MessageID,
					Offset:       offset,
					DeltaContent: w,
				}); err != nil {
					return err
				}
				offset += int64(len(w))
				if i%10 == 0 {
					h.CallTool(ctx, agent.ToolCall{Name: "show"})
				}
				joinNow()
			}
			return nil
		}
		r.ask("one")
		joinNow()
		r.ask("two")
		r.stop()
		for range readers {
			<-done
		}
	})
	equal(t, "texts", len(want.text), 2)
	for i, v := range views {
		equal(t, fmt.Sprint("log of reader ", i), v.log, want.log)
		equal(t, fmt.Sprint("text of reader ", i), fmt.Sprint(v.text), fmt.Sprint(want.text))
	}
}
