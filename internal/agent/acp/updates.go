package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"webchat/internal/agent/convo"
	"webchat/internal/event"
	"webchat/internal/jsonrpc"
	"webchat/internal/wording"
)

// decode reads what an agent sends: a field of another type than it should have is left out, and
// does not hide the rest.
func decode(raw json.RawMessage, v any) bool {
	err := json.Unmarshal(raw, v)
	_, other := errors.AsType[*json.UnmarshalTypeError](err)
	return err == nil || other
}

// notified takes what the agent reports. What it replays while it starts is dropped.
func (c *conn) notified(method string, params json.RawMessage) {
	var n notification
	if method != "session/update" && method != ownMessage || !decode(params, &n) {
		return
	}
	c.Alive()
	c.mu.Lock()
	id := c.id
	c.mu.Unlock()
	if id != "" && n.SessionID != id { // of a helper's conversation
		return
	}
	if method == ownMessage && c.Turn() != nil {
		c.retried(n.Message)
	}
	replay := c.Starting()
	if !c.conversationUpdate(n.Update, replay) && !replay && c.Turn() != nil {
		c.turnUpdate(c.Turn(), n.Update)
	}
}

// ownMessage is the notification in which claude-agent-acp (0.100) passes on messages of Claude
// Code's own, those that a conversation asks for.
const ownMessage = "_claude/sdkMessage"

// retry is what Claude Code says while it waits before it calls its model again (2.1.316).
type retry struct {
	Subtype      string
	Attempt      int
	MaxRetries   int   `json:"max_retries"`
	RetryDelayMs int64 `json:"retry_delay_ms"`
	ErrorStatus  int   `json:"error_status"` // 0: there was no answer
	NoResponse   struct {
		WaitedMs int64 `json:"waited_ms"`
	} `json:"no_response"`
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// retried reports that the agent's provider refused a call, which the agent tries again by itself.
func (c *conn) retried(r retry) {
	if r.Subtype != "api_retry" {
		return
	}
	c.Retrying(convo.Refusal{Status: r.ErrorStatus, Within: millis(r.NoResponse.WaitedMs)}, true, millis(r.RetryDelayMs),
		fmt.Sprintf("Trying again in %s, %d of %d", wording.Span(max(time.Second, millis(r.RetryDelayMs))), r.Attempt, r.MaxRetries))
}

// conversationUpdate takes what belongs to the conversation and not to a turn.
func (c *conn) conversationUpdate(u update, replay bool) bool {
	var d event.Data
	switch u.SessionUpdate {
	case "config_option_update", "current_mode_update", "available_commands_update":
		c.offered(u)
		return true
	case "plan":
		c.steps.acted = true
		todos := make([]event.Todo, 0, len(u.Entries))
		for _, e := range u.Entries {
			todos = append(todos, event.Todo{Text: e.Content, Status: event.TodoStatus(e.Status)})
		}
		d = event.SessionTodosChanged{Todos: todos}
	case "usage_update":
		c.stepped()
		if u.Size > 0 {
			d = event.SessionUsageInfo{TokenLimit: u.Size, CurrentTokens: u.Used}
		}
	case "session_info_update":
		if s := u.Meta.Codex.ThreadStatus.Type; s != "" {
			c.broke = s == "systemError" || c.broke && s == "idle"
		}
		if u.CallTitle != "" {
			d = event.SessionTitleChanged{Title: u.CallTitle}
		}
	default:
		return false
	}
	if d != nil && !replay {
		c.Report(d)
	}
	return true
}

// turnUpdate takes what belongs to a turn.
func (c *conn) turnUpdate(t *convo.Turn, u update) {
	switch u.SessionUpdate {
	case "agent_message_chunk", "agent_thought_chunk":
		var b block
		if !decode(u.Content, &b) || b.Type != "text" || u.Meta.ClaudeCode.Kind == "mcpServerStatus" {
			return
		}
		c.answers(t)
		if thought := u.SessionUpdate == "agent_thought_chunk"; thought || !c.aside(t, b.Text) {
			t.Say(thought, u.MessageID, b.Text)
		}
	case "tool_call", "tool_call_update":
		if strings.HasPrefix(u.ToolCallID, "mcp_startup.") {
			return // of a server that does not answer, which is reported when it is tried
		}
		c.answers(t)
		c.steps.acted = true
		t.Quiet()
		c.update(t, u)
	}
}

// aside takes a text that is not part of an answer: an error of the agent's, or a notice that
// stands before an answer.
func (c *conn) aside(t *convo.Turn, text string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(text, prefix) }
	switch {
	case c.broke:
		t.Quiet()
		c.failure += text
	case slices.ContainsFunc(c.b.cfg.Failures, begins), failure(text) != "":
		t.Quiet()
		c.failure = text
	case t.Saying() || !slices.ContainsFunc(c.b.cfg.Notices, begins):
		return false
	case strings.Contains(text, "Retrying"): // it comes behind the wait (Copilot CLI 1.0.102), so there is none to end
		c.Warn(event.KindRetrying, "%s: %s", c.Title, sentence(text))
	case begins("Warning: ") && c.noticed.First(text): // it comes in every turn
		c.Warn(event.KindProvider, "%s: %s", c.Title, sentence(text))
	}
	return true
}

