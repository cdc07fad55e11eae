package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Create logs the start of a session and returns it. Its agent starts with the first prompt, in
// that mode if it is not empty. taken is what it begins with. [eventlog.ErrInvalid] for a title
// that is too long or an unknown mode; [agent.ErrUnsupported] for a backend whose tool calls the
// user's hooks do not reach, or that knows no modes.
func Create(ctx context.Context, c Config, start event.SessionStart, mode string,
	taken ...event.Data) (*Session, error) {
	c, err := c.Complete()
	if err != nil {
		return nil, err
	}
	if c.Backend == nil {
		return nil, fmt.Errorf("%w: a new session needs a backend", eventlog.ErrInvalid)
	}
	info := c.Backend.Info(ctx)
	if err := checkReach(c, info); err != nil {
		return nil, fmt.Errorf("create a session: %w", err)
	}
	if start.Title, err = eventlog.CleanTitle(start.Title); err != nil {
		return nil, err
	}
	s := newSession(c, eventlog.Summary{ID: eventlog.ID(start.SessionID)})
	s.startedAt, s.titleChosen = c.Now(), start.Title != ""
	start.Workspace, start.Context = c.Workspace, c.Context()
	begin := []event.Data{start}
	if mode != "" {
		m, err := s.mode(ctx, mode)
		if err != nil {
			return nil, fmt.Errorf("create a session: %w", err)
		}
		begin = append(begin, m)
	}
	if err := s.events.Add(append(begin, taken...)...); err != nil {
		return nil, fmt.Errorf("create a session: %w", err)
	}
	if info.Counting != agent.CountsNothing {
		s.warmSnapshots()
	}
	return s, nil
}

// Load returns a session of the log, closing first what an earlier process left open in it. While
// the log cannot be written such a session can only be read.
func Load(ctx context.Context, c Config, sum eventlog.Summary) (*Session, error) {
	c, err := c.Complete()
	if err != nil {
		return nil, err
	}
	sum.Workspace = c.Workspace
	s := newSession(c, sum)
	s.resumable, s.lastSeen = sum.LastSeq > 1, sum.UpdatedAt
	if sum.Unfinished() {
		switch err := s.recover(ctx); {
		case errors.Is(err, eventlog.ErrLog):
			s.recoverLater()
		case err != nil:
			return nil, err
		}
	}
	if err := s.settle(ctx); err != nil {
		s.log().Error("what going back had begun was not ended; it is tried again at the next start",
			"error", err)
	}
	s.heldFiles.askUnasked()
	return s, nil
}

