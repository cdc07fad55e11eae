package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"webchat/internal/event"
	"webchat/internal/session"
)

// late is what the disk has not taken of one session yet.
type late struct {
	row
	batches []batch // in their order
	marked  bool    // its marks are not on the disk
	drop    bool    // what the disk has of it is to be deleted first
	gone    bool    // it is deleted and was not begun anew
	drafts  []session.Draft
	drafted bool
}

// batch is what one Append brought.
type batch struct {
	entries []event.Entry
	sum     session.Summary
}

func (l *late) entries() []event.Entry {
	var all []event.Entry
	for _, b := range l.batches {
		all = append(all, b.entries...)
	}
	return all
}

// After implements [session.Log].
func (s *Steady) After(ctx context.Context, id session.ID, seq int64, limit int) ([]event.Entry, error) {
	if limit < 1 {
		limit = DefaultEntries
	}
	// What is late is looked at first: what leaves it meanwhile is on the disk.
	s.mu.RLock()
	d, l := s.disk, s.late[id]
	var more []event.Entry
	if l != nil {
		more = l.entries()
		if l.drop {
			d = nil
		}
	}
	s.mu.RUnlock()
	var found []event.Entry
	if d != nil && (len(more) == 0 || seq+1 < more[0].Seq) {
		var err error
		if found, err = d.After(ctx, id, seq, limit); err != nil {
			return nil, err
		}
	}
	last := max(seq, 0)
	if n := len(found); n > 0 {
		last = found[n-1].Seq
	}
	for _, e := range more {
		if len(found) < limit && e.Seq > last {
			e.Pos = 0 // a log does not know it
			found = append(found, e)
		}
	}
	return found, ctx.Err()
}

// Summary implements [session.Catalog].
func (s *Steady) Summary(ctx context.Context, id session.ID) (session.Summary, error) {
	s.mu.RLock()
	d, l := s.disk, s.late[id]
	if l != nil && !l.gone {
		defer s.mu.RUnlock()
		return l.Summary, nil
	}
	s.mu.RUnlock()
	if d == nil || l != nil {
		return session.Summary{}, fmt.Errorf("session %s: %w", id, session.ErrNotFound)
	}
	return d.Summary(ctx, id)
}

// List implements [session.Catalog].
func (s *Steady) List(ctx context.Context, q session.Query) (session.Page, error) {
	p, err := pageOf(q)
	if err != nil {
		return session.Page{}, err
	}
	s.mu.RLock()
	d := s.disk
	var own []row
	skip := map[session.ID]*row{} // what the disk has of these is not how they are now
	for id, l := range s.late {
		skip[id] = nil
		r := l.row
		if !l.gone && !l.drop {
			skip[id] = &r
		}
		if p.kind == session.QueryPresent && len(p.words) > 0 {
			r.hit = lastHit(l.entries(), p.finder)
		}
		if !l.gone && p.selects(r) && (p.from == nil || p.order(p.from.row(), r) < 0) {
			own = append(own, r)
			skip[id] = nil
		}
	}
	s.mu.RUnlock()
	if d != nil {
		wider := p
		wider.limit = p.limit + len(skip)
		rows, err := d.rows(ctx, wider)
		if err != nil {
			return session.Page{}, fmt.Errorf("list the sessions: %w", err)
		}
		for _, r := range rows {
			now, late := skip[r.ID]
			switch {
			case !late:
				own = append(own, r)
			case now != nil && r.hit != nil && p.kind == session.QueryPresent && now.DeletedAt.IsZero():
				now.hit = r.hit // it was found by what it said before
				own = append(own, *now)
			}
		}
	}
	slices.SortFunc(own, p.order)
	return p.page(own[:min(len(own), p.limit+1)]), nil
}

// Mark implements [session.Catalog].
func (s *Steady) Mark(ctx context.Context, id session.ID, m session.Mark) error {
	err := errNoDisk
	d, l := s.of(id)
	if l == nil && d != nil {
		if err = d.Mark(ctx, id, m); !ofDisk(err) {
			return err
		}
	}
	if l == nil && d == nil {
		return fmt.Errorf("mark session %s: %w", id, session.ErrNotFound)
	}
	return s.change(ctx, id, err, func(l *late) {
		l.marked = true
		if m.Pinned != nil {
			l.Pinned = *m.Pinned
		}
		if m.DeletedAt != nil {
			l.DeletedAt = *m.DeletedAt
		}
	})
}

