package store

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"webchat/internal/eventlog"
	"webchat/internal/sessions"
	"webchat/internal/store/storetest"
)

var quiet = slog.New(slog.DiscardHandler)

// TestFile: with a disk that works it is a store like any other.
func TestFile(t *testing.T) {
	storetest.Run(t, func(t testing.TB) (storetest.Store, func() storetest.Store) {
		c := Config{Dir: t.TempDir()}
		open := func() *DB {
			f, moved, err := OpenFile(c, quiet)
			if err != nil || len(moved.Aside) > 0 {
				t.Fatal(moved, err)
			}
			return f
		}
		f := open()
		shut := func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		t.Cleanup(func() { shut() })
		return f, func() storetest.Store {
			shut()
			f = open()
			return f
		}
	}, ErrSequence)
}

// refuses checks that nothing can be written, for this reason, and that what can be
// read is n entries of session "s5".
func refuses(t *testing.T, f *DB, why error, n int) {
	t.Helper()
	entries, sum := storetest.Start(t, "fresh", 3)
	pinned := true
	for what, err := range map[string]error{
		"Append":     f.Append(t.Context(), "fresh", entries, sum),
		"Mark":       f.Mark(t.Context(), "s5", sessions.Mark{Pinned: &pinned}),
		"Delete":     f.Delete(t.Context(), "s5"),
		"SaveDrafts": f.SaveDrafts(t.Context(), "s5", nil),
		"Vacuum":     f.Vacuum(t.Context()),
		"Writable":   f.Writable(t.Context(), 0),
	} {
		if err == nil || why != nil && !errors.Is(err, why) {
			t.Errorf("%s: %v, want %v", what, err, why)
		}
	}
	list, err := f.List(t.Context(), sessions.Query{})
	if err != nil || len(list.Sessions) != n/5 {
		t.Errorf("List: %d, %v", len(list.Sessions), err)
	}
	if got, err := f.After(t.Context(), "s5", 0, 100); err != nil || len(got) != n {
		t.Errorf("After: %d, %v", len(got), err)
	}
	if _, err := f.Summary(t.Context(), "s5"); n == 0 && !errors.Is(err, eventlog.ErrNotFound) ||
		n > 0 && err != nil {
		t.Errorf("Summary: %v", err)
	}
	if _, err := f.LoadDrafts(t.Context(), "s5"); err != nil {
		t.Errorf("LoadDrafts: %v", err)
	}
}

// recovers checks that everything can be written once the file can be opened.
func recovers(t *testing.T, f *DB) {
	t.Helper()
	if err := f.Writable(t.Context(), 1<<20); err != nil {
		t.Fatal(err)
	}
	works(t, f)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := f.Writable(t.Context(), 1); !errors.Is(err, ErrClosed) {
		t.Errorf("Writable of what is closed: %v", err)
	}
}

// TestFileWithoutADisk: there is no file, and none can be made.
func TestFileWithoutADisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // in the folder's place
		t.Fatal(err)
	}
	f, moved, err := OpenFile(Config{Dir: dir}, quiet)
	if err != nil || len(moved.Aside) > 0 {
		t.Fatal(moved, err)
	}
	refuses(t, f, nil, 0)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	recovers(t, f)
}

