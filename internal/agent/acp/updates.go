package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/jsonrpc"
	"webchat/internal/wording"
)

// saying is a message or a thought in flight.
type saying struct {
	id      string
	theirs  string // the agent's own id of the message
	thought bool
	text    bytes.Buffer
}

// alive notes a sign of life.
func (t *turn) alive() {
	select {
	case t.sign <- struct{}{}:
	default:
	}
}

// notified takes what the agent tells, in order.
func (c *conn) notified(p *process, method string, params json.RawMessage) {
	var n notification
	if method != "session/update" || !decode(params, &n) {
		return
	}
	c.mu.Lock()
	t, replay := c.turn, c.starting
	dropped := c.process != p || p.id != "" && n.SessionID != p.id // of a helper's conversation
	c.mu.Unlock()
	if t != nil {
		t.alive()
	}
	if !dropped && !c.conversationUpdate(n.Update, replay) && !replay && t != nil {
		c.turnUpdate(t, n.Update)
	}
}

// decode reads what an agent sends: a field of another type than it should have is left
// out, and does not hide the rest.
func decode(raw json.RawMessage, v any) bool {
	err := json.Unmarshal(raw, v)
	_, other := errors.AsType[*json.UnmarshalTypeError](err)
	return err == nil || other
}

// conversationUpdate takes what belongs to the conversation and not to a turn.
func (c *conn) conversationUpdate(u update, replay bool) bool {
	ctx := context.Background()
	switch u.SessionUpdate {
	case "config_option_update", "current_mode_update", "available_commands_update":
		c.offered(u)
	case "plan":
		todos := make([]event.Todo, 0, len(u.Entries))
		for _, e := range u.Entries {
			todos = append(todos, event.Todo{Text: e.Content, Status: event.TodoStatus(e.Status)})
		}
		if !replay {
			c.report(ctx, event.SessionTodosChanged{Todos: todos})
		}
	case "usage_update":
		if !replay && u.Size > 0 {
			c.report(ctx, event.SessionUsageInfo{TokenLimit: u.Size, CurrentTokens: u.Used})
		}
	case "session_info_update":
		if !replay && u.CallTitle != "" {
			c.report(ctx, event.SessionTitleChanged{Title: u.CallTitle})
		}
	default:
		return false
	}
	return true
}

// turnUpdate takes what belongs to a turn.
func (c *conn) turnUpdate(t *turn, u update) {
	c.told.Lock()
	defer c.told.Unlock()
	if t.over {
		return
	}
	switch u.SessionUpdate {
	case "agent_message_chunk", "agent_thought_chunk":
		var b block
		if !decode(u.Content, &b) || b.Type != "text" || u.Meta.ClaudeCode.Kind == "mcpServerStatus" {
			return
		}
		c.answers(t)
		if thought := u.SessionUpdate == "agent_thought_chunk"; thought || !c.aside(t, b.Text) {
			c.say(t, thought, u.MessageID, b.Text)
		}
	case "tool_call", "tool_call_update":
		if strings.HasPrefix(u.ToolCallID, "mcp_startup.") {
			return // of a server that does not answer: the user is told when it is tried
		}
		c.answers(t)
		c.quiet(t)
		c.update(t, u)
	}
}

// mostSaid is how many bytes one message has; the rest is another. Sessions take no longer
// ones than 16 MiB.
const mostSaid = 12 << 20

// say adds to the message in flight, or begins another.
func (c *conn) say(t *turn, thought bool, id, text string) {
	if s := &t.saying; s.id != "" && (s.thought != thought || id != s.theirs) {
		c.quiet(t)
	}
	for text = strings.ToValidUTF8(text, "\uFFFD"); text != ""; {
		piece := text
		if len(piece) > mostSaid {
			piece = strings.ToValidUTF8(piece[:mostSaid], "") // less a character that is cut in two
		}
		text = text[len(piece):]
		c.sayPiece(t, thought, id, piece)
	}
}

func (c *conn) sayPiece(t *turn, thought bool, id, text string) {
	s := &t.saying
	if s.text.Len()+len(text) > mostSaid {
		c.quiet(t)
	}
	if s.id == "" {
		s.id, s.thought, s.theirs = string(event.NewID()), thought, id
	}
	offset := int64(s.text.Len())
	s.text.WriteString(text)
	if thought {
		c.report(t.tell, event.AssistantReasoningDelta{ReasoningID: s.id, Offset: offset, DeltaContent: text})
		return
	}
	c.report(t.tell, event.AssistantMessageDelta{MessageID: s.id, Offset: offset, DeltaContent: text})
}

