package sessions

import (
	"context"
	"fmt"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Prune deletes for good, with logs, outputs and uploads, the sessions whose last
// activity was before the given time, and returns how many. Those that are pinned,
// or in which something runs or waits, stay. There is no undo.
func (m *Manager) Prune(ctx context.Context, before time.Time) (int, error) {
	if err := m.await(ctx); err != nil {
		return 0, err
	}
	n := 0
	for _, s := range m.expired(ctx, before) {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		pruned, err := m.pruneOne(ctx, s, before)
		if err != nil {
			return n, err
		}
		if pruned {
			n++
		}
	}
	return n, nil
}

// pruneOne deletes a session that is still prunable.
func (m *Manager) pruneOne(ctx context.Context, s eventlog.Summary, before time.Time) (bool, error) {
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

// expired lists what Prune is about; what cannot be read is not old.
func (m *Manager) expired(ctx context.Context, before time.Time) (all []eventlog.Summary) {
	err := m.forEach(ctx, QueryPresent, func(s eventlog.Summary) {
		if prunable(s, before) {
			all = append(all, s)
		}
	})
	if err != nil {
		m.cfg.Logger.Error("not all sessions were looked at", "error", err)
	}
	return all
}
