package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

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
// the session is read.
func openDamage(dir string) *damage {
	d := &damage{dir: filepath.Join(dir, damageFolder), known: map[eventlog.ID][]int64{}}
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

// keep copies a damaged row, once, and returns where the copy is, in the data folder; empty if it
// could not be copied, and is tried again at the next reading.
func (d *damage) keep(id eventlog.ID, row badRow) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := d.copyOf(id)
	if !slices.Contains(d.known[id], row.Seq) {
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

// forget removes the copies of a session that was deleted.
func (d *damage) forget(id eventlog.ID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.known[id]) == 0 {
		return nil
	}
	delete(d.known, id)
	return fileError(os.Remove(d.copyOf(id)))
}

// salvage is after for a log with damage, row by row: in the place of what cannot be read there is
// an [event.SessionDamaged].
func (f *file) salvage(ctx context.Context, id eventlog.ID, seq int64, limit int) (entries []event.Entry, err error) {
	var key, last, created int64
	found, err := f.get(ctx, `SELECT key, last_seq, created_at FROM sessions WHERE id = ?`, []any{string(id)}, &key, &last, &created)
	if !found || err != nil {
		return nil, err
	}
	at := instant(created)
	for n := seq + 1; n <= min(last, seq+int64(limit)); n++ {
		e, err := f.one(ctx, id, key<<32|n, at)
		if err != nil {
			return nil, err
		}
		at = e.Event.Timestamp
		entries = append(entries, e)
	}
	return entries, nil
}

// one reads one entry; at is when the one before it happened.
func (f *file) one(ctx context.Context, id eventlog.ID, place int64, at time.Time) (event.Entry, error) {
	e := event.Entry{Seq: place & 0xffffffff}
	found, err := f.get(ctx, `SELECT json FROM events WHERE at = ?`, []any{place}, &e.JSON)
	switch {
	case found && err == nil:
		e.Event, err = event.Unmarshal(e.JSON)
	case err == nil:
		err = fmt.Errorf("%w: it is missing", ErrCorrupt)
	}
	if err == nil || !errors.Is(err, ErrCorrupt) && !errors.Is(err, event.ErrMalformed) {
		return e, err
	}
	where := f.damage.keep(id, badRow{e.Seq, err.Error(), e.JSON})
	e.Event = event.Event{ID: event.ID(fmt.Sprint("damaged-", e.Seq)), Timestamp: at, Data: event.SessionDamaged{Copy: where}}
	e.JSON, err = event.Marshal(e.Event)
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
		found, err := db.file.Load().get(ctx, `SELECT key, id, last_seq FROM sessions WHERE key > ? ORDER BY key LIMIT 1`,
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