// quiet ends the message in flight.
func (c *conn) quiet(t *turn) {
	s := &t.saying
	if s.id == "" {
		return
	}
	text := s.text.String()
	if s.thought {
		c.report(t.tell, event.AssistantReasoning{ReasoningID: s.id, Content: text})
	} else {
		c.report(t.tell, event.AssistantMessage{MessageID: s.id, Content: text})
	}
	*s = saying{}
}

// finish closes what the turn left open and tells what it cost. It returns the error
// that the agent told of last, if that came as text.
func (c *conn) finish(t *turn, got answered) (failure string) {
	c.told.Lock()
	defer c.told.Unlock()
	t.over = true
	c.quiet(t)
	for _, id := range slices.Sorted(maps.Keys(c.calls)) {
		k := c.calls[id]
		if k.unwritten() && !k.ours || k.ours && !k.done && c.b.cfg.Mark == "" && !c.reached(t, k) { // it may be anything
			c.begin(t, k)
		}
		if k.begun && !k.done {
			k.done = true
			e := &event.ToolError{Message: "The turn ended before this did.", Code: "aborted", Kind: event.KindAborted}
			c.report(t.tell, event.ToolExecutionComplete{ToolCallID: k.id, Error: e})
		}
	}
	if n := got.Meta.Quota.TokenCount; got.Usage == nil && n.Input+n.Output > 0 {
		c.report(t.tell, event.AssistantUsage{Model: c.o.Model, InputTokens: n.Input, OutputTokens: n.Output})
	}
	if u := got.Usage; u != nil {
		c.report(t.tell, event.AssistantUsage{Model: c.o.Model, InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CacheReadTokens: u.CachedReadTokens})
	}
	if why := stops[got.StopReason]; why != "" {
		c.report(t.tell, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindProvider, Message: c.b.cfg.Title + " " + why + "."})
	}
	return said(t.failure)
}

// stops are the ends of a turn that a person should hear of.
var stops = map[string]string{
	"max_tokens":        "reached the longest answer its model gives",
	"max_turn_requests": "reached the most requests of one turn",
	"refusal":           "refused to go on",
}

var errUnknown = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "not offered"}

// asked answers the agent's requests.
func (c *conn) asked(ctx context.Context, method string, params json.RawMessage) (any, error) {
	c.mu.Lock()
	t := c.turn
	c.mu.Unlock()
	if t != nil {
		t.alive()
	}
	switch {
	case method == "session/request_permission":
		return c.permission(ctx, t, params)
	case t != nil:
		c.refused(t, method, params)
	}
	return nil, errUnknown
}

// refused tells the user of an act that webchat was asked for, though it offers none:
// some agents do it by themselves all the same.
func (c *conn) refused(t *turn, method string, params json.RawMessage) {
	var p struct {
		Path, Command string
		Args          []string
	}
	_ = json.Unmarshal(params, &p) // what is not there is not told
	act, itself := "write "+p.Path, "written the file"
	switch method {
	case "fs/write_text_file":
		if c.mayWrite(t, p.Path) {
			return
		}
	case "terminal/create":
		act, itself = "run "+strings.Join(append([]string{p.Command}, p.Args...), " "), "run the command"
	default:
		return
	}
	c.told.Lock()
	defer c.told.Unlock()
	if !t.refused[act] && !t.over {
		t.refused[act] = true
		c.report(t.tell, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindDenied,
			Message: fmt.Sprintf("%s wanted webchat to %s, which was refused. It may have %s by itself.", c.b.cfg.Title, wording.Cut(act, 300), itself)})
	}
}

// mayWrite reports whether the user allowed a write, which the agent then makes by itself:
// once for each time.
func (c *conn) mayWrite(t *turn, path string) bool {
	c.told.Lock()
	defer c.told.Unlock()
	path = c.absolute(path)
	may := t.allowed[path] > 0
	if may {
		t.allowed[path]--
	}
	return may
}

// callTool makes a call of one of the session's tools for the agent.
func (c *conn) callTool(ctx context.Context, tc agent.ToolCall) (agent.Result, error) {
	c.mu.Lock()
	t := c.turn
	if t == nil || c.closed || t.ctx.Err() != nil {
		c.mu.Unlock()
		return agent.Failure(event.KindAborted, "No turn runs, so nothing was done."), nil
	}
	c.uses.Add(1)
	t.busy++
	t.came = append(t.came, tc)
	t.tools.Add(1)
	c.mu.Unlock()
	defer t.tools.Done()
	defer func() {
		c.mu.Lock()
		t.busy--
		c.mu.Unlock()
		t.alive()
		c.uses.Done()
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	return c.host.CallTool(ctx, tc)
}
