//go:build unix

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/store"
	"webchat/internal/store/postgrestest"
	"webchat/internal/store/storetest"
)

// On a full disk the database is writable again when it takes what it refused, and not before: else
// each try would be reported anew. Nothing of a try stays.
func postgresFull(t *testing.T, server *postgrestest.Server) {
	at, disk := server.SmallDatabase(t, "32m")
	db := openPostgres(t, at)
	defer func() { shut(t, db) }()
	entries, s := storetest.Start(t, "a", 1)
	if err := db.Append(t.Context(), "a", entries, s); err != nil {
		t.Fatal(err)
	}
	filler, err := os.Create(filepath.Join(disk, "filler"))
	for block := make([]byte, 4096); err == nil; {
		_, err = filler.Write(block)
	}
	if err := filler.Close(); err != nil {
		t.Fatal(err)
	}
	const size = 300_000
	big := storetest.Entry(t, 2, event.AssistantMessage{
		MessageID: "m",
		Content:   strings.Repeat(t.Name(), size/len(t.Name())),
	})
	add := func() error {
		return db.Append(t.Context(), "a", []event.Entry{big}, eventlog.Summarize(s, big))
	}
	for range 3 {
		if err := add(); !errors.Is(err, store.ErrFull) {
			t.Fatalf("an event on a full disk: %v", err)
		}
		if err := db.Writable(t.Context(), size); !errors.Is(err, store.ErrFull) {
			t.Fatalf("it is writable though it refuses an event: %v", err)
		}
	}
	if err := os.Truncate(filler.Name(), 0); err != nil {
		t.Fatal(err)
	}
	for range 20 { // each writes more than a twentieth of what is free
		if err := db.Writable(t.Context(), size); err != nil {
			t.Fatalf("with room again: %v", err)
		}
	}
	if err := add(); err != nil {
		t.Errorf("an event when there is room: %v", err)
	}
}
