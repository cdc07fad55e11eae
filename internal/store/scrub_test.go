package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/store/storetest"
)

// Of a deleted session no word is left in the files, neither in its events nor in
// what they are found by.
func TestDeletedIsGone(t *testing.T) {
	dir := t.TempDir()
	db := mustOpen(t, dir)
	for _, name := range []string{"kept", "gone"} {
		id, sum := eventlog.ID(name), eventlog.Summary{}
		for i := range 200 {
			var d event.Data = event.SessionStart{SessionID: name, Title: name + "titleword"}
			if i > 0 {
				d = event.UserMessage{
					MessageID: fmt.Sprint("m", i),
					Content:   strings.Repeat(fmt.Sprintf("%scanary%d ", name, i), 20),
				}
			}
			e := storetest.Entry(t, int64(i+1), d)
			sum = eventlog.Summarize(sum, e)
			if err := db.Append(t.Context(), id, []event.Entry{e}, sum); err != nil {
				t.Fatal(err)
			}
		}
		if name == "gone" {
			if err := db.Delete(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := db.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	kept := false
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		raw = bytes.ToLower(raw)
		kept = kept || bytes.Contains(raw, []byte("keptcanary"))
		for _, word := range []string{"gonecanary", "gonetitleword"} {
			if n := bytes.Count(raw, []byte(word)); n > 0 {
				t.Errorf("%s holds %q %d times", filepath.Base(f), word, n)
			}
		}
	}
	if !kept {
		t.Error("the words of the other session are gone as well: the test sees nothing")
	}
}
