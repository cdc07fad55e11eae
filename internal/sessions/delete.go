package sessions

import (
	"context"
	"fmt"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

const (
	// UndoDelete is how long a deleted session can be restored.
	UndoDelete = 30 * time.Second

	purgeAgain  = 5 * time.Second // how soon a deletion that was refused is tried again
	forgetLimit = time.Minute     // how long a backend may take to forget a session
)

// Delete stops a session and hides it at once. For [UndoDelete] it can be restored; then its log,
// outputs and uploads are gone.
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
	m.mu.Lock()
	timer := m.purges[id]
	delete(m.purges, id)
	m.mu.Unlock()
	switch deleted := !s.Summary().DeletedAt.IsZero(); {
	case s.Ended() || deleted && (timer == nil || !timer.Stop()): // the purge has begun
		return eventlog.Summary{}, notFound(id)
	case !deleted:
		return s.Summary(), nil
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
		if m.mayPurge(id) {
			m.purge(id)
			m.eraseDeletedText()
		}
	})
}

// untilPurge is how long a deleted session can still be restored.
func (m *Manager) untilPurge(s eventlog.Summary) time.Duration {
	return max(0, UndoDelete-m.cfg.Now().Sub(s.DeletedAt))
}

// mayPurge takes a deleted session whose time has come. It is another's affair if another replica
// has it, which may have restored it.
func (m *Manager) mayPurge(id eventlog.ID) bool {
	if m.cfg.Owners == nil || m.loaded(id) != nil {
		return true
	}
	err := m.take(m.ctx, id)
	var sum eventlog.Summary
	if err == nil {
		sum, err = m.cfg.Catalog.Summary(m.ctx, id)
	}
	if err == nil && !sum.DeletedAt.IsZero() {
		return true
	}
	m.mu.Lock()
	delete(m.purges, id) // what is left to do the next sweep finds
	m.mu.Unlock()
	return false
}

// purge removes a deleted session for good. What the log refuses is tried again. The caller has the
// session's claim.
func (m *Manager) purge(id eventlog.ID) {
	if s := m.loaded(id); s != nil {
		s.Close()
	}
	if sum, err := m.cfg.Catalog.Summary(m.ctx, id); err == nil {
		defer m.forget(id, sum.Backend)
		m.deleteHeld(id)
		// first: a process that is killed here purges the session again
		m.deleteSnapshots(id, sum.Workspace)
	}
	err := m.Wrote(m.cfg.Catalog.Delete(context.WithoutCancel(m.ctx), id), 0)
	m.mu.Lock()
	delete(m.purges, id)
	if err == nil {
		delete(m.sessions, id)
	}
	m.mu.Unlock()
	if err != nil {
		m.cfg.Logger.Error("a deleted session could not be removed; it is tried again", "session",
			string(id), "error", err)
		m.schedulePurge(id, purgeAgain)
		return
	}
	if m.cfg.Outputs != nil {
		m.cfg.Outputs.DeleteSession(string(id))
	}
	if m.cfg.Attachments != nil {
		m.cfg.Attachments.DeleteSession(string(id))
	}
}

// deleteHeld deletes what is held for a session.
func (m *Manager) deleteHeld(id eventlog.ID) {
	if m.cfg.Holder == nil {
		return
	}
	if err := m.cfg.Holder.DeleteSession(string(id)); err != nil {
		m.cfg.Logger.Warn("what was held for a deleted session may be left", "session", string(id),
			"error", err)
	}
}

// deleteSnapshots deletes what is kept of a session's workspace.
func (m *Manager) deleteSnapshots(id eventlog.ID, workspace string) {
	if m.cfg.Snapshots == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), forgetLimit)
	defer cancel()
	if err := m.cfg.Snapshots.DeleteSession(ctx, workspace, string(id)); err != nil {
		m.cfg.Logger.Warn("snapshots of a deleted session may be left", "session", string(id), "error",
			err)
	}
}

