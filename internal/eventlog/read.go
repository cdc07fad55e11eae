package eventlog

import (
	"context"
	"fmt"
	"slices"

	"webchat/internal/calls"
	"webchat/internal/event"
)

// atOnce is how many entries End reads at a time.
const atOnce = 250

// End returns the entries of the log from where cut lies up to sequence last, all of them if it
// lies nowhere. What it costs follows from what it returns.
func (l *Log) End(ctx context.Context, cut *event.Cut, last int64) ([]event.Entry, error) {
	var parts [][]event.Entry
	for last > 0 {
		after := max(0, last-atOnce)
		part, err := l.Events(ctx, after, int(last-after))
		if err != nil {
			return nil, err
		}
		if int64(len(part)) != last-after {
			return nil, fmt.Errorf("%w: it should hold %d entries after %d, it holds %d", ErrLog, last-after,
				after, len(part))
		}
		last = after
		for i := len(part) - 1; i >= 0; i-- {
			if cut.Take(part[i]) {
				part, last = part[i:], 0
				break
			}
		}
		parts = append(parts, part)
	}
	slices.Reverse(parts)
	return slices.Concat(parts...), nil
}

// Events returns up to limit events of the log after a sequence, a thousand at most.
func (l *Log) Events(ctx context.Context, after int64, limit int) ([]event.Entry, error) {
	if limit <= 0 || limit > 1000 {
		limit = 1000
	}
	entries, err := l.cfg.Store.After(ctx, l.id, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read the log of session %s: %w", l.id, err)
	}
	return entries, nil
}

// At returns the event of a sequence.
func (l *Log) At(ctx context.Context, seq int64) (event.Entry, error) {
	found, err := l.Events(ctx, seq-1, 1)
	if err == nil && (seq < 1 || len(found) == 0) {
		err = fmt.Errorf("%w: it should hold event %d", ErrLog, seq)
	}
	if err != nil {
		return event.Entry{}, err
	}
	return found[0], nil
}

// Index calls f with the index of the log as it is now, which is f's until it returns. The index is
// folded as events are appended; of a log that another process began, the first call reads what is
// there. f does not wait for what appends.
func (l *Log) Index(ctx context.Context, f func(*calls.Index)) error {
	for {
		l.indexing.Lock()
		after := l.index.Last()
		if after >= l.Summary().LastSeq {
			defer l.indexing.Unlock()
			f(&l.index)
			return nil
		}
		l.indexing.Unlock()
		entries, err := l.Events(ctx, after, 0)
		if err == nil && len(entries) == 0 {
			err = fmt.Errorf("%w: it ends at %d", ErrLog, after)
		}
		if err != nil {
			return err
		}
		l.enter(entries)
	}
}

// enter folds entries into the index, if they go on from its end.
func (l *Log) enter(entries []event.Entry) {
	l.indexing.Lock()
	defer l.indexing.Unlock()
	for _, e := range entries {
		l.index.Add(e)
	}
}

// Scan calls f for the events of the log after a sequence until f returns false.
func (l *Log) Scan(ctx context.Context, after int64, f func(event.Entry) bool) error {
	for {
		entries, err := l.Events(ctx, after, 500)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !f(e) {
				return nil
			}
			after = e.Seq
		}
		if len(entries) == 0 {
			return nil
		}
	}
}
