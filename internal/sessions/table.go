package sessions

import (
	"context"
	"maps"
	"slices"
	"sync"

	"webchat/internal/eventlog"
	"webchat/internal/session"
)

// table has the sessions that are loaded, and who may create, load or end which.
type table struct {
	wg sync.WaitGroup // claims, and what was started by [table.start] or by who has a claim

	mu       sync.Mutex // guards what follows
	sessions map[eventlog.ID]*session.Session
	claims   map[eventlog.ID]*claim
	closed   bool
}

func newTable() *table {
	return &table{sessions: map[eventlog.ID]*session.Session{}, claims: map[eventlog.ID]*claim{}}
}

// get returns a session if it is loaded.
func (t *table) get(id eventlog.ID) *session.Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sessions[id]
}

// all returns the loaded sessions.
func (t *table) all() []*session.Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.sessions))
}

// add makes a session known.
func (t *table) add(s *session.Session) error {
	t.mu.Lock()
	closed := t.closed
	if !closed {
		t.sessions[s.ID()] = s
	}
	t.mu.Unlock()
	if closed {
		s.Close()
		return errClosed
	}
	return nil
}

// remove forgets a session, whose claim the caller has.
func (t *table) remove(id eventlog.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.sessions, id)
}

// start runs f, for which the end waits, unless that has begun.
func (t *table) start(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.wg.Go(f)
	}
}

// close refuses further sessions and claims, and returns the sessions that are loaded.
func (t *table) close() []*session.Session {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	return t.all()
}

// closeEmpty closes the table if it has no session and no claim, and reports whether it is closed.
func (t *table) closeEmpty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.sessions) == 0 && len(t.claims) == 0 {
		t.closed = true
	}
	return t.closed
}

// claim is the right to create, load or end one session, which one caller has at a time. The
// manager waits for it before it ends.
type claim struct {
	taken chan struct{} // has room for one
	users int           // that have it or wait for it; guarded by the table's mu
}

// claim waits for the claim of a session. The caller releases it. The error is ctx's, or
// [eventlog.ErrClosed].
func (t *table) claim(ctx context.Context, id eventlog.ID) (release func(), err error) {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil, errClosed
	}
	t.wg.Add(1)
	c := t.claims[id]
	if c == nil {
		c = &claim{taken: make(chan struct{}, 1)}
		t.claims[id] = c
	}
	c.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if c.users--; c.users == 0 {
			delete(t.claims, id)
		}
		t.wg.Done()
	}
	select {
	case c.taken <- struct{}{}:
		return func() { <-c.taken; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
