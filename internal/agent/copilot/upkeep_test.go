package copilot_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/session"
)

// turnOver waits for the end of the n-th turn of a session.
func (h *house) turnOver(s *session.Session, n int) event.TurnEnd {
	h.t.Helper()
	var last event.TurnEnd
	seen := 0
	h.await(s, "the end of a turn", func(d event.Data) bool {
		switch d := d.(type) {
		case event.SessionStart: // the log is read from its beginning again
			seen = 0
		case event.TurnEnd:
			seen, last = seen+1, d
		}
		return seen == n
	})
	return last
}

// summing is a model that answers the request for a summary.
func summing(r copilottest.Request) *copilottest.Reply {
	if strings.Contains(r.Messages[len(r.Messages)-1].Content, "create a detailed summary") {
		return &copilottest.Reply{Text: "<summary>alphacanary in short</summary>"}
	}
	return nil
}

// The conversation is summed up in a turn of its own, which waits for the running one and
// which prompts wait for; its call is in the ledger, and the model is sent the summary.
func TestRealCompact(t *testing.T) {
	h := newHouse(t, nil)
	h.model.Answer(summing)
	s := h.session()
	if err := s.Compact(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if end := h.turnOver(s, 1); end.Outcome != event.Failed {
		t.Errorf("to sum up nothing ended as %+v", end)
	}
	h.ask(s, "hello alphacanary one")
	h.ask(s, "hello alphacanary two")
	before := s.Summary().Usage.Calls
	if err := s.Compact(t.Context(), "the canaries"); err != nil {
		t.Fatal(err)
	}
	r := h.ask(s, "say betacanary") // it waits
	if r.Content != "You said: say betacanary" {
		t.Errorf("the prompt behind it is answered by %+v", r)
	}
	if got := s.Summary().Usage.Calls - before; got != 2 {
		t.Errorf("a summary and a prompt are %d calls", got)
	}
	h.mustSend("alphacanary in short", true)
	h.mustSend("You said: hello alphacanary", false) // it keeps the user's own words
	var start event.TurnStart
	parts := ""
	for _, d := range h.sofar(s) {
		switch d := d.(type) {
		case event.TurnStart:
			if start = d; d.Own() && d.By != event.ByUser {
				t.Errorf("the turn begins with %+v", d)
			}
			if d.Own() {
				parts += "start "
			}
		case event.SessionCompactionStart:
			parts += "compacts "
		case event.SessionCompactionComplete:
			parts += "compacted "
		}
	}
	if parts != "start compacts start compacts compacted " || start.Own() {
		t.Errorf("the log says %q", parts)
	}
	requests := h.model.Requests()
	if !slices.ContainsFunc(requests, func(r copilottest.Request) bool {
		return strings.Contains(string(r.Body), "create a detailed summary") &&
			strings.Contains(string(r.Body), "the canaries")
	}) {
		t.Error("what the summary must not lose was not said to the model")
	}
}

// A summing up is stopped like any turn, and changes nothing then.
func TestRealCompactStopped(t *testing.T) {
	h := newHouse(t, nil)
	s := h.session()
	h.ask(s, "hello alphacanary")
	asked := make(chan struct{}, 10)
	hold, release := context.WithCancel(t.Context())
	defer release()
	h.model.Answer(func(r copilottest.Request) *copilottest.Reply {
		if reply := summing(r); reply != nil {
			asked <- struct{}{}
			<-hold.Done()
			return reply
		}
		return nil
	})
	if err := s.Compact(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := s.Abort(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if end := h.turnOver(s, 2); end.Outcome != event.Aborted {
		t.Errorf("it ended as %+v", end)
	}
	release()
	h.ask(s, "say betacanary")
	h.mustSend("hello alphacanary", true)
}

// What was said is forgotten, the log keeps it, and mode and effort are as they were.
func TestRealClear(t *testing.T) {
	h := newHouse(t, func(c *copilot.Config) { c.Providers[0].Models[0].Reasoning = true })
	s := h.session()
	if err := s.Clear(t.Context()); err != nil { // nothing was said
		t.Error(err)
	}
	if err := errors.Join(s.SetMode(t.Context(), "plan"),
		s.SetEffort(t.Context(), "high")); err != nil {
		t.Fatal(err)
	}
	h.ask(s, "hello alphacanary")
	h.ask(s, `call sql {"description":"list","query":"INSERT INTO todos (id, title) VALUES ('a', 'first')"}`)
	if err := s.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.ask(s, "say betacanary")
	h.mustSend("alphacanary", false)
	h.mustSend("[[PLAN]] say betacanary", true)
	h.mustSend(`"reasoning_effort":"high"`, true)
	if offered := h.model.Requests()[len(h.model.Requests())-1].Offered(); slices.Contains(offered,
		"view") || !slices.Contains(offered, "display_image") {
		t.Errorf("then it is offered %q", offered)
	}
	said := 0
	for _, d := range h.sofar(s) {
		if r, ok := d.(event.SessionRewound); ok {
			said++
			if _, err := s.Prompt(t.Context(), r.ToMessageID); err == nil {
				t.Error("a prompt that was forgotten can be gone back to")
			}
		}
	}
	if said != 1 {
		t.Errorf("that it was forgotten is in the log %d times", said)
	}
	if _, err := s.Send(t.Context(), session.Message{Content: "talk"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Clear(t.Context()); !errors.Is(err, session.ErrWorking) {
		t.Errorf("while a turn runs it returned %v", err)
	}
	if err := s.Abort(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
}

// What the agent works with is reported before the first prompt, in parts that add up.
func TestRealInside(t *testing.T) {
	dir := plant(t, "AGENTS.md: Always answer briefly, and name the file you are talking about.",
		".github/copilot-instructions.md: Be kind.")
	h := newHouseIn(t, dir, consent.ModeAllow, nil)
	s := h.session()
	all, err := s.Inside(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]int64{}
	sum := int64(0)
	for _, p := range all.Context.Parts {
		parts[p.Name] = p.Tokens
		sum += p.Tokens
	}
	if sum != all.Context.Used || all.Context.Limit != 128000 || all.Context.Model != "fake-1" ||
		parts["System prompt"] < 1000 ||
		parts["Instruction files"] < 10 || parts["Tools"] < 1000 {
		t.Errorf("the context is %+v", all.Context)
	}
	if len(all.Instructions) != 2 || all.Instructions[0].Tokens == 0 ||
		!slices.ContainsFunc(all.Instructions, func(i agent.Instruction) bool {
			return i.Path == "AGENTS.md"
		}) {
		t.Errorf("the instruction files are %+v", all.Instructions)
	}
	if !slices.ContainsFunc(all.Helpers, func(h agent.Helper) bool {
		return h.Name == "explore" && strings.Contains(h.About, "Read-only")
	}) {
		t.Errorf("the helpers are %+v", all.Helpers)
	}
	if all.Skills == nil || len(all.Skills) > 0 {
		t.Errorf("the skills are %+v", all.Skills)
	}
	h.ask(s, "hello "+strings.Repeat("word ", 2000))
	all, err = s.Inside(t.Context())
	if last := all.Context.Parts[len(all.Context.Parts)-1]; err != nil ||
		last.Name != "Conversation and attachments" || last.Tokens < 2000 {
		t.Errorf("after a long prompt the context is %+v, %v", all.Context, err)
	}
}

// A prompt that begins with / is a text for the model: what the CLI's own screen would take
// for a command does nothing here.
func TestRealSlashesAreText(t *testing.T) {
	h := newHouse(t, nil)
	s := h.session()
	for _, prompt := range []string{"/compact", "/clear now", "/allow-all on", "/model fake-2"} {
		if r := h.ask(s, prompt); r.Content != "You said: "+prompt {
			t.Errorf("%s is answered by %+v", prompt, r)
		}
	}
	if got := s.Choices(t.Context()).Model; got != "fake-1" {
		t.Errorf("the model is %q", got)
	}
}
