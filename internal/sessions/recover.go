package sessions

import (
	"context"
	"time"

	"webchat/internal/eventlog"
)

// recover loads every session that was left unfinished, which closes what is open in it, and purges
// what was deleted long enough ago.
func (m *Manager) recover(ctx context.Context) {
	_ = m.Wrote(m.cfg.Log.Writable(ctx, 0), 0)  // users see it
	if used, err := m.Counts(ctx); err == nil { // else each shows when its sessions are found
		known := map[string]time.Time{}
		for path, w := range used {
			known[path] = w.UpdatedAt
		}
		m.cfg.Workspaces.Add(known)
	}
	failed := map[eventlog.ID]bool{}
	m.sweep(ctx, failed)
	if m.cfg.Snapshots == nil {
		return
	}
	for _, id := range m.cfg.Snapshots.Unsettled() {
		m.recoverOne(ctx, eventlog.ID(id), failed)
	}
}

// sweep loads every session that was left unfinished, which closes what is open in it, and purges
// what was deleted long enough ago. Where several replicas share the log, those of dead ones are
// meant. failed has the sessions whose error was logged.
func (m *Manager) sweep(ctx context.Context, failed map[eventlog.ID]bool) {
	err := m.forEach(ctx, QueryUnfinished, func(s eventlog.Summary) {
		m.recoverOne(ctx, s.ID, failed)
	})
	// a list that cannot be read must not keep everything from starting
	if err != nil && ctx.Err() == nil {
		m.cfg.Logger.Error("unfinished sessions were not found; each is recovered when it is opened",
			"error", err)
	}
	err = m.forEach(ctx, QueryDeleted, func(s eventlog.Summary) {
		m.purger.schedule(s.ID, m.purger.left(s))
	})
	if err != nil && ctx.Err() == nil {
		m.cfg.Logger.Error("deleted sessions were not found; their logs stay until the next start",
			"error", err)
	}
}

// recoverOne loads a session, which closes what is open in it.
func (m *Manager) recoverOne(ctx context.Context, id eventlog.ID, failed map[eventlog.ID]bool) {
	if _, err := m.load(ctx, id); err != nil && !elsewhere(err) && ctx.Err() == nil && !failed[id] {
		failed[id] = true
		m.cfg.Logger.Error("a session could not be recovered; it is tried again when it is opened",
			"session", string(id), "error", err)
	}
}

// forEach collects all sessions of a kind before it calls f, which may change them.
func (m *Manager) forEach(ctx context.Context, kind QueryKind, f func(eventlog.Summary)) error {
	var all []Found
	for q := (Query{Kind: kind, Limit: 500}); ; {
		page, err := m.cfg.Catalog.List(ctx, q)
		if err != nil {
			return err
		}
		all = append(all, page.Sessions...)
		if q.Cursor = page.Cursor; q.Cursor == "" {
			break
		}
	}
	for _, s := range all {
		f(s.Summary)
	}
	return nil
}
