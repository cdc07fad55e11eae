package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"webchat/internal/agent"
	"webchat/internal/calls"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/wording"
)

// newDisplay is a call of the user's. [eventlog.ErrInvalid] for a tool or arguments no tool would
// take.
func (s *toolCalls) newDisplay(tool string, args json.RawMessage) (*call, error) {
	clean, err := CleanArguments(args)
	var of agent.Tool
	if err == nil {
		of, err = s.tool(tool)
	}
	if err == nil && of.Spec().Server != "" {
		err = fmt.Errorf("%s is a tool for agents", tool)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", eventlog.ErrInvalid, err)
	}
	tc := agent.ToolCall{ID: string(event.NewID()), Name: tool, Arguments: clean}
	return &call{ToolCall: tc, by: event.ByUser, unlogged: true}, nil
}

// viewer is what the user is shown without the agent, and what became of what was shown.
type viewer struct {
	*core
	*toolbox
	*toolCalls
	look      look       // guarded by mu: the newest preview
	rereading sync.Mutex // one output is read again after the other
}

// Display runs a tool for the user: no model is called, and nothing is asked unless the act is
// sensitive (keys, credentials). It takes the same way as an agent's call and may run beside a
// turn. The agent does not learn of it.
//
// Display waits for the end. When ctx ends first it returns ctx's error and what is known, and the
// display goes on: it belongs to the session, and AbortTool stops it. A display that failed is no
// error: [DisplayResult].Error says why. While the log cannot be written a display is done all the
// same and is not kept, unless it has to be asked about. A command that an agent of the session
// asked for before is not taken for one that the user typed ([agent.CallInfo].Typed).
// [eventlog.ErrInvalid] for a tool or arguments no tool would take.
func (s *viewer) Display(ctx context.Context, tool string,
	args json.RawMessage) (DisplayResult, error) {
	c, err := s.newDisplay(tool, args)
	if err != nil {
		return DisplayResult{}, err
	}
	return s.runDisplay(ctx, c, agent.CallInfo{Typed: !s.askedByAgent(ctx, c.Arguments)})
}

// askedByAgent reports whether an agent asked for the command among a call's arguments, with any
// tool. A log that cannot be read is taken for a yes.
func (s *toolCalls) askedByAgent(ctx context.Context, arguments json.RawMessage) (asked bool) {
	err := s.events.Index(ctx, func(x *calls.Index) { asked = x.Asked(arguments) })
	return asked || err != nil
}

