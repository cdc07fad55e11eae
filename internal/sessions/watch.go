package sessions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Watch reports what becomes of all sessions: the latest state of each that changed. A slow reader
// misses states in between and never a last one; it costs no more memory than one event for each
// session. Next is for one goroutine.
type Watch struct {
	m     *Manager
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
		m:      m,
		user:   UserOf(ctx),
		ready:  make(chan struct{}, 1),
		latest: map[eventlog.ID]event.Data{},
	}
	m.watchMu.Lock()
	defer m.watchMu.Unlock()
	if m.watches == nil {
		w.err = eventlog.ErrClosed
		return w
	}
	m.watches[w] = struct{}{}
	return w
}

// Changed implements [eventlog.Owner]: the watches get what a session is like now. It never blocks.
func (m *Manager) Changed(s eventlog.Summary) {
	m.put(s.ID, s.User, event.SessionChanged{
		SessionID: string(s.ID),
		Workspace: s.Workspace,
		Status:    s.Status,
		Title:     s.Title,
		Pending:   s.Pending,
		LastEvent: s.LastSeq,
		Deleted:   !s.DeletedAt.IsZero(),
	})
}

// put hands the latest state of a session of a user, or of the log, to the watches.
func (m *Manager) put(id eventlog.ID, user string, d event.Data) {
	m.watchMu.Lock()
	defer m.watchMu.Unlock()
	for w := range m.watches {
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

// endWatches ends all watches.
func (m *Manager) endWatches() {
	m.watchMu.Lock()
	defer m.watchMu.Unlock()
	for w := range m.watches {
		w.end()
	}
	m.watches = nil
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
		e := event.Entry{Pos: w.pos, Event: event.New(w.latest[id], "", w.m.cfg.Now())}
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

// Refusal is an error of a [Log] or [Catalog] that says to a user what is wrong with its disk, and
// what to do.
type Refusal interface {
	error
	// Advice is what to do: a sentence without its full stop.
	Advice() string
	// Lasting reports whether only a restart ends it.
	Lasting() bool
}

// trouble is what is known of a log that refuses what it is given.
type trouble struct {
	text atomic.Pointer[string] // what users see; nil or empty: all is well
	away atomic.Bool            // what was refused last was so because the log does not answer

	mu   sync.Mutex // guards what follows, and orders what users see
	most int        // the bytes of the largest write that was refused
}

// leastTried is how many bytes a log has to take at least to count as writable again.
const leastTried = 4096

// Wrote implements [eventlog.Owner]: it returns what a write of size bytes to the log or the
// catalog came to. An error that is theirs wraps [eventlog.ErrLog], and every reader sees it until
// they can be written again. One that wraps [eventlog.ErrClosed], of a replica whose life has
// ended, is returned as it is. A session calls it without holding its lock.
func (m *Manager) Wrote(err error, size int) error {
	for _, other := range []error{nil, eventlog.ErrInvalid, eventlog.ErrNotFound, eventlog.ErrClosed,
		context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, other) {
			return err
		}
	}
	m.trouble.mu.Lock()
	defer m.trouble.mu.Unlock()
	m.trouble.most = max(m.trouble.most, size, leastTried)
	m.trouble.away.Store(errors.Is(err, eventlog.ErrAway))
	if m.Unsaved() == "" {
		m.cfg.Logger.Error("the log cannot be written", "error", err)
		m.announce(troubleText(err))
		m.mu.Lock()
		defer m.mu.Unlock()
		if !m.closed {
			m.wg.Go(m.awaitLog)
		}
	}
	return fmt.Errorf("%w: %w", eventlog.ErrLog, err)
}

// troubleText says err to users.
func troubleText(err error) string {
	r, ok := errors.AsType[Refusal](err)
	switch {
	case ok && r.Lasting():
		return fmt.Sprintf("The log cannot be written: %v. %s.", r, r.Advice())
	case ok:
		return fmt.Sprintf("The log cannot be written: %v. %s; saving is tried again by itself.", r,
			r.Advice())
	}
	return "The log cannot be written; the server's log says why. Saving is tried again by itself."
}

// awaitLog tries until the log takes as much as it refused, and announces that it does.
func (m *Manager) awaitLog() {
	_ = eventlog.Retry(m.ctx, func() error { // it ends with the manager at the latest
		m.trouble.mu.Lock()
		size := m.trouble.most
		m.trouble.mu.Unlock()
		if err := m.cfg.Log.Writable(m.ctx, size); err != nil {
			m.trouble.away.Store(errors.Is(err, eventlog.ErrAway))
			return fmt.Errorf("%w: %w", eventlog.ErrLog, err)
		}
		m.trouble.mu.Lock()
		defer m.trouble.mu.Unlock()
		m.trouble.most = 0
		m.cfg.Logger.Info("the log can be written again")
		m.announce("")
		return nil
	})
}

// announce has every reader of every session, those who come later too, see what is wrong with the
// log; no text: nothing is wrong.
func (m *Manager) announce(text string) {
	m.trouble.text.Store(&text) // for those who join from here on; the others follow
	m.mu.Lock()
	all := slices.Collect(maps.Values(m.sessions))
	m.mu.Unlock()
	for _, s := range all {
		s.TellTrouble(text)
	}
	m.put(ofLog, "", eventlog.Trouble(text))
}

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

// Unsaved implements [eventlog.Owner]: what users see while the log cannot be written; else empty.
func (m *Manager) Unsaved() string {
	if text := m.trouble.text.Load(); text != nil {
		return *text
	}
	return ""
}