// TestOpeningWritesNothing: a start does not wait for the disk to take what is there already.
func TestOpeningWritesNothing(t *testing.T) {
	dir, path := filled(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db, _, err := OpenFile(Config{Dir: dir}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if journal, err := os.ReadFile(path + "-wal"); err != nil || len(journal) > 0 {
		t.Errorf("the journal has %d bytes, %v", len(journal), err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the file is another one, %v", err)
	}
}

// TestFileThatCanOnlyBeRead: it is read, and written as soon as it can be.
func TestFileThatCanOnlyBeRead(t *testing.T) {
	dir, path := filled(t)
	other, err := sql.Open("sqlite", writeSource(path))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	conn, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), `BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	f, moved, err := OpenFile(Config{Dir: dir}, quiet)
	if err != nil || len(moved.Aside) > 0 {
		t.Fatal(moved, err)
	}
	refuses(t, f, ErrLocked, 50)
	if _, err := conn.ExecContext(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	recovers(t, f)
}

// TestDamagedFilesAreMovedAside: a start with a bad file works, and the file is
// still there under another name, byte for byte.
func TestDamagedFilesAreMovedAside(t *testing.T) {
	_, good := filled(t)
	sound, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Clone(sound)
	binary.BigEndian.PutUint32(other[68:], 77)
	for name, file := range map[string][]byte{
		"text": []byte(strings.Repeat("this is not a database. ", 100)), "short": sound[:50],
		"truncated": sound[:4096*3+100],
		"zeroes":    append(bytes.Clone(sound[:100]), make([]byte, 8000)...), "of another program": other,
		"folder": nil,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, FileName)
			if file == nil {
				err = os.Mkdir(path, 0o700)
			} else {
				err = os.WriteFile(path, file, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			s, moved, err := OpenFile(Config{Dir: dir}, quiet)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if len(moved.Aside) != 1 || !strings.HasPrefix(moved.Aside[0], path+".corrupt-") {
				t.Fatalf("it is at %q", moved.Aside)
			}
			if kept, err := os.ReadFile(moved.Aside[0]); file != nil &&
				(err != nil || !bytes.Equal(kept, file)) {
				t.Errorf("the file was changed (%v)", err)
			}
			works(t, s)
		})
	}
}

func works(t testing.TB, s *DB) {
	t.Helper()
	entries, sum := storetest.Start(t, "fresh", 3)
	if err := s.Append(t.Context(), "fresh", entries, sum); err != nil {
		t.Fatal(err)
	}
	if got, err := s.After(t.Context(), "fresh", 0, 10); err != nil || len(got) != 3 {
		t.Errorf("%d entries, %v", len(got), err)
	}
}

// TestOtherVersionsAreRefused: newer files and those of development stay as they are.
func TestOtherVersionsAreRefused(t *testing.T) {
	_, file := filled(t)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []uint32{1, firstVersion - 1, uint32(firstVersion + len(steps))} {
		binary.BigEndian.PutUint32(b[60:], version)
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, moved, err := OpenFile(Config{Dir: filepath.Dir(file)}, quiet)
		if !errors.Is(err, ErrVersion) || len(moved.Aside) > 0 || !strings.Contains(err.Error(), file) {
			t.Errorf("OpenFile of version %d: moved %q, %v", version, moved.Aside, err)
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, b) {
			t.Errorf("the file of version %d was touched (%v)", version, err)
		}
	}
}

// flips starts with files of which random bits are wrong: it never fails, and what
// is read is what was written or an error.
func flips(t *testing.T, n int) {
	_, good := filled(t)
	sound, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	if text := os.Getenv("WEBCHAT_SOAK"); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	moves := 0
	for range n {
		b := bytes.Clone(sound)
		for range 1 + rnd.IntN(20) {
			b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, FileName), b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, moved, err := OpenFile(Config{Dir: dir}, quiet)
		if errors.Is(err, ErrVersion) {
			continue // the flip was in the version
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(moved.Aside) > 0 {
			moves++
		}
		if _, err := s.After(t.Context(), "s5", 0, 100); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("After: %v", err)
		}
		if _, err := s.List(t.Context(), sessions.Query{Text: "words"}); err != nil &&
			!errors.Is(err, ErrCorrupt) {
			t.Errorf("List: %v", err)
		}
		works(t, s)
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	t.Logf("soak: %d of %d files with flipped bits were moved aside", moves, n)
}

func init() { checkTime = time.Minute }

// Damage in what the search keeps costs no session: the words are made anew.
func TestDamagedWordsAreMadeAnew(t *testing.T) {
	dir, file := filled(t)
	db, err := sql.Open("sqlite", bareSource(file))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`UPDATE found_data SET block = x'ffff' WHERE id = 10`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, moved, err := OpenFile(Config{Dir: dir}, quiet)
	if err != nil || len(moved.Aside) > 0 {
		t.Fatalf("moved to %q, %v", moved.Aside, err)
	}
	if got, err := s.List(t.Context(), sessions.Query{Text: "wörds"}); err != nil ||
		len(got.Sessions) != 10 {
		t.Errorf("%d sessions found, %v", len(got.Sessions), err)
	}
	works(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestSoakStartsWithFlippedBits(t *testing.T) {
	if os.Getenv("WEBCHAT_SOAK") == "" {
		t.Skip("a long run: set WEBCHAT_SOAK to a seed")
	}
	flips(t, 500)
}

// killed is what a killed program leaves: the file before the last events, and its journal.
func killed(t *testing.T) (dir string) {
	t.Helper()
	db := mustOpen(t, t.TempDir())
	entries, sum := storetest.Start(t, "a", 3)
	if err := db.Append(t.Context(), "a", entries, sum); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for _, end := range []string{"", "-wal", lastName} {
		b, err := os.ReadFile(db.path + end)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, FileName+end), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestJournalWithoutItsFile: a journal is never taken for that of a new file, and both are
// kept and named.
func TestJournalWithoutItsFile(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"removed": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			dir := killed(t)
			path := filepath.Join(dir, FileName)
			wal, err := os.ReadFile(path + "-wal")
			if err == nil {
				err = spoil(path)
			}
			if err != nil {
				t.Fatal(err)
			}
			f, moved, err := OpenFile(Config{Dir: dir}, quiet)
			if err != nil || len(moved.Aside) == 0 || !strings.HasSuffix(moved.Aside[len(moved.Aside)-1],
				"-wal") {
				t.Fatalf("moved to %q, %v", moved.Aside, err)
			}
			defer f.Close()
			if kept, err := os.ReadFile(moved.Aside[len(moved.Aside)-1]); err != nil ||
				!bytes.Equal(kept, wal) {
				t.Errorf("the journal was changed (%v)", err)
			}
			if f.Missing() != "" {
				t.Errorf("a new file lacks something: %s", f.Missing())
			}
			works(t, f)
		})
	}
}

// TestMissingJournal: that a journal was removed or cut short is noticed, once.
func TestMissingJournal(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(path string) error
		want  string
	}{
		"as it was": {func(string) error { return nil }, ""},
		"removed": {func(path string) error {
			return os.Remove(path + "-wal")
		}, "at least 3 of session a"},
		"empty": {func(path string) error {
			return os.Truncate(path+"-wal", 0)
		}, "at least 3 of session a"},
		"cut short": {func(path string) error {
			fi, err := os.Stat(path + "-wal")
			if err != nil {
				return err
			}
			return os.Truncate(path+"-wal", fi.Size()-1)
		}, "at least 3 of session a"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := killed(t)
			if err := c.spoil(filepath.Join(dir, FileName)); err != nil {
				t.Fatal(err)
			}
			f, moved, err := OpenFile(Config{Dir: dir}, quiet)
			if err != nil || len(moved.Aside) > 0 {
				t.Fatal(moved, err)
			}
			if got := f.Missing(); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("missing is %q, want %q", got, c.want)
			}
			works(t, f)
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if db := mustOpen(t, dir); db.Missing() != "" {
				t.Errorf("said again: %s", db.Missing())
			}
		})
	}
}

// TestNothingIsMissing: after a deletion, and after a journal that was ended as it should.
func TestNothingIsMissing(t *testing.T) {
	dir, _ := filled(t)
	db := mustOpen(t, dir)
	if err := db.Delete(t.Context(), "s5"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db = mustOpen(t, dir); db.Missing() != "" {
		t.Errorf("missing: %s", db.Missing())
	}
}
