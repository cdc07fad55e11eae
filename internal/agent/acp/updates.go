package acp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
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

// call is a tool call of the agent's.
type call struct {
	toolCall
	content []part
	begun   bool // reported
	done    bool
	ours    bool   // a call of one of the session's tools: that is told by itself
	shown   string // the output that was reported
	delta   string // of it, what came in pieces
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
	if method != "session/update" || json.Unmarshal(params, &n) != nil {
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
		if json.Unmarshal(u.Content, &b) != nil || b.Type != "text" || u.Meta.ClaudeCode.Kind == "mcpServerStatus" {
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

// say adds to the message in flight, or begins another.
func (c *conn) say(t *turn, thought bool, id, text string) {
	s := &t.saying
	if s.id != "" && (s.thought != thought || id != s.theirs) {
		c.quiet(t)
	}
	if text = strings.ToValidUTF8(text, "\uFFFD"); text == "" {
		return
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

// merge takes over what an update says: what it leaves out stays.
func (k *call) merge(u toolCall, content []part) {
	k.CallTitle, k.Name, k.Kind, k.Status = cmp.Or(u.CallTitle, k.CallTitle), cmp.Or(u.Name, k.Name), cmp.Or(u.Kind, k.Kind), cmp.Or(u.Status, k.Status)
	if len(u.RawInput) > 0 && string(u.RawInput) != "null" {
		k.RawInput = u.RawInput
	}
	if u.Meta.ClaudeCode.MCPServer.Name != "" {
		k.Meta.ClaudeCode = u.Meta.ClaudeCode
	}
	if len(content) > 0 {
		k.content = content
	}
	if len(u.Locations) > 0 {
		k.Locations = u.Locations
	}
	k.delta += u.Meta.TerminalOutputDelta.Data
	k.ours = k.ours || ours(*k)
}

// take returns the call of an update, which may be the first that is told of it.
func (c *conn) take(u toolCall, content []part) *call {
	k := c.calls[u.ToolCallID]
	if k == nil {
		k = &call{}
		k.ToolCallID = u.ToolCallID
		c.calls[u.ToolCallID] = k
	}
	k.merge(u, content)
	return k
}

func (c *conn) update(t *turn, u update) {
	var content []part
	_ = json.Unmarshal(u.Content, &content) // anything but such a list shows nothing
	k := c.take(u.toolCall, content)
	if k.ours || k.done || k.ToolCallID == "" {
		return
	}
	c.begin(t, k)
	if text := k.output(); text != k.shown {
		more := strings.TrimPrefix(text, k.shown)
		if !strings.HasPrefix(text, k.shown) {
			more = "\n" + text // it replaces what was there
		}
		k.shown = text
		c.report(t.tell, event.ToolExecutionPartialResult{ToolCallID: k.ToolCallID, PartialOutput: more})
	}
	switch k.Status {
	case "completed", "failed":
		c.complete(t, k)
	}
}

// begin reports the start of a call, once.
func (c *conn) begin(t *turn, k *call) {
	if k.begun {
		return
	}
	k.begun = true
	args := k.RawInput
	if len(args) == 0 || args[0] != '{' {
		args, _ = json.Marshal(map[string]string{"title": k.CallTitle}) // a string
	}
	c.report(t.tell, event.ToolExecutionStart{ToolCallID: k.ToolCallID, ToolName: k.name(), Arguments: args})
}

// name is what the call's tool is called.
func (k *call) name() string {
	if k.Name != "" {
		return k.Name
	}
	if k.Kind != "" && k.Kind != "other" {
		return k.Kind
	}
	return cmp.Or(k.CallTitle, "tool")
}

// output is what the call shows so far.
func (k *call) output() string {
	if k.delta != "" {
		return strings.ToValidUTF8(k.delta, "\uFFFD")
	}
	var b strings.Builder
	for _, p := range k.content {
		if p.Type == "content" && p.Content.Type == "text" {
			b.WriteString(p.Content.Text)
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// complete reports the end of a call.
func (c *conn) complete(t *turn, k *call) {
	k.done = true
	text := cmp.Or(k.output(), "(The agent showed no output.)")
	d := event.ToolExecutionComplete{ToolCallID: k.ToolCallID, Success: k.Status == "completed"}
	if d.Success {
		d.Result = &event.ToolResult{Content: text, DetailedContent: k.diff()}
	} else {
		d.Error = &event.ToolError{Message: text, Code: "failure", Kind: event.KindProvider}
	}
	c.report(t.tell, d)
}

// diff is what a call changes in files, as the agent tells it.
func (k *call) diff() string {
	var b strings.Builder
	if !slices.ContainsFunc(k.content, func(p part) bool { return p.Type == "diff" }) {
		var in struct{ Diff string }
		_ = json.Unmarshal(k.RawInput, &in) // most have none
		b.WriteString(strings.TrimLeft(in.Diff, "\n"))
	}
	for _, p := range k.content {
		if p.Type != "diff" {
			continue
		}
		fmt.Fprintf(&b, "--- %s\n+++ %s\n", p.Path, p.Path)
		for _, side := range []struct {
			sign string
			text *string
		}{{"-", p.OldText}, {"+", p.NewText}} {
			if side.text == nil {
				continue
			}
			for line := range strings.Lines(*side.text) {
				b.WriteString(side.sign + strings.TrimSuffix(line, "\n") + "\n")
			}
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// finish closes what the turn left open and tells what it cost. It returns the error
// that the agent told of last, if that came as text.
func (c *conn) finish(t *turn, got answered) (failure string) {
	c.told.Lock()
	defer c.told.Unlock()
	t.over = true
	c.quiet(t)
	for _, id := range slices.Sorted(maps.Keys(c.calls)) {
		if k := c.calls[id]; k.begun && !k.done && !k.ours {
			k.done = true
			e := &event.ToolError{Message: "The turn ended before this did.", Code: "aborted", Kind: event.KindAborted}
			c.report(t.tell, event.ToolExecutionComplete{ToolCallID: id, Error: e})
		}
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
	c.mu.Unlock()
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
