package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"webchat/internal/fold"
	"webchat/internal/sessions"
	"webchat/internal/store/storetest"
)

// The sessions of every older version's file come whole, once, and that file stays.
func TestAdoptTakesWholeSessions(t *testing.T) {
	files, err := filepath.Glob("testdata/version*.db")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			old := oldFile(t, filepath.Base(name))
			before, err := os.ReadFile(filepath.Join(old, FileName))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			db := mustOpen(t, dir)
			entries, s := storetest.Start(t, "own", 3) // whose key is one of the other file's, too
			if err := db.Append(t.Context(), "own", entries, s); err != nil {
				t.Fatal(err)
			}
			for _, want := range []Adopted{{Here: 3, New: 3}, {Here: 3}} {
				if a, err := db.Adopt(t.Context(), old); err != nil || a != want {
					t.Errorf("%+v, %v; want %+v", a, err, want)
				}
			}
			if err := db.Index(t.Context()); err != nil {
				t.Fatal(err)
			}
			checkOld(t, db)
			after, err := os.ReadFile(filepath.Join(old, FileName))
			if err != nil || !bytes.Equal(before, after) {
				t.Errorf("the other file has changed: %v", err)
			}
			if err := DeleteIn(t.Context(), old, "old1"); err != nil {
				t.Fatal(err)
			}
			if a, err := db.Adopt(t.Context(), old); err != nil || a != (Adopted{Here: 2}) {
				t.Errorf("after a deletion there: %+v, %v", a, err)
			}
		})
	}
}

func TestAdoptNothing(t *testing.T) {
	db, none := mustOpen(t, t.TempDir()), t.TempDir()
	if a, err := db.Adopt(t.Context(), none); err != nil || a != (Adopted{}) {
		t.Errorf("no file: %+v, %v", a, err)
	}
	if err := DeleteIn(t.Context(), none, "x"); err != nil {
		t.Errorf("delete in no file: %v", err)
	}
	if err := os.WriteFile(filepath.Join(none, FileName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err := db.Adopt(t.Context(), none); err != nil || a != (Adopted{}) {
		t.Errorf("an empty file: %+v, %v", a, err)
	}
}

// Of a damaged file everything comes that can be read whole, and what is left is said.
func TestAdoptFromADamagedFile(t *testing.T) {
	_, good := filled(t)
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	lost := 0
	for at := page; at+page <= len(whole); at += page * max(1, len(whole)/page/20) {
		broken := bytes.Clone(whole)
		copy(broken[at:at+page], bytes.Repeat([]byte{0xa5}, page))
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, FileName), broken, 0o600); err != nil {
			t.Fatal(err)
		}
		db := mustOpen(t, t.TempDir())
		a, err := db.Adopt(t.Context(), dir)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("page %d: %v", at/page, err)
		}
		if a.Here != a.New || a.Here+a.Left > 10 || err == nil && a.Here+a.Left != 10 {
			t.Errorf("page %d: %+v, %v", at/page, a, err)
		}
		if err != nil || a.Left > 0 {
			lost++
		}
		p, err := db.List(t.Context(), sessions.Query{})
		if err != nil || len(p.Sessions) != a.Here {
			t.Errorf("page %d: %d sessions are listed of %+v, %v", at/page, len(p.Sessions), a, err)
		}
		for _, s := range p.Sessions {
			entries, err := db.After(t.Context(), s.ID, 0, 0)
			if err != nil || int64(len(entries)) != s.LastSeq || storetest.Fold(fold.Summary{}, entries).LastSeq != s.LastSeq {
				t.Errorf("page %d: session %s has %d of %d entries, %v", at/page, s.ID, len(entries), s.LastSeq, err)
			}
		}
		if err := errors.Join(db.Check(t.Context()), db.Close()); err != nil {
			t.Error(err)
		}
	}
	if lost == 0 {
		t.Error("no damage was noticed")
	}
}
