package store

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
	"webchat/internal/store/storetest"
)

// oldFile copies a file that an earlier program wrote into an empty folder.
func oldFile(t *testing.T, name string) (dir string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, FileName), b, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestOldFiles: the file of every older version is brought forward with all it
// holds. A new version adds its predecessor's file to testdata.
func TestOldFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/version*.db")
	if err != nil || len(files) != len(migrations)-1 {
		t.Fatalf("%d files for %d older versions (%v)", len(files), len(migrations)-1, err)
	}
	for i, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			dir := oldFile(t, filepath.Base(name))
			before, err := os.ReadFile(filepath.Join(dir, FileName))
			if err != nil {
				t.Fatal(err)
			}
			if v := int(binary.BigEndian.Uint32(before[60:])); v != i+1 {
				t.Fatalf("it is of version %d", v)
			}
			db := mustOpen(t, dir)
			if err := db.Index(t.Context()); err != nil {
				t.Fatal(err)
			}
			checkOld(t, db)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			checkOld(t, mustOpen(t, dir))
		})
	}
}

// checkOld looks at the sessions every file of testdata has: old0 is pinned, old2
// was interrupted.
func checkOld(t *testing.T, db *DB) {
	t.Helper()
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
	for id, want := range map[eventlog.ID]int{"old0": 7, "old1": 7, "old2": 4} {
		entries, err := db.After(t.Context(), id, 0, 100)
		if err != nil || len(entries) != want {
			t.Fatalf("%s has %d entries (%v), want %d", id, len(entries), err, want)
		}
		sum := storetest.Fold(eventlog.Summary{}, entries)
		got, err := db.Summary(t.Context(), id)
		if sum.Pinned = id == "old0"; err != nil || got.Title != sum.Title || got.LastSeq != sum.LastSeq || got.Pinned != sum.Pinned || got.Status != sum.Status {
			t.Errorf("the row of %s is %+v (%v), the log says %+v", id, got, err, sum)
		}
	}
	if d, err := db.LoadDrafts(t.Context(), "old2"); err != nil || len(d) != 1 || d[0].Content != "It stands on the" {
		t.Errorf("drafts: %v, %v", d, err)
	}
	for text, want := range map[string]int{"lighthouse": 3, "harbour": 3, "northern cliff": 2, "zebra": 0} {
		if p, err := db.List(t.Context(), sessions.Query{Text: text}); err != nil || len(p.Sessions) != want {
			t.Errorf("%q finds %d sessions (%v), want %d", text, len(p.Sessions), err, want)
		}
	}
}

// TestIndexGoesOn: what is searchable is right whenever the indexing stops, and
// with what is appended and deleted meanwhile.
func TestIndexGoesOn(t *testing.T) {
	dir := oldFile(t, "version1.db")
	db := mustOpen(t, dir)
	s, err := db.Summary(t.Context(), "old2")
	if err != nil {
		t.Fatal(err)
	}
	e := storetest.Entry(t, s.LastSeq+1, event.AssistantMessage{MessageID: "late", Content: "a lantern"})
	if err := db.Append(t.Context(), "old2", []event.Entry{e}, eventlog.Summarize(s, e)); err != nil {
		t.Fatal(err)
	}
	if err := db.Delete(t.Context(), "old1"); err != nil {
		t.Fatal(err)
	}
	var key, after, last int64
	if err := db.read.QueryRow(`SELECT session, after, last FROM unsearched LIMIT 1`).Scan(&key, &after, &last); err != nil {
		t.Fatal(err)
	}
	if err := db.indexOne(t.Context(), key, after, last); err != nil { // one step, then the process ends
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := db.Index(ended); err == nil {
		t.Error("an ended context indexes")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = mustOpen(t, dir)
	if err := db.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"lighthouse": 2, "lantern": 1, "cliff": 1} {
		if p, err := db.List(t.Context(), sessions.Query{Text: text}); err != nil || len(p.Sessions) != want {
			t.Errorf("%q finds %d sessions (%v), want %d", text, len(p.Sessions), err, want)
		}
	}
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
}