// runDisplay performs a call of the user's.
func (s *viewer) runDisplay(ctx context.Context, c *call,
	as agent.CallInfo) (DisplayResult, error) {
	tool := c.Name
	err := s.events.Change(ctx, func() error {
		logged, err := s.startLocked(c.ToolCall, event.ByUser, nil)
		switch {
		case err == nil:
			logged.tool = c.tool
			c = logged
			s.titleFromCallLocked(c)
		case errors.Is(err, eventlog.ErrLog): // looking goes on
			s.beginCallLocked(c)
			return nil
		}
		return err
	})
	if err != nil {
		return DisplayResult{}, fmt.Errorf("display with %s: %w", tool, err)
	}
	info := agent.CallFrom(c.ctx)
	info.Typed, info.Outside = as.Typed, as.Outside
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

// display performs a user's call. Its end is logged when the log takes it.
func (s *viewer) display(c *call) DisplayResult {
	defer s.endCall(c)
	res := s.perform(c)
	s.mu.Lock()
	out := displayResultOf(s.completionLocked(c, res), res)
	s.mu.Unlock()
	if c.unlogged {
		return out
	}
	complete := func() error { return s.completeLocked(c, res) }
	err := s.events.Change(context.Background(), complete)
	if errors.Is(err, eventlog.ErrLog) {
		s.wg.Go(func() {
			if err := s.events.Persist(s.ctx, complete); err != nil {
				s.log().Error("the end of a display was not logged", "error", err)
			}
		})
	}
	out.NotKept = err != nil
	return out
}

// displayResultOf is what a call's end shows its user, before the log has it.
func displayResultOf(d event.ToolExecutionComplete, res agent.Result) DisplayResult {
	out := DisplayResult{
		ToolCallID: d.ToolCallID,
		Error:      d.Error,
		Telemetry:  d.ToolTelemetry,
		NotKept:    true,
	}
	if d.OutputID != "" {
		out.Output = &eventlog.OutputRef{ID: d.OutputID, ToolCallID: d.ToolCallID}
		if res.Telemetry != nil {
			out.Output.Type = res.Telemetry.OutputType
		}
	}
	return out
}

// titleFromCallLocked calls a session without a title by what its user looks at first.
func (s *viewer) titleFromCallLocked(c *call) {
	title := wording.Title(subject(c.Arguments))
	if title == "" || s.events.Summary().Title != "" {
		return
	}
	if err := s.events.Append(event.SessionTitleChanged{Title: title}); err != nil {
		s.log().Warn("the title of a session was not logged", "error", err)
		return
	}
	s.titleOfLook = title
}

// subject is what a call is about: its command or its path, as asked for.
func subject(arguments json.RawMessage) string {
	var args struct{ Path, Command string }
	_ = json.Unmarshal(arguments, &args)
	return cmp.Or(args.Command, args.Path)
}

// Look is what came of a preview: a display that the log does not know.
type Look struct {
	DisplayResult
	// Sensitive says that the file may hold secrets, so only its name is shown.
	Sensitive bool
	// Replaced are outputs that nothing refers to: those of earlier previews, and this
	// one's if a later preview began meanwhile.
	Replaced []string
}

// look is the newest preview of a session, as the events it becomes when it is kept.
type look struct {
	started int // previews so far; a later one supersedes those that still run
	call    *call
	end     event.ToolExecutionComplete
}

// Preview shows a file to the user without logging anything and without asking the user: of a
// sensitive file only its name is known, and a tool that does more than read is refused. It holds
// until the next preview. When ctx ends, the tool is stopped. [eventlog.ErrInvalid] for a tool or
// arguments no tool would take.
func (s *viewer) Preview(ctx context.Context, tool string, args json.RawMessage) (Look, error) {
	c, err := s.newDisplay(tool, args)
	if err != nil {
		return Look{}, err
	}
	mine := 0
	out, d, err := s.performLook(ctx, c, func() {
		s.look.started++
		mine = s.look.started
	})
	if err != nil {
		return Look{}, fmt.Errorf("preview with %s: %w", tool, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
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

// Part shows what stands in a text that somebody looks at, such as a picture: a preview beside all
// others, to which nothing refers but the page that asked, and which lives as long as any output.
// The user did not name it, so a picture that may hold secrets is refused, too.
// [eventlog.ErrInvalid] for a tool or arguments no tool would take.
func (s *viewer) Part(ctx context.Context, tool string, args json.RawMessage) (Look, error) {
	c, err := s.newDisplay(tool, args)
	if err != nil {
		return Look{}, err
	}
	c.part = true
	out, _, err := s.performLook(ctx, c, func() {})
	return out, err
}

// performLook runs a call that looks at something without a question and without the log. began is
// called with the session's lock held. When ctx ends, the tool is stopped.
func (s *viewer) performLook(ctx context.Context, c *call,
	began func()) (Look, event.ToolExecutionComplete, error) {
	c.look = true
	s.mu.Lock()
	if err := s.checkUsable(); err != nil {
		s.mu.Unlock()
		return Look{}, event.ToolExecutionComplete{}, err
	}
	s.beginCallLocked(c)
	began()
	s.mu.Unlock()
	defer s.endCall(c)
	defer context.AfterFunc(ctx, func() { c.cancel(errAborted) })()
	res := s.perform(c)
	d := c.completion(s.cfg.Now(), res)
	return Look{DisplayResult: displayResultOf(d, res), Sensitive: c.secret.Load()}, d, nil
}

// lookEventsLocked is the preview of that output as what a display of the same file would have
// logged; nil if the session has no such preview.
func (s *viewer) lookEventsLocked(outputID string) []event.Data {
	if outputID == "" || s.look.end.OutputID != outputID {
		return nil
	}
	return []event.Data{s.look.call.start(), s.look.end}
}

// Looks reports whether an output is the session's preview, which no list names.
func (s *viewer) Looks(outputID string) bool { return s.Looked(outputID) != nil }

// Looked returns the preview of that output as entries of a log of its own; none if the session has
// no such preview.
func (s *viewer) Looked(outputID string) (entries []event.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, d := range s.lookEventsLocked(outputID) {
		entries = append(entries, event.Entry{Seq: int64(i + 1), Event: event.New(d, "", s.look.call.at)})
	}
	return entries
}

// Keep logs a preview as the display it would have been. What is in the log already is not an
// error. [eventlog.ErrNotFound] for an output of neither.
func (s *viewer) Keep(ctx context.Context, outputID string) error {
	if err := s.shown(ctx, outputID); !errors.Is(err, eventlog.ErrNotFound) {
		return err
	}
	return s.change(ctx, func() error {
		data, c := s.lookEventsLocked(outputID), s.look.call
		if data == nil {
			return fmt.Errorf("keep the preview %s: %w", outputID, eventlog.ErrNotFound)
		}
		if err := s.beginLocked(data...); err != nil {
			return fmt.Errorf("keep a preview: %w", err)
		}
		s.look.call, s.look.end = nil, event.ToolExecutionComplete{}
		s.titleFromCallLocked(c)
		return nil
	})
}

// shown returns nil for an output that the session showed.
func (s *viewer) shown(ctx context.Context, outputID string) error {
	known := false
	err := s.events.Index(ctx, func(x *calls.Index) { _, known = x.Output(outputID) })
	if err == nil && !known {
		err = fmt.Errorf("the output %s: %w", outputID, eventlog.ErrNotFound)
	}
	return err
}

// DeleteOutput logs that the user deletes an output; the caller drops it then. It does not count as
// activity and the agent does not learn of it. [eventlog.ErrNotFound] for an output the session
// never showed.
func (s *viewer) DeleteOutput(ctx context.Context, outputID string) error {
	if err := s.shown(ctx, outputID); err != nil {
		return err
	}
	return s.change(ctx, func() error {
		return s.beginLocked(event.OutputDeleted{OutputID: outputID})
	})
}

// Open logs that the user looked at an output, once for each output. It does not count as activity
// and the agent does not learn of it. [eventlog.ErrNotFound] for an output the session never
// showed.
func (s *viewer) Open(ctx context.Context, outputID string) error {
	if err := s.shown(ctx, outputID); err != nil {
		return err
	}
	return s.change(ctx, func() error {
		opened := false
		err := s.events.Index(ctx, func(x *calls.Index) {
			o, _ := x.Output(outputID)
			opened = o.Opened
		})
		if err != nil || opened {
			return err
		}
		return s.beginLocked(event.OutputOpened{OutputID: outputID})
	})
}
