package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Rescue is what became of a damaged file at a start.
type Rescue struct {
	Aside    []string // where the file, and its journal, are now; none: it was not damaged
	Sessions int      // that were taken out of it
	Damaged  int      // of those, how many lack events
	Events   int      // how many those lack
	Lost     int      // sessions of which there is only a part that does not say whose it is
}

const (
	rescuing = ".rescue"  // ends the name of the folder in which a new file is written
	rescued  = ".rescued" // ends the name of a new file that is complete
	gathered = 2000       // about how many events are written in one transaction
)

// rescue writes what is sound in the damaged file into a new one, which is complete when it has its
// name. The damaged file is only read.
func (db *DB) rescue(ctx context.Context) (r Rescue, err error) {
	folder := db.path + rescuing
	if err := errors.Join(os.RemoveAll(folder), os.RemoveAll(db.path+rescued)); err != nil {
		return r, fileError(err)
	}
	other, err := strange(db.path)
	if err != nil {
		return r, err
	}
	p, err := openPages(db.path, other)
	if err != nil {
		return r, err
	}
	defer p.close()
	w := wreck{pages: p, damage: db.damage, sessions: map[int64]*remains{}}
	if err := w.look(ctx); err != nil || len(w.sessions) == 0 {
		return r, err
	}
	to, err := Open(Config{Dir: folder})
	if err != nil {
		return r, err
	}
	r, err = w.write(ctx, to)
	if err = errors.Join(err, to.Close()); err == nil {
		err = fileError(os.Rename(to.path, db.path+rescued))
	}
	return r, errors.Join(err, fileError(os.RemoveAll(folder)))
}

// putRescued puts a complete new file in the place of the damaged one, which was moved aside.
func putRescued(path string) error {
	if _, err := os.Lstat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return nil // not moved yet: it is looked at anew
	}
	if err := os.Rename(path+rescued, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileError(err)
	}
	return nil
}

// wreck is a damaged file and what of it can be read.
type wreck struct {
	*pages
	damage   *damage
	sessions map[int64]*remains // by their keys
}

// remains are what is left of a session.
type remains struct {
	row    *row // nil: it was lost
	gone   bool // it was deleted
	drafts []byte
	events []found
}

// found is where an event is.
type found struct {
	seq, page int64
	at        int
}

func (w *wreck) of(key int64) *remains {
	if w.sessions[key] == nil {
		w.sessions[key] = &remains{}
	}
	return w.sessions[key]
}

// look finds all rows. Tables are known by what their rows are like.
func (w *wreck) look(ctx context.Context) error {
	for n := int64(2); n <= w.count; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := w.page(n)
		if err != nil {
			continue
		}
		w.cells(b, func(at int, c cell) {
			key, seq := c.id>>32, c.id&0xffffffff
			switch kinds := c.types; {
			case kinds[0] != 0: // the rowid is in its place
			case key > 0 && seq > 0 && (len(kinds) == 2 || len(kinds) == 3) && isBlob(kinds[1]) &&
				c.begins('{'):
				s := w.of(key)
				s.events = append(s.events, found{seq, n, at})
			case key != 0 || c.id < 1:
			case len(kinds) == 1:
				w.of(c.id).gone = true
			case len(kinds) == 2 && isBlob(kinds[1]) && c.begins('['):
				if b, err := w.record(c); err == nil {
					w.of(c.id).drafts = b[c.columns:]
				}
			case len(kinds) >= 17:
				if r, err := w.row(c); err == nil && (w.of(c.id).row == nil ||
					r.LastSeq > w.of(c.id).row.LastSeq) {
					w.of(c.id).row = r
				}
			}
		})
	}
	return nil
}

func isBlob(kind int64) bool { return kind >= 12 && kind%2 == 0 }

// begins reports whether the first column that takes room begins with a byte.
func (c cell) begins(with byte) bool {
	return len(c.local) > c.columns && c.local[c.columns] == with
}

// row reads a row of the sessions.
func (w *wreck) row(c cell) (*row, error) {
	b, err := w.record(c)
	if err != nil {
		return nil, err
	}
	v := c.values(b)
	text := func(i int) string { b, _ := v[i].([]byte); return string(b) }
	number := func(i int) int64 { n, _ := v[i].(int64); return n }
	r := &row{key: c.id, activity: number(11), rest: []byte(text(16)), Summary: eventlog.Summary{
		ID:        eventlog.ID(text(1)),
		Backend:   text(2),
		Model:     text(3),
		Title:     text(4),
		Workspace: text(6),
		CreatedAt: instant(number(7)),
		UpdatedAt: instant(number(8)),
		DeletedAt: instant(number(9)),
		Pinned:    number(10) != 0,
		Status:    event.Status(text(12)),
		Pending:   int(number(13)),
		LastSeq:   number(15),
	}}
	if len(v) > 17 {
		r.User = text(17)
	}
	if r.ID == "" || r.LastSeq < 1 {
		return nil, ErrCorrupt
	}
	return r, r.unpack()
}

