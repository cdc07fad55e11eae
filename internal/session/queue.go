package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/wording"
)

// steerLimit is how long an agent may take to say whether a prompt joins its turn.
const steerLimit = 5 * time.Second

// prompt is an accepted message that is not done.
type prompt struct {
	id          string
	content     string
	attachments []agent.Attachment
	given       []event.Attachment // the same, as the user named them
	place       int64              // its user.message is after this sequence
	done        chan struct{}      // closed when its turn's end is in the log
	own         *ownWork           // nil: the user's
}

// Send accepts a prompt: when it returns nil, the user.message is durable, and
// its turn comes when those before it are done. A prompt that is to steer goes
// into the running turn if the agent can take it, else into the queue. A prompt whose
// ID is in the log was sent before: nothing happens but the same answer. Errors:
// [ErrEmpty], [ErrTooLong], [eventlog.ErrInvalid], [eventlog.ErrNotFound] (an attachment),
// [ErrBusy], [eventlog.ErrLog], [eventlog.ErrClosed].
func (s *Session) Send(ctx context.Context, msg Message) (messageID string, err error) {
	if err := validate(msg); err != nil {
		return "", err
	}
	if msg.ID != "" {
		if _, known, err := s.Place(ctx, msg.ID); known || err != nil {
			return msg.ID, err
		}
	}
	if err := files.CheckWorkspace(s.cfg.Workspace); err != nil {
		return "", err
	}
	attached, err := s.resolve(ctx, msg.Attachments)
	if err != nil {
		return "", err
	}
	p := &prompt{id: cmp.Or(msg.ID, string(event.NewID())), content: msg.Content, attachments: attached, given: msg.Attachments, done: make(chan struct{})}
	err = s.events.Change(ctx, func() error { return s.acceptLocked(p, msg) })
	if err != nil && !errors.Is(err, errRepeated) {
		return "", err
	}
	return p.id, nil
}

// resolve returns what an agent is given of the attachments of a prompt.
func (s *Session) resolve(ctx context.Context, given []event.Attachment) ([]agent.Attachment, error) {
	return AttachmentResolver{Session: s.id, Workspace: s.cfg.Workspace, Judge: s.cfg.Policy, Uploads: s.cfg.Attachments, Outputs: s.cfg.Outputs}.Resolve(ctx, given)
}

// acceptLocked logs a prompt and gives it its turn.
func (s *Session) acceptLocked(p *prompt, msg Message) error {
	if err := s.checkUsable(); err != nil {
		return err
	}
	if _, twice := s.places[p.id]; twice {
		return errRepeated
	}
	if s.rewinding {
		return fmt.Errorf("%w: the agent goes back to an earlier prompt; send this one again in a moment", ErrWorking)
	}
	if len(s.queue) >= MaxQueue {
		return fmt.Errorf("%w: %d of them; wait, or take one back", ErrBusy, len(s.queue))
	}
	data := []event.Data{event.UserMessage{MessageID: p.id, Content: msg.Content, Attachments: msg.Attachments}}
	sum := s.events.Summary()
	if sum.Title == "" {
		if title := wording.Title(msg.Content); title != "" {
			data = append(data, event.SessionTitleChanged{Title: title})
		}
	}
	p.place = sum.LastSeq
	if err := s.beginLocked(data...); err != nil {
		return err
	}
	s.prompts[p.id] = p
	s.places[p.id] = p.place
	if s.turn != nil && msg.Mode == SendSteer && s.conn != nil && s.turn.joinLocked() {
		s.steer(s.turn, s.conn, p)
		return nil
	}
	if s.held && s.turn != nil { // it is stopping, and this is what the user wants instead
		s.queue = slices.Insert(s.queue, 0, p)
	} else {
		s.enqueueLocked(p)
	}
	s.held = false
	return nil
}

func validate(msg Message) error {
	switch {
	case strings.TrimSpace(msg.Content) == "" && len(msg.Attachments) == 0:
		return ErrEmpty
	case len(msg.Content) > MaxPrompt:
		return fmt.Errorf("%w: %d bytes, the limit is %d; attach the text as a file", ErrTooLong, len(msg.Content), MaxPrompt)
	case !utf8.ValidString(msg.Content):
		return fmt.Errorf("%w: the prompt is not UTF-8", eventlog.ErrInvalid)
	case msg.ID != "" && !messageID.MatchString(msg.ID):
		return fmt.Errorf("%w: a messageId has 1 to 64 letters, digits, - and _", eventlog.ErrInvalid)
	case msg.Mode != "" && msg.Mode != SendQueue && msg.Mode != SendSteer:
		return fmt.Errorf("%w: the mode %q is neither %q nor %q", eventlog.ErrInvalid, msg.Mode, SendQueue, SendSteer)
	}
	return nil
}

// enqueueLocked gives p its turn now or behind the others.
func (s *Session) enqueueLocked(p *prompt) {
	if s.turn != nil {
		s.queue = append(s.queue, p)
		return
	}
	t := s.newTurn(p)
	s.turn = t
	s.wg.Go(func() { s.work(t) })
}

