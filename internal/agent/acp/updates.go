package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	u := n.Update
	if take := ofConversation[u.SessionUpdate]; take != nil {
		if report := take(c, u); report != nil && !c.Starting() {
			c.Report(report)
		}
	} else if t := c.Turn(); t != nil && !c.Starting() && ofTurn[u.SessionUpdate] != nil {
		ofTurn[u.SessionUpdate](c, t, u)
	}
}

// ofConversation are the updates that belong to the conversation and not to a turn, with what is
// reported of them. All that are neither here nor in ofTurn are dropped.
var ofConversation = map[string]func(c *conn, u update) event.Data{
	"config_option_update":      (*conn).offered,
	"current_mode_update":       (*conn).offered,
	"available_commands_update": (*conn).offered,
	"plan":                      (*conn).planned,
	"usage_update":              (*conn).used,
	"session_info_update":       (*conn).informed,
}

// ofTurn are the updates that belong to a turn.
var ofTurn = map[string]func(c *conn, t *convo.Turn, u update){
	"agent_message_chunk": func(c *conn, t *convo.Turn, u update) { c.chunk(t, u, convo.Answer) },
	"agent_thought_chunk": func(c *conn, t *convo.Turn, u update) { c.chunk(t, u, convo.Thinking) },
	"tool_call":           (*conn).toolCall,
	"tool_call_update":    (*conn).toolCall,
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
	after := millis(r.RetryDelayMs)
	c.Retrying(convo.Retry{
		Refusal: convo.Refusal{Status: r.ErrorStatus, Within: millis(r.NoResponse.WaitedMs)},
		Waits:   true,
		After:   after,
		Then: fmt.Sprintf("Trying again in %s, %d of %d", wording.Span(max(time.Second, after)),
			r.Attempt, r.MaxRetries),
	})
}

func (c *conn) planned(u update) event.Data {
	c.steps.acted = true
	todos := make([]event.Todo, 0, len(u.Entries))
	for _, e := range u.Entries {
		todos = append(todos, event.Todo{Text: e.Content, Status: event.TodoStatus(e.Status)})
	}
	return event.SessionTodosChanged{Todos: todos}
}

// used takes the end of a call of the model, and what is in its context.
func (c *conn) used(u update) event.Data {
	c.steps.ended(c.calls.All())
	if u.Size <= 0 {
		return nil
	}
	return event.SessionUsageInfo{TokenLimit: u.Size, CurrentTokens: u.Used}
}

func (c *conn) informed(u update) event.Data {
	if s := u.Meta.Codex.ThreadStatus.Type; s != "" {
		c.textErrors.broke = s == "systemError" || c.textErrors.broke && s == "idle"
	}
	if u.CallTitle == "" {
		return nil
	}
	return event.SessionTitleChanged{Title: u.CallTitle}
}

// chunk takes a piece of what the agent says.
func (c *conn) chunk(t *convo.Turn, u update, kind convo.TextKind) {
	var b block
	if !decode(u.Content, &b) || b.Type != "text" || u.Meta.ClaudeCode.Kind == "mcpServerStatus" {
		return
	}
	c.textErrors.follows(t)
	if kind == convo.Thinking || !c.textErrors.take(t, b.Text) {
		t.Say(kind, u.MessageID, b.Text)
	}
}

func (c *conn) toolCall(t *convo.Turn, u update) {
	if strings.HasPrefix(u.ToolCallID, "mcp_startup.") {
		return // of a server that does not answer, which is reported when it is tried
	}
	c.textErrors.follows(t)
	c.steps.acted = true
	t.Quiet()
	c.update(t, u)
}

// Finish implements [convo.Agent].
func (c *conn) Finish(t *convo.Turn) {
	for _, k := range c.calls.All() {
		// it may be anything
		if k.unwritten() && !k.lent || k.lent && !k.Done && c.b.cfg.Mark == "" && !c.lent.reached(k) {
			c.begin(t, k)
		}
	}
	if n := c.answer.Meta.Quota.TokenCount; c.answer.Usage == nil && n.Input+n.Output > 0 {
		c.Report(event.AssistantUsage{
			Scope:        event.UsageOfTurn,
			Model:        c.Options.Model,
			InputTokens:  n.Input,
			OutputTokens: n.Output,
		})
	}
	if u := c.answer.Usage; u != nil {
		c.Report(event.AssistantUsage{
			Scope:           event.UsageOfTurn,
			Model:           c.Options.Model,
			InputTokens:     u.InputTokens,
			OutputTokens:    u.OutputTokens,
			CacheReadTokens: u.CachedReadTokens,
		})
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
	c.Do(func() {
		if c.Turn() == nil {
			return
		}
		if act, itself := c.acts.refuse(method, params); act != "" {
			c.Warn(event.KindDenied, "%s wanted webchat to %s, which was refused. It may have %s by itself.",
				c.Title, wording.Cut(act, 300), itself)
		}
	})
	return nil, errUnknown
}
