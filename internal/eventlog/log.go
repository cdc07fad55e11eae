package eventlog

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"webchat/internal/calls"
	"webchat/internal/event"
)

// maxEvent is how many bytes an encoded event may have. Encoding makes at most six bytes of one, so
// the longest message fits.
const maxEvent = 7 * MaxMessage

// Config is what a [Log] works with. All fields but Applied are needed.
type Config struct {
	Store Store
	Owner Owner
	Now   func() time.Time
	// Unsubscribed is called when a subscriber leaves, with the lock held.
	Unsubscribed func()
	// Applied is called for every event once it is in what is open, with the lock held; it does not
	// block.
	Applied func(event.Data)
}

// Owner is notified of what becomes of a session. Its methods may be called concurrently. The
// session holds its lock meanwhile, but for Wrote.
type Owner interface {
	// Changed says what the session is like now. It does not block.
	Changed(s Summary)
	// Wrote says what a write of size bytes to the store came to; what it returns is the caller's
	// error. An error of the store itself is returned wrapping [ErrLog].
	Wrote(err error, size int) error
	// Unsaved is the notice for users while the log cannot be written; else empty.
	Unsaved() string
}

// Log is one session's log in this process. Its methods may be called concurrently, but for those
// that say what has to be held.
//
// A log has one lock, which guards what is open of it, and what its session keeps beside that. It
// is held by the function given to [Log.Change], and free while the store writes.
type Log struct {
	cfg       Config
	id        ID
	summary   atomic.Pointer[Summary] // written under the lock
	appending chan struct{}           // has room for one writer; see Change

	indexing sync.Mutex  // guards index
	index    calls.Index // as far as it was asked for; see Index

	mu     sync.Mutex // the lock; guards what follows
	open   Work       // what is in flight
	pos    int64      // of the last event
	subs   map[*Subscription]struct{}
	closed bool
}

// New returns the log of the session that sum is about.
func New(c Config, sum Summary) *Log {
	l := &Log{
		cfg:       c,
		id:        sum.ID,
		appending: make(chan struct{}, 1),
		subs:      map[*Subscription]struct{}{},
	}
	l.summary.Store(&sum)
	return l
}

// Lock takes the lock, to look at what is open. What is appended under it is so by [Log.Change].
func (l *Log) Lock() { l.mu.Lock() }

// Unlock gives the lock back.
func (l *Log) Unlock() { l.mu.Unlock() }

// Open is what the session has started and not ended. The caller holds the lock, and changes it
// only by what it appends, and by [Work.Delta].
func (l *Log) Open() *Work { return &l.open }

// Recover appends what closes the work of an earlier process, and has open what no end of a process
// closes. It is called within Change. After an error the log has none of it, and is asked again.
func (l *Log) Recover(work Work, closing []event.Data) error {
	l.open = work
	var err error
	if len(closing) > 0 {
		err = l.Append(closing...)
	}
	l.open = Work{Requests: work.Held()}
	return err
}

// Summary returns what a list shows of the session now.
func (l *Log) Summary() Summary { return *l.summary.Load() }

// Mark changes what of the summary is not folded from the log. The caller holds the lock.
func (l *Log) Mark(mark func(*Summary)) {
	sum := l.Summary()
	mark(&sum)
	l.summary.Store(&sum)
	l.cfg.Owner.Changed(sum)
}

// Watched reports whether there are subscribers. The caller holds the lock.
func (l *Log) Watched() bool { return len(l.subs) > 0 }

// Close refuses all events from now on and ends the subscriptions. The caller holds the session's
// lock.
func (l *Log) Close() {
	l.closed = true
	for sub := range l.subs {
		sub.end(l.closedError())
	}
	clear(l.subs)
}

func (l *Log) closedError() error { return fmt.Errorf("session %s: %w", l.id, ErrClosed) }

