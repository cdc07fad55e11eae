package store

import (
	"fmt"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
	"webchat/internal/store/storetest"
)

// A session with very many hits hides no other one, and shows its last hit.
func TestSearchPassesASessionWithManyHits(t *testing.T) {
	db, err := Open(Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, c := range []struct {
		id   eventlog.ID
		hits int
	}{{"first", 1}, {"many", manyHits + 10}, {"exactly", manyHits}, {"last", 2}} {
		entries, sum := storetest.Start(t, c.id, 1)
		for i := range c.hits {
			e := storetest.Entry(t, int64(2+i), event.AssistantMessage{MessageID: fmt.Sprint(i), Content: "two common words"})
			entries, sum = append(entries, e), eventlog.Summarize(sum, e)
		}
		if err := db.Append(t.Context(), c.id, entries, sum); err != nil {
			t.Fatal(err)
		}
	}
	p, err := db.List(t.Context(), sessions.Query{Text: "common words"})
	if err != nil {
		t.Fatal(err)
	}
	found := map[eventlog.ID]int64{}
	for _, s := range p.Sessions {
		if s.Hit == nil {
			t.Fatalf("session %s was found without a place", s.ID)
		}
		found[s.ID] = s.Hit.Seq
	}
	for id, seq := range map[eventlog.ID]int64{"first": 2, "many": manyHits + 11, "exactly": manyHits + 1, "last": 3} {
		if found[id] != seq {
			t.Errorf("session %s was found at %d, want %d", id, found[id], seq)
		}
	}
}
