package eventlog

import (
	"slices"

	"webchat/internal/event"
)

const (
	maxHeld = 32 // entries of [Open].Held; of older ones the two oldest become one
	maxCuts = 8
)

// Held is what a display kept out of the model's context, and the line that is there instead, in
// tokens.
type Held struct {
	Seq   int64 `json:"seq"` // of the display in the log; of several, that of the newest
	Shown int64 `json:"shown"`
	Sent  int64 `json:"sent"`
}

// Call is a call of a model, or of those of a turn that are reported as one, whose usage is
// estimated, since it was cut.
type Call struct {
	Number  int64 `json:"n"`  // the first is 1
	Tokens  int64 `json:"t"`  // of its request
	At      int64 `json:"at"` // when it ended, in milliseconds since 1970
	Stopped bool  `json:"stopped,omitempty"`
}

// Holds is what displays keep out of each call now, and their lines in it.
func (o *Open) Holds() (h Held) {
	for _, x := range o.Held {
		if IsLeft(o.Left, x.Seq) {
			continue
		}
		h.Shown += x.Shown
		h.Sent += x.Sent
	}
	return h
}

// hold follows what the context of the model would hold, and does.
func (o *Open) hold(e event.Entry) {
	switch d := e.Event.Data.(type) {
	case event.SessionCompactionComplete, event.SessionTruncation, event.SessionBranched:
		o.Held, o.Text = nil, 0
	case event.SessionError:
		if d.ErrorType == event.ErrorForgotten {
			o.Held, o.Text = nil, 0
		}
	case event.UserMessage:
		o.Text += int64(len(d.Content))
	case event.AssistantMessage:
		if d.ParentToolCallID == "" {
			o.Text += int64(len(d.Content))
		}
	case event.ToolExecutionComplete:
		if d.ParentToolCallID != "" {
			return // it is in a helper's context
		}
		if d.Result != nil {
			o.Text += int64(len(d.Result.Content))
		}
		if t := readTelemetry(d.ToolTelemetry); t.TokensShown > 0 {
			o.Held = append(slices.Clone(o.Held), Held{e.Seq, t.TokensShown, max(0, t.TokensSent)})
		}
		if len(o.Held) > maxHeld { // what is left behind may still be brought back, but not for long
			o.Held = slices.DeleteFunc(o.Held, func(x Held) bool { return IsLeft(o.Left, x.Seq) })
		}
		if len(o.Held) > maxHeld {
			a, b := o.Held[0], o.Held[1]
			o.Held = o.Held[1:]
			o.Held[0] = Held{b.Seq, a.Shown + b.Shown, a.Sent + b.Sent}
		}
	}
}

// bill adds what calls took. A turn with an estimate was cut in its last call, unless its agent
// never reports any.
func (s *Summary) bill(u event.Usage, how event.Outcome, e event.Entry) {
	s.Usage = s.Usage.Plus(u)
	cuts, number := s.Open.Cuts, s.Usage.Calls+s.Usage.Turns
	switch {
	case number > 1 && s.Usage.EstimatedTokens == s.Usage.InputTokens:
	case u.EstimatedTokens < 0 && len(cuts) > 0: // the last one is reported now
		s.Open.Cuts = slices.Clone(cuts[:len(cuts)-1])
	case u.EstimatedTokens > 0 && (how == event.Aborted || how == event.Interrupted ||
		how == event.Failed):
		s.Open.Cuts = append(slices.Clone(cuts[max(0, len(cuts)+1-maxCuts):]),
			Call{number, u.EstimatedTokens, e.Event.Timestamp.UnixMilli(), how == event.Aborted})
	}
}
