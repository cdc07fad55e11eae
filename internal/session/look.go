package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Look is what came of a preview: a display that the log does not know.
type Look struct {
	DisplayResult
	// Sensitive says that the file may hold secrets, so only its name is shown.
	Sensitive bool
	// Replaced are outputs that nothing refers to any more: those of earlier
	// previews, and this one's if a later preview began meanwhile.
	Replaced []string
}

// look is the newest preview of a session, as the events it becomes when it is kept.
type look struct {
	started int // previews so far; a later one supersedes those that still run
	call    *call
	end     event.ToolExecutionComplete
}

// errLook is why a preview is not a display.
var errLook = errors.New("it is only a preview")

// Preview shows a file to the user without logging anything and without asking
// anybody: of a sensitive file only its name is known, and a tool that does more than
// read is refused. It holds until the next preview. When ctx ends, the tool is
// stopped. [eventlog.ErrInvalid] for a tool or arguments no tool would take.
func (s *Session) Preview(ctx context.Context, tool string, args json.RawMessage) (Look, error) {
	clean, err := CleanArguments(args)
	if err != nil {
		return Look{}, fmt.Errorf("%w: %v", eventlog.ErrInvalid, err)
	}
	if _, err := s.tool(tool); err != nil {
		return Look{}, fmt.Errorf("%w: %v", eventlog.ErrInvalid, err)
	}
	c := &call{ToolCall: agent.ToolCall{ID: string(event.NewID()), Name: tool, Arguments: clean}, by: event.ByUser, unlogged: true, look: true}
	s.mu.Lock()
	if err := s.checkUsable(); err != nil {
		s.mu.Unlock()
		return Look{}, fmt.Errorf("preview with %s: %w", tool, err)
	}
	s.beginCallLocked(c)
	s.look.started++
	mine := s.look.started
	s.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { c.cancel(errAborted) })
	res := s.perform(c)
	stop()
	d := completionOf(c.ID, c.at, s.cfg.Now(), res)
	out := Look{DisplayResult: DisplayResult{ToolCallID: c.ID, Error: d.Error, Telemetry: d.ToolTelemetry, NotKept: true}, Sensitive: c.secret.Load()}
	if d.OutputID != "" {
		out.Output = &eventlog.OutputRef{ID: d.OutputID, ToolCallID: c.ID, Type: res.Telemetry.OutputType}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endCallLocked(c)
	switch old := s.look.end.OutputID; {
	case d.OutputID == "":
	case mine != s.look.started || d.Error != nil:
		out.Replaced = []string{d.OutputID}
	default:
		if old != "" {
			out.Replaced = []string{old}
		}
		s.look.call, s.look.end = c, d
	}
	return out, nil
}

// Looks reports whether an output is the session's preview, which no list names.
func (s *Session) Looks(outputID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return outputID != "" && s.look.end.OutputID == outputID
}

// Looked returns the preview of that output as entries of a log of its own; none if
// the session has no such preview.
func (s *Session) Looked(outputID string) []event.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	if outputID == "" || s.look.end.OutputID != outputID {
		return nil
	}
	entries := make([]event.Entry, 0, 2)
	for i, d := range s.look.events() {
		entries = append(entries, event.Entry{Seq: int64(i + 1), Event: event.New(d, "", s.look.call.at)})
	}
	return entries
}

// events are what a display of the same file would have logged.
func (l *look) events() []event.Data {
	return []event.Data{event.ToolExecutionStart{ToolCallID: l.call.ID, ToolName: l.call.Name, Arguments: LoggableArguments(l.call.Arguments), By: event.ByUser}, l.end}
}

// Keep logs a preview as the display it would have been. What is in the log already is
// no error. [eventlog.ErrNotFound] for an output of neither.
func (s *Session) Keep(ctx context.Context, outputID string) error {
	known, err := s.seen.Has(ctx, s.events, outputID)
	if err != nil || known {
		return err
	}
	err = s.events.Change(ctx, func() error {
		if err := s.checkUsable(); err != nil {
			return err
		}
		if outputID == "" || s.look.end.OutputID != outputID {
			return fmt.Errorf("the preview %s: %w", outputID, eventlog.ErrNotFound)
		}
		kept := s.look
		if err := s.beginLocked(kept.events()...); err != nil {
			return err
		}
		s.look.call, s.look.end = nil, event.ToolExecutionComplete{}
		s.titleFromCallLocked(kept.call)
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep a preview: %w", err)
	}
	return nil
}

// shown returns nil for an output that the session showed.
func (s *Session) shown(ctx context.Context, outputID string) error {
	known, err := s.seen.Has(ctx, s.events, outputID)
	if err == nil && !known {
		err = fmt.Errorf("the output %s: %w", outputID, eventlog.ErrNotFound)
	}
	return err
}

// DeleteOutput logs that the user deletes an output; the caller drops it then. It is no
// activity and the agent is not told. [eventlog.ErrNotFound] for an output the session
// never showed.
func (s *Session) DeleteOutput(ctx context.Context, outputID string) error {
	if err := s.shown(ctx, outputID); err != nil {
		return err
	}
	return s.events.Change(ctx, func() error {
		if err := s.checkUsable(); err != nil {
			return err
		}
		return s.beginLocked(event.OutputDeleted{OutputID: outputID})
	})
}

// Open logs that the user looked at an output, once for each output. It is no activity
// and the agent is not told. [eventlog.ErrNotFound] for an output the session never showed.
func (s *Session) Open(ctx context.Context, outputID string) error {
	if err := s.shown(ctx, outputID); err != nil {
		return err
	}
	return s.events.Change(ctx, func() error {
		if err := s.checkUsable(); err != nil || !s.seen.Open(outputID) {
			return err
		}
		if err := s.beginLocked(event.OutputOpened{OutputID: outputID}); err != nil {
			s.seen.Forget(outputID)
			return err
		}
		return nil
	})
}
