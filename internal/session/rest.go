package session

import (
	"time"
)

// noteUseLocked notes that the session's conversation is of use now.
func (s *Session) noteUseLocked() {
	s.usedAt = s.cfg.Now()
	if s.conn == nil || s.cfg.AgentIdle <= 0 || !s.conn.canResume {
		return
	}
	if s.idleTimer == nil {
		s.idleTimer = time.AfterFunc(s.cfg.AgentIdle, s.closeIdle)
	}
}

// inUseLocked reports whether something works in the conversation, or has a subscriber.
func (s *Session) inUseLocked() bool {
	return s.turn != nil || len(s.events.Open.Tasks) > 0 || s.events.Watched()
}

// closeIdle closes a conversation that was of no use for [Config].AgentIdle: the next prompt
// resumes it. Until then it costs nothing.
func (s *Session) closeIdle() {
	if !s.connecting.TryLock() { // it is of use again
		s.resetIdleTimer(s.cfg.AgentIdle)
		return
	}
	defer s.connecting.Unlock()
	s.mu.Lock()
	conn, left := s.conn, s.cfg.AgentIdle-s.cfg.Now().Sub(s.usedAt)
	switch {
	case s.state >= stateClosing || conn == nil:
		s.idleTimer = nil
		s.mu.Unlock()
		return
	case s.inUseLocked():
		left = s.cfg.AgentIdle
	}
	if left > 0 {
		s.mu.Unlock()
		s.resetIdleTimer(left)
		return
	}
	s.conn, s.idleTimer, s.closedIdle = nil, nil, true
	s.wg.Add(1) // not after the state is closing
	s.mu.Unlock()
	defer s.wg.Done()
	conn.close(s.log())
}

// resetIdleTimer looks later.
func (s *Session) resetIdleTimer(in time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idleTimer != nil && s.state < stateClosing {
		s.idleTimer.Reset(in)
	}
}
