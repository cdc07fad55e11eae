package store_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
	"webchat/internal/store"
	"webchat/internal/store/storetest"
)

// writerDir, in the environment, makes this test binary a process that writes
// to the store in that folder until it is killed.
const writerDir = "WEBCHAT_STORE_TEST_WRITER"

// writers is how many sessions the child writes at once.
const writers = 4

// writeUntilKilled appends to several sessions at once and says on standard
// output, one line each, what was acknowledged.
func writeUntilKilled(dir string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx := context.Background()
	db, err := store.Open(store.Config{Dir: dir})
	if err != nil {
		fail(err)
	}
	var all sync.WaitGroup
	for i := range writers {
		id := eventlog.ID(fmt.Sprint("s", i))
		s, err := db.Summary(ctx, id)
		if err != nil {
			s = eventlog.Summary{ID: id, Status: event.Idle}
		}
		all.Go(func() {
			for {
				var entries []event.Entry
				for n := range 1 + s.LastSeq%3 {
					e := event.New(event.TurnStart{TurnID: "t", MessageID: "m"}, "", s.CreatedAt)
					b, err := event.Marshal(e)
					if err != nil {
						fail(err)
					}
					entries = append(entries, event.Entry{Seq: s.LastSeq + 1 + n, Event: e, JSON: b})
				}
				s = storetest.Fold(s, entries)
				if err := db.Append(ctx, id, entries, s); err != nil {
					fail(err)
				}
				// One write call: a line is whole or not there.
				os.Stdout.WriteString(fmt.Sprintln(i, s.LastSeq))
			}
		})
	}
	all.Wait()
}

// TestKill: a process that is killed at any instant loses nothing of what it
// acknowledged, and leaves a sound file without holes.
func TestKill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	acknowledged := make([]int64, writers)
	for round := range 6 {
		cmd := exec.Command(self, "-test.run=^$")
		cmd.Env = append(os.Environ(), writerDir+"="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, left := bufio.NewScanner(out), 1+rnd.IntN(250)
		for lines.Scan() {
			var i int
			var seq int64
			if _, err := fmt.Sscan(lines.Text(), &i, &seq); err != nil {
				t.Fatalf("the child says %q", lines.Text())
			}
			acknowledged[i] = seq
			if left--; left == 0 {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); left > 0 {
			t.Fatalf("round %d: the child ended by itself: %v", round, err)
		}
		checkAfterKill(t, dir, acknowledged)
	}
}

func checkAfterKill(t *testing.T, dir string, acknowledged []int64) {
	t.Helper()
	db := open(t, store.Config{Dir: dir})
	defer db.Close()
	if err := db.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	unfinished, err := db.List(t.Context(), sessions.Query{Kind: sessions.QueryUnfinished})
	if err != nil {
		t.Fatal(err)
	}
	begun := 0
	for i, seq := range acknowledged {
		id := eventlog.ID(fmt.Sprint("s", i))
		entries, err := db.After(t.Context(), id, 0, 10_000_000)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(entries)) < seq {
			t.Errorf("session %s has %d entries, %d were acknowledged", id, len(entries), seq)
		}
		for n, e := range entries {
			if e.Seq != int64(n+1) {
				t.Fatalf("session %s: entry %d has sequence %d", id, n, e.Seq)
			}
		}
		if len(entries) == 0 {
			continue
		}
		begun++
		// The row was written with the entries, not before or after.
		if s, err := db.Summary(t.Context(), id); err != nil || s.LastSeq != int64(len(entries)) {
			t.Errorf("session %s: the row says %d, the log has %d entries (%v)", id, s.LastSeq, len(entries),
				err)
		}
	}
	if len(unfinished.Sessions) != begun {
		t.Errorf("%d unfinished sessions are found, want %d", len(unfinished.Sessions), begun)
	}
}