// answers takes what looked like an error for a part of the answer, since more follows.
func (c *conn) answers(t *convo.Turn) {
	if c.broke {
		return
	}
	text := c.failure
	c.failure = ""
	t.Say(false, "", text)
}

// failure is the message in a provider's error, as its body; empty if it is none.
func failure(text string) string {
	var body struct {
		Type  string
		Error struct{ Message string }
	}
	if json.Unmarshal([]byte(text), &body) != nil || body.Type != "error" {
		return ""
	}
	return body.Error.Message
}

// sentence is an agent's own sentence about an error, without what it puts before it.
func sentence(text string) string {
	for _, prefix := range []string{"Internal error: ", "API Error: ", "Error: ", "Warning: ", "Info: "} {
		text = strings.TrimPrefix(strings.TrimSpace(text), prefix)
	}
	if inner := failure(text); inner != "" {
		return inner
	}
	return text
}

// Finish implements [convo.Agent].
func (c *conn) Finish(t *convo.Turn) {
	for _, k := range c.calls.All() {
		if k.unwritten() && !k.ours || k.ours && !k.Done && c.b.cfg.Mark == "" && !c.reached(k) { // it may be anything
			c.begin(t, k)
		}
	}
	if n := c.answer.Meta.Quota.TokenCount; c.answer.Usage == nil && n.Input+n.Output > 0 {
		c.Report(event.AssistantUsage{Scope: event.UsageOfTurn, Model: c.Options.Model, InputTokens: n.Input, OutputTokens: n.Output})
	}
	if u := c.answer.Usage; u != nil {
		c.Report(event.AssistantUsage{Scope: event.UsageOfTurn, Model: c.Options.Model, InputTokens: u.InputTokens,
			OutputTokens: u.OutputTokens, CacheReadTokens: u.CachedReadTokens})
	}
	c.warnHidden()
	if why := stops[c.answer.StopReason]; why != "" {
		c.Warn(event.KindProvider, "%s %s.", c.Title, why)
	}
}

// stops are the ends of a turn that a person should hear of.
var stops = map[string]string{
	"max_tokens":        "reached the longest answer that its model gives",
	"max_turn_requests": "reached the most requests of one turn",
	"refusal":           "refused to go on",
}

var errUnknown = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "not offered"}

// asked answers the agent's requests.
func (c *conn) asked(ctx context.Context, method string, params json.RawMessage) (any, error) {
	c.Alive()
	if method == "session/request_permission" {
		return c.permission(ctx, params)
	}
	c.Do(func() { c.refuse(method, params) })
	return nil, errUnknown
}

// refuse warns the user of an act that webchat was asked for, though it offers none: some agents do
// it by themselves all the same. A write that the user allowed is no news, once for each time.
func (c *conn) refuse(method string, params json.RawMessage) {
	var p struct {
		Path, Command string
		Args          []string
	}
	_ = json.Unmarshal(params, &p) // what is not there is not shown
	act, itself := "write "+p.Path, "written the file"
	switch method {
	case "fs/write_text_file":
		if path := c.absolute(p.Path); c.allowed[path] > 0 {
			c.allowed[path]--
			return
		}
	case "terminal/create":
		act, itself = "run "+strings.Join(append([]string{p.Command}, p.Args...), " "), "run the command"
	default:
		return
	}
	if c.Turn() != nil && c.refused.First(act) {
		c.Warn(event.KindDenied, "%s wanted webchat to %s, which was refused. It may have %s by itself.", c.Title, wording.Cut(act, 300), itself)
	}
}
