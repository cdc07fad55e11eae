package copilot_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/session"
	"webchat/internal/sessions"
)

const editing = `
-- > first --
event tool.execution_start {"toolCallId":"call_of_the_first","toolName":"edit","arguments":{"path":"a.txt"}}
event permission.requested {"requestId":"P1","permissionRequest":{"kind":"write","toolCallId":"call_of_the_first","fileName":"$ARG/a.txt","diff":"+x"}}
await session.permissions.handlePendingPermissionRequest
event tool.execution_complete {"toolCallId":"call_of_the_first","success":true}
-- > edit --
event tool.execution_start {"toolCallId":"call_of_an_edit_x","toolName":"edit","arguments":{"path":"a.txt"}}
hang
-- > patch --
event tool.execution_start {"toolCallId":"call_of_a_patch_x","toolName":"apply_patch","arguments":"*** Begin Patch\n*** Update File: b.txt\n*** Update File: ./a.txt\n"}
hang
-- > other --
event tool.execution_start {"toolCallId":"call_of_another_x","toolName":"edit","arguments":{"path":"b.txt"}}
hang
`

// A call that edits the file of another session's question waits for that, and says so until it is
// answered; whose session it is, only its user learns.
func TestEditsWaitForAnothersQuestion(t *testing.T) {
	c, _ := scripted(t, []byte(editing))
	b := backend(t, c)
	dir := t.TempDir()
	sit := func(id, user string) *talker {
		k := &talker{t: t, host: agenttest.NewHost(agenttest.DisplayTools())}
		var err error
		k.conn, err = b.Open(t.Context(), agent.Options{
			SessionID: id,
			User:      user,
			Workspace: dir,
			Tools:     agenttest.DisplayTools(),
		}, k.host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(k.close)
		return k
	}
	first := sit("first", "ann")
	asked, answer := make(chan struct{}), make(chan struct{})
	first.host.Permit = func(agent.Permission) agent.Verdict {
		close(asked)
		<-answer
		return agent.Verdict{Decision: event.Allow, By: event.DecidedByUser}
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 5)
	begin := func(k *talker, prompt string) {
		go func() { done <- k.prompt(ctx, agent.Prompt{Content: prompt}) }()
	}
	edits, anns, bobs, other := sit("edits", "ann"), sit("anns", "ann"), sit("bobs", "bob"),
		sit("other", "ann")
	begin(edits, "edit") // it comes before the question
	begin(other, "other")
	begin(first, "first "+dir)
	<-asked
	begin(anns, "patch")
	begin(bobs, "edit")
	for k, want := range map[*talker]event.OtherSession{
		edits: {SessionID: "first"},
		anns:  {SessionID: "first"},
		bobs:  {},
	} {
		k.await(func(w []*event.OtherSession) bool { return len(w) == 1 && w[0] != nil && *w[0] == want })
	}
	close(answer)
	for _, k := range []*talker{edits, anns, bobs} {
		k.await(func(w []*event.OtherSession) bool { return len(w) == 2 && w[1] == nil })
	}
	if w := other.waits(); len(w) > 0 {
		t.Errorf("the edit of another file waits for %v", w)
	}
	stop()
	for range 5 {
		<-done
	}
}

// waits returns for whom calls wait, as it was reported.
func (k *talker) waits() (all []*event.OtherSession) {
	for _, d := range k.host.Events() {
		if d, ok := d.(event.ToolExecutionProgress); ok {
			all = append(all, d.WaitsFor)
		}
	}
	return all
}

// await waits for what is reported of waiting.
func (k *talker) await(seen func([]*event.OtherSession) bool) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	defer cancel()
	if err := k.host.Wait(ctx, func(*agenttest.Host) bool { return seen(k.waits()) }); err != nil {
		k.t.Fatalf("%v: %v", err, k.waits())
	}
}

// The real CLI keeps the edit of a second session waiting, and it is reported for which question.
func TestRealEditsWaitForAnothersQuestion(t *testing.T) {
	h := newHouseIn(t, t.TempDir(), consent.ModeAsk, nil)
	if err := os.WriteFile(filepath.Join(h.dir, "tree.go"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	edit := func(as string) (*session.Session, *eventlog.Subscription, string) {
		s, err := h.manager.Create(sessions.As(t.Context(), as), sessions.Options{})
		if err != nil {
			t.Fatal(err)
		}
		live := s.Subscribe()
		t.Cleanup(live.Close)
		id, err := s.Send(t.Context(), session.Message{Content: `call edit {"path":"` +
			filepath.Join(h.dir, "tree.go") + `","old_str":"one","new_str":"two"}`})
		if err != nil {
			t.Fatal(err)
		}
		return s, live, id
	}
	// until returns once seen is true of an event.
	until := func(live *eventlog.Subscription, seen func(event.Data) bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for {
			entries, err := live.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(entries, func(e event.Entry) bool { return seen(e.Event.Data) }) {
				return
			}
		}
	}
	var question string
	asks := func(d event.Data) bool {
		p, ok := d.(event.PermissionRequested)
		question = p.RequestID
		return ok
	}
	deny := consent.Decision{Decision: event.Deny}
	first, live, firstTurn := edit("")
	until(live, asks)
	asked := question
	second, waits, secondTurn := edit("")
	until(waits, func(d event.Data) bool {
		p, ok := d.(event.ToolExecutionProgress)
		return ok && p.WaitsFor != nil && p.WaitsFor.SessionID == string(first.ID())
	})
	if err := first.Decide(t.Context(), asked, deny); err != nil {
		t.Fatal(err)
	}
	until(waits, asks)
	if err := second.Decide(t.Context(), question, deny); err != nil {
		t.Fatal(err)
	}
	for s, id := range map[*session.Session]string{first: firstTurn, second: secondTurn} {
		if _, err := s.WaitTurn(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
}