// read reads an event.
func (w *wreck) read(f found) (e event.Entry, err error) {
	e.Seq = f.seq
	b, err := w.page(f.page)
	if err != nil {
		return e, err
	}
	c, _ := w.cell(b, f.at)
	if b, err = w.record(c); err != nil {
		return e, err
	}
	v, sum := c.values(b), int64(-1)
	if len(v) > 2 {
		if n, ok := v[2].(int64); ok {
			sum = n
		}
	}
	e.JSON, _ = v[1].([]byte)
	if e.Event, err = decode(e.JSON, sum); e.Event.Ephemeral {
		err = ErrCorrupt // it would not be in a log
	}
	return e, err
}

// write writes the sessions into an empty store, in their order.
func (w *wreck) write(ctx context.Context, to *DB) (r Rescue, err error) {
	var keys []int64
	for key := range w.sessions {
		keys = append(keys, key)
	}
	place := func(key int64) int64 {
		if s := w.sessions[key]; s.row != nil {
			return s.row.activity
		}
		return 0
	}
	slices.SortFunc(keys, func(a, b int64) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	})
	var do []func(context.Context, *file) error
	flush := func() error {
		all := do
		do = nil
		return to.follow(ctx, func(ctx context.Context, f *file) error {
			for _, write := range all {
				if err := write(ctx, f); err != nil {
					return err
				}
			}
			return nil
		})
	}
	taken, waiting := map[eventlog.ID]bool{}, 0
	for _, key := range keys {
		s := w.sessions[key]
		if s.gone {
			continue
		}
		id := w.order(s)
		if id == "" || taken[id] {
			if len(s.events) > 0 {
				r.Lost++
			}
			continue
		}
		taken[id] = true
		lost, err := w.session(id, s, func(n int, write func(context.Context, *file) error) error {
			do = append(do, write)
			if waiting += n; waiting < gathered {
				return nil
			}
			waiting = 0
			return flush()
		})
		if err != nil {
			return r, err
		}
		r.Sessions++
		if r.Events += lost; lost > 0 {
			r.Damaged++
		}
	}
	return r, flush()
}

// order puts the events of a session in their order, without those that cannot be its own, and
// returns its id; none: it is not known, or no event is left.
func (w *wreck) order(s *remains) (id eventlog.ID) {
	slices.SortStableFunc(s.events, func(a, b found) int { return cmp.Compare(a.seq, b.seq) })
	// As many events as the file has room for may be missing, each of which takes some bytes at least.
	room, last := w.count*w.size/64, int64(0)
	if s.row != nil && s.row.LastSeq > int64(len(s.events))+room {
		s.row = nil
	}
	for i, f := range s.events {
		if f.seq > last+room || s.row != nil && f.seq > s.row.LastSeq {
			s.events = s.events[:i]
			break
		}
		last = f.seq
	}
	if len(s.events) == 0 {
		return ""
	}
	if s.row != nil {
		return s.row.ID
	}
	for _, f := range s.events {
		if f.seq > 1 {
			break
		}
		if e, err := w.read(f); err == nil {
			if d, ok := e.Event.Data.(event.SessionStart); ok {
				return eventlog.ID(d.SessionID)
			}
		}
	}
	return ""
}

// session gives what writes a session to put, a part at a time, and returns how many events are
// lost: in their places are [event.SessionDamaged].
func (w *wreck) session(id eventlog.ID, s *remains,
	put func(n int, write func(context.Context, *file) error) error) (lost int, err error) {
	last := s.events[len(s.events)-1].seq
	sum := eventlog.Summary{ID: id, Status: event.Idle}
	if s.row != nil {
		last = s.row.LastSeq
		sum.Pinned, sum.DeletedAt, sum.CreatedAt = s.row.Pinned, s.row.DeletedAt, s.row.CreatedAt
	}
	at := sum.CreatedAt
	var entries []event.Entry
	left := s.events
	for seq := int64(1); seq <= last; seq++ {
		e, bad := event.Entry{Seq: seq}, badRow{Seq: seq, Error: "it is missing"}
		for sound := false; len(left) > 0 && left[0].seq == seq; left = left[1:] {
			if got, err := w.read(left[0]); err == nil {
				e, sound, bad.Error = got, true, ""
			} else if !sound {
				bad.Error, bad.Raw = err.Error(), got.JSON
			}
		}
		if bad.Error != "" {
			lost++
			if e, err = w.damage.entry(id, bad, at); err != nil {
				return lost, err
			}
		}
		at = e.Event.Timestamp
		sum, entries = eventlog.Summarize(sum, e), append(entries, e)
		sum.ID = id
		if len(entries) < moveStep && seq < last {
			continue
		}
		if seq == last && s.row != nil {
			sum = s.row.Summary
		} else if lost > 0 && seq == last {
			sum.Open.Grants = nil // one may have been revoked by what is lost
		}
		r, err := rowAfter(id, entries, sum)
		if err != nil {
			return lost, err
		}
		part := entries
		if err := put(len(part), func(ctx context.Context, f *file) error {
			return f.append(ctx, r, part, wordsOf(part))
		}); err != nil {
			return lost, err
		}
		entries = nil
	}
	if len(s.drafts) > 0 {
		err = put(1, func(ctx context.Context, f *file) error {
			_, err := f.exec(ctx, saveDrafts, string(id), s.drafts)
			return err
		})
	}
	return lost, err
}
