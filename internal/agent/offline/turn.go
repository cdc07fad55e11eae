package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"webchat/internal/agent"
	"webchat/internal/event"
)

const (
	pieceBytes = 24 // a delta carries about so much
	pace       = 50 * time.Millisecond
)

// turn is the answer to one prompt, in the shape every agent's has: model calls,
// each of which says something and may call tools. The first error (the host's,
// or ctx's) makes the rest do nothing and is what the turn ends with.
type turn struct {
	*conn
	ctx    context.Context
	prompt agent.Prompt
	files  *workspace
	err    error

	steps, calls int             // so far
	open         bool            // a model call is
	said         strings.Builder // in the open one
}

// answer runs one turn.
func (c *conn) answer(ctx context.Context, p agent.Prompt) error {
	w, err := openWorkspace(c.options.Workspace, c.backend.path)
	if err != nil {
		return err
	}
	defer w.close()
	if p.MessageID == "" {
		p.MessageID = string(event.NewID())
	}
	t := &turn{conn: c, ctx: ctx, prompt: p, files: w}
	requests, left := parse(strings.ToValidUTF8(p.Content, "\uFFFD"), w.isCommand)
	if len(requests) == 0 {
		requests = []request{{act: talk}}
	}
	for _, r := range requests {
		t.do(r, len(requests) == 1)
	}
	if left > 0 {
		t.say(fmt.Sprintf("I stopped after %d requests; %d are left. Send them again.", maxRequests, left))
	}
	t.endStep(nil)
	t.report(event.AssistantTurnEnd{TurnID: t.id("turn", t.steps)}, t.steps > 0)
	return t.err
}

// id derives an identifier from the prompt's: unique in the session as that is.
func (t *turn) id(kind string, n int) string {
	return fmt.Sprintf("%s-%s%d", t.prompt.MessageID, kind, n)
}

func (t *turn) report(d event.Data, when bool) {
	if t.err == nil && when {
		t.err = t.host.Report(t.ctx, d)
	}
}

// say streams one paragraph of the message in flight.
func (t *turn) say(text string) {
	t.begin()
	text = strings.ToValidUTF8(text, "\uFFFD") // names of files may be anything
	if t.said.Len() > 0 {
		text = "\n\n" + text
	}
	for len(text) > 0 && t.err == nil {
		n := cut(text, pieceBytes)
		t.delta(text[:n])
		text = text[n:]
	}
}

// begin opens a model call if none is open.
func (t *turn) begin() {
	if t.open {
		return
	}
	t.report(event.AssistantTurnEnd{TurnID: t.id("turn", t.steps)}, t.steps > 0)
	t.steps++
	t.open = true
	t.said.Reset()
	start := event.AssistantTurnStart{TurnID: t.id("turn", t.steps)}
	if t.steps == 1 {
		start.PromptID = t.prompt.MessageID
	}
	t.report(start, true)
}

func (t *turn) delta(piece string) {
	if t.err == nil {
		t.err = t.ctx.Err()
	}
	t.report(event.AssistantMessageDelta{
		MessageID: t.id("message", t.steps), Offset: int64(t.said.Len()), DeltaContent: piece,
	}, true)
	t.said.WriteString(piece)
}

// cut returns where to end a piece of about n bytes: behind a space if there is
// one, never inside a rune.
func cut(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	if i := strings.LastIndexByte(s[:n], ' '); i > 0 {
		return i + 1
	}
	for n > 1 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// endStep finishes the message in flight.
func (t *turn) endStep(calls []event.ToolRequest) {
	if !t.open {
		return
	}
	t.open = false
	t.report(event.AssistantMessage{
		MessageID: t.id("message", t.steps), Content: t.said.String(), ToolRequests: calls,
	}, true)
}

// call calls one tool of the session for each of args, in order, and returns
// what it told a model. ok is false when the session offers no such tool or the
// turn is over.
func (t *turn) call(tool string, args ...any) (results []agent.Result, ok bool) {
	if !t.offered[tool] {
		t.say(fmt.Sprintf("This session offers no tool %s, so I cannot.", code(tool)))
		return nil, false
	}
	var requests []event.ToolRequest
	for _, a := range args {
		b, err := json.Marshal(a)
		if err != nil {
			t.err = fmt.Errorf("encode the arguments of %s: %w", tool, err)
			return nil, false
		}
		t.calls++
		requests = append(requests, event.ToolRequest{ToolCallID: t.id("call", t.calls), Name: tool, Arguments: b})
	}
	t.begin()
	t.endStep(requests)
	for _, r := range requests {
		if t.err != nil {
			return nil, false
		}
		var res agent.Result
		res, t.err = t.host.CallTool(t.ctx, agent.ToolCall{ID: r.ToolCallID, Name: r.Name, Arguments: r.Arguments})
		results = append(results, res)
	}
	return results, t.err == nil
}

// wait lets some time pass, or the turn end.
func (t *turn) wait(d time.Duration) {
	if t.err != nil {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.ctx.Done():
		t.err = t.ctx.Err()
	}
}

// code quotes s as Markdown code, whatever is in it.
func code(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 || strings.HasPrefix(s, "`") {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
