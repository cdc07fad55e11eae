package sessions

import (
	"context"
	"slices"
	"sync"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// watches are those that get what becomes of sessions.
type watches struct {
	now func() time.Time

	mu   sync.Mutex          // guards what follows
	open map[*Watch]struct{} // nil: they have ended
}

// add has a watch get what happens from now on.
func (a *watches) add(w *Watch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil {
		w.err = eventlog.ErrClosed
		return
	}
	a.open[w] = struct{}{}
}

func (a *watches) remove(w *Watch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, w)
}

// put hands the latest state of a session of a user, or of the log, to the watches.
func (a *watches) put(id eventlog.ID, user string, d event.Data) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for w := range a.open {
		if id != ofLog && w.user != "" && w.user != user {
			continue
		}
		w.mu.Lock()
		if _, waits := w.latest[id]; waits {
			w.order = slices.DeleteFunc(w.order, func(o eventlog.ID) bool { return o == id })
		}
		w.latest[id] = d
		w.order = append(w.order, id)
		w.signal()
		w.mu.Unlock()
	}
}

// close ends all watches, those that are added later too.
func (a *watches) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for w := range a.open {
		w.end()
	}
	a.open = nil
}

// Watch reports what becomes of all sessions: the latest state of each that changed. A slow reader
// misses states in between and never a last one; it costs no more memory than one event for each
// session. Next is for one goroutine.
type Watch struct {
	all   *watches
	user  string        // whose sessions; empty: everybody's
	ready chan struct{} // has room for one signal

	mu     sync.Mutex // guards what follows
	latest map[eventlog.ID]event.Data
	order  []eventlog.ID
	pos    int64
	err    error
}

// ofLog stands for the log itself among the ids of sessions.
const ofLog eventlog.ID = ""

// Watch returns the changes of the sessions of ctx's user from now on. The caller closes it.
func (m *Manager) Watch(ctx context.Context) *Watch {
	w := &Watch{
		all:    m.watches,
		user:   UserOf(ctx),
		ready:  make(chan struct{}, 1),
		latest: map[eventlog.ID]event.Data{},
	}
	m.watches.add(w)
	return w
}

// Changed implements [eventlog.Owner]: the watches get what a session is like now. It never blocks.
func (m *Manager) Changed(s eventlog.Summary) {
	m.watches.put(s.ID, s.User, event.SessionChanged{
		SessionID: string(s.ID),
		Workspace: s.Workspace,
		Status:    s.Status,
		Title:     s.Title,
		Pending:   s.Pending,
		LastEvent: s.LastSeq,
		Deleted:   !s.DeletedAt.IsZero(),
	})
}

func (w *Watch) signal() {
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// Next waits for changes and returns one ephemeral session.changed for each session that changed,
// and a session.error if the log begins or ceases to refuse what it is given. The error is ctx's,
// or [eventlog.ErrClosed].
func (w *Watch) Next(ctx context.Context) ([]event.Entry, error) {
	for {
		entries, err := w.take()
		if len(entries) > 0 || err != nil {
			return entries, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-w.ready:
		}
	}
}

// take returns what there is, or else why it ended.
func (w *Watch) take() (entries []event.Entry, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range w.order {
		w.pos++
		e := event.Entry{Pos: w.pos, Event: event.New(w.latest[id], "", w.all.now())}
		e.Event.Ephemeral = true
		if e.JSON, err = event.Marshal(e.Event); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	if len(entries) == 0 {
		return nil, w.err
	}
	w.order = nil
	clear(w.latest)
	return entries, nil
}

// Close ends the watch. It may be called twice.
func (w *Watch) Close() {
	w.all.remove(w)
	w.end()
}

func (w *Watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = eventlog.ErrClosed
	w.signal()
}

// Wrote implements [eventlog.Owner]: it returns what a write of size bytes to the log or the
// catalog came to. An error that is theirs wraps [eventlog.ErrLog], and every reader sees it until
// they can be written again. One that wraps [eventlog.ErrClosed], of a replica whose life has
// ended, is returned as it is. A session calls it without holding its lock.
func (m *Manager) Wrote(err error, size int) error { return m.trouble.wrote(err, size) }

// Unsaved implements [eventlog.Owner]: what users see while the log cannot be written; else empty.
func (m *Manager) Unsaved() string { return m.trouble.unsaved() }

// Unready returns in one word why no prompt is taken now: starting, stopping, engine if the
// log's database does not answer, or log. It is empty if prompts are taken.
func (m *Manager) Unready() string {
	if m.ctx.Err() != nil {
		return "stopping"
	}
	if m.Unsaved() != "" {
		if m.trouble.away.Load() {
			return "engine"
		}
		return "log"
	}
	select {
	case <-m.ready:
		return ""
	default:
		return "starting"
	}
}
