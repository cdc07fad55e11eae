package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"webchat/internal/event"
)

// WaitTurn waits until the turn of a message has ended, or the turn it joined, and
// returns what came of it, read from the log. [ErrNotFound] for a message this
// session never accepted.
func (s *Session) WaitTurn(ctx context.Context, messageID string) (TurnResult, error) {
	s.mu.Lock()
	p := s.prompts[messageID]
	after := s.places[messageID] // 0: of an earlier process, or of none
	s.mu.Unlock()
	if p != nil {
		select {
		case <-p.done:
		case <-ctx.Done():
			return TurnResult{}, ctx.Err()
		}
	}
	r := newResult(messageID)
	accepted := false
	err := s.scan(ctx, after, func(e event.Entry) bool {
		if m, ok := e.Event.Data.(event.UserMessage); ok && m.MessageID == messageID {
			accepted = true
		}
		return !r.add(e.Event.Data)
	})
	switch {
	case err != nil:
		return TurnResult{}, err
	case r.ended:
		return r.TurnResult(), nil
	case accepted:
		return TurnResult{}, fmt.Errorf("the end of the turn of message %s is not in the log: %w", messageID, ErrClosed)
	}
	return TurnResult{}, fmt.Errorf("message %s: %w", messageID, ErrNotFound)
}

// result folds events into what came of one message.
type result struct {
	messageID string
	ended     bool
	outcome   event.Outcome

	// Of the turn that is open, whoever's it is.
	texts   []string
	outputs []OutputRef
	calls   map[string]bool // the agent's
	failure string
}

func newResult(messageID string) *result {
	return &result{messageID: messageID, calls: map[string]bool{}}
}

// add takes the next event of the log and reports whether the result is whole.
func (r *result) add(d event.Data) bool {
	switch d := d.(type) {
	case event.TurnStart:
		r.texts, r.outputs, r.failure = nil, nil, ""
		clear(r.calls)
	case event.AssistantMessage:
		if d.ParentToolCallID == "" && strings.TrimSpace(d.Content) != "" {
			r.texts = append(r.texts, d.Content)
		}
	case event.SessionError:
		r.failure = d.Message
	case event.ToolExecutionStart:
		if d.By == event.ByAgent {
			r.calls[d.ToolCallID] = true
		}
	case event.ToolExecutionComplete:
		if r.calls[d.ToolCallID] && d.OutputID != "" {
			r.outputs = append(r.outputs, OutputRef{ID: d.OutputID, ToolCallID: d.ToolCallID, Type: outputType(d.ToolTelemetry)})
		}
	case event.TurnEnd:
		if d.MessageID == r.messageID || slices.Contains(d.Steered, r.messageID) {
			r.ended, r.outcome = true, d.Outcome
		}
	}
	return r.ended
}

// TurnResult is what was folded, once it is whole.
func (r *result) TurnResult() TurnResult {
	t := TurnResult{MessageID: r.messageID, Content: strings.Join(r.texts, "\n\n"), Outputs: r.outputs, Outcome: r.outcome}
	if t.Outputs == nil {
		t.Outputs = []OutputRef{} // [] on the wire
	}
	switch r.outcome {
	case event.Completed:
	case event.Failed:
		t.Error = r.failure
		if t.Error == "" {
			t.Error = reasons[event.Failed]
		}
	default:
		t.Error = reasons[r.outcome]
	}
	return t
}

func outputType(telemetry json.RawMessage) string {
	var t struct{ OutputType string }
	if len(telemetry) == 0 || json.Unmarshal(telemetry, &t) != nil {
		return ""
	}
	return t.OutputType
}
