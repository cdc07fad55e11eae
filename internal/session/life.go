package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Create logs the start of a session and returns it. Its agent starts with the first
// prompt, in that mode if it is not empty. taken is what it begins with. [eventlog.ErrInvalid] for a title that is too long or
// an unknown mode; [agent.ErrUnsupported] for a backend whose tool calls the user's
// hooks do not reach, or that knows no modes.
func Create(ctx context.Context, c Config, start event.SessionStart, mode string, taken ...event.Data) (*Session, error) {
	c, err := c.Complete()
	if err != nil {
		return nil, err
	}
	if c.Backend == nil {
		return nil, fmt.Errorf("%w: a new session needs a backend", eventlog.ErrInvalid)
	}
	if err := checkReach(ctx, c.Hooks, c.Backend); err != nil {
		return nil, fmt.Errorf("create a session: %w", err)
	}
	if start.Title, err = eventlog.CleanTitle(start.Title); err != nil {
		return nil, err
	}
	s := newSession(c, eventlog.Summary{ID: eventlog.ID(start.SessionID)})
	s.startedAt, s.placesComplete, s.titleChosen, s.resumable = c.Now(), true, start.Title != "", c.Adopted
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
	return s, nil
}

// Load returns a session of the log, closing first what an earlier process left open
// in it. While the log cannot be written such a session can only be read.
func Load(ctx context.Context, c Config, sum eventlog.Summary) (*Session, error) {
	c, err := c.Complete()
	if err != nil {
		return nil, err
	}
	sum.Workspace = c.Workspace
	s := newSession(c, sum)
	s.resumable = sum.LastSeq > 1
	if sum.Unfinished() {
		switch err := s.recover(ctx); {
		case errors.Is(err, eventlog.ErrLog):
			s.recoverLater()
		case err != nil:
			return nil, err
		}
	}
	return s, nil
}

// Retire stops the session's work after a soft deletion.
func (s *Session) Retire(at time.Time) {
	err := s.events.Change(context.Background(), func() error {
		if s.state == stateOpen {
			s.state = stateDeleted
		}
		s.events.Mark(func(sum *eventlog.Summary) { sum.DeletedAt = at })
		t := s.stopLocked(event.Abort{Reason: "The session was deleted."})
		for _, c := range s.calls {
			c.cancel(errAborted)
		}
		return s.logStopLocked(t)
	})
	if err != nil {
		s.log().Warn("the stop of a deleted session was not logged", "error", err)
	}
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

// Pin takes over whether the session is pinned.
func (s *Session) Pin(pinned bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events.Mark(func(sum *eventlog.Summary) { sum.Pinned = pinned })
}

// Close ends the session's work in this process and returns when nothing of it is
// left: turn, tools, conversation, subscribers.
func (s *Session) Close() {
	s.cancel(errShutdown)
	closed := false
	_ = s.events.Change(context.Background(), func() error { // it does not fail
		closed = s.state >= stateClosing
		s.state = max(s.state, stateClosing)
		return nil
	})
	if closed {
		return
	}
	s.mu.Lock()
	if s.idleTimer != nil {
		s.idleTimer.Stop()
	}
	s.mu.Unlock()
	s.wg.Wait()

	s.mu.Lock()
	conn, worked := s.conn, s.agentStarted
	s.conn = nil
	s.mu.Unlock()
	if conn != nil {
		conn.close(s.log())
	}
	s.endTasks(event.Interrupted)
	if worked {
		s.hookSessionEnd()
	}
	s.toolMu.Lock()
	set := s.toolset
	s.toolset = nil
	s.toolMu.Unlock()
	if set != nil {
		_, err := contain.Call(s.log(), "closing the tools", func() (struct{}, error) { return struct{}{}, set.Close() })
		if err != nil {
			s.log().Warn("tools did not close cleanly", "error", err)
		}
	}
	s.wg.Wait()

	err := s.events.Change(context.Background(), func() (err error) {
		if !s.startedAt.IsZero() {
			d := s.cfg.Now().Sub(s.startedAt)
			err = s.events.Append(event.SessionShutdown{SessionID: string(s.id), Workspace: s.cfg.Workspace, DurationMs: max(0, d.Milliseconds()), Usage: s.unbilled})
		}
		for _, p := range s.queue { // they wait for the next process
			s.doneLocked(p)
		}
		s.state, s.queue = stateClosed, nil
		s.events.Close()
		return err
	})
	if err != nil {
		s.log().Error("session.shutdown was not logged", "error", err)
	}
}
