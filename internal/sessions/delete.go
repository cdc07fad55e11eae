package sessions

import (
	"context"
	"fmt"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// UndoDelete is how long a deleted session can be restored.
const UndoDelete = 30 * time.Second

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
	m.purger.schedule(id, UndoDelete)
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
	timer := m.purger.take(id)
	switch deleted := !s.Summary().DeletedAt.IsZero(); {
	case s.Ended() || deleted && (timer == nil || !timer.Stop()): // the purge has begun
		return eventlog.Summary{}, notFound(id)
	case !deleted:
		return s.Summary(), nil
	}
	if err := m.Wrote(m.cfg.Catalog.Mark(ctx, id, Mark{DeletedAt: &time.Time{}}), 0); err != nil {
		m.purger.schedule(id, UndoDelete)
		return eventlog.Summary{}, fmt.Errorf("restore session %s: %w", id, err)
	}
	s.Revive()
	return s.Summary(), nil
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
	defer m.purger.erase()
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
	release, err := m.table.claim(ctx, s.ID)
	if err != nil {
		return false, err
	}
	defer release()
	if sess := m.table.get(s.ID); sess != nil {
		if s = sess.Summary(); !prunable(s, before) {
			return false, nil // something began in it meanwhile
		}
		sess.Retire(m.cfg.Now().UTC())
	} else if m.cfg.Owners != nil {
		if err = m.replica.take(ctx, s.ID); err == nil {
			s, err = m.cfg.Catalog.Summary(ctx, s.ID)
		}
		if err != nil || !prunable(s, before) { // another replica may have had it since
			return false, err
		}
	}
	m.purger.purge(s.ID)
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
