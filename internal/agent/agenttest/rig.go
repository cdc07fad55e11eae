package agenttest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// rig is one conversation under test.
type rig struct {
	tb      testing.TB
	host    *Host
	conn    agent.Conn
	opts    agent.Options
	limit   time.Duration
	before  goleak.Option
	counted int
	closed  bool
}

var sessions atomic.Int64

// open starts a conversation; the caller defers close.
func open(tb testing.TB, b agent.Backend, o Options, with func(*Host)) *rig {
	tb.Helper()
	r := &rig{tb: tb, limit: o.patience(), before: goleak.IgnoreCurrent()}
	r.opts = agent.Options{
		SessionID: fmt.Sprintf("agenttest-%d", sessions.Add(1)),
		Workspace: o.workspace(tb),
		Tools:     DisplayTools(),
	}
	r.host = NewHost(DisplayTools())
	if with != nil {
		with(r.host)
	}
	conn, err := b.Open(tb.Context(), r.opts, r.host)
	if err != nil {
		tb.Fatalf("Open: %v", err)
	}
	r.conn = conn
	return r
}

// close ends the conversation and reports every rule that was broken in it.
func (r *rig) close() {
	r.tb.Helper()
	if !r.closed {
		r.closed = true
		if err := r.inTime("Close", r.conn.Close); err != nil {
			r.tb.Errorf("Close: %v", err)
		}
		r.host.Closed()
	}
	// Once nothing of the conversation runs, nothing can call the host.
	if err := goleak.Find(r.before); err != nil {
		r.tb.Errorf("left after Close: %v", err)
	}
	for _, b := range r.host.Broken() {
		r.tb.Errorf("broken rule: %s", b)
	}
}

// inTime runs f and fails if it takes longer than the backend may.
func (r *rig) inTime(what string, f func() error) error {
	r.tb.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(r.limit):
		r.closed = true // Close would hang as well
		r.tb.Fatalf("%s did not return within %v", what, r.limit)
		return nil
	}
}

// start begins a turn; its end comes on the channel.
func (r *rig) start(ctx context.Context, content string) <-chan error {
	r.counted++
	p := agent.Prompt{MessageID: fmt.Sprintf("prompt-%d", r.counted), Content: content}
	ended := make(chan error, 1)
	r.host.Begin()
	go func() {
		err := contained(func() error { return r.conn.Prompt(ctx, p) })
		r.host.End(err)
		ended <- err
	}()
	return ended
}

// prompt runs a turn that has to succeed and returns its answer.
func (r *rig) prompt(content string) []string {
	r.tb.Helper()
	before := len(r.host.Said())
	ended := r.start(r.tb.Context(), content)
	if err := r.inTime("Prompt", func() error { return <-ended }); err != nil {
		r.tb.Errorf("Prompt(%q): %v", content, err)
	}
	return r.host.Said()[before:]
}

// mustAnswer fails unless the agent still answers.
func (r *rig) mustAnswer(o Options, when string) {
	r.tb.Helper()
	if len(r.prompt(o.Answer)) == 0 {
		r.tb.Errorf("the agent says nothing %s", when)
	}
}

// abort waits until seen, stops the turn, and checks how it ended.
func (r *rig) abort(content string, seen func(*Host) bool) {
	r.tb.Helper()
	ctx, cancel := context.WithCancel(r.tb.Context())
	defer cancel()
	ended := r.start(ctx, content)
	r.await(seen, ended)
	cancel()
	err := r.inTime("Prompt, aborted,", func() error { return <-ended })
	if !errors.Is(err, context.Canceled) {
		r.tb.Errorf("an aborted Prompt returned %v, not its context's error", err)
	}
}

// await waits until seen is true of the running turn.
func (r *rig) await(seen func(*Host) bool, ended <-chan error) {
	r.tb.Helper()
	ctx, cancel := context.WithTimeout(r.tb.Context(), r.limit)
	defer cancel()
	if err := r.host.Wait(ctx, seen); err != nil {
		select {
		case err := <-ended:
			r.tb.Fatalf("the turn ended (%v) before what was waited for", err)
		default:
			r.closed = true
			r.tb.Fatalf("what the turn was to do did not come within %v", r.limit)
		}
	}
}

// talking is true once words stream.
func talking(h *Host) bool { return deltas(h) > 0 }

// talkingAgain is true once more words stream than did until now.
func (r *rig) talkingAgain() func(*Host) bool {
	before := deltas(r.host)
	return func(h *Host) bool { return deltas(h) > before }
}

func deltas(h *Host) (n int) {
	for _, d := range h.Events() {
		if _, ok := d.(event.AssistantMessageDelta); ok {
			n++
		}
	}
	return n
}
