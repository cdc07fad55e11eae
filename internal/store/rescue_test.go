package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
	"webchat/internal/store/storetest"
)

// varied returns a closed store's folder with sessions of all kinds, and what they are by their
// ids.
func varied(t *testing.T) (dir string, want map[eventlog.ID]string) {
	t.Helper()
	dir = t.TempDir()
	db := mustOpen(t, dir)
	add := func(id eventlog.ID, n int64, long int) {
		entries, s := storetest.Start(t, id, n)
		last := storetest.Entry(t, n+1, event.AssistantMessage{
			MessageID: "long",
			Content:   strings.Repeat("wörds ", long),
		})
		if err := db.Append(t.Context(), id, append(entries, last),
			eventlog.Summarize(s, last)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 8 {
		add(eventlog.ID(fmt.Sprint("s", i)), 20+int64(i)*3, i*100)
	}
	yes, gone := true, instant(1e18)
	for id, m := range map[eventlog.ID]sessions.Mark{"s3": {Pinned: &yes}, "s4": {DeletedAt: &gone}} {
		if err := db.Mark(t.Context(), id, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.SaveDrafts(t.Context(), "s5", []eventlog.Draft{{
		MessageID: "d",
		Content:   "half a",
	}}); err != nil {
		t.Fatal(err)
	}
	if err := db.Delete(t.Context(), "s6"); err != nil {
		t.Fatal(err)
	}
	want = contents(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, want
}

// contents is all that a store has of each session.
func contents(t *testing.T, db *DB) map[eventlog.ID]string {
	t.Helper()
	all := map[eventlog.ID]string{}
	list, err := everything(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		entries, err := db.After(t.Context(), s.ID, 0, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		drafts, err := db.LoadDrafts(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%+v\n%+v\n", s, drafts)
		for _, e := range entries {
			text += string(e.JSON) + "\n"
		}
		all[s.ID] = text
	}
	return all
}

// damagedCopy starts with a copy of a folder in whose file something was spoiled.
func damagedCopy(t *testing.T, from string, spoil func(file []byte)) (*DB, Rescue, string) {
	t.Helper()
	dir := t.TempDir()
	for _, end := range []string{"", "-wal", lastName} {
		b, err := os.ReadFile(filepath.Join(from, FileName+end))
		if os.IsNotExist(err) {
			continue
		}
		if end == "" {
			spoil(b)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, FileName+end), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db, r, err := OpenFile(Config{Dir: dir}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db, r, dir
}

// TestLostPages: of a page that is gone the events are named where they were, and sessions are
// listed by what their logs say. The damaged file is kept as it was.
func TestLostPages(t *testing.T) {
	from, want := varied(t)
	has := func(b []byte, text string) bool { return b[0] == leaf && bytes.Contains(b, []byte(text)) }
	for name, c := range map[string]struct {
		gone  func(page []byte) bool
		wants func(r Rescue) bool
	}{
		"of events": {func(b []byte) bool { return has(b, `"messageId":"m25"`) && has(b, "wörds") },
			func(r Rescue) bool {
				return r.Sessions == len(want) && r.Events > 0 && r.Damaged > 0 && r.Lost == 0
			}},
		"of sessions": {func(b []byte) bool { return has(b, `"lastId"`) },
			func(r Rescue) bool { return r.Sessions == len(want) && r.Events == 0 && r.Lost == 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			var spoiled []byte
			db, r, dir := damagedCopy(t, from, func(b []byte) {
				for page := range slices.Chunk(b, ordinarySize) {
					if c.gone(page) {
						clear(page[:ordinarySize/2])
					}
				}
				spoiled = bytes.Clone(b)
			})
			if len(r.Aside) != 1 || !c.wants(r) {
				t.Fatalf("%+v", r)
			}
			if kept, err := os.ReadFile(r.Aside[0]); err != nil || !bytes.Equal(kept, spoiled) {
				t.Errorf("the damaged file was changed, %v", err)
			}
			for range 2 {
				events, damaged, listed := 0, 0, 0
				list, err := everything(t.Context(), db)
				if err != nil || len(list) != len(want) {
					t.Fatalf("%d sessions, %v", len(list), err)
				}
				for _, s := range list {
					entries, err := db.After(t.Context(), s.ID, 0, 10_000)
					if err != nil || s.Title != "Title of "+string(s.ID) {
						t.Errorf("%+v, %v", s, err)
					}
					listed += s.Damaged
					for _, e := range entries {
						if _, bad := e.Event.Data.(event.SessionDamaged); bad {
							damaged++
						} else if strings.Contains(want[s.ID], string(e.JSON)) {
							events++
						}
					}
				}
				if damaged != r.Events || listed != damaged || events == 0 {
					t.Errorf("%d events are there and %d damaged, %d in the list, want %d", events, damaged,
						listed, r.Events)
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				if db, r.Aside = mustOpen(t, dir), nil; t.Failed() {
					return
				}
			}
			works(t, db)
			if left, _ := filepath.Glob(filepath.Join(dir, FileName+"*rescue*")); len(left) > 0 {
				t.Errorf("there are left %v", left)
			}
		})
	}
}

// TestRescueReadsTheJournal: what only the journal has is taken out, too.
func TestRescueReadsTheJournal(t *testing.T) {
	db := mustOpen(t, t.TempDir())
	entries, sum := storetest.Start(t, "a", 40)
	if err := db.Append(t.Context(), "a", entries, sum); err != nil {
		t.Fatal(err)
	}
	if err := db.writing(t.Context(), func(f *file) error {
		_, err := f.fold(t.Context(), "TRUNCATE")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	more := storetest.Entry(t, 41, event.Abort{Reason: "in the journal"})
	if err := db.Append(t.Context(), "a", []event.Entry{more},
		eventlog.Summarize(sum, more)); err != nil {
		t.Fatal(err)
	}
	// The file cannot be opened: its header names a format that does not exist.
	copied, r, _ := damagedCopy(t, filepath.Dir(db.path), func(b []byte) { b[18] ^= 64 })
	if got, err := copied.After(t.Context(), "a", 0, 100); err != nil || len(got) != 41 ||
		len(r.Aside) != 2 || r.Sessions != 1 || r.Events > 0 {
		t.Errorf("%d events, %v; %+v", len(got), err, r)
	}
}

// TestRescueIsAllOrNothing: a start that was killed before the new file was in its place puts it
// there, and what is not complete is made anew.
func TestRescueIsAllOrNothing(t *testing.T) {
	from, want := varied(t)
	dir := t.TempDir()
	b, err := os.ReadFile(filepath.Join(from, FileName))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, FileName+rescued), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	db, r, err := OpenFile(Config{Dir: dir}, quiet)
	if err != nil || len(r.Aside) > 0 {
		t.Fatal(r, err)
	}
	if got := contents(t, db); len(got) != len(want) {
		t.Errorf("%d sessions, want %d", len(got), len(want))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b[18] = 77
	for name, text := range map[string][]byte{FileName: b, FileName + rescued: []byte("half")} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if db, r, err = OpenFile(Config{Dir: dir}, quiet); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := contents(t, db); len(got) != len(want) || r.Sessions != len(want) {
		t.Errorf("%d sessions, want %d; %+v", len(got), len(want), r)
	}
}
