package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
)

const (
	pieceBytes = 24 // a delta of a stream carries about so much
	pace       = 50 * time.Millisecond
)

// turn is the answer to one prompt, in the shape every agent's has: model calls, each of which says
// something and may call tools. The first error (the host's, or ctx's) makes the rest do nothing
// and is what the turn ends with.
type turn struct {
	*conn
	ctx    context.Context
	prompt agent.Prompt
	files  *tree
	err    error

	steps, calls int             // so far
	open         bool            // a model call is
	text         strings.Builder // in the open one
}

// answer runs one turn.
func (c *conn) answer(ctx context.Context, p agent.Prompt) error {
	w, err := openTree(c.options.Workspace, c.backend.path)
	if err != nil {
		return err
	}
	defer w.close()
	t := &turn{conn: c, ctx: ctx, prompt: p, files: w}
	requests, left := parse(strings.ToValidUTF8(p.Content, "\uFFFD"), w)
	for _, r := range requests {
		switch {
		case t.err != nil:
		case r.do != nil:
			r.do(t)
		case len(requests) == 1:
			t.help(r.text)
		default:
			t.say("I do not understand " + quote(r.text) + ". Say " + code("help") +
				" to see what I can do without a model.")
		}
	}
	if len(requests) == 0 {
		t.help("")
	}
	if left > 0 {
		t.say(fmt.Sprintf("I stopped after %d requests; %d are left. Send them again.", maxRequests,
			left))
	}
	return t.end()
}

// end ends what is open and returns the turn's error.
func (t *turn) end() error {
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
	text = t.gap() + strings.ToValidUTF8(text, "\uFFFD") // names of files may be anything
	for piece := range strings.SplitAfterSeq(text, " ") {
		t.delta(piece)
	}
}

// gap is what stands between the message in flight and its next paragraph.
func (t *turn) gap() string {
	if t.text.Len() == 0 {
		return ""
	}
	return "\n\n"
}

// begin opens a model call if none is open.
func (t *turn) begin() {
	if t.open {
		return
	}
	t.report(event.AssistantTurnEnd{TurnID: t.id("turn", t.steps)}, t.steps > 0)
	t.steps++
	t.open = true
	t.text.Reset()
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
		MessageID: t.id("message", t.steps), Offset: int64(t.text.Len()), DeltaContent: piece,
	}, true)
	t.text.WriteString(piece)
}

// endStep finishes the message in flight.
func (t *turn) endStep(calls []event.ToolRequest) {
	if !t.open {
		return
	}
	t.open = false
	t.report(event.AssistantMessage{
		MessageID: t.id("message", t.steps), Content: t.text.String(), ToolRequests: calls,
	}, true)
}

// call calls a tool of the session. ok is false when the session offers no such tool or the turn is
// over.
func (t *turn) call(tool string, args any) (res agent.Result, ok bool) {
	id, raw, ok := t.request(tool, tool, args)
	if !ok {
		return res, false
	}
	res, t.err = t.host.CallTool(t.ctx, agent.ToolCall{ID: id, Name: tool, Arguments: raw})
	return res, t.err == nil
}

// request ends the message in flight with the wish to call a tool, under a name.
func (t *turn) request(tool, name string, args any) (id string, raw json.RawMessage, ok bool) {
	if !t.offered[tool] {
		t.say("This session offers no tool " + code(tool) + ", so I cannot.")
		return "", nil, false
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.err = fmt.Errorf("encode the arguments of %s: %w", tool, err)
		return "", nil, false
	}
	t.begin()
	t.calls++
	id = t.id("call", t.calls)
	t.endStep([]event.ToolRequest{{ToolCallID: id, Name: name, Arguments: raw}})
	return id, raw, t.err == nil
}

// wait lets some time pass, or the turn end.
func (t *turn) wait(d time.Duration) {
	if t.err != nil {
		return
	}
	select {
	case <-time.After(d):
	case <-t.ctx.Done():
		t.err = t.ctx.Err()
	}
}

// code quotes s as Markdown code, whatever is in it.
func code(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	fence := "``"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + " " + s + " " + fence
}
