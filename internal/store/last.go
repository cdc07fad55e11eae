package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"webchat/internal/eventlog"
)

// lastName ends the name of the file that says what was written last.
const lastName = "-last"

// lastSize is the size of that file: less than a disk writes at once.
const lastSize = 256

// last is what was written last, kept outside of the journal: one that was removed or cut short
// reads like one in which less was written, and one beside another file like one of that file. It
// is written after each sync, without one of its own, so it never says more than the journal held;
// after a loss of power it may say less.
type last struct {
	Session eventlog.ID `json:"session"`
	Seq     int64       `json:"seq"` // of its last event; 0: it was deleted
	// The journal with these salts belongs to the file of this size whose header has this counter.
	// None: it is not known which.
	Journal string `json:"journal,omitempty"`
	Counter uint32 `json:"counter,omitempty"`
	Size    int64  `json:"size,omitempty"`
}

// readLast reads what is noted beside a file; nothing if nothing is.
func readLast(path string) (l last, err error) {
	b, err := os.ReadFile(path + lastName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return l, fileError(err)
	}
	if json.Unmarshal([]byte(strings.TrimSpace(string(b))), &l) != nil {
		return last{}, nil
	}
	return l, nil
}

// noteLast writes what jobs that were synced came to.
func (f *file) noteLast(jobs []*job) {
	was := f.noted
	for _, j := range jobs {
		if j.last.Session != "" && !j.follows {
			f.noted.Session, f.noted.Seq = j.last.Session, j.last.Seq
			break // they are of one transaction
		}
	}
	if begun := f.raw.now; begun.frames == begun.folded { // the journal began anew with this
		if now, err := f.raw.readIndex(); err == nil {
			f.raw.now = now
		}
	}
	if f.setOwn(); f.noted != was {
		f.note()
	}
}

// noteOwn writes which file the journal belongs to, if it has anything.
func (f *file) noteOwn() {
	was := f.noted
	if f.setOwn(); f.noted != was {
		f.note()
	}
}

func (f *file) setOwn() {
	r := f.raw
	f.noted.Journal, f.noted.Counter, f.noted.Size = "", 0, 0
	if r.now.frames > 0 {
		f.noted.Journal = hex.EncodeToString(r.now.salts[:])
		f.noted.Counter, f.noted.Size = counterOf(r.head), r.size
	}
}

// noteUnknown writes that the file is about to change. It is synced: after a loss of power a
// journal must not be taken for that of another file.
func (f *file) noteUnknown() {
	f.noted.Journal, f.noted.Counter, f.noted.Size = "", 0, 0
	f.note()
	if f.last != nil {
		_ = f.last.Sync() // as of note
	}
}

// note writes what is noted. A disk that refuses it costs only that a journal that is removed next,
// or a file that is replaced, is not noticed at the next start.
func (f *file) note() {
	if b, err := json.Marshal(f.noted); err == nil && len(b) <= lastSize && f.last != nil {
		_, _ = f.last.WriteAt(fmt.Appendf(nil, "%-*s", lastSize, b), 0)
	}
}

// openLast compares the file with what was written last, and keeps that from now on.
func (f *file) openLast(ctx context.Context) (err error) {
	if f.noted, err = readLast(f.path); err != nil {
		return err
	}
	if l := f.noted; l.Session != "" {
		var seq int64
		const query = `SELECT last_seq FROM sessions WHERE id = ?`
		if _, err := f.get(ctx, query, []any{string(l.Session)}, &seq); err != nil {
			return err
		}
		why := FileName + "-wal was removed, cut short, or is older than the sessions were."
		if f.aside != "" {
			why = fmt.Sprintf("%s was replaced while webchat ran. The journal of the file before is %s.",
				FileName, filepath.Base(f.aside))
		}
		switch {
		case l.Seq > seq:
			f.missing = fmt.Sprintf("The last events that were saved are missing, at least %d of "+
				"session %s: %s", l.Seq-seq, l.Session, why)
		case l.Seq == 0 && seq > 0:
			f.missing = fmt.Sprintf("The last changes that were saved are missing: session %s had been "+
				"deleted. %s", l.Session, why)
		}
	}
	if f.last, err = os.OpenFile(f.path+lastName, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		f.last = nil // a disk that is full; what an earlier program noted still holds
	}
	return nil
}

// setAside renames a journal that is not of the file beside it, and returns its new name.
func setAside(path string) (name string, err error) {
	if other, err := strange(path); !other || err != nil {
		return "", err
	}
	name = path + "-wal.replaced-" + time.Now().UTC().Format(stamp)
	if err := os.Rename(path+"-wal", name); err != nil {
		return "", fmt.Errorf("move the journal of another file aside: %w", fileError(err))
	}
	return name, nil
}

// stamp is how names of files that are kept aside say when.
const stamp = "20060102T150405.000Z"