// eraseDeletedText takes what is left of purged sessions off the disk, if the catalog is on one.
func (m *Manager) eraseDeletedText() {
	disk, ok := m.cfg.Catalog.(interface {
		Scrub(ctx context.Context) error
	})
	if !ok {
		return
	}
	select { // a disk may keep it for long
	case m.scrubbing <- struct{}{}:
		defer func() { <-m.scrubbing }()
	case <-m.ctx.Done():
		return
	}
	if err := disk.Scrub(m.ctx); err != nil && m.ctx.Err() == nil {
		m.cfg.Logger.Warn(
			"words of deleted sessions may be left on the disk until the next one is deleted", "error", err)
	}
}

// forget has a backend remove what it keeps of a deleted session. That may take the start of a
// program, so nothing waits for it but the end of the manager.
func (m *Manager) forget(id eventlog.ID, backend string) {
	f, ok := m.backends[backend].(agent.Forgetter)
	if !ok {
		return
	}
	m.wg.Go(func() {
		ctx, cancel := context.WithTimeout(m.ctx, forgetLimit)
		defer cancel()
		if err := f.Forget(ctx, string(id)); err != nil && m.ctx.Err() == nil {
			m.cfg.Logger.Warn("a backend keeps something of a deleted session", "session", string(id),
				"backend", backend, "error", err)
		}
	})
}

// Pruned counts the sessions that [Manager.Prune] deleted, and those it would have deleted if
// another replica did not have them.
type Pruned struct{ Deleted, Elsewhere int }

// Prune deletes for good, with logs, outputs and uploads, the sessions whose last activity was
// before the given time. Those that are pinned, or in which something runs or waits, stay. There is
// no undo.
func (m *Manager) Prune(ctx context.Context, before time.Time) (p Pruned, err error) {
	if err := m.await(ctx); err != nil {
		return p, err
	}
	defer m.eraseDeletedText()
	var old []eventlog.Summary
	err = m.forEach(ctx, QueryPresent, func(s eventlog.Summary) {
		if prunable(s, before) {
			old = append(old, s)
		}
	})
	if err != nil { // what cannot be read is not old
		m.cfg.Logger.Error("not all sessions were looked at", "error", err)
	}
	for _, s := range old {
		if err := ctx.Err(); err != nil {
			return p, err
		}
		switch pruned, err := m.pruneOne(ctx, s, before); {
		case elsewhere(err):
			p.Elsewhere++
		case err != nil:
			return p, err
		case pruned:
			p.Deleted++
		}
	}
	return p, nil
}

// pruneOne deletes a session that is still prunable.
func (m *Manager) pruneOne(ctx context.Context, s eventlog.Summary,
	before time.Time) (bool, error) {
	release, err := m.claim(ctx, s.ID)
	if err != nil {
		return false, err
	}
	defer release()
	if one := m.loaded(s.ID); one != nil {
		if s = one.Summary(); !prunable(s, before) {
			return false, nil // something began in it meanwhile
		}
		one.Retire(m.cfg.Now().UTC())
	} else if m.cfg.Owners != nil {
		if err = m.take(ctx, s.ID); err == nil {
			s, err = m.cfg.Catalog.Summary(ctx, s.ID)
		}
		if err != nil || !prunable(s, before) { // another replica may have had it since
			return false, err
		}
	}
	m.purge(s.ID)
	if _, err := m.cfg.Catalog.Summary(ctx, s.ID); err == nil {
		return false, fmt.Errorf("session %s could not be deleted: %w", s.ID, eventlog.ErrLog)
	}
	s.DeletedAt = m.cfg.Now().UTC()
	m.Changed(s)
	return true, nil
}

func prunable(s eventlog.Summary, before time.Time) bool {
	return !s.Pinned && s.Status == event.Idle && !s.Unfinished() && s.UpdatedAt.Before(before)
}
