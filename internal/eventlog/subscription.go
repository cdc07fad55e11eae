package eventlog

import (
	"context"
	"sync"
	"time"

	"webchat/internal/event"
)

// maxUnread is how many events wait for a subscriber before the deltas among them are joined.
const maxUnread = 8192

// Subscription is one reader of a running session. Next is for one goroutine, which must not wait
// for a client: package sse does, and cuts slow readers.
type Subscription struct {
	log   *Log
	ready chan struct{} // has room for one signal

	mu     sync.Mutex // guards what follows
	unread []event.Entry
	full   int   // the length of unread at which deltas are joined next
	err    error // why the entries ended
}

// Subscribe returns the live events from now on. What came before is in the log and in [Log.Join].
// The caller closes the subscription.
func (l *Log) Subscribe() *Subscription {
	sub := &Subscription{log: l, ready: make(chan struct{}, 1), full: maxUnread}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		sub.err = ErrClosed
		return sub
	}
	l.subs[sub] = struct{}{}
	return sub
}

// Next waits for events and returns all there are, in order. Neighbouring deltas of one message may
// come as one. The error is ctx's, or [ErrClosed], after which nothing comes. The slice is
// the caller's, what its events hold is shared.
func (b *Subscription) Next(ctx context.Context) ([]event.Entry, error) {
	for {
		b.mu.Lock()
		got, err := b.unread, b.err
		b.unread, b.full = nil, maxUnread
		b.mu.Unlock()
		switch {
		case len(got) > 32:
			return Coalesce(got), nil
		case len(got) > 0:
			return got, nil
		case err != nil:
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-b.ready:
		}
	}
}

// Close ends the subscription. It may be called twice.
func (b *Subscription) Close() {
	b.log.Lock()
	delete(b.log.subs, b)
	b.log.cfg.Unsubscribed()
	b.log.Unlock()
	b.end(ErrClosed)
}

// push adds e. It never blocks.
func (b *Subscription) push(e event.Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.unread) >= b.full {
		b.unread = Coalesce(b.unread)
		b.full = max(maxUnread, 2*len(b.unread)) // so that joining pays
	}
	b.unread = append(b.unread, e)
	b.signal()
}

// end lets the reader have what is there and then err.
func (b *Subscription) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
	b.signal()
}

func (b *Subscription) signal() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// Snapshot is what is in flight at one moment. A reader that applied the log up to LastSeq and the
// snapshot ignores live entries with Pos <= this Pos.
type Snapshot struct {
	LastSeq  int64
	Pos      int64
	Summary  Summary
	InFlight []event.Entry // one delta with offset 0 and all text so far for each message in flight
	Progress []event.Entry // the last progress of each running tool
	Printed  []event.Entry // one task.output with the last of what each running task printed
	Fill     []event.Entry // the last session.usage_info, if it still holds
	Trouble  []event.Entry // what is wrong with the log, if anything
	Requests []event.Entry // the open permission.requested and user_input.requested, as logged
}

// Join returns what is in flight now. Together with the log up to its LastSeq and the entries of an
// earlier subscription above its Pos it is exactly the session, without gap and repeat.
func (l *Log) Join(ctx context.Context) (Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return Snapshot{}, err
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return Snapshot{}, l.closedError()
	}
	sum := l.Summary()
	snap := Snapshot{LastSeq: sum.LastSeq, Pos: l.pos, Summary: sum}
	for _, t := range l.open.Tools {
		if len(t.Progress.JSON) > 0 {
			snap.Progress = append(snap.Progress, t.Progress)
		}
	}
	snap.Requests = append(snap.Requests, l.open.Requests...)
	deltas, printed, at := l.open.InFlight()
	var fill []event.Data
	if l.open.Fill != nil {
		fill = append(fill, *l.open.Fill)
	}
	if text := l.cfg.Owner.Unsaved(); text != "" {
		if e, ok := l.trouble(text); ok {
			snap.Trouble = append(snap.Trouble, e)
		}
	}
	now := l.Now()
	l.mu.Unlock()

	for _, part := range []struct {
		to   *[]event.Entry
		data []event.Data
		at   []time.Time // of each; nil: now
	}{{&snap.InFlight, deltas, at}, {&snap.Printed, printed, nil}, {&snap.Fill, fill, nil}} {
		for i, d := range part.data {
			at := now
			if part.at != nil {
				at = part.at[i]
			}
			e := event.Entry{Seq: snap.LastSeq, Pos: snap.Pos, Event: event.New(d, sum.Open.LastID, at)}
			if err := encode(&e); err != nil {
				return Snapshot{}, err
			}
			*part.to = append(*part.to, e)
		}
	}
	return snap, nil
}
