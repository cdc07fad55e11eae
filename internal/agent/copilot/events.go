package copilot

import (
	"encoding/json"
	"strings"

	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// handlers are the events of the CLI that are handled: all others are dropped.
// Those of helper agents, which look the same, are told apart by agentId.
var handlers = map[string]func(*conn, cli.Event){
	"user.message":                      (*conn).onUserMessage, // that it began; the text ends here
	"assistant.idle":                    (*conn).onIdle,        // session.idle waits for what runs in the background
	"session.idle":                      (*conn).onIdle,
	"system.notification":               (*conn).onNotification,
	"session.background_tasks_changed":  (*conn).onTasksChanged,
	"tool.shell_output":                 (*conn).onShellOutput,
	"session.error":                     (*conn).onError,
	"session.warning":                   (*conn).onWarning,
	"session.title_changed":             (*conn).onTitle,
	"session.model_change":              (*conn).onModel,
	"session.mode_changed":              (*conn).onMode,
	"session.todos_changed":             (*conn).onTodos,
	"session.usage_info":                (*conn).onUsageInfo,
	"session.tools_updated":             (*conn).onToolsUpdated,
	"session.truncation":                (*conn).onTruncation,
	"session.compaction_start":          (*conn).onCompactionStart,
	"session.compaction_complete":       (*conn).onCompactionComplete,
	"session.mcp_server_status_changed": (*conn).onServerStatus,
	"assistant.turn_start":              (*conn).onStepStart,
	"assistant.turn_end":                (*conn).onStepEnd,
	"assistant.turn_retry":              (*conn).onRetry,
	"model.call_failure":                (*conn).onCallFailure, // its status only
	"assistant.message_delta":           (*conn).onMessageDelta,
	"assistant.reasoning_delta":         (*conn).onReasoningDelta,
	"assistant.message":                 (*conn).onMessage,
	"assistant.reasoning":               (*conn).onReasoning,
	"assistant.usage":                   (*conn).onUsage,
	"assistant.tool_call_delta":         (*conn).onCallDelta,
	"tool.execution_start":              (*conn).onToolStart,
	"tool.execution_progress":           (*conn).onToolProgress,
	"tool.execution_partial_result":     (*conn).onToolPartial,
	"tool.execution_complete":           (*conn).onToolComplete,
	"external_tool.requested":           (*conn).onToolRequested,
	"permission.requested":              (*conn).onPermission,
	"subagent.started":                  (*conn).onHelperStarted,
	"subagent.selected":                 (*conn).onHelperSelected,
	"subagent.completed":                (*conn).onHelperCompleted,
	"subagent.failed":                   (*conn).onHelperFailed,
}

// ofSession are the events that may come while no turn runs; all others are of
// the turn.
var ofSession = map[string]bool{
	"session.title_changed": true, "session.model_change": true, "session.mode_changed": true, "session.todos_changed": true, "session.usage_info": true, "session.truncation": true,
	"session.compaction_start": true, "session.compaction_complete": true, "session.mcp_server_status_changed": true,
	"system.notification": true, "session.background_tasks_changed": true, "tool.shell_output": true, "assistant.usage": true,
	"subagent.completed": true, "subagent.failed": true,
}

// early are the events that may come in a turn before its user.message. Others
// that do are the end of an earlier turn.
var early = map[string]bool{
	"user.message": true, "session.error": true, "session.warning": true, "session.idle": true, "assistant.idle": true, "session.tools_updated": true,
}

// Handle implements [cli.Session].
func (c *conn) Handle(e cli.Event) {
	if handlers[e.Type] != nil { // it is on the list
		c.post(func() { c.handle(e) })
	}
}

// handle takes one event. It runs on the loop.
func (c *conn) handle(e cli.Event) {
	if c.broken.Load() || e.AgentID != "" && (strings.HasPrefix(e.Type, "session.") && e.Type != "session.background_tasks_changed" || privately[e.Type]) {
		return // it is over, or a helper's own affairs
	}
	if !ofSession[e.Type] && !c.belongs(e) {
		return
	}
	handlers[e.Type](c, e)
}

// privately are the events of helper agents that are not passed on.
var privately = map[string]bool{"user.message": true, "assistant.turn_start": true, "assistant.turn_end": true, "assistant.idle": true, "system.notification": true}

// belongs reports whether an event that is a turn's has one. One with which the
// agent begins by itself opens a turn; while that is not logged, its events are held.
func (c *conn) belongs(e cli.Event) bool {
	t := c.scope(e)
	if t == nil && e.Type == "session.tools_updated" {
		c.loop.retool = true // looked at with the next turn
		return false
	}
	if t == nil && begins[e.Type] && e.AgentID == "" {
		c.goOn("The agent went on by itself.")
		t = c.loop.turn
	}
	switch {
	case t == nil:
		return false
	case t.pending:
		t.backlog = append(t.backlog, func() { c.handle(e) })
		return false
	}
	return t.heard || t.joined || early[e.Type]
}

// decode reads the data of an event; what cannot be read counts as not sent.
func decode[T any](c *conn, e cli.Event) (d T, ok bool) {
	if err := json.Unmarshal(e.Data, &d); err != nil {
		c.b.cfg.Logger.Warn("copilot: an event could not be read", "type", e.Type, "bytes", len(e.Data))
		return d, false
	}
	return d, true
}

func (c *conn) onIdle(cli.Event) { c.rest(c.loop.turn) }

func (c *conn) onError(e cli.Event) {
	d, ok := decode[struct {
		ErrorType, Message string
		StatusCode         int
	}](c, e)
	if !ok {
		return
	}
	t := c.loop.turn
	t.heard = t.heard || !t.joined
	t.refused = nil // it is not tried again
	if t.aborted {
		return // that it was stopped is known
	}
	text := c.b.cli.Advise(d.StatusCode, d.Message, c.own())
	if d.ErrorType == "" {
		d.ErrorType = "backend"
	}
	c.report(event.SessionError{Message: text, ErrorType: d.ErrorType, Kind: kindOf(d.ErrorType, d.StatusCode), StatusCode: d.StatusCode})
	t.failure = &turnError{text}
}

// kindOf is the kind of an error by the CLI's own name for it, which says more than
// a status that may be missing.
func kindOf(theirs string, status int) event.ErrorKind {
	switch theirs {
	case "authentication", "authorization":
		return event.KindDenied
	case "rate_limit", "quota":
		return event.KindLimit
	}
	return event.KindOfStatus(status)
}

// turnError is a failure that was reported already, in the same words.
type turnError struct{ text string }

func (e *turnError) Error() string { return e.text }

// onWarning carries what the CLI warns of, but not that a tool was interrupted
// by the death of an earlier process: that was told when it happened.
func (c *conn) onWarning(e cli.Event) {
	d, ok := decode[struct{ WarningType, Message string }](c, e)
	if ok && d.WarningType != "interrupted_tools" && d.Message != "" {
		c.report(event.SessionError{Message: wording.Cut(d.Message, 400), ErrorType: event.ErrorWarning, Kind: event.KindProvider})
	}
}

func (c *conn) onTitle(e cli.Event) {
	if d, ok := decode[event.SessionTitleChanged](c, e); ok && d.Title != "" {
		c.report(event.SessionTitleChanged{Title: wording.Cut(d.Title, 200)})
	}
}

func (c *conn) onModel(e cli.Event) {
	d, ok := decode[event.SessionModelChange](c, e)
	m := ourModel(d.NewModel)
	if !ok || m == "" {
		return
	}
	c.mu.Lock()
	other := m != c.model
	c.model = m
	c.mu.Unlock()
	if other {
		c.report(event.SessionModelChange{NewModel: m})
	}
}

func (c *conn) onUsageInfo(e cli.Event) {
	if d, ok := decode[event.SessionUsageInfo](c, e); ok {
		d.Extra = extra(e, "systemTokens", "conversationTokens", "toolDefinitionsTokens")
		c.report(d)
	}
}

// extra returns the named fields of an event if they are numbers: other fields
// may hold what was said, as a summary does.
func extra(e cli.Event, names ...string) event.Extra {
	var all map[string]json.RawMessage
	if json.Unmarshal(e.Data, &all) != nil {
		return nil
	}
	some := event.Extra{}
	for _, n := range names {
		var number float64
		if raw, ok := all[n]; ok && json.Unmarshal(raw, &number) == nil {
			some[n] = raw
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some
}

func (c *conn) onTruncation(e cli.Event) {
	c.report(event.SessionTruncation{Extra: extra(e, "tokenLimit", "preTruncationTokensInMessages", "postTruncationTokensInMessages",
		"messagesRemovedDuringTruncation", "tokensRemovedDuringTruncation")})
}

func (c *conn) onCompactionStart(e cli.Event) {
	c.report(event.SessionCompactionStart{Extra: extra(e, "currentTokens", "tokenLimit")})
}

// onCompactionComplete also counts the call of a model that summed it up, which no
// assistant.usage tells.
func (c *conn) onCompactionComplete(e cli.Event) {
	d, ok := decode[struct {
		Success              *bool // not in every version
		CompactionTokensUsed *event.AssistantUsage
	}](c, e)
	if u := d.CompactionTokensUsed; ok && u != nil && u.InputTokens+u.OutputTokens > 0 {
		u.Model, u.QuotaSnapshots, u.Extra = ourModel(u.Model), nil, nil
		c.report(*u)
	}
	if d.Success != nil && !*d.Success {
		return // why, the call says that wanted it; else the CLI tries again
	}
	c.report(event.SessionCompactionComplete{Extra: extra(e, "messagesRemoved", "tokensRemoved", "preCompactionTokens", "postCompactionTokens")})
}

// onServerStatus says once for each MCP server that it does not work; the
// session goes on without.
func (c *conn) onServerStatus(e cli.Event) {
	d, ok := decode[struct{ ServerName, Name, Status, Error string }](c, e)
	if d.ServerName == "" {
		d.ServerName = d.Name
	}
	if _, configured := c.b.cfg.MCPServers[d.ServerName]; !ok || !configured || d.Status != "failed" || c.loop.failed[d.ServerName] {
		return
	}
	c.loop.failed[d.ServerName] = true
	c.report(event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindProvider,
		Message: "The MCP server " + d.ServerName + " does not work, the session goes on without it: " + wording.Cut(d.Error, 300)})
}

// onToolsUpdated looks again at what is offered: a server of the user may have
// brought new tools. The turn stops if view is among them.
func (c *conn) onToolsUpdated(cli.Event) {
	t := c.loop.turn
	c.loop.retool = false
	t.work.Go(c.contained(func() {
		err := c.inspect(t.ctx)
		if err == nil || t.ctx.Err() != nil {
			return
		}
		c.post(func() {
			if t.failure == nil {
				t.failure = err
			}
		})
		if err := c.ask(t.ctx, "session.abort", c.named(nil), nil); err != nil && t.ctx.Err() == nil {
			c.post(func() { c.finish(t, err) })
		}
	}))
}

func (c *conn) onUsage(e cli.Event) {
	d, ok := decode[event.AssistantUsage](c, e)
	if !ok {
		return
	}
	d.Model = ourModel(d.Model)
	if string(d.QuotaSnapshots) == "{}" {
		d.QuotaSnapshots = nil
	}
	d.DefinitionTokens = c.cost // a helper agent is offered them, too
	c.report(d)
}

// helper returns our id of the call that started the helper agent of e; empty
// for the main agent.
func (c *conn) helper(e cli.Event) string {
	if e.AgentID == "" {
		return ""
	}
	return c.loop.agents[e.AgentID]
}

type nativeHelper struct {
	ToolCallID, AgentID, AgentName, AgentDisplayName, AgentDescription, ExecutionMode, Error string
}

func (h nativeHelper) name() string {
	if h.AgentDisplayName != "" {
		return h.AgentDisplayName
	}
	return h.AgentName
}

// starter returns the call that started the helper agent e is about.
func (c *conn) starter(e cli.Event) (h nativeHelper, call string, ok bool) {
	if h, ok = decode[nativeHelper](c, e); !ok {
		return h, "", false
	}
	if call = c.helper(e); call == "" {
		call = c.started(h.ToolCallID)
	}
	if id := e.AgentID + h.AgentID; id != "" && call != "" && c.loop.agents[id] == "" {
		c.loop.agents[id] = call
	}
	return h, call, call != ""
}

// started returns our id of a call of the running turn, or of a helper in the
// background.
func (c *conn) started(id string) string {
	if t := c.loop.turn; t != nil && t.calls[id] != "" {
		return t.calls[id]
	}
	for _, t := range c.loop.helpers {
		if t.calls[id] != "" {
			return t.calls[id]
		}
	}
	return ""
}

func (c *conn) onHelperStarted(e cli.Event) {
	h, call, ok := c.starter(e)
	if !ok {
		return
	}
	c.report(event.SubagentStarted{ToolCallID: call, AgentName: h.name()})
	id := e.AgentID + h.AgentID
	if h.ExecutionMode == "background" && id != "" {
		title := h.AgentDescription
		if title == "" {
			title = h.name()
		}
		c.beginHelper(id, call, title)
	} else if s := c.working(call); s != nil {
		c.loop.helpers[id] = s // a helper's helper
	}
}

// working returns the place of the helper in the background that made a call, if
// one did.
func (c *conn) working(call string) *turn {
	for _, s := range c.loop.helpers {
		if s.tools[call] != nil {
			return s
		}
	}
	return nil
}

func (c *conn) onHelperSelected(e cli.Event) {
	if h, call, ok := c.starter(e); ok {
		c.report(event.SubagentSelected{ToolCallID: call, AgentName: h.name()})
	}
}

func (c *conn) onHelperCompleted(e cli.Event) {
	if h, call, ok := c.starter(e); ok {
		c.report(event.SubagentCompleted{ToolCallID: call, AgentName: h.name()})
		c.helperEnded(e, h, event.Completed)
	}
}

func (c *conn) onHelperFailed(e cli.Event) {
	if h, call, ok := c.starter(e); ok {
		c.report(event.SubagentFailed{ToolCallID: call, AgentName: h.name(), Error: wording.Cut(h.Error, 300)})
		c.helperEnded(e, h, event.Failed)
	}
}

// helperEnded ends the task of a helper that worked in the background.
func (c *conn) helperEnded(e cli.Event, h nativeHelper, how event.Outcome) {
	id := e.AgentID + h.AgentID
	if b := c.loop.tasks[id]; b != nil {
		c.endTask(b, how)
	}
	delete(c.loop.helpers, id)
}
