package sessions

import (
	"context"
	"fmt"

	"webchat/internal/eventlog"
)

// claim is the right to create, load or end one session, which one caller has at a
// time. The manager waits for it before it ends.
type claim struct {
	taken chan struct{} // has room for one
	users int           // who has it or waits for it; guarded by the manager's mu
}

// claim waits for the claim of a session. The caller releases it. The error is ctx's,
// or [eventlog.ErrClosed].
func (m *Manager) claim(ctx context.Context, id eventlog.ID) (release func(), err error) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, fmt.Errorf("sessions: %w", eventlog.ErrClosed)
	}
	m.wg.Add(1)
	c := m.claims[id]
	if c == nil {
		c = &claim{taken: make(chan struct{}, 1)}
		m.claims[id] = c
	}
	c.users++
	m.mu.Unlock()

	leave := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if c.users--; c.users == 0 {
			delete(m.claims, id)
		}
		m.wg.Done()
	}
	select {
	case c.taken <- struct{}{}:
		return func() { <-c.taken; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
