package session

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// memory is a Log and Drafts, with the rows of a list, that refuses what a real one could not hold.
type memory struct {
	mu     sync.Mutex
	logs   map[eventlog.ID][]event.Entry
	rows   map[eventlog.ID]eventlog.Summary
	drafts map[eventlog.ID][]eventlog.Draft
	fail   error         // of everything that writes
	slow   time.Duration // how long a write of events takes
	writes int
}

func newMemory() *memory {
	return &memory{
		logs:   map[eventlog.ID][]event.Entry{},
		rows:   map[eventlog.ID]eventlog.Summary{},
		drafts: map[eventlog.ID][]eventlog.Draft{},
	}
}

func (m *memory) broken(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = err
}

// slowly makes each write of events take so long.
func (m *memory) slowly(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slow = d
}

func (m *memory) Append(_ context.Context, id eventlog.ID, entries []event.Entry,
	s eventlog.Summary) error {
	m.mu.Lock()
	slow := m.slow
	m.mu.Unlock()
	if slow > 0 {
		time.Sleep(slow)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	log := m.logs[id]
	for _, e := range entries {
		if e.Seq != int64(len(log))+1 {
			return fmt.Errorf("sequence %d after %d", e.Seq, len(log))
		}
		if e.Event.Ephemeral {
			return fmt.Errorf("ephemeral %s in the log", e.Event.Type())
		}
		decoded, err := event.Unmarshal(e.JSON)
		if err != nil {
			return err
		}
		log = append(log, event.Entry{Seq: e.Seq, Event: decoded, JSON: e.JSON})
	}
	if old, ok := m.rows[id]; ok {
		s.Pinned, s.DeletedAt = old.Pinned, old.DeletedAt
	}
	m.logs[id], m.rows[id] = log, s
	m.writes++
	return nil
}

func (m *memory) After(_ context.Context, id eventlog.ID, seq int64,
	limit int) ([]event.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	log := m.logs[id]
	from := min(max(seq, 0), int64(len(log)))
	return slices.Clone(log[from:min(from+int64(limit), int64(len(log)))]), nil
}

func (m *memory) Summary(_ context.Context, id eventlog.ID) (eventlog.Summary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.rows[id]
	if !ok {
		return s, eventlog.ErrNotFound
	}
	return s, nil
}

func (m *memory) SaveDrafts(_ context.Context, id eventlog.ID, d []eventlog.Draft) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	m.drafts[id] = d
	return nil
}

func (m *memory) LoadDrafts(_ context.Context, id eventlog.ID) ([]eventlog.Draft, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.drafts[id], nil
}

func (m *memory) entries(id eventlog.ID) []event.Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.logs[id])
}

// prefix is the memory as a kill after the first n events of a session leaves it.
func (m *memory) prefix(id eventlog.ID, n int) *memory {
	out := newMemory()
	var s eventlog.Summary
	for _, e := range m.entries(id)[:n] {
		s = eventlog.Summarize(s, e)
		out.logs[id] = append(out.logs[id], e)
	}
	out.rows[id] = s
	return out
}
