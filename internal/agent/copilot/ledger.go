package copilot

import (
	"encoding/json"

	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
)

// ledger reports what calls of a model cost, and what became of the context.
type ledger struct {
	report      func(event.Data)
	definitions func() int64 // tokens of our tools in each call
}

// used counts a call of a model.
func (l ledger) used(e cli.Event, d event.AssistantUsage) {
	if d.Scope = ""; e.AgentID != "" {
		d.Scope = event.UsageAside
	}
	d.Model = ourModel(d.Model)
	if string(d.QuotaSnapshots) == "{}" {
		d.QuotaSnapshots = nil
	}
	d.DefinitionTokens = l.definitions() // a helper agent is offered them, too
	l.report(d)
}

// numbers are the fields of an event that are numbers: others may hold parts of the conversation,
// as a summary does.
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

func truncation(_ *conn, d numbers) event.Data {
	return event.SessionTruncation{TokenLimit: d["tokenLimit"],
		PreTruncationTokensInMessages:   d["preTruncationTokensInMessages"],
		PostTruncationTokensInMessages:  d["postTruncationTokensInMessages"],
		MessagesRemovedDuringTruncation: d["messagesRemovedDuringTruncation"],
		TokensRemovedDuringTruncation:   d["tokensRemovedDuringTruncation"]}
}

func compactionStart(_ *conn, d numbers) event.Data {
	return event.SessionCompactionStart{CurrentTokens: d["currentTokens"], TokenLimit: d["tokenLimit"]}
}

type compaction struct {
	Success              bool
	CompactionTokensUsed *event.AssistantUsage
}

// compacted also counts the call of a model that summed it up, for which no
// assistant.usage comes.
func (l ledger) compacted(e cli.Event, d compaction) {
	if u := d.CompactionTokensUsed; u != nil && u.InputTokens+u.OutputTokens > 0 {
		u.Scope, u.Model, u.QuotaSnapshots = event.UsageAside, ourModel(u.Model), nil
		l.report(*u)
	}
	if d.Success { // why it failed, the call says that wanted it; else the CLI tries again
		var n numbers
		_ = json.Unmarshal(e.Data, &n) // it was read as d
		l.report(event.SessionCompactionComplete{
			MessagesRemoved:      n["messagesRemoved"],
			TokensRemoved:        n["tokensRemoved"],
			PreCompactionTokens:  n["preCompactionTokens"],
			PostCompactionTokens: n["postCompactionTokens"],
		})
	}
}
