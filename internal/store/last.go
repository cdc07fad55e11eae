package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"webchat/internal/eventlog"
)

// lastName ends the name of the file that says what was synced last.
const lastName = "-last"

// lastSize is the size of that file: less than a disk writes at once.
const lastSize = 256

// last is what was synced last, kept outside of the journal: one that was removed or cut
// short reads like one in which less was written. It is written after each sync, without
// one of its own, so it never says more than the journal held; after a loss of power it
// may say less.
type last struct {
	Session eventlog.ID `json:"session"`
	Seq     int64       `json:"seq"` // of its last event; 0: it was deleted
}

// noteLast writes what jobs that were synced came to. A disk that refuses it costs only
// that a journal that is removed next is not noticed.
func (db *DB) noteLast(jobs []*job) {
	for _, j := range jobs {
		if j.last.Session == "" || j.follows {
			continue
		}
		if b, err := json.Marshal(j.last); err == nil && len(b) <= lastSize && db.lastFile != nil {
			_, _ = db.lastFile.WriteAt(fmt.Appendf(nil, "%-*s", lastSize, b), 0)
		}
		return // they are of one transaction
	}
}

// Missing says what the file should hold and does not, as it was when it was opened; empty:
// nothing is known to be missing.
func (db *DB) Missing() string { return db.missing }

// openLast compares the file with what was synced last, and keeps that from now on.
func (db *DB) openLast(ctx context.Context) error {
	b, err := os.ReadFile(db.path + lastName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileError(err)
	}
	var l last
	if json.Unmarshal([]byte(strings.TrimSpace(string(b))), &l) == nil && l.Session != "" {
		var seq int64
		err := db.read.QueryRowContext(ctx, `SELECT last_seq FROM sessions WHERE id = ?`, string(l.Session)).Scan(&seq)
		switch {
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return ours(err)
		case l.Seq > seq:
			db.missing = fmt.Sprintf("The last events that were saved are missing, at least %d of session %s: %s was removed, cut short, or is older than the sessions were.",
				l.Seq-seq, l.Session, FileName+"-wal")
		case l.Seq == 0 && seq > 0:
			db.missing = fmt.Sprintf("The last changes that were saved are missing: session %s had been deleted. %s was removed, cut short, or is older than the sessions were.",
				l.Session, FileName+"-wal")
		}
	}
	if db.lastFile, err = os.OpenFile(db.path+lastName, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		db.lastFile = nil // a disk that is full; what an earlier program noted still holds
	}
	return nil
}
