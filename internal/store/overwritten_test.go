package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
	"webchat/internal/store/storetest"
)

// overwrites are what may happen to the file or its journal while a program has them open, and
// what is said of it. path is the file's, backup a copy of an earlier time.
var overwrites = map[string]struct {
	do   func(path, backup string) error
	kind error
	says string
	left int // events of session "before" at the next start
}{
	"a backup renamed over the file": {
		func(path, backup string) error { return os.Rename(backup, path) },
		ErrReplaced, FileName + " was replaced by another file", 3},
	"a backup copied over the file": {
		func(path, backup string) error { return overwrite(path, backup) },
		ErrOverwritten, FileName + " was changed by another program", 3},
	"the file cut to nothing": {
		func(path, _ string) error { return os.Truncate(path, 0) },
		ErrOverwritten, FileName + " was changed by another program", 6}, // its journal has all of it
	"the journal cut to nothing": {
		func(path, _ string) error { return os.Truncate(path+"-wal", 0) },
		ErrOverwritten, FileName + "-wal was changed by another program", 6},
	"zeroes copied over the journal": {
		func(path, _ string) error {
			fi, err := os.Stat(path + "-wal")
			if err != nil {
				return err
			}
			zeroes := path + "-zeroes"
			if err := os.WriteFile(zeroes, make([]byte, fi.Size()), 0o600); err != nil {
				return err
			}
			return errors.Join(overwrite(path+"-wal", zeroes), os.Remove(zeroes))
		},
		ErrOverwritten, FileName + "-wal was changed by another program", 6},
}

// overwrite writes into a file what another one has, as cp does.
func overwrite(path, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// adds appends n events to the session that s is of.
func adds(t *testing.T, db *DB, s *eventlog.Summary, n int) error {
	t.Helper()
	for range n {
		prompt := event.UserMessage{MessageID: fmt.Sprint(s.LastSeq), Content: "hello"}
		e := storetest.Entry(t, s.LastSeq+1, prompt)
		now := eventlog.Summarize(*s, e)
		if err := db.Append(t.Context(), s.ID, []event.Entry{e}, now); err != nil {
			return err
		}
		*s = now
	}
	return nil
}

func copyFolder(t *testing.T, from string) (to string) {
	t.Helper()
	to = t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestOverwritten: what is written over the live file or its journal is noticed before anything
// more is acknowledged, and until a restart, which goes on with what is there and says what is not.
func TestOverwritten(t *testing.T) {
	for name, c := range overwrites {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			before, after := eventlog.Summary{ID: "before"}, eventlog.Summary{ID: "after"}
			db := mustOpen(t, dir)
			if err := adds(t, db, &before, 3); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			path, backup := filepath.Join(dir, FileName), filepath.Join(t.TempDir(), "backup")
			b, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(backup, b, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			db = mustOpen(t, dir)
			if err := adds(t, db, &before, 3); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			db = mustOpen(t, dir)
			if err := adds(t, db, &after, 32); err != nil {
				t.Fatal(err)
			}
			if err := c.do(path, backup); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				err := errors.Join(adds(t, db, &after, 1), db.Writable(t.Context(), 1))
				if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("what comes next: %v, want %q", err, c.says)
				}
				if r, ok := errors.AsType[sessions.Refusal](err); !ok ||
					!strings.Contains(strings.ToLower(r.Advice()), "restart webchat") {
					t.Errorf("the advice is %v", r)
				}
			}
			killed := copyFolder(t, dir)
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			closed := copyFolder(t, dir)
			// Of what is not folded the readers stay open until the process ends.
			if err := db.file.Load().read.Close(); err != nil {
				t.Error(err)
			}
			for how, dir := range map[string]string{"killed": killed, "closed": closed} {
				t.Run(how, func(t *testing.T) { startsAfterOverwrite(t, dir, c.left) })
			}
		})
	}
}

// startsAfterOverwrite starts in a folder of which the file has left events of session "before",
// and none of session "after", unless they are taken out of a damaged one.
func startsAfterOverwrite(t *testing.T, dir string, left int) {
	db, moved, err := OpenFile(Config{Dir: dir}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
	after := 0
	if moved.Sessions > 0 {
		after = 32
	}
	for id, want := range map[eventlog.ID]int{"before": left, "after": after} {
		if got, err := db.After(t.Context(), id, 0, 100); err != nil || len(got) != want {
			t.Errorf("session %s has %d events, want %d (%v)", id, len(got), want, err)
		}
	}
	if len(moved.Aside) == 0 && !strings.Contains(db.Missing(), "at least 32 of session after") {
		t.Errorf("what is missing: %q", db.Missing())
	}
	works(t, db)
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestCopyInItsPlace: a copy with the same sessions is gone on with, and the journal of the old
// file is not taken for its own.
func TestCopyInItsPlace(t *testing.T) {
	dir, a := t.TempDir(), eventlog.Summary{ID: "a"}
	db := mustOpen(t, dir)
	if err := adds(t, db, &a, 5); err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(t.TempDir(), "backup")
	if _, err := db.file.Load().conn.ExecContext(t.Context(), `VACUUM INTO ?`, backup); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(backup, db.path); err != nil {
		t.Fatal(err)
	}
	if err := adds(t, db, &a, 1); !errors.Is(err, ErrReplaced) {
		t.Errorf("before it was looked at: %v", err)
	}
	if err := db.Writable(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := adds(t, db, &a, 5); err != nil {
		t.Fatal(err)
	}
	db = mustOpen(t, copyFolder(t, dir))
	got, err := db.After(t.Context(), "a", 0, 100)
	if err != nil || len(got) != 10 || db.Missing() != "" {
		t.Errorf("%d events, %v, missing: %q", len(got), err, db.Missing())
	}
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFoldingIsItsOwn: what this program itself moves from the journal into the file is its own,
// and each time the file's header is another one, even where nothing grows.
func TestFoldingIsItsOwn(t *testing.T) {
	db := mustOpen(t, t.TempDir())
	a := eventlog.Summary{ID: "a"}
	if err := adds(t, db, &a, 1); err != nil {
		t.Fatal(err)
	}
	written, was := 0, []byte{}
	for n := range 3 * foldAt {
		draft := eventlog.Draft{MessageID: "m", Content: fmt.Sprintf("%06d", n)}
		if err := db.SaveDrafts(t.Context(), "a", []eventlog.Draft{draft}); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(db.path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(b, was) {
			continue
		}
		if written++; bytes.Equal(b[:headSize], was[:min(headSize, len(was))]) {
			t.Error("the file was written and its header is the same")
		}
		was = b
	}
	if written < 3 {
		t.Errorf("the file was written %d times: the test sees nothing", written-1)
	}
	if fi, err := os.Stat(db.path + "-wal"); err != nil || fi.Size() > 8<<20 {
		t.Errorf("the journal grows without end: %v, %v", fi.Size(), err)
	}
	if err := errors.Join(db.Vacuum(t.Context()), adds(t, db, &a, 3)); err != nil {
		t.Error(err)
	}
}
