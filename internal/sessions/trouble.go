package sessions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"webchat/internal/eventlog"
)

// Refusal is an error of a [Log] or [Catalog] that says to a user what is wrong with
// its disk, and what to do.
type Refusal interface {
	error
	// Advice is what to do: a sentence without its full stop.
	Advice() string
}

// trouble is what is known of a log that refuses what it is given.
type trouble struct {
	text atomic.Pointer[string] // what users are told; nil or empty: all is well

	mu   sync.Mutex // guards what follows, and orders what users are told
	most int        // the bytes of the largest write that was refused
}

// leastTried is how many bytes a log has to take at least to count as writable again.
const leastTried = 4096

// Wrote implements [eventlog.Owner]: it returns what a write of size bytes to the log or the catalog came to. An
// error that is theirs wraps [eventlog.ErrLog], and everybody is told of it until they can
// be written again. A session calls it without holding its lock.
func (m *Manager) Wrote(err error, size int) error {
	for _, other := range []error{eventlog.ErrInvalid, eventlog.ErrNotFound, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, other) {
			return err
		}
	}
	if err == nil {
		return nil
	}
	m.trouble.mu.Lock()
	defer m.trouble.mu.Unlock()
	m.trouble.most = max(m.trouble.most, size, leastTried)
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
	if r, ok := errors.AsType[Refusal](err); ok {
		return fmt.Sprintf("The log cannot be written: %v. %s; saving is tried again by itself.", r, r.Advice())
	}
	return "The log cannot be written; the server's log says why. Saving is tried again by itself."
}

// awaitLog tries until the log takes as much as it refused, and tells that it does.
func (m *Manager) awaitLog() {
	_ = eventlog.Retry(m.ctx, func() error { // it ends with the manager at the latest
		m.trouble.mu.Lock()
		size := m.trouble.most
		m.trouble.mu.Unlock()
		if err := m.cfg.Log.Writable(m.ctx, size); err != nil {
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

// announce tells every reader of every session, those who come later too, what is wrong
// with the log; no text: nothing is any more.
func (m *Manager) announce(text string) {
	// Who joins from here on reads it, who joined before is told below.
	m.trouble.text.Store(&text)
	m.mu.Lock()
	all := slices.Collect(maps.Values(m.sessions))
	m.mu.Unlock()
	for _, s := range all {
		s.TellTrouble(text)
	}
	m.watchTrouble(text)
}

// Unsaved implements [eventlog.Owner]: it is what users are told while the log cannot be written; else empty.
func (m *Manager) Unsaved() string {
	if text := m.trouble.text.Load(); text != nil {
		return *text
	}
	return ""
}
