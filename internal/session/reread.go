package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"webchat/internal/calls"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Reread shows a file again whose output is not alive: it is gone, or the file has changed since.
// It logs which output stands in its place. As in a preview no model is called and the user is not
// asked: of a sensitive file only its name is known, and what a command printed cannot be read
// again. It does not count as activity. Where the output was replaced before, by one that is alive,
// that one is returned. [eventlog.ErrNotFound] for an output the session never showed,
// [eventlog.ErrInvalid] for one that is not a file's.
func (s *viewer) Reread(ctx context.Context, outputID string,
	alive func(outputID string) bool) (Look, error) {
	s.rereading.Lock()
	defer s.rereading.Unlock()
	start, last, err := s.showing(ctx, outputID)
	if err != nil {
		return Look{}, err
	}
	out := Look{DisplayResult: DisplayResult{ToolCallID: start.ToolCallID}}
	if alive(last) {
		out.Output = &eventlog.OutputRef{ID: last, ToolCallID: start.ToolCallID}
		return out, nil
	}
	c, err := s.newDisplay(start.ToolName, start.Arguments)
	if err != nil {
		return out, err
	}
	out, d, err := s.performLook(ctx, c, func() {})
	if err != nil {
		return out, fmt.Errorf("read again: %w", err)
	}
	out.ToolCallID, out.NotKept = start.ToolCallID, false
	if out.Sensitive || d.Error != nil || d.OutputID == "" {
		return out, nil
	}
	return out, s.change(ctx, func() error {
		return s.beginLocked(event.OutputReread{
			OutputID:      last,
			NewOutputID:   d.OutputID,
			ToolTelemetry: d.ToolTelemetry,
			Fingerprint:   d.Fingerprint,
		})
	})
}

// showing finds the call that made an output, and the output that stands in its place now.
func (s *viewer) showing(ctx context.Context,
	outputID string) (start event.ToolExecutionStart, last string, err error) {
	var o calls.Output
	known := false
	if err := s.events.Index(ctx, func(x *calls.Index) { o, known = x.Output(outputID) }); err != nil {
		return start, "", fmt.Errorf("read again: %w", err)
	}
	if !known {
		return start, "", fmt.Errorf("the output %s: %w", outputID, eventlog.ErrNotFound)
	}
	tools, err := s.tools()
	if err != nil {
		return start, "", err
	}
	for _, t := range tools { // agents put the name of a server before it
		if name := t.Spec().Name; o.Call.Start > 0 && strings.HasSuffix(o.Call.Tool, name) {
			start, err = s.startOf(ctx, o.Call)
			start.ToolName = name
			return start, o.ID, err
		}
	}
	return start, "", fmt.Errorf("%w: the output %s is not of a display, so it cannot be read again",
		eventlog.ErrInvalid, outputID)
}

// startOf reads the start of a call.
func (s *viewer) startOf(ctx context.Context, c calls.Call) (event.ToolExecutionStart, error) {
	e, err := s.events.At(ctx, c.Start)
	d, _ := e.Event.Data.(event.ToolExecutionStart) // a damaged one names nothing
	return d, err
}

// CallResult is what an agent's own call returned, and what it was about.
type CallResult struct {
	Text      string
	Arguments json.RawMessage
	Secret    string // the file of keys or passwords that the user was asked about; empty: none
}

// Result returns what came of the first call of this id that ended at the event from or later: all
// that its agent reported, or why it failed. An agent may use an id again in a later turn, and what
// it reports for the user is, of a long result, less than what the model read.
// [eventlog.ErrNotFound] for a call that has no result.
func (s *viewer) Result(ctx context.Context, toolCallID string,
	from int64) (r CallResult, err error) {
	var c calls.Call
	if err := s.events.Index(ctx, func(x *calls.Index) {
		c, _ = x.Ended(toolCallID, from)
	}); err != nil {
		return r, err
	}
	for _, seq := range []int64{c.Start, c.Secret, c.End} {
		if seq < max(1, from) {
			continue // there is none, or it is of an earlier turn
		}
		e, err := s.events.At(ctx, seq)
		if err != nil {
			return r, err
		}
		switch d := e.Event.Data.(type) {
		case event.ToolExecutionStart:
			r.Arguments = d.Arguments
		case event.PermissionRequested:
			r.Secret = d.Resource
			if d.Secret != nil {
				r.Secret = d.Secret.File
			}
		case event.ToolExecutionComplete:
			if d.Result != nil {
				r.Text = d.Result.DetailedContent
				if len(d.Result.Content) > len(r.Text) {
					r.Text = d.Result.Content
				}
			}
			if d.Error != nil {
				r.Text = d.Error.Message
			}
		}
	}
	if err == nil && r.Text == "" {
		err = fmt.Errorf("the result of the call %s: %w", toolCallID, eventlog.ErrNotFound)
	}
	return r, err
}
