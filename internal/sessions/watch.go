package sessions

import (
	"context"
	"slices"
	"sync"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Watch tells what becomes of all sessions: the latest state of each that changed.
// A slow reader misses states in between and never a last one; it costs no more
// memory than one event for each session. Next is for one goroutine.
type Watch struct {
	m     *Manager
	ready chan struct{} // has room for one signal

	mu     sync.Mutex // guards what follows
	latest map[eventlog.ID]event.SessionChanged
	order  []eventlog.ID
	log    *event.SessionError // what is to be said of the log itself; nil: nothing new
	pos    int64
	err    error
}

// Watch returns the changes from now on. The caller closes it.
func (m *Manager) Watch() *Watch {
	w := &Watch{m: m, ready: make(chan struct{}, 1), latest: map[eventlog.ID]event.SessionChanged{}}
	m.watchMu.Lock()
	defer m.watchMu.Unlock()
	if m.watches == nil {
		w.err = eventlog.ErrClosed
		return w
	}
	m.watches[w] = struct{}{}
	return w
}

// Changed implements [eventlog.Owner]: it tells the watches what a session is like now. It never blocks.
func (m *Manager) Changed(s eventlog.Summary) {
	d := event.SessionChanged{SessionID: string(s.ID), Workspace: s.Workspace, Status: s.Status, Title: s.Title, Pending: s.Pending,
		LastEvent: s.LastSeq, Deleted: !s.DeletedAt.IsZero()}
	m.watchMu.Lock()
	defer m.watchMu.Unlock()
	for w := range m.watches {
		w.put(s.ID, d)
	}
}

func (w *Watch) put(id eventlog.ID, d event.SessionChanged) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, waits := w.latest[id]; waits {
		w.order = slices.DeleteFunc(w.order, func(o eventlog.ID) bool { return o == id })
	}
	w.latest[id] = d
	w.order = append(w.order, id)
	w.signal()
}

func (w *Watch) signal() {
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// watchTrouble tells the watches what is wrong with the log; no text: nothing is.
func (m *Manager) watchTrouble(text string) {
	d := eventlog.Trouble(text)
	m.watchMu.Lock()
	defer m.watchMu.Unlock()
	for w := range m.watches {
		w.mu.Lock()
		w.log = &d
		w.signal()
		w.mu.Unlock()
	}
}

// Next waits for changes and returns one ephemeral session.changed for each
// session that changed, and a session.error if the log begins or ceases to refuse
// what it is given. The error is ctx's, or [eventlog.ErrClosed].
func (w *Watch) Next(ctx context.Context) ([]event.Entry, error) {
	for {
		w.mu.Lock()
		entries, bad := w.takeLocked()
		err := w.err
		w.mu.Unlock()
		switch {
		case bad != nil:
			return nil, bad
		case len(entries) > 0:
			return entries, nil
		case err != nil:
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-w.ready:
		}
	}
}

// takeLocked returns what there is to tell.
func (w *Watch) takeLocked() ([]event.Entry, error) {
	said := make([]event.Data, 0, len(w.order)+1)
	if w.log != nil {
		said = append(said, *w.log)
	}
	for _, id := range w.order {
		said = append(said, w.latest[id])
	}
	w.log, w.order = nil, nil
	clear(w.latest)
	entries := make([]event.Entry, len(said))
	for i, d := range said {
		w.pos++
		entries[i] = event.Entry{Pos: w.pos, Event: event.New(d, "", w.m.cfg.Now())}
		entries[i].Event.Ephemeral = true
		b, err := event.Marshal(entries[i].Event)
		if err != nil {
			return nil, err
		}
		entries[i].JSON = b
	}
	return entries, nil
}

// Close ends the watch. It may be called twice.
func (w *Watch) Close() {
	w.m.watchMu.Lock()
	delete(w.m.watches, w)
	w.m.watchMu.Unlock()
	w.end()
}

func (w *Watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = eventlog.ErrClosed
	w.signal()
}
