package session

import (
	"context"
	"time"
)

// usedLocked notes that the session's conversation is of use now.
func (s *Session) usedLocked() {
	s.usedAt = s.cfg.Now()
	if s.conn == nil || s.cfg.AgentIdle <= 0 || !s.conn.resumes {
		return
	}
	if s.resting == nil {
		s.resting = time.AfterFunc(s.cfg.AgentIdle, s.rest)
	}
}

// neededLocked reports whether something works in the conversation, or somebody looks.
func (s *Session) neededLocked() bool {
	return s.turn != nil || len(s.queue) > 0 || len(s.events.Open.Tasks) > 0 || s.events.Watched()
}

// rest closes a conversation that was of no use for [Config].AgentIdle: the next prompt
// resumes it. Until then it costs nothing.
func (s *Session) rest() {
	if !s.connecting.TryLock() { // it is of use again
		s.again(s.cfg.AgentIdle)
		return
	}
	defer s.connecting.Unlock()
	s.mu.Lock()
	conn, left := s.conn, s.cfg.AgentIdle-s.cfg.Now().Sub(s.usedAt)
	switch {
	case s.state >= stateClosing || conn == nil:
		s.resting = nil
		s.mu.Unlock()
		return
	case s.neededLocked():
		left = s.cfg.AgentIdle
	}
	if left > 0 {
		s.mu.Unlock()
		s.again(left)
		return
	}
	s.conn, s.resting, s.rested = nil, nil, true
	s.wg.Add(1) // not after the state is closing
	s.mu.Unlock()
	defer s.wg.Done()
	conn.close(s.log())
}

// again looks later.
func (s *Session) again(in time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resting != nil && s.state < stateClosing {
		s.resting.Reset(in)
	}
}

// startHooks asks the hooks of the session's start, unless the conversation only rested.
func (s *Session) startHooks(ctx context.Context) error {
	s.mu.Lock()
	rested := s.rested
	s.rested = false
	s.mu.Unlock()
	if rested {
		return nil
	}
	return s.hookSessionStart(ctx)
}