// change keeps a change of a session's marks in memory.
func (s *Steady) change(ctx context.Context, id session.ID, why error, f func(*late)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.late[id]
	switch {
	case l != nil && l.gone:
		return fmt.Errorf("session %s: %w", id, session.ErrNotFound)
	case l == nil:
		if s.disk == nil {
			return fmt.Errorf("session %s: %w", id, session.ErrNotFound)
		}
		sum, err := s.disk.Summary(ctx, id)
		if err != nil {
			return err
		}
		s.keys++
		l = &late{row: row{key: s.keys, Summary: sum}}
		s.late[id] = l
	}
	f(l)
	s.troubled(why)
	return nil
}

// Delete implements [session.Catalog].
func (s *Steady) Delete(ctx context.Context, id session.ID) error {
	s.flushing.Lock() // what is on its way to the disk comes before
	defer s.flushing.Unlock()
	d, l := s.of(id)
	var err error
	if d != nil {
		if err = d.Delete(ctx, id); err != nil && !ofDisk(err) {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l != nil {
		for _, e := range l.entries() {
			s.bytes -= int64(len(e.JSON))
		}
		delete(s.late, id)
	}
	if err != nil {
		s.late[id] = &late{drop: true, gone: true}
		s.troubled(err)
	}
	return nil
}

// SaveDrafts implements [session.Drafts].
func (s *Steady) SaveDrafts(ctx context.Context, id session.ID, drafts []session.Draft) error {
	d, l := s.of(id)
	if l == nil && d != nil {
		return d.SaveDrafts(ctx, id, drafts)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch l := s.late[id]; {
	case l != nil && !l.gone:
		l.drafts, l.drafted = slices.Clone(drafts), true
	case len(drafts) > 0:
		return fmt.Errorf("save the drafts of session %s: %w", id, session.ErrNotFound)
	}
	return nil
}

// LoadDrafts implements [session.Drafts].
func (s *Steady) LoadDrafts(ctx context.Context, id session.ID) ([]session.Draft, error) {
	s.mu.RLock()
	d, l := s.disk, s.late[id]
	if l != nil && l.drafted {
		defer s.mu.RUnlock()
		return slices.Clone(l.drafts), nil
	}
	s.mu.RUnlock()
	if d == nil || l != nil && l.drop {
		return nil, nil
	}
	return d.LoadDrafts(ctx, id)
}

// flush moves to the disk what is late, and returns why not all of it is there.
func (s *Steady) flush(ctx context.Context) error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	s.mu.RLock()
	ids := slices.Collect(maps.Keys(s.late))
	// In the order they began, which decides between equal times in a list.
	slices.SortFunc(ids, func(a, b session.ID) int { return cmp.Compare(s.late[a].key, s.late[b].key) })
	s.mu.RUnlock()
	var errs []error
	for _, id := range ids {
		if err := s.flushOne(ctx, id); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// flushOne writes what is late of a session until nothing is.
func (s *Steady) flushOne(ctx context.Context, id session.ID) error {
	for {
		s.mu.RLock()
		d, l := s.disk, s.late[id]
		if l == nil {
			s.mu.RUnlock()
			return nil
		}
		now := *l
		s.mu.RUnlock()
		if err := now.write(ctx, d, id); err != nil {
			return err
		}
		s.mu.Lock()
		for _, b := range now.batches {
			for _, e := range b.entries {
				s.bytes -= int64(len(e.JSON))
			}
		}
		l.batches = l.batches[len(now.batches):]
		l.drop = l.drop && !now.drop
		same := l.Pinned == now.Pinned && l.DeletedAt.Equal(now.DeletedAt)
		if len(l.batches) == 0 && same {
			delete(s.late, id)
			s.mu.Unlock()
			return nil
		}
		s.mu.Unlock()
	}
}

// write is one step of flushOne, without the lock.
func (l *late) write(ctx context.Context, d disk, id session.ID) error {
	if d == nil {
		return errNoDisk
	}
	if l.drop {
		if err := d.Delete(ctx, id); err != nil || l.gone {
			return err
		}
	}
	if n := len(l.batches); n > 0 {
		if err := d.Append(ctx, id, l.entries(), l.batches[n-1].sum); err != nil {
			return err
		}
	}
	if l.marked {
		if err := d.Mark(ctx, id, session.Mark{Pinned: &l.Pinned, DeletedAt: &l.DeletedAt}); err != nil {
			return err
		}
	}
	if l.drafted {
		return d.SaveDrafts(ctx, id, l.drafts)
	}
	return nil
}
