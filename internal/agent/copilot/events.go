package copilot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// handler handles one type of the CLI's events. t is what the event belongs to: the running turn,
// or the work of a helper in the background.
type handler struct {
	when when
	do   func(c *conn, t *turn, e cli.Event)
}

// when is in which cases an event is handled: while there is a turn that the CLI has begun with,
// and if it has one of these, otherwise.
type when int

const (
	inTurn when = 0
	early  when = 1 << iota // also before the CLI has begun with the turn; others that come then are the end of an earlier one
	always                  // also while no turn runs: t may be nil
	own                     // only of the main agent
	begins                  // the CLI goes on by itself with it
)

// on is the do of a handler that takes the data of its event. What cannot be read counts as not
// sent.
func on[T any](f func(c *conn, t *turn, e cli.Event, d T)) func(*conn, *turn, cli.Event) {
	return func(c *conn, t *turn, e cli.Event) {
		var d T
		if err := json.Unmarshal(e.Data, &d); err != nil {
			c.Logger.Warn("copilot: an event could not be read", "type", e.Type, "bytes", len(e.Data))
			return
		}
		f(c, t, e, d)
	}
}

// handlers are the events of the CLI that are handled: all others are dropped. Those of helper
// agents, which look the same, are distinguished by agentId.
var handlers = map[string]handler{
	"user.message":                      {early | own, on((*conn).onUserMessage)}, // that it began; the text ends here
	"assistant.idle":                    {early | own, on((*conn).onIdle)},        // session.idle waits for what runs in the background
	"session.idle":                      {early | own, on((*conn).onIdle)},
	"session.error":                     {early | own, on((*conn).onError)},
	"session.warning":                   {early | own, on((*conn).onWarning)},
	"session.tools_updated":             {early | own, on((*conn).onToolsUpdated)},
	"session.title_changed":             {always | own, on((*conn).onTitle)},
	"session.model_change":              {always | own, on((*conn).onModel)},
	"session.mode_changed":              {always | own, on((*conn).onMode)},
	"session.todos_changed":             {always | own, on((*conn).onTodos)},
	"session.usage_info":                {always | own, on((*conn).onUsageInfo)},
	"session.truncation":                {always | own, on((*conn).onTruncation)},
	"session.compaction_start":          {always | own, on((*conn).onCompactionStart)},
	"session.compaction_complete":       {always | own, on((*conn).onCompactionComplete)},
	"session.mcp_server_status_changed": {always | own, on((*conn).onServerStatus)},
	"system.notification":               {always | own, on((*conn).onNotification)},
	"session.background_tasks_changed":  {always, on((*conn).onTasksChanged)},
	"tool.shell_output":                 {always, on((*conn).onShellOutput)},
	"assistant.usage":                   {always, on((*conn).onUsage)},
	"subagent.completed":                {always, on(helperEnds(event.Completed))},
	"subagent.failed":                   {always, on(helperEnds(event.Failed))},
	"subagent.started":                  {inTurn, on((*conn).onHelperStarted)},
	"subagent.selected":                 {inTurn, on((*conn).onHelperSelected)},
	"assistant.turn_start":              {begins | own, on((*conn).onStepStart)},
	"assistant.turn_end":                {own, on((*conn).onStepEnd)},
	"assistant.turn_retry":              {inTurn, on((*conn).onRetry)},
	"model.call_failure":                {own, on((*conn).onCallFailure)}, // its status only
	"assistant.message_delta":           {inTurn, on((*conn).onMessageDelta)},
	"assistant.reasoning_delta":         {inTurn, on((*conn).onReasoningDelta)},
	"assistant.message":                 {inTurn, on((*conn).onMessage)},
	"assistant.reasoning":               {inTurn, on((*conn).onReasoning)},
	"assistant.tool_call_delta":         {inTurn, on((*conn).onCallDelta)},
	"tool.execution_start":              {inTurn, on((*conn).onToolStart)},
	"tool.execution_progress":           {inTurn, on((*conn).onToolProgress)},
	"tool.execution_partial_result":     {inTurn, on((*conn).onToolPartial)},
	"tool.execution_complete":           {inTurn, on((*conn).onToolComplete)},
	"external_tool.requested":           {begins, on((*conn).onToolRequested)},
	"permission.requested":              {begins, on((*conn).onPermission)},
}

// Handle implements [cli.Session]. It waits while the session is far behind.
func (c *conn) Handle(e cli.Event) {
	if handlers[e.Type].do != nil { // it is on the list
		c.Receive(len(e.Data), func() { c.handle(e) })
	}
}

