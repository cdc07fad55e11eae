package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

// Sessions is a store that sessions are moved from or to.
type Sessions interface {
	eventlog.Store
	eventlog.Drafts
	sessions.Catalog
}

// Moved counts what [Move] did.
type Moved struct{ Copied, There int } // sessions; There were in the target already

// moveStep is how many events are copied at once.
const moveStep = 500

// Move copies all sessions to another store, one by one, and reads each again to compare it. What
// was copied before is compared and left, so that it can be run again after it was cut off. A
// session that is in the target with other events is an error that names it, and nothing of it is
// changed. report is called after each session.
func Move(ctx context.Context, from, to Sessions, report func(Moved)) (m Moved, err error) {
	all, err := everything(ctx, from)
	if err != nil {
		return m, err
	}
	for _, s := range all {
		copied, err := moveOne(ctx, from, to, s)
		if err != nil {
			return m, fmt.Errorf("session %s (%q): %w", s.ID, s.Title, err)
		}
		if copied {
			m.Copied++
		} else {
			m.There++
		}
		report(m)
	}
	return m, nil
}

// everything lists all sessions, deleted ones too, in the order in which they were active: each
// that is copied is the latest in the target.
func everything(ctx context.Context, from sessions.Catalog) (all []eventlog.Summary, err error) {
	for _, kind := range []sessions.QueryKind{sessions.QueryPresent, sessions.QueryDeleted} {
		for q := (sessions.Query{Kind: kind, Limit: maxSessions}); ; {
			page, err := from.List(ctx, q)
			if err != nil {
				return nil, err
			}
			for _, s := range page.Sessions {
				all = append(all, s.Summary)
			}
			if q.Cursor = page.Cursor; q.Cursor == "" {
				break
			}
		}
	}
	slices.Reverse(all)
	return all, nil
}

// errOther is a session that both stores have, with different events.
var errOther = errors.New("the target has another session of this id; nothing of it was changed")

func moveOne(ctx context.Context, from, to Sessions, s eventlog.Summary) (copied bool, err error) {
	if shared, ok := to.(sessions.Owners); ok {
		if err := shared.Take(ctx, s.ID); err != nil && !errors.Is(err, eventlog.ErrNotFound) {
			return false, err
		}
	}
	there, err := to.Summary(ctx, s.ID)
	if err != nil && !errors.Is(err, eventlog.ErrNotFound) {
		return false, err
	}
	if there.LastSeq > s.LastSeq {
		return false, errOther
	}
	now := eventlog.Summary{ID: s.ID}
	for last := int64(0); last < s.LastSeq; {
		entries, err := from.After(ctx, s.ID, last, moveStep)
		if err != nil {
			return false, err
		}
		if len(entries) == 0 {
			return false, fmt.Errorf("%w: entry %d is missing", ErrCorrupt, last+1)
		}
		for _, e := range entries {
			now = eventlog.Summarize(now, e)
		}
		end := entries[len(entries)-1].Seq
		if missing := entries[min(int64(len(entries)), max(0, there.LastSeq-last)):]; len(missing) > 0 {
			sum := now
			if end == s.LastSeq {
				sum = s
			}
			if err := to.Append(ctx, s.ID, missing, sum); err != nil {
				return false, err
			}
			copied = true
		}
		written, err := to.After(ctx, s.ID, last, len(entries))
		if err != nil {
			return false, err
		}
		if !slices.EqualFunc(entries, written, func(a, b event.Entry) bool {
			return a.Seq == b.Seq && bytes.Equal(a.JSON, b.JSON)
		}) {
			return false, errOther
		}
		last = end
	}
	drafts, err := from.LoadDrafts(ctx, s.ID)
	if err == nil {
		err = to.SaveDrafts(ctx, s.ID, drafts)
	}
	if err == nil {
		err = to.Mark(ctx, s.ID, sessions.Mark{Pinned: &s.Pinned, DeletedAt: &s.DeletedAt})
	}
	return copied, err
}