// steer offers p to the running turn. The turn's end waits for the answer.
func (s *Session) steer(t *turn, conn *liveConn, p *prompt) {
	s.wg.Go(func() {
		ctx, cancel := context.WithTimeout(t.ctx, steerLimit)
		defer cancel()
		_, late, err := contain.CallWithGrace(ctx, s.runner(), "steering", func() (struct{}, error) {
			return struct{}{}, conn.Steer(ctx, agent.Prompt{MessageID: p.id, Content: p.content, Attachments: p.attachments})
		}, nil)
		if err != nil && !errors.Is(err, agent.ErrUnsupported) {
			s.log().Warn("a prompt could not join the turn", "late", late, "error", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		defer t.doneLocked()
		switch {
		case s.turn != t || t.ending: // the turn could not wait for the answer
			s.enqueueLocked(p)
		case err == nil || late: // late: the agent may have it, so it is not asked again
			t.steered = append(t.steered, p)
		default:
			s.queue = append([]*prompt{p}, s.queue...) // it was the user's next wish
		}
	})
}

// stopOrder is how long a stop waits for its place before what it stops: only a log
// that is slow holds it up.
const stopOrder = stopGrace / 10

// Abort stops the running turn, within about a second and with everything the
// agent started in it. The prompts that wait go on waiting, until the user sends one of them
// or another one. Displays of the user go on; only when no turn runs they are what is
// stopped. Abort returns when that is logged, but does not wait long for a log that is
// slow or refuses it; nothing to stop is no error.
func (s *Session) Abort(ctx context.Context, reason string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if reason = strings.TrimSpace(reason); reason == "" {
		reason = "Stopped by the user."
	}
	s.mu.Lock()
	idle := s.turn == nil && !slices.ContainsFunc(slices.Collect(maps.Values(s.calls)), func(c *call) bool { return c.by == event.ByUser })
	s.mu.Unlock()
	if idle {
		return nil
	}
	change := s.events.Reserve(stopOrder)
	s.mu.Lock()
	stopped := s.stopLocked(event.Abort{Reason: reason, By: event.DecidedByUser})
	s.mu.Unlock()
	err := s.waitUpTo(logGrace, func() error {
		return change(func() error { return s.logStopLocked(stopped) })
	})
	if err != nil { // the end of the turn says it
		s.log().Warn("a stop was not logged at once", "error", err)
	}
	return nil
}

// halt is what a stop stopped.
type halt struct {
	abort event.Abort
	turn  *turn // nil: none ran
	calls bool  // of the user, where no turn ran
}

// stopLocked stops what runs. logStopLocked logs it.
func (s *Session) stopLocked(abort event.Abort) halt {
	t := s.turn
	h := halt{abort: abort, turn: t}
	switch {
	case t == nil:
		for _, c := range s.calls {
			if c.by == event.ByUser {
				h.calls = true
				c.cancel(errAborted)
			}
		}
		return h
	case t.whole.Err() == nil: // else it is stopping
		t.abort = &abort
	}
	s.held = true
	t.stop(errAborted)
	return h
}

// logStopLocked logs a stop, unless the end of the turn has said it, or will.
func (s *Session) logStopLocked(h halt) error {
	switch {
	case h.calls:
		return s.events.Append(h.abort)
	case h.turn == nil || s.turn != h.turn || h.turn.abort == nil || h.turn.ending:
		return nil
	}
	if err := s.events.Append(append([]event.Data{*h.turn.abort}, s.requests.Refusals()...)...); err != nil {
		return err
	}
	h.turn.abort = nil
	s.requests.Abandon()
	return nil
}

// AbortTool stops one running tool call, the agent's or the user's, or the task it left; its
// turn goes on.
// [consent.ErrGone] for a call that has ended, [eventlog.ErrNotFound] for one that never was,
// [agent.ErrUnsupported] for one the agent runs by itself.
func (s *Session) AbortTool(ctx context.Context, toolCallID string) error {
	s.mu.Lock()
	c, runs, task := s.calls[toolCallID], s.events.Open.Tool(toolCallID) != nil, s.events.Open.TaskOf(toolCallID)
	s.mu.Unlock()
	switch {
	case c != nil:
		c.cancel(errAborted)
		return nil
	case task != "":
		return s.AbortTask(ctx, task)
	case runs:
		return fmt.Errorf("tool call %s is the agent's own, stop its turn: %w", toolCallID, agent.ErrUnsupported)
	}
	return s.missing(ctx, "tool call "+toolCallID, func(d event.Data) bool {
		start, ok := d.(event.ToolExecutionStart)
		return ok && start.ToolCallID == toolCallID
	})
}

// logGrace is how long those wait for a slow log who have something else to do.
const logGrace = stopGrace / 4

// waitUpTo runs f, which appends, and returns what f returns, but not much later than
// after limit: then f goes on without its caller.
func (s *Session) waitUpTo(limit time.Duration, f func() error) error {
	s.mu.Lock()
	if s.state >= stateClosing {
		s.mu.Unlock()
		return f()
	}
	s.wg.Add(1)
	s.mu.Unlock()
	defer s.wg.Done()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_, _, err := contain.CallWithGrace(ctx, contain.Runner{Log: s.log(), Running: &s.wg}, "the log", func() (struct{}, error) { return struct{}{}, f() }, nil)
	return err
}

// missing says of something that does not run whether the log ever had it:
// [consent.ErrGone], or [eventlog.ErrNotFound].
func (s *Session) missing(ctx context.Context, what string, starts func(event.Data) bool) error {
	known := false
	err := s.events.Scan(ctx, 0, func(e event.Entry) bool {
		known = starts(e.Event.Data)
		return !known
	})
	switch {
	case err != nil:
		return err
	case known:
		return fmt.Errorf("%s has ended: %w", what, consent.ErrGone)
	}
	return fmt.Errorf("%s: %w", what, eventlog.ErrNotFound)
}
