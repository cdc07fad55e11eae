package sessions

import (
	"context"
	"fmt"
	"time"

	"webchat/internal/agent"
	"webchat/internal/eventlog"
)

const (
	// UndoDelete is how long a deleted session can be restored.
	UndoDelete = 30 * time.Second

	purgeAgain  = 5 * time.Second // how soon a deletion that was refused is tried again
	forgetLimit = time.Minute     // how long a backend may take to forget a session
)

// Delete stops a session and hides it at once. For [UndoDelete] it can be
// restored; then its log, outputs and uploads are gone.
func (m *Manager) Delete(ctx context.Context, id eventlog.ID) error {
	s, err := m.Get(ctx, id)
	if err != nil {
		return err
	}
	at := m.cfg.Now().UTC()
	if err := m.Wrote(m.cfg.Catalog.Mark(ctx, id, Mark{DeletedAt: &at}), 0); err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	s.Retire(at)
	m.schedulePurge(id, UndoDelete)
	return nil
}

// Restore brings a deleted session back; [eventlog.ErrNotFound] when it is gone for good.
func (m *Manager) Restore(ctx context.Context, id eventlog.ID) (eventlog.Summary, error) {
	if err := m.await(ctx); err != nil {
		return eventlog.Summary{}, err
	}
	s, err := m.load(ctx, id)
	if err != nil {
		return eventlog.Summary{}, err
	}
	if s.Ended() {
		return eventlog.Summary{}, fmt.Errorf("session %s: %w", id, eventlog.ErrNotFound) // the purge has begun
	}
	m.mu.Lock()
	timer := m.purges[id]
	delete(m.purges, id)
	m.mu.Unlock()
	if s.Summary().DeletedAt.IsZero() {
		return s.Summary(), nil
	}
	if timer == nil || !timer.Stop() {
		return eventlog.Summary{}, fmt.Errorf("session %s: %w", id, eventlog.ErrNotFound) // the purge has begun
	}
	if err := m.Wrote(m.cfg.Catalog.Mark(ctx, id, Mark{DeletedAt: &time.Time{}}), 0); err != nil {
		m.schedulePurge(id, UndoDelete)
		return eventlog.Summary{}, fmt.Errorf("restore session %s: %w", id, err)
	}
	s.Revive()
	return s.Summary(), nil
}

func (m *Manager) schedulePurge(id eventlog.ID, in time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.purges[id] != nil {
		return
	}
	m.purges[id] = time.AfterFunc(in, func() {
		release, err := m.claim(m.ctx, id)
		if err != nil {
			return // the program ends, and the next one finds it
		}
		defer release()
		m.purge(id)
	})
}

// purge removes a deleted session for good. What the log refuses is tried again. The
// caller has the session's claim.
func (m *Manager) purge(id eventlog.ID) {
	if s := m.loaded(id); s != nil {
		s.Close()
	}
	if sum, err := m.cfg.Catalog.Summary(m.ctx, id); err == nil {
		defer m.unload(id, sum.Backend)
	}
	if err := m.Wrote(m.cfg.Catalog.Delete(context.WithoutCancel(m.ctx), id), 0); err != nil {
		m.cfg.Logger.Error("a deleted session could not be removed; it is tried again", "session", string(id), "error", err)
		m.mu.Lock()
		delete(m.purges, id)
		m.mu.Unlock()
		m.schedulePurge(id, purgeAgain)
		return
	}
	if m.cfg.Outputs != nil {
		m.cfg.Outputs.DeleteSession(string(id))
	}
	if m.cfg.Attachments != nil {
		m.cfg.Attachments.DeleteSession(string(id))
	}
	m.mu.Lock()
	delete(m.sessions, id)
	delete(m.purges, id)
	m.mu.Unlock()
	m.eraseDeletedText()
}

// textEraser is a Catalog on a disk, where what was deleted is not gone yet.
type textEraser interface {
	Scrub(ctx context.Context) error
}

// eraseDeletedText takes what is left of purged sessions off the disk, once for all that were
// purged before it began.
func (m *Manager) eraseDeletedText() {
	disk, ok := m.cfg.Catalog.(textEraser)
	if !ok {
		return
	}
	m.mu.Lock()
	first := m.scrubs == 0
	m.scrubs++
	m.mu.Unlock()
	if !first {
		return // the call that runs erases once more
	}
	for {
		m.mu.Lock()
		before := m.scrubs
		m.mu.Unlock()
		if err := disk.Scrub(m.ctx); err != nil && m.ctx.Err() == nil {
			m.cfg.Logger.Warn("words of deleted sessions may be left on the disk until the next one is deleted", "error", err)
		}
		m.mu.Lock()
		if m.scrubs == before {
			m.scrubs = 0
			m.mu.Unlock()
			return
		}
		m.mu.Unlock()
	}
}

// unload has a backend remove what it keeps of a deleted session. That may take
// the start of a program, so nothing waits for it but the end of the manager.
func (m *Manager) unload(id eventlog.ID, backend string) {
	f, ok := m.backends[backend].(agent.Forgetter)
	if !ok {
		return
	}
	m.wg.Go(func() {
		ctx, cancel := context.WithTimeout(m.ctx, forgetLimit)
		defer cancel()
		if err := f.Forget(ctx, string(id)); err != nil && m.ctx.Err() == nil {
			m.cfg.Logger.Warn("a backend keeps something of a deleted session", "session", string(id), "backend", backend, "error", err)
		}
	})
}