// handle takes one event. One with which the agent begins by itself opens a turn; while that is not
// logged, its events are held.
func (c *conn) handle(e cli.Event) {
	h, t := handlers[e.Type], c.scope(e)
	switch {
	case c.Broken() || e.AgentID != "" && h.when&own != 0: // it is over, or a helper's own affairs
		return
	case h.when&always != 0:
		h.do(c, t, e)
		return
	case t == nil && e.Type == "session.tools_updated":
		c.loop.retool = true // looked at with the next turn
		return
	case t == nil && h.when&begins != 0 && e.AgentID == "":
		c.goOn(wentOn)
		t = c.loop.turn
	}
	switch {
	case t == nil:
	case t.pending != nil:
		t.hold(e, func() { c.handle(e) })
	case t.heard || t.joined || h.when&early != 0:
		h.do(c, t, e)
	}
}

type sessionFailure struct {
	ErrorType, Message string
	StatusCode         int
}

func (c *conn) onError(t *turn, _ cli.Event, d sessionFailure) {
	t.heard = t.heard || !t.joined
	t.refused = nil // it is not tried again
	if t.aborted {
		return // that it was stopped is known
	}
	text := c.b.cli.Happened(d.Message)
	if r := t.last; r != nil && r.Says != "" && r.Status == d.StatusCode { // the CLI keeps some of the words to itself
		text = r.String()
	}
	if r := t.last; r != nil && r.before > 0 {
		text += fmt.Sprintf(" It was tried %d times.", r.before+1)
	}
	text += " " + c.b.cli.Advise(d.StatusCode, d.Message, c.usesOwn())
	c.Report(event.SessionError{Message: text, ErrorType: cmp.Or(d.ErrorType, "backend"), Kind: kindOf(d), StatusCode: d.StatusCode})
	t.failure = &turnError{text}
}

// kindOf is the kind of an error by the CLI's own name for it, which says more than a status that
// may be missing.
func kindOf(d sessionFailure) event.ErrorKind {
	switch d.ErrorType {
	case "authentication", "authorization":
		return event.KindDenied
	case "rate_limit", "quota":
		return event.KindLimit
	}
	return cli.KindOf(d.StatusCode, d.Message)
}

// turnError is a failure that was reported already, in the same words.
type turnError struct{ text string }

func (e *turnError) Error() string { return e.text }

// onWarning carries what the CLI warns of, but not that a tool was interrupted by the death of an
// earlier process: that was reported when it happened.
func (c *conn) onWarning(_ *turn, _ cli.Event, d struct{ WarningType, Message string }) {
	if d.WarningType != "interrupted_tools" && d.Message != "" {
		c.Warn(event.KindProvider, "%s", wording.Cut(d.Message, 400))
	}
}

func (c *conn) onTitle(_ *turn, _ cli.Event, d event.SessionTitleChanged) {
	if d.Title != "" {
		c.Report(event.SessionTitleChanged{Title: wording.Cut(d.Title, 200)})
	}
}

func (c *conn) onModel(_ *turn, _ cli.Event, d event.SessionModelChange) {
	m := ourModel(d.NewModel)
	if m == "" {
		return
	}
	c.mu.Lock()
	other := m != c.model
	c.model = m
	c.mu.Unlock()
	if other {
		c.Report(event.SessionModelChange{NewModel: m})
	}
}

func (c *conn) onUsageInfo(_ *turn, _ cli.Event, d event.SessionUsageInfo) { c.Report(d) }

// numbers are the fields of an event that are numbers: others may hold what was said, as a summary
// does.
type numbers map[string]int64

// UnmarshalJSON implements [json.Unmarshaler].
func (n *numbers) UnmarshalJSON(b []byte) error {
	var all map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*n = numbers{}
	for name, value := range all {
		if number, ok := value.(float64); ok {
			(*n)[name] = int64(number)
		}
	}
	return nil
}

func (c *conn) onTruncation(_ *turn, _ cli.Event, d numbers) {
	c.Report(event.SessionTruncation{TokenLimit: d["tokenLimit"],
		PreTruncationTokensInMessages:   d["preTruncationTokensInMessages"],
		PostTruncationTokensInMessages:  d["postTruncationTokensInMessages"],
		MessagesRemovedDuringTruncation: d["messagesRemovedDuringTruncation"],
		TokensRemovedDuringTruncation:   d["tokensRemovedDuringTruncation"]})
}

func (c *conn) onCompactionStart(_ *turn, _ cli.Event, d numbers) {
	c.Report(event.SessionCompactionStart{CurrentTokens: d["currentTokens"], TokenLimit: d["tokenLimit"]})
}

type compaction struct {
	Success              bool
	CompactionTokensUsed *event.AssistantUsage
}

