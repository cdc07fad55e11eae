package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/wording"
)

// Display runs a tool for the user: no model is called, and nothing is asked
// unless the act is sensitive (keys, credentials). It takes the same way as an
// agent's call and may run beside a turn. The agent is told nothing of it.
//
// Display waits for the end. When ctx ends first it returns ctx's error and what
// is known, and the display goes on: it belongs to the session, and AbortTool
// stops it. A display that failed is no error: [DisplayResult].Error says why.
// While the log cannot be written a display is done all the same and is not kept,
// unless it has to be asked about. A command that an agent of the session asked for
// before is not taken for one that the user typed ([agent.CallInfo].Typed).
// [eventlog.ErrInvalid] for a tool or arguments no tool would take.
func (s *Session) Display(ctx context.Context, tool string, args json.RawMessage) (DisplayResult, error) {
	clean, err := CleanArguments(args)
	if err != nil {
		return DisplayResult{}, fmt.Errorf("%w: %v", eventlog.ErrInvalid, err)
	}
	if _, err := s.tool(tool); err != nil {
		return DisplayResult{}, fmt.Errorf("%w: %v", eventlog.ErrInvalid, err)
	}
	typed := !s.requests.AskedByAgent(ctx, clean)
	var c *call
	err = s.events.Change(ctx, func() (err error) {
		tc := agent.ToolCall{ID: string(event.NewID()), Name: tool, Arguments: clean}
		c, err = s.startLocked(tc, event.ByUser, nil)
		switch {
		case err == nil:
			s.titleFromCallLocked(c)
		case errors.Is(err, eventlog.ErrLog): // looking goes on
			c, err = &call{ToolCall: tc, by: event.ByUser, unlogged: true}, nil
			s.beginCallLocked(c)
		}
		return err
	})
	if err != nil {
		return DisplayResult{}, fmt.Errorf("display with %s: %w", tool, err)
	}
	info := agent.CallFrom(c.ctx)
	info.Typed = typed
	c.ctx = agent.WithCall(c.ctx, info)
	done := make(chan DisplayResult, 1)
	go func() { done <- s.display(c) }()
	select {
	case r := <-done:
		return r, nil
	case <-ctx.Done():
		return DisplayResult{ToolCallID: c.ID}, ctx.Err()
	}
}

// titleFromCallLocked calls a session without a title by what its user looks at first.
func (s *Session) titleFromCallLocked(c *call) {
	if s.events.Summary().Title != "" {
		return
	}
	title := wording.Title(subject(c))
	if title == "" {
		return
	}
	if err := s.events.Append(event.SessionTitleChanged{Title: title}); err != nil {
		s.log().Warn("the title of a session was not logged", "error", err)
	}
}

// subject is what a call is about: its command or its path, as asked for.
func subject(c *call) string {
	var args struct{ Path, Command string }
	if json.Unmarshal(c.Arguments, &args) != nil {
		return ""
	}
	return cmp.Or(args.Command, args.Path)
}

// display performs a user's call. Its end is logged when the log takes it.
func (s *Session) display(c *call) DisplayResult {
	res := s.perform(c)
	s.mu.Lock()
	d := s.completionLocked(c, res)
	s.mu.Unlock()
	kept := s.finishDisplay(c, res)
	out := DisplayResult{ToolCallID: c.ID, Error: d.Error, Telemetry: d.ToolTelemetry, NotKept: !kept}
	if d.OutputID != "" {
		out.Output = &eventlog.OutputRef{ID: d.OutputID, ToolCallID: c.ID}
		if res.Telemetry != nil {
			out.Output.Type = res.Telemetry.OutputType
		}
	}
	return out
}

// finishDisplay ends a user's call, in the log, too. It reports whether that has it: if
// not, it is tried again by itself, unless the log knows nothing of the call.
func (s *Session) finishDisplay(c *call, res agent.Result) (kept bool) {
	drop := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.endCallLocked(c)
	}
	if c.unlogged {
		drop()
		return false
	}
	complete := func() error { return s.completeLocked(c, res) }
	err := s.events.Change(context.Background(), complete)
	if !errors.Is(err, eventlog.ErrLog) {
		if err != nil {
			s.log().Error("the end of a display was not logged", "error", err)
		}
		drop()
		return err == nil
	}
	go func() { // counted by beginCallLocked
		defer drop()
		if err := s.events.Persist(s.ctx, complete); err != nil {
			s.log().Error("the end of a display was not logged", "error", err)
		}
	}()
	return false
}
