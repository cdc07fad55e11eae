package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// damageFolder is where copies of damaged rows are, beside the file: for each session one with a
// [badRow] a line.
const damageFolder = "damaged-events"

// damage is which events are known to be damaged. The copies are its memory.
type damage struct {
	dir string

	mu    sync.Mutex // guards known
	known map[eventlog.ID][]int64
}

// badRow is a damaged row of the events as its copy has it.
type badRow struct {
	Seq   int64  `json:"seq"`
	Error string `json:"error"`         // what is wrong with it
	Raw   []byte `json:"raw,omitempty"` // in base64; none: the row is not there, or cannot be read
}

// openDamage reads which events were damaged before. What cannot be read there is found again when
// the session is read. Without a folder there are no copies.
func openDamage(dir string) *damage {
	d := &damage{known: map[eventlog.ID][]int64{}}
	if dir == "" {
		return d
	}
	d.dir = filepath.Join(dir, damageFolder)
	files, _ := os.ReadDir(d.dir)
	for _, f := range files {
		id, _ := url.PathUnescape(strings.TrimSuffix(f.Name(), copyEnd))
		b, _ := os.ReadFile(filepath.Join(d.dir, f.Name()))
		for line := range bytes.Lines(b) {
			var row badRow
			if json.Unmarshal(line, &row) == nil && row.Seq > 0 {
				d.known[eventlog.ID(id)] = append(d.known[eventlog.ID(id)], row.Seq)
			}
		}
	}
	return d
}

// copyEnd ends the names of copies.
const copyEnd = ".jsonl"

func (d *damage) copyOf(id eventlog.ID) string {
	return filepath.Join(d.dir, url.PathEscape(string(id))+copyEnd)
}

func (d *damage) count(id eventlog.ID) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.known[id])
}

// keep copies a damaged row, once, and returns where the copy is, in the data folder; empty if
// there are no copies, or it could not be copied, and is tried again at the next reading.
func (d *damage) keep(id eventlog.ID, row badRow) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := slices.Contains(d.known[id], row.Seq)
	if d.dir == "" {
		if !known {
			d.known[id] = append(d.known[id], row.Seq)
		}
		return ""
	}
	name := d.copyOf(id)
	if !known {
		b, err := json.Marshal(row)
		if err == nil {
			err = os.MkdirAll(d.dir, 0o700)
		}
		var f *os.File
		if err == nil {
			f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		}
		if err == nil {
			_, err = f.Write(append(b, '\n'))
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return ""
		}
		d.known[id] = append(d.known[id], row.Seq)
	}
	return path.Join(damageFolder, filepath.Base(name))
}

// entry is what stands in the place of a damaged row, which is kept; at is when the event before it
// happened.
func (d *damage) entry(id eventlog.ID, row badRow, at time.Time) (e event.Entry, err error) {
	e.Seq, e.Event = row.Seq, event.Event{ID: event.ID(fmt.Sprint("damaged-", row.Seq)), Timestamp: at,
		Data: event.SessionDamaged{Copy: d.keep(id, row)}}
	e.JSON, err = event.Marshal(e.Event)
	return e, err
}

// forget removes the copies of a session that was deleted.
func (d *damage) forget(id eventlog.ID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.known[id]) == 0 {
		return nil
	}
	delete(d.known, id)
	if d.dir == "" {
		return nil
	}
	return fileError(os.Remove(d.copyOf(id)))
}

// sumOf is what is stored beside the bytes of an event, to know them by: their CRC-32C.
func sumOf(b []byte) int64 { return int64(crc32.Checksum(b, castagnoli)) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// decode reads an event from its bytes and their sum, which is -1 where none was stored: then only
// what is not UTF-8 is known to be damaged. The error wraps [ErrCorrupt].
func decode(b []byte, sum int64) (event.Event, error) {
	switch {
	case sum >= 0 && sum != sumOf(b):
		return event.Event{}, fmt.Errorf("%w: its bytes are not those that were written", ErrCorrupt)
	case sum < 0 && !utf8.Valid(b):
		return event.Event{}, fmt.Errorf("%w: it is not UTF-8", ErrCorrupt)
	}
	e, err := event.Unmarshal(b)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return e, err
}

// salvage reads entries of a log with damage, row by row: in the place of what cannot be read there
// is an [event.SessionDamaged].
func salvage(ctx context.Context, t tables, d *damage, id eventlog.ID, seq int64,
	limit int) (entries []event.Entry, err error) {
	var key, last, created int64
	err = t.query(ctx, func(r record) error { return r.Scan(&key, &last, &created) },
		`SELECT key, last_seq, created_at FROM sessions WHERE id = $1`, t.parameter(string(id)))
	if err != nil {
		return nil, err
	}
	at := instant(created)
	for n := seq + 1; n <= min(last, seq+int64(limit)); n++ {
		e, err := eventAt(ctx, t, key, n)
		if errors.Is(err, ErrCorrupt) {
			e, err = d.entry(id, badRow{n, err.Error(), e.JSON}, at)
		}
		if err != nil {
			return nil, err
		}
		at = e.Event.Timestamp
		entries = append(entries, e)
	}
	return entries, nil
}

// eventAt reads one entry. The error wraps [ErrCorrupt] if it is damaged.
func eventAt(ctx context.Context, t tables, key, seq int64) (event.Entry, error) {
	e := event.Entry{Seq: seq}
	var sum int64
	found := false
	text, args := t.entry(key, seq)
	err := t.query(ctx, func(r record) error {
		found = true
		return r.Scan(&e.JSON, &sum)
	}, text, args...)
	switch {
	case err != nil:
	case !found:
		err = fmt.Errorf("%w: it is missing", ErrCorrupt)
	default:
		e.Event, err = decode(e.JSON, sum)
	}
	return e, err
}

// inspectStep is how many events are looked at at once.
const inspectStep = 200

// Inspect looks for damaged events in all logs, so that a list has those with some before they are
// opened. It takes up to a tenth of a processor. Its failure costs nothing but that.
func (db *DB) Inspect(ctx context.Context) {
	if err := db.inspect(ctx); err != nil && ctx.Err() == nil {
		db.log.Error("the sessions' logs cannot be looked through for damage", "error", err)
	}
}

func (db *DB) inspect(ctx context.Context) error {
	for key := int64(0); ; {
		var id eventlog.ID
		var last int64
		found, err := db.file.Load().get(ctx,
			`SELECT key, id, last_seq FROM sessions WHERE key > ? ORDER BY key LIMIT 1`,
			[]any{key}, &key, &id, &last)
		if !found || err != nil {
			return err
		}
		for seq := int64(0); seq < last; seq += inspectStep {
			began := time.Now()
			if _, err := db.after(ctx, id, seq, inspectStep); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(9 * time.Since(began)):
			}
		}
	}
}
