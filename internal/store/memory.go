package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

// Memory keeps sessions as long as the process lives. The zero value is ready.
type Memory struct {
	mu       sync.RWMutex // guards what follows
	sessions map[eventlog.ID]*kept
	keys     int64
	activity int64 // the last one's
}

// kept is one session.
type kept struct {
	row
	log    []event.Entry // entry i has sequence i+1
	drafts []eventlog.Draft
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{} }

// Append implements [eventlog.Store].
func (m *Memory) Append(ctx context.Context, id eventlog.ID, entries []event.Entry, s eventlog.Summary) error {
	if err := ctx.Err(); err != nil || len(entries) == 0 {
		return err
	}
	if err := checkEntries(id, entries, s); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.sessions[id]
	last := int64(0)
	if k != nil {
		last = k.LastSeq
	}
	if entries[0].Seq != last+1 {
		return fmt.Errorf("append to the log of session %s: %w: the log does not end at %d", id, ErrSequence, entries[0].Seq-1)
	}
	if k == nil {
		m.keys++
		k = &kept{row: row{key: m.keys}}
		if m.sessions == nil {
			m.sessions = map[eventlog.ID]*kept{}
		}
		m.sessions[id] = k
	} else {
		s.Pinned, s.DeletedAt = k.Pinned, k.DeletedAt
	}
	if k.activity == 0 || s.Open.Active > last {
		m.activity++
		k.activity = m.activity
	}
	k.Summary = s
	for _, e := range entries {
		e.Pos = 0 // a log does not know it
		k.log = append(k.log, e)
	}
	return nil
}

// After implements [eventlog.Store].
func (m *Memory) After(ctx context.Context, id eventlog.ID, seq int64, limit int) ([]event.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if limit < 1 {
		limit = DefaultEntries
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	k := m.sessions[id]
	if k == nil || seq >= k.LastSeq {
		return nil, nil
	}
	log := k.log[max(seq, 0):]
	return slices.Clone(log[:min(limit, len(log))]), nil
}

// Writable implements [sessions.Log].
func (m *Memory) Writable(context.Context, int) error { return nil }

// Summary implements [sessions.Catalog].
func (m *Memory) Summary(_ context.Context, id eventlog.ID) (eventlog.Summary, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if k := m.sessions[id]; k != nil {
		return k.Summary, nil
	}
	return eventlog.Summary{}, fmt.Errorf("session %s: %w", id, eventlog.ErrNotFound)
}

// List implements [sessions.Catalog], as [DB.List] does.
func (m *Memory) List(_ context.Context, q sessions.Query) (sessions.Page, error) {
	p, err := pageOf(q)
	if err != nil {
		return sessions.Page{}, err
	}
	found, err := m.rows(context.Background(), p)
	return p.page(found), err
}

func (m *Memory) rows(_ context.Context, p page) ([]row, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var found []row
	for _, k := range m.sessions {
		r := k.row
		if p.kind == sessions.QueryPresent && len(p.words) > 0 {
			r.hit = lastHit(k.log, p.finder)
		}
		if p.selects(r) && (p.from == nil || p.order(p.from.row(), r) < 0) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, p.order)
	return found, nil
}

func (p page) selects(r row) bool {
	switch p.kind {
	case sessions.QueryUnfinished:
		return r.Unfinished()
	case sessions.QueryDeleted:
		return !r.DeletedAt.IsZero()
	}
	if !p.fits(r.Summary) {
		return false
	}
	title := caseless(r.Title)
	return r.DeletedAt.IsZero() && (r.hit != nil || !slices.ContainsFunc(p.words, func(w string) bool { return !strings.Contains(title, w) }))
}

// fits is what [page.filter] asks for.
func (p page) fits(s eventlog.Summary) bool {
	if len(p.Workspaces) > 0 && !slices.Contains(p.Workspaces, s.Workspace) || slices.Contains(p.Hidden, s.Workspace) || p.Begun && s.LastSeq < 2 {
		return false
	}
	switch p.State {
	case "":
		return true
	case sessions.Active:
		return s.Status != event.Idle
	case sessions.Resting:
		return s.Status == event.Idle && !s.Pinned
	case sessions.Pinned:
		return s.Pinned
	case sessions.Failed:
		return s.Status == event.Idle && s.Open.Failed
	}
	return string(s.Status) == string(p.State)
}

func (p page) order(a, b row) int {
	if p.kind != sessions.QueryPresent {
		return cmp.Compare(a.key, b.key)
	}
	return cmp.Or(compareBool(b.Pinned, a.Pinned), cmp.Compare(b.activity, a.activity), cmp.Compare(b.key, a.key))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (c cursor) row() row {
	return row{key: c.Key, activity: c.Activity, Summary: eventlog.Summary{Pinned: c.Pinned}}
}

// Workspaces implements [sessions.Catalog].
func (m *Memory) Workspaces(context.Context) ([]sessions.Workspace, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	by := map[string]sessions.Workspace{}
	for _, k := range m.sessions {
		if k.DeletedAt.IsZero() {
			w := by[k.Workspace]
			if w.Path = k.Workspace; k.LastSeq > 1 {
				w.Sessions++
			}
			if k.UpdatedAt.After(w.UpdatedAt) {
				w.UpdatedAt = k.UpdatedAt
			}
			by[k.Workspace] = w
		}
	}
	return slices.Collect(maps.Values(by)), nil
}

// Mark implements [sessions.Catalog].
func (m *Memory) Mark(_ context.Context, id eventlog.ID, mark sessions.Mark) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.sessions[id]
	if k == nil {
		return fmt.Errorf("mark session %s: %w", id, eventlog.ErrNotFound)
	}
	if mark.Pinned != nil {
		k.Pinned = *mark.Pinned
	}
	if mark.DeletedAt != nil {
		k.DeletedAt = *mark.DeletedAt
	}
	return nil
}

// Delete implements [sessions.Catalog].
func (m *Memory) Delete(_ context.Context, id eventlog.ID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, id)
	return nil
}

// SaveDrafts implements [eventlog.Drafts], as [DB.SaveDrafts] does.
func (m *Memory) SaveDrafts(_ context.Context, id eventlog.ID, drafts []eventlog.Draft) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.sessions[id]
	switch {
	case k != nil:
		k.drafts = slices.Clone(drafts)
	case len(drafts) > 0:
		return fmt.Errorf("save the drafts of session %s: %w", id, eventlog.ErrNotFound)
	}
	return nil
}

// LoadDrafts implements [eventlog.Drafts].
func (m *Memory) LoadDrafts(_ context.Context, id eventlog.ID) ([]eventlog.Draft, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if k := m.sessions[id]; k != nil {
		return slices.Clone(k.drafts), nil
	}
	return nil, nil
}