// onCompactionComplete also counts the call of a model that summed it up, for which no
// assistant.usage comes.
func (c *conn) onCompactionComplete(_ *turn, e cli.Event, d compaction) {
	if u := d.CompactionTokensUsed; u != nil && u.InputTokens+u.OutputTokens > 0 {
		u.Scope, u.Model, u.QuotaSnapshots = event.UsageAside, ourModel(u.Model), nil
		c.Report(*u)
	}
	if d.Success { // why it failed, the call says that wanted it; else the CLI tries again
		var n numbers
		_ = json.Unmarshal(e.Data, &n) // it was read as d
		c.Report(event.SessionCompactionComplete{MessagesRemoved: n["messagesRemoved"], TokensRemoved: n["tokensRemoved"],
			PreCompactionTokens: n["preCompactionTokens"], PostCompactionTokens: n["postCompactionTokens"]})
	}
}

// onServerStatus reports once for each MCP server that it does not work; the session goes on
// without.
func (c *conn) onServerStatus(_ *turn, _ cli.Event, d struct{ ServerName, Status, Error string }) {
	if _, configured := c.b.cfg.MCPServers[d.ServerName]; configured && d.Status == "failed" && c.loop.failed.First(d.ServerName) {
		c.Warn(event.KindProvider, "The MCP server %s does not work, the session goes on without it: %s", d.ServerName, wording.Cut(d.Error, 300))
	}
}

// onToolsUpdated looks again at what is offered: a server of the user may have brought new tools.
// The turn stops if view is among them.
func (c *conn) onToolsUpdated(t *turn, _ cli.Event, _ struct{}) {
	c.loop.retool = false
	t.Spawn(func() {
		err := c.inspect(t.Ctx)
		if err == nil || t.Ctx.Err() != nil {
			return
		}
		c.Post(func() {
			if t.failure == nil {
				t.failure = err
			}
		})
		if err := c.ask(t.Ctx, "session.abort", nil, nil); err != nil && t.Ctx.Err() == nil {
			c.Post(func() { c.finish(t, err) })
		}
	})
}

func (c *conn) onUsage(_ *turn, e cli.Event, d event.AssistantUsage) {
	if d.Scope = ""; e.AgentID != "" {
		d.Scope = event.UsageAside
	}
	d.Model = ourModel(d.Model)
	if string(d.QuotaSnapshots) == "{}" {
		d.QuotaSnapshots = nil
	}
	d.DefinitionTokens = c.definitionTokens() // a helper agent is offered them, too
	c.Report(d)
}

// helper returns our id of the call that started the helper agent of e; empty for the main agent.
func (c *conn) helper(e cli.Event) string { return c.loop.agents[e.AgentID] }

type nativeHelper struct {
	ToolCallID, AgentID, AgentName, AgentDisplayName, AgentDescription, ExecutionMode, Error string
}

func (h nativeHelper) name() string { return cmp.Or(h.AgentDisplayName, h.AgentName) }

// starter returns the call that started the helper agent e is about, and the agent's id.
func (c *conn) starter(e cli.Event, h nativeHelper) (call, id string) {
	id = e.AgentID + h.AgentID
	if call = c.helper(e); call == "" {
		call = c.started(h.ToolCallID)
	}
	if id != "" && call != "" && c.loop.agents[id] == "" {
		c.loop.agents[id] = call
	}
	return call, id
}

// started returns our id of a call of the running turn, or of a helper in the background.
func (c *conn) started(id string) string {
	for _, t := range append(slices.Collect(maps.Values(c.loop.helpers)), c.loop.turn) {
		if t == nil {
			continue
		}
		if x := t.calls.Get(id); x != nil {
			return x.ID
		}
	}
	return ""
}

func (c *conn) onHelperStarted(_ *turn, e cli.Event, h nativeHelper) {
	call, id := c.starter(e, h)
	if call == "" {
		return
	}
	c.Report(event.SubagentStarted{ToolCallID: call, AgentName: h.name()})
	if h.ExecutionMode == "background" && id != "" {
		c.beginHelper(id, call, cmp.Or(h.AgentDescription, h.name()))
		return
	}
	for _, s := range c.loop.helpers {
		if s.made(call) { // a helper's helper
			c.loop.helpers[id] = s
			return
		}
	}
}

func (c *conn) onHelperSelected(_ *turn, e cli.Event, h nativeHelper) {
	if call, _ := c.starter(e, h); call != "" {
		c.Report(event.SubagentSelected{ToolCallID: call, AgentName: h.name()})
	}
}

// helperEnds handles the end of a helper, and of its task if it worked in the background.
func helperEnds(how event.Outcome) func(*conn, *turn, cli.Event, nativeHelper) {
	return func(c *conn, _ *turn, e cli.Event, h nativeHelper) {
		call, id := c.starter(e, h)
		switch {
		case call == "":
			return
		case how == event.Failed:
			c.Report(event.SubagentFailed{ToolCallID: call, AgentName: h.name(), Error: wording.Cut(h.Error, 300)})
		default:
			c.Report(event.SubagentCompleted{ToolCallID: call, AgentName: h.name()})
		}
		if b := c.loop.tasks[id]; b != nil {
			c.endTask(b, how)
		}
		delete(c.loop.helpers, id)
	}
}
