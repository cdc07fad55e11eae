package storetest

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

// Memory is a store for tests, which keeps sessions as long as the process lives. The zero
// value is ready. A store in a file is compared with it by what [Run] tries.
type Memory struct {
	mu       sync.RWMutex // guards what follows
	sessions map[eventlog.ID]*kept
	keys     int64
	activity int64 // the last one's
}

// kept is one session.
type kept struct {
	eventlog.Summary
	place
	log    []event.Entry // entry i has sequence i+1
	drafts []eventlog.Draft
	hit    *eventlog.Hit
}

// place is where a session is in a list, and a cursor.
type place struct {
	Kind     sessions.QueryKind
	First    bool // it is pinned
	Activity int64
	Key      int64 // in the order of creation, from 1
}

// errNotNext is what [Memory] returns for entries that do not go on from the last one.
var errNotNext = errors.New("not the next sequence")

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{} }

// Append implements [eventlog.Store].
func (m *Memory) Append(ctx context.Context, id eventlog.ID, entries []event.Entry,
	s eventlog.Summary) error {
	if err := ctx.Err(); err != nil || len(entries) == 0 {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.sessions[id]
	if k == nil {
		k = &kept{place: place{Key: m.keys + 1}}
	} else {
		s.Pinned, s.DeletedAt = k.Pinned, k.DeletedAt
	}
	last := k.LastSeq
	for i, e := range entries {
		if e.Seq != last+int64(i)+1 {
			return fmt.Errorf("append to the log of session %s: %w", id, errNotNext)
		}
	}
	unencoded := func(e event.Entry) bool { return e.Event.Ephemeral || len(e.JSON) == 0 }
	if slices.ContainsFunc(entries, unencoded) || s.ID != id || s.LastSeq != last+int64(len(entries)) {
		return fmt.Errorf("append to the log of session %s: %w", id, eventlog.ErrInvalid)
	}
	if m.sessions == nil {
		m.sessions = map[eventlog.ID]*kept{}
	}
	m.sessions[id], m.keys = k, max(m.keys, k.Key)
	if k.Activity == 0 || s.Open.Active > last {
		m.activity++
		k.Activity = m.activity
	}
	k.Summary = s
	for _, e := range entries {
		e.Pos = 0 // a log does not know it
		k.log = append(k.log, e)
	}
	return nil
}

// After implements [eventlog.Store].
func (m *Memory) After(ctx context.Context, id eventlog.ID, seq int64,
	limit int) ([]event.Entry, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	k := m.sessions[id]
	if k == nil || seq >= k.LastSeq || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if limit < 1 {
		limit = 1000
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

// List implements [sessions.Catalog].
func (m *Memory) List(_ context.Context, q sessions.Query) (page sessions.Page, err error) {
	words, present := strings.Fields(strings.ToLower(q.Text)), q.Kind == sessions.QueryPresent
	known := present || q.Kind == sessions.QueryUnfinished || q.Kind == sessions.QueryDeleted
	var from *place
	if q.Cursor != "" {
		b, err := base64.RawURLEncoding.DecodeString(q.Cursor)
		if err = errors.Join(err, json.Unmarshal(b, &from)); err != nil || from == nil || from.Key < 1 ||
			from.Kind != q.Kind {
			known = false
		}
	}
	if !known || len(words) > 32 || !present && (len(words) > 0 || !q.None()) {
		return page, fmt.Errorf("list the sessions: %w", eventlog.ErrInvalid)
	}
	limit := q.Limit
	if limit < 1 {
		limit = 50
	}
	found := m.found(q, words, from)
	for i, k := range found[:min(limit, len(found))] {
		page.Sessions = append(page.Sessions, sessions.Found{Summary: k.Summary, Hit: k.hit})
		if i == limit-1 && len(found) > limit {
			b, err := json.Marshal(k.place)
			if err != nil {
				return page, err
			}
			page.Cursor = base64.RawURLEncoding.EncodeToString(b)
		}
	}
	return page, nil
}

// found are all sessions of a query behind a place, in the order of the list.
func (m *Memory) found(q sessions.Query, words []string, from *place) (list []kept) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, stored := range m.sessions {
		k := *stored
		k.place.Kind, k.First = q.Kind, k.Pinned
		if len(words) > 0 {
			k.hit = lastHit(k.log, eventlog.NewFinder(q.Text))
		}
		if k.selected(q, words) && (from == nil || from.before(k.place) < 0) {
			list = append(list, k)
		}
	}
	slices.SortFunc(list, func(a, b kept) int { return a.before(b.place) })
	return list
}

func (k *kept) selected(q sessions.Query, words []string) bool {
	switch q.Kind {
	case sessions.QueryUnfinished:
		return k.Unfinished()
	case sessions.QueryDeleted:
		return !k.DeletedAt.IsZero()
	}
	if !k.DeletedAt.IsZero() || slices.Contains(q.Hidden, k.Workspace) || q.Begun && k.LastSeq < 2 ||
		q.User != "" && q.User != k.User ||
		len(q.Workspaces) > 0 && !slices.Contains(q.Workspaces, k.Workspace) {
		return false
	}
	title := strings.ToLower(k.Title)
	if k.hit == nil && slices.ContainsFunc(words, func(w string) bool {
		return !strings.Contains(title, w)
	}) {
		return false
	}
	switch q.State {
	case "":
		return true
	case sessions.Active:
		return k.Status != event.Idle
	case sessions.Resting:
		return k.Status == event.Idle && !k.Pinned
	case sessions.Pinned:
		return k.Pinned
	case sessions.Failed:
		return k.Status == event.Idle && k.Open.Failed
	}
	return string(k.Status) == string(q.State)
}

// before compares two places of a list.
func (p place) before(other place) int {
	if p.Kind != sessions.QueryPresent {
		return cmp.Compare(p.Key, other.Key)
	}
	if p.First != other.First {
		if p.First {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(other.Activity, p.Activity), cmp.Compare(other.Key, p.Key))
}

// lastHit is the last event that holds the words: whole ones, else longer ones.
func lastHit(log []event.Entry, f eventlog.Finder) *eventlog.Hit {
	terms, prefix := f.Terms()
	for _, longer := range []bool{false, prefix} {
		for _, e := range slices.Backward(log) {
			text := eventlog.Text(e.Event.Data)
			if words := eventlog.Words(text); len(terms) > 0 && hold(words, terms, longer) {
				return &eventlog.Hit{Seq: e.Seq, Data: e.Event.Data, Parts: f.Parts(text)}
			}
		}
	}
	return nil
}

// hold reports whether all terms are among the words; the last may be the beginning of one.
func hold(words []eventlog.Word, terms []string, longer bool) bool {
	for i, t := range terms {
		if !slices.ContainsFunc(words, func(w eventlog.Word) bool {
			return w.Text == t || longer && i == len(terms)-1 && strings.HasPrefix(w.Text, t)
		}) {
			return false
		}
	}
	return true
}

// Workspaces implements [sessions.Catalog].
func (m *Memory) Workspaces(_ context.Context, user string) ([]sessions.Workspace, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	by := map[string]sessions.Workspace{}
	for _, k := range m.sessions {
		if k.DeletedAt.IsZero() && (user == "" || user == k.User) {
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

// SaveDrafts implements [eventlog.Drafts].
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
