package session

import (
	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/tokens"
)

// bytesPerToken is what an estimate takes for a token of text that was not counted.
const bytesPerToken = 4

// bill follows the calls of a session's model: what each took, what displays kept out of it, and
// what webchat added to it. The session's mu guards it.
type bill struct {
	counting    agent.Counting
	definitions int64 // what describing our tools adds to a call

	calling  bool          // a call is under way, and nothing of it was reported
	held     eventlog.Held // what displays meant for it, when it began
	needless bool          // it only goes on behind displays that failed

	window, context int64       // as the agent reported them last; 0: unknown
	beside          int64       // what the last call held beside that context
	estimate        event.Usage // of the last call that was cut and not reported since

	// calls of tools that ended in the turn since the last call began: displays that failed, and
	// others
	failed, others int
}

// newBill begins where the session's log ends.
func newBill(open eventlog.Open) (b bill) {
	if open.Fill != nil {
		b.window, b.context = open.Fill.TokenLimit, open.Fill.CurrentTokens
	}
	return b
}

// definitionTokens is what describing tools adds to a call, where no backend says it.
func definitionTokens(tools []agent.ToolSpec) (n int64) {
	for _, t := range tools {
		if t.Server != "" {
			continue // the user set it up
		}
		n += countTokens(t.Name + "\n" + t.Description + "\n" + string(t.Parameters))
	}
	return n
}

// begin notes that a call begins.
func (b *bill) begin(open eventlog.Open) {
	b.calling, b.held, b.estimate = b.counting != agent.CountsNothing, open.Holds(), event.Usage{}
	b.needless = b.failed > 0 && b.others == 0
	b.failed, b.others = 0, 0
}

// compacted notes that displays mean nothing for what is sent from now on: a call behind a task
// that ended may be reported without its begin, and one that has begun waits for the summary.
func (b *bill) compacted() {
	// else a report of the cut call may come
	if b.counting == agent.CountsCalls && b.estimate == (event.Usage{}) {
		b.held = eventlog.Held{}
	}
}

// filled takes how full the agent says the context is.
func (b *bill) filled(d event.SessionUsageInfo) {
	b.window, b.context = d.TokenLimit,
		d.CurrentTokens
}

// completed notes the end of a call of a tool, which may be a display that failed.
func (b *bill) completed(failedDisplay bool) {
	if failedDisplay {
		b.failed++
	} else {
		b.others++
	}
}

// reported returns what a report adds to what was taken. A turn that is reported as one counts as
// its last call, which comes behind all that the turn showed.
func (b *bill) reported(d event.AssistantUsage, open eventlog.Open) event.Usage {
	u := event.Usage{
		InputTokens:      d.InputTokens,
		OutputTokens:     d.OutputTokens,
		CacheReadTokens:  d.CacheReadTokens,
		Cost:             d.Cost,
		Calls:            1,
		DefinitionTokens: d.DefinitionTokens,
	}
	if d.Scope == event.UsageAside {
		u.OwnTokens = min(u.DefinitionTokens, u.InputTokens)
		return u
	}
	if b.counting == agent.CountsCalls {
		b.definitions = d.DefinitionTokens
	}
	if d.Scope == event.UsageOfTurn {
		b.held = open.Holds()
	} else {
		b.beside = max(0, d.InputTokens-b.context)
	}
	late := b.estimate
	b.calling, b.estimate = false, event.Usage{}
	return b.charge(u, d.Scope).Less(late)
}

// cut returns the estimate of the call under way: what its request holds as the last report charged
// it, or else as long as the text of the conversation is. The zero value: no call is under way.
func (b *bill) cut(open eventlog.Open) event.Usage {
	if !b.calling {
		return event.Usage{}
	}
	n := b.context + b.beside
	if n == 0 {
		n = open.Text/bytesPerToken + b.definitions
	}
	scope := event.UsageScope("")
	if b.counting == agent.CountsTurns {
		scope = event.UsageOfTurn
	}
	return b.charge(event.Usage{InputTokens: n, EstimatedTokens: n, Calls: 1}, scope)
}

// end notes that a turn ends, and returns the estimate of a call that was cut by its end, or that
// this agent never reports. A call that failed took nothing.
func (b *bill) end(open eventlog.Open, how event.Outcome, died bool) (u event.Usage) {
	switch {
	case how == event.Aborted, how == event.Interrupted, died:
		if u = b.cut(open); u != (event.Usage{}) { // else it is composed again: the log did not take it
			b.estimate = u
		}
	case how == event.Completed && b.counting != agent.CountsCalls:
		u = b.cut(open)
	}
	b.calling, b.failed, b.others = false, 0, 0 // what the next prompt begins, no display caused
	return u
}

// charge adds to what a call took what was webchat's doing.
func (b *bill) charge(u event.Usage, scope event.UsageScope) event.Usage {
	request := u.InputTokens
	if scope == event.UsageOfTurn {
		u.Calls, u.Turns = 0, 1
		request = b.context // the input is that of several calls
	}
	if b.counting != agent.CountsCalls || u.EstimatedTokens > 0 {
		u.DefinitionTokens = b.definitions
	}
	window := b.window
	if window == 0 {
		window = tokens.UsualWindow
	}
	u.KeptTokens = min(b.held.Shown, max(0, window-request))
	// both are counted as one model counts, and charged as another may
	u.OwnTokens = min(u.DefinitionTokens+b.held.Sent, u.InputTokens)
	if b.needless {
		u.OwnTokens = u.InputTokens + u.OutputTokens
	}
	return u
}
