package store

import (
	"fmt"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/store/storetest"
)

// TestVacuum: what was deleted is given back to the disk, while others write.
func TestVacuum(t *testing.T) {
	db := mustOpen(t, t.TempDir())
	for i := range 20 {
		id := eventlog.ID(fmt.Sprint("big", i))
		e := storetest.Entry(t, 1, event.SessionStart{
			SessionID: string(id),
			Title:     strings.Repeat("x", 100_000),
		})
		if err := db.Append(t.Context(), id, []event.Entry{e},
			eventlog.Summarize(eventlog.Summary{}, e)); err != nil {
			t.Fatal(err)
		}
	}
	entries, s := storetest.Start(t, "kept", 10)
	if err := db.Append(t.Context(), "kept", entries, s); err != nil {
		t.Fatal(err)
	}
	full, err := db.Size()
	if err != nil || full < 2_000_000 {
		t.Fatalf("%d bytes, %v", full, err)
	}
	for i := range 20 {
		if err := db.Delete(t.Context(), eventlog.ID(fmt.Sprint("big", i))); err != nil {
			t.Fatal(err)
		}
	}
	wrote := make(chan error)
	go func() {
		e := storetest.Entry(t, 11, event.Abort{Reason: "meanwhile"})
		wrote <- db.Append(t.Context(), "kept", []event.Entry{e}, eventlog.Summarize(s, e))
	}()
	if err := db.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
	if small, err := db.Size(); err != nil || small > full/5 {
		t.Errorf("%d bytes of %d are left (%v)", small, full, err)
	}
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if got, err := db.After(t.Context(), "kept", 0, 100); err != nil || len(got) != 11 {
		t.Errorf("%d entries, %v", len(got), err)
	}
}