// Change calls f as the only writer of the session, in the order of the callers. f holds
// the lock, except while the store writes: so a disk that is slow holds up what is to be
// appended next, but no reader, join or stop. What f relies on over a write has to change inside of
// Change only. The error is f's, or ctx's if that ended while others appended.
func (l *Log) Change(ctx context.Context, f func() error) error {
	select {
	case l.appending <- struct{}{}:
	default:
		select {
		case l.appending <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	defer func() { <-l.appending }()
	l.mu.Lock()
	defer l.mu.Unlock()
	return f()
}

// Add appends data by Change.
func (l *Log) Add(data ...event.Data) error {
	return l.Change(context.Background(), func() error { return l.Append(data...) })
}

// Append is the only way an event comes into being. It stamps data, makes what is logged durable,
// folds it and hands it to the subscribers, in that order. Either all of it happens or nothing. It
// is called within Change, and the lock is free while the store writes.
func (l *Log) Append(data ...event.Data) error {
	if l.closed {
		return l.closedError()
	}
	sum := l.Summary()
	entries := make([]event.Entry, 0, len(data))
	logged, size := 0, 0
	now := l.Now()
	for _, d := range data {
		e := event.Entry{Seq: sum.LastSeq, Event: event.New(d, sum.Open.LastID, now)}
		if event.Logged(d) {
			e.Seq++
		}
		if err := encode(&e); err != nil {
			return err
		}
		if event.Logged(d) {
			sum = Summarize(sum, e)
			logged++
			size += len(e.JSON)
		}
		entries = append(entries, e)
	}
	if logged > 0 {
		durable := entries
		if logged < len(entries) {
			durable = slices.DeleteFunc(slices.Clone(entries), func(e event.Entry) bool {
				return e.Event.Ephemeral
			})
		}
		if err := l.write(durable, sum, size); err != nil {
			return err
		}
		marks := l.summary.Load()
		sum.Pinned, sum.DeletedAt = marks.Pinned, marks.DeletedAt
		l.enter(entries)
		l.summary.Store(&sum)
	}
	for i := range entries {
		l.fanOut(entries[i])
	}
	if logged > 0 {
		l.cfg.Owner.Changed(sum)
	}
	return nil
}

// write has the store write entries while the lock is free.
func (l *Log) write(entries []event.Entry, sum Summary, size int) error {
	// A write that began is finished: no caller's context ends it.
	return l.Aside(func() error {
		return l.cfg.Owner.Wrote(l.cfg.Store.Append(context.Background(), l.id, entries, sum), size)
	})
}

// Aside calls f, which writes to a disk, within Change while the lock is free.
func (l *Log) Aside(f func() error) error {
	l.mu.Unlock()
	defer l.mu.Lock()
	return f()
}

// fanOut gives e its position and hands it to all subscribers.
func (l *Log) fanOut(e event.Entry) {
	l.pos++
	e.Pos = l.pos
	l.open.Apply(e)
	if l.cfg.Applied != nil {
		l.cfg.Applied(e.Event.Data)
	}
	for sub := range l.subs {
		sub.push(e)
	}
}

func encode(e *event.Entry) error {
	b, err := event.Marshal(e.Event)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if len(b) > maxEvent {
		return fmt.Errorf("%w: %s of %d bytes, the limit is %d", ErrInvalid, e.Event.Type(), len(b),
			maxEvent)
	}
	e.JSON = b
	return nil
}

// Now is the time events are stamped with, in whole milliseconds.
func (l *Log) Now() time.Time { return l.cfg.Now().UTC().Truncate(time.Millisecond) }

// Reader is what readers of a session's log may call.
type Reader interface {
	Summary() Summary
	Subscribe() *Subscription
	Join(ctx context.Context) (Snapshot, error)
	Events(ctx context.Context, after int64, limit int) ([]event.Entry, error)
	End(ctx context.Context, cut *event.Cut, last int64) ([]event.Entry, error)
	At(ctx context.Context, seq int64) (event.Entry, error)
	Index(ctx context.Context, f func(*calls.Index)) error
	Scan(ctx context.Context, after int64, f func(event.Entry) bool) error
	Prompt(ctx context.Context, messageID string) (calls.Prompt, error)
	TellTrouble(text string)
}
