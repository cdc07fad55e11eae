package eventlog

import (
	"strings"
	"time"

	"webchat/internal/event"
)

// InFlight returns one delta with offset 0 and all text so far for each message in flight, and one
// task.output with the last of what each running task printed; at is when the last of each message
// came.
func (o *Work) InFlight() (deltas, printed []event.Data, at []time.Time) {
	for _, f := range o.Messages {
		at = append(at, f.At)
		if f.Reasoning {
			deltas = append(deltas, event.AssistantReasoningDelta{
				ReasoningID:      f.ID,
				DeltaContent:     string(f.Text),
				ParentToolCallID: f.Parent,
			})
		} else {
			deltas = append(deltas, event.AssistantMessageDelta{
				MessageID:        f.ID,
				DeltaContent:     string(f.Text),
				ParentToolCallID: f.Parent,
			})
		}
	}
	for _, t := range o.Tasks {
		if len(t.Text) > 0 {
			printed = append(printed, event.TaskOutput{
				TaskID: t.Start.TaskID,
				Text:   strings.ToValidUTF8(string(t.Text), ""),
			})
		}
	}
	return deltas, printed, at
}

// Coalesce joins runs of deltas of the same message. A joined delta has the offset of the first and
// the position of the last: applying it over a text that holds a part of it already gives the same
// text.
func Coalesce(in []event.Entry) []event.Entry {
	out := make([]event.Entry, 0, len(in))
	for i := 0; i < len(in); {
		n := i + 1
		first, ok := deltaOf(in[i])
		if ok {
			end := first.offset + int64(len(first.text))
			var b strings.Builder
			for b.WriteString(first.text); n < len(in); n++ {
				d, ok := deltaOf(in[n])
				if !ok || d.key != first.key || d.offset != end {
					break
				}
				b.WriteString(d.text)
				end += int64(len(d.text))
			}
			if n > i+1 {
				if e, err := joined(in[n-1], first.offset, b.String()); err == nil {
					out = append(out, e)
					i = n
					continue
				}
			}
		}
		out = append(out, in[i:n]...)
		i = n
	}
	return out
}

type delta struct {
	key    string
	offset int64
	text   string
}

func deltaOf(e event.Entry) (delta, bool) {
	switch d := e.Event.Data.(type) {
	case event.AssistantMessageDelta:
		return delta{MessageKey(d.MessageID), d.Offset, d.DeltaContent}, true
	case event.AssistantReasoningDelta:
		return delta{ReasoningKey(d.ReasoningID), d.Offset, d.DeltaContent}, true
	}
	return delta{}, false
}

// joined is the last of a run of deltas with the text of all of them.
func joined(last event.Entry, offset int64, text string) (event.Entry, error) {
	switch d := last.Event.Data.(type) {
	case event.AssistantMessageDelta:
		d.Offset, d.DeltaContent = offset, text
		last.Event.Data = d
	case event.AssistantReasoningDelta:
		d.Offset, d.DeltaContent = offset, text
		last.Event.Data = d
	}
	b, err := event.Marshal(last.Event)
	last.JSON = b
	return last, err
}
