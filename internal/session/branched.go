package session

import (
	"encoding/json"
	"strings"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// BranchEvents returns what a branch begins with: the turns in entries that have ended and were not
// left behind, each behind its prompt, the user's displays, and the messages in them. It counts
// nothing and grants nothing.
func BranchEvents(entries []event.Entry, left []eventlog.Stretch) (data []event.Data) {
	ended, joined := map[string]bool{}, map[string]bool{}
	for _, e := range entries {
		switch d := e.Event.Data.(type) {
		case event.TurnEnd:
			ended[d.TurnID] = true
			for _, id := range d.Steered {
				joined[id] = true
			}
		case event.ToolExecutionComplete:
			ended[d.ToolCallID] = true
		}
	}
	inTurn := true // that has ended; a message between turns belongs to none
	prompts := map[string]event.UserMessage{}
	for _, e := range entries {
		if eventlog.IsLeft(left, e.Seq) {
			continue
		}
		switch d := e.Event.Data.(type) {
		case event.TurnStart:
			if inTurn = ended[d.TurnID]; !inTurn {
				continue
			}
			if prompt, ok := prompts[d.MessageID]; ok {
				data = append(data, prompt)
			}
			data = append(data, d)
		case event.UserMessage:
			if prompts[d.MessageID] = d; joined[d.MessageID] {
				data = append(data, d)
			}
		case event.ToolExecutionStart:
			if ended[d.ToolCallID] && (inTurn || d.By == event.ByUser) {
				data = append(data, d)
			}
		default:
			if kept := keepInBranch(d); kept != nil && inTurn {
				data = append(data, kept)
			}
		}
	}
	return data
}

// keepInBranch returns an event as a branch has it; nil if it has not.
func keepInBranch(data event.Data) event.Data {
	switch d := data.(type) {
	case event.TurnEnd:
		d.Usage, d.Fill = event.Usage{}, nil
		return d
	case event.ToolExecutionComplete:
		d.ToolTelemetry, d.ResultTokens = uncounted(d.ToolTelemetry), 0
		return d
	case event.AssistantMessage, event.AssistantReasoning, event.Abort, event.SessionBranched:
		return d
	case event.SessionError:
		if d.ErrorType != event.ErrorForgotten {
			return d
		}
	}
	return nil
}

// uncounted is telemetry without what its output cost or saved.
func uncounted(raw json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	for _, name := range []string{"tokensShown", "tokensSent", "tokensEstimated"} {
		delete(all, name)
	}
	raw, _ = json.Marshal(all)
	return raw
}

// mostBranchText is how many bytes of a conversation an agent is given: its end matters more.
const mostBranchText = 400_000

// What an agent reads before what it is given of a conversation.
const (
	branchHead = "This conversation was branched from another one. " +
		"What was said in it so far, for you to go on from:\n\n"
	backHead = "An earlier part of this conversation was taken out of it, and the user brought it " +
		"back. " +
		"What was said in it:\n\n"
)

// branchText returns the conversation as an agent reads it; empty if it has no message.
func branchText(head string, data []event.Data) string {
	var b strings.Builder
	say := func(who, text string) {
		if text != "" {
			b.WriteString("## " + who + "\n\n" + text + "\n\n")
		}
	}
	for _, d := range data {
		switch d := d.(type) {
		case event.UserMessage:
			say("User", d.Content)
		case event.AssistantMessage:
			if d.ParentToolCallID == "" {
				say("Assistant", d.Content)
			}
		case event.ToolExecutionStart:
			if d.By != event.ByUser { // agents do not learn what the user looked at
				say("Tool call", d.ToolName+" "+string(d.Arguments))
			}
		}
	}
	all := b.String()
	if all == "" {
		return ""
	}
	return head + strings.ToValidUTF8(all[max(0, len(all)-mostBranchText):], "")
}
