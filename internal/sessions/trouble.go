package sessions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"webchat/internal/eventlog"
)

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
	ctx     context.Context // the manager's
	log     Log
	logger  *slog.Logger
	table   *table
	watches *watches

	text atomic.Pointer[string] // what users see; nil or empty: all is well
	away atomic.Bool            // what was refused last was so because the log does not answer

	mu   sync.Mutex // guards what follows, and orders what users see
	most int        // the bytes of the largest write that was refused
}

// leastTried is how many bytes a log has to take at least to count as writable again.
const leastTried = 4096

// wrote is [Manager.Wrote].
func (t *trouble) wrote(err error, size int) error {
	for _, other := range []error{nil, eventlog.ErrInvalid, eventlog.ErrNotFound, eventlog.ErrClosed,
		context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, other) {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.most = max(t.most, size, leastTried)
	t.away.Store(errors.Is(err, eventlog.ErrAway))
	if t.unsaved() == "" {
		t.logger.Error("the log cannot be written", "error", err)
		t.announce(troubleText(err))
		t.table.start(t.await)
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

// await tries until the log takes as much as it refused, and announces that it does.
func (t *trouble) await() {
	_ = eventlog.Retry(t.ctx, func() error { // it ends with the manager at the latest
		t.mu.Lock()
		size := t.most
		t.mu.Unlock()
		if err := t.log.Writable(t.ctx, size); err != nil {
			t.away.Store(errors.Is(err, eventlog.ErrAway))
			return fmt.Errorf("%w: %w", eventlog.ErrLog, err)
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.most = 0
		t.logger.Info("the log can be written again")
		t.announce("")
		return nil
	})
}

// announce has every reader of every session, those who come later too, see what is wrong with the
// log; no text: nothing is wrong.
func (t *trouble) announce(text string) {
	t.text.Store(&text) // for those who join from here on; the others follow
	for _, s := range t.table.all() {
		s.TellTrouble(text)
	}
	t.watches.put(ofLog, "", eventlog.Trouble(text))
}

// unsaved is [Manager.Unsaved].
func (t *trouble) unsaved() string {
	if text := t.text.Load(); text != nil {
		return *text
	}
	return ""
}