// recover closes what an earlier process left open, before anything else happens to the session:
// messages in flight as far as their drafts go, tool calls, requests and the turn. The prompts that
// never had one wait for the user.
func (s *Session) recover(ctx context.Context) error {
	data, open, err := s.unfinished(ctx)
	if err == nil {
		err = s.events.Change(ctx, func() (err error) {
			err = s.events.Recover(open, data)
			s.requests.Reopen(s.events.Open().Requests)
			s.leftOpen = s.leftOpen && err != nil
			if err == nil {
				s.keepWaitingLocked(open.Queued)
			}
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("recover session %s: %w", s.id, err)
	}
	if s.cfg.Drafts != nil {
		s.saveDrafts(nil)
	}
	return nil
}

// unfinished folds the end of the log, from before all that is open, and returns what closes that.
func (s *Session) unfinished(ctx context.Context) (data []event.Data, o eventlog.Work, err error) {
	sum := s.events.Summary()
	cut := event.NewCut(1, 0)
	sum.IncludeOpen(cut)
	entries, err := s.events.End(ctx, cut, sum.LastSeq)
	for _, e := range entries {
		o.Apply(e)
	}
	var drafts []eventlog.Draft
	if err == nil && s.cfg.Drafts != nil && o.Turn.TurnID != "" {
		drafts, err = s.cfg.Drafts.LoadDrafts(ctx, s.id)
	}
	var spent event.Usage
	for _, d := range drafts {
		f := &eventlog.Message{
			ID:        d.MessageID,
			Parent:    d.ParentToolCallID,
			Reasoning: d.Reasoning,
			Text:      []byte(d.Content),
		}
		switch {
		case d.Usage != nil:
			spent = *d.Usage
		case !o.Done[f.Key()]:
			o.Messages = append(o.Messages, f)
		}
	}
	data = o.Interrupted()
	for _, once := range sum.OpenedOnce() {
		data = append(data, event.SandboxClosed{ID: once.ID, By: event.ClosedByEnd})
	}
	for i, d := range data {
		if end, ok := d.(event.TurnEnd); ok && end.TurnID == o.Turn.TurnID {
			end.Usage = spent
			data[i] = end
		}
	}
	return data, o, err
}

// recoverLater recovers the session as soon as the log can be written; until then it can only be
// read.
func (s *Session) recoverLater() {
	s.mu.Lock()
	s.leftOpen = true
	s.mu.Unlock()
	s.wg.Go(func() {
		if err := eventlog.Retry(s.ctx, func() error {
			return s.recover(s.ctx)
		}); err != nil && s.ctx.Err() == nil {
			s.log().Error("a session could not be recovered: it can be read until the next start", "error",
				err)
		}
	})
}

// Retire stops the session's work after a soft deletion.
func (s *Session) Retire(at time.Time) {
	err := s.events.Change(context.Background(), func() error {
		if s.state == stateOpen {
			s.state = stateDeleted
		}
		s.events.Mark(func(sum *eventlog.Summary) { sum.DeletedAt = at })
		logStop := s.stopLocked(event.Abort{Reason: "The session was deleted."})
		for _, c := range s.calls {
			c.cancel(errAborted)
		}
		return logStop()
	})
	if err != nil {
		s.log().Warn("the stop of a deleted session was not logged", "error", err)
	}
	s.opened.Suspend()
	if len(s.Tasks()) > 0 {
		s.wg.Go(func() {
			ctx, cancel := context.WithTimeout(s.ctx, endTaskLimit)
			defer cancel()
			if err := s.AbortTasks(ctx); err != nil {
				s.log().Warn("a task of a deleted session goes on until its end", "error", err)
			}
		})
	}
}

// Revive undoes [Session.Retire].
func (s *Session) Revive() {
	_ = s.events.Change(context.Background(), func() error { // it does not fail
		if s.state == stateDeleted {
			s.state = stateOpen
		}
		s.events.Mark(func(sum *eventlog.Summary) { sum.DeletedAt = time.Time{} })
		return nil
	})
}

// Ended reports whether the session's work in this process is over.
func (s *Session) Ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state >= stateClosing
}

// Pin takes over that the session was pinned.
func (s *Session) Pin() { s.setPinned(true) }

// Unpin notes that the user unpinned the session.
func (s *Session) Unpin() { s.setPinned(false) }

func (s *Session) setPinned(pinned bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events.Mark(func(sum *eventlog.Summary) { sum.Pinned = pinned })
}

// Resting reports whether nothing runs in the session and no question is open but what is held.
// Prompts may wait until the user goes on.
func (s *Session) Resting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restingLocked()
}

func (s *Session) restingLocked() bool {
	sum := s.events.Summary()
	return s.turn == nil && len(s.calls) == 0 && !s.rewinding && !s.leftOpen &&
		sum.Open.Turn == "" && sum.Open.Tools == 0 && sum.Open.Tasks == 0 &&
		sum.Pending == len(sum.Open.Waits)
}

// Close ends the session's work in this process and returns when nothing of it is left: turn,
// tools, conversation, subscribers.
func (s *Session) Close() {
	s.cancel(errShutdown)
	s.closeIf(func() bool { return true })
}

// CloseResting is [Session.Close] for a session that rests; it reports whether it does.
func (s *Session) CloseResting() bool { return s.closeIf(s.restingLocked) }

// closeIf closes the session, if it is open and may be closed. No turn begins in between.
func (s *Session) closeIf(may func() bool) bool {
	closes := false
	_ = s.events.Change(context.Background(), func() error { // it does not fail
		if closes = s.state < stateClosing && may(); !closes {
			return nil
		}
		s.state = stateClosing
		if s.idleTimer != nil {
			s.idleTimer.Stop()
		}
		return nil
	})
	if !closes {
		return false
	}
	s.cancel(errShutdown)
	s.wg.Wait()

	s.mu.Lock()
	conn, worked := s.conn, s.agentStarted
	s.conn = nil
	s.mu.Unlock()
	if conn != nil {
		conn.close()
	}
	s.endTasks()
	s.opened.Stop()
	if worked {
		s.hookSessionEnd()
	}
	s.toolMu.Lock()
	set := s.toolset
	s.toolset = nil
	s.toolMu.Unlock()
	if set != nil {
		if err := s.contained("closing the tools", set.Close); err != nil {
			s.log().Warn("tools did not close cleanly", "error", err)
		}
	}
	s.wg.Wait()

	err := s.events.Change(context.Background(), func() (err error) {
		err = s.shutDownLocked()
		s.state, s.queue = stateClosed, nil // what waits waits for the next process
		s.events.Close()
		return err
	})
	if err != nil {
		s.log().Error("session.shutdown was not logged", "error", err)
	}
	return true
}
