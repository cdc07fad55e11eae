package session

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Prompts that wait are edited, moved and taken back; who waits for one of them hears of it
// under the id that it had at first.
func TestWaitingPromptsChange(t *testing.T) {
	play(t, nil, func(r *rig) {
		gate := make(chan struct{})
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			<-gate
			return say(ctx, h, "m-"+p.MessageID, p.Content)
		}
		first := r.send("one")
		synctest.Wait()
		a, b, c := r.send("a"), r.send("b"), r.send("c")
		must := func(_ string, err error) {
			t.Helper()
			is(t, err, nil)
		}
		must(r.s.EditWaiting(r.Context(), b, "b, edited"))
		must(r.s.EditWaiting(r.Context(), b, "b, edited twice"))
		must(r.s.SendEarlier(r.Context(), c))
		must(r.s.SendEarlier(r.Context(), a)) // it is the first
		_, err := r.s.EditWaiting(r.Context(), b, " ")
		is(t, err, ErrEmpty)
		is(t, r.s.Withdraw(r.Context(), a), nil)
		is(t, r.s.Withdraw(r.Context(), a), consent.ErrGone)
		_, err = r.s.EditWaiting(r.Context(), first, "late")
		is(t, err, consent.ErrGone)
		equal(t, "waiting", r.s.Summary().Open.Queued, 2)
		equal(t, "taken back", r.wait(a).Outcome, event.Aborted)
		close(gate)
		equal(t, "edited", r.wait(b).Content, "b, edited twice")
		equal(t, "moved", r.wait(c).Content, "c")
		var order []string
		for _, p := range r.backend.prompts {
			order = append(order, p.Content)
		}
		equal(t, "order", strings.Join(order, " | "), "one | c | b, edited twice")
		equal(t, "waiting", r.s.Summary().Open.Queued, 0)
		checkLog(t, r.mem.entries(r.s.ID()), true)
	})
}

// What waits goes on waiting after a stop, in order and with the edited text, also in the
// next process; it goes on with the first of it, or with another prompt, which comes before it.
func TestWhatWaitsOutlivesAStopAndTheProcess(t *testing.T) {
	var mem *memory
	var id eventlog.ID
	play(t, nil, func(r *rig) {
		mem, id = r.mem, r.s.ID()
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			<-ctx.Done()
			return ctx.Err()
		}
		first := r.send("one")
		synctest.Wait()
		a, b := r.send("a"), r.send("b")
		_, err := r.s.EditWaiting(r.Context(), a, "a, edited")
		is(t, err, nil)
		_, err = r.s.SendEarlier(r.Context(), b)
		is(t, err, nil)
		is(t, r.s.Abort(r.Context(), ""), nil)
		equal(t, "stopped", r.wait(first).Outcome, event.Aborted)
		synctest.Wait()
		equal(t, "prompts of the agent", len(r.backend.prompts), 1)
		equal(t, "status", r.s.Summary().Status, event.Idle)
	})
	for _, again := range []string{"", "this first"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, mem.prefix(id, len(mem.entries(id))), nil)
			s, err := r.load(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			r.s = s
			synctest.Wait()
			equal(t, "waiting", s.Summary().Open.Queued, 2)
			equal(t, "prompts of the agent", len(r.backend.prompts), 0)
			last, want := s.queue[1].id, "b | a, edited"
			if again == "" {
				_, err = s.SendEarlier(r.Context(), s.queue[0].id)
				is(t, err, nil)
			} else {
				r.ask(again)
				want = again + " | " + want
			}
			equal(t, "edited", r.wait(last).Content, "You said a, edited")
			var order []string
			for _, p := range r.backend.prompts {
				order = append(order, p.Content)
			}
			equal(t, "order", strings.Join(order, " | "), want)
			r.stop()
			checkLog(t, r.mem.entries(id), true)
		})
	}
}
