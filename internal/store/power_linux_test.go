package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/store/storetest"
)

// seeded returns the random numbers of a test; the long runs take their seed from the
// environment.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("WEBCHAT_SOAK"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// writing is a store with sessions that are appended to at random.
type writing struct {
	t    *testing.T
	rnd  *rand.Rand
	db   *DB
	sums map[eventlog.ID]eventlog.Summary
	// up to which event something was acknowledged that begins or ends something
	kept map[eventlog.ID]int64
}

// append appends one event to a session, and reports whether it was acknowledged.
func (w *writing) append() bool {
	w.t.Helper()
	id := eventlog.ID(fmt.Sprint("s", w.rnd.IntN(5)))
	sum := w.sums[id]
	var e event.Entry
	begins := true
	switch {
	case sum.LastSeq == 0:
		e = storetest.Entry(w.t, 1, event.SessionStart{SessionID: string(id), Backend: "offline"})
	case w.rnd.IntN(3) == 0:
		e, begins = storetest.Entry(w.t, sum.LastSeq+1,
			event.AssistantMessage{MessageID: "m", Content: "a part of an answer"}), false
	default:
		e = storetest.Entry(w.t, sum.LastSeq+1, event.UserMessage{
			MessageID: fmt.Sprint("m", sum.LastSeq),
			Content:   "a prompt",
		})
	}
	sum = eventlog.Summarize(sum, e)
	if err := w.db.Append(w.t.Context(), id, []event.Entry{e}, sum); err != nil {
		if !errors.Is(err, ErrDisk) {
			w.t.Fatal(err)
		}
		return false
	}
	w.sums[id] = sum
	if begins {
		w.kept[id] = sum.LastSeq
	}
	return true
}

// lost counts what was acknowledged and is not in the file of a folder, which has to be
// sound.
func (w *writing) lost(dir string) (lost int64) {
	w.t.Helper()
	db := mustOpen(w.t, dir)
	defer db.Close()
	if err := db.Check(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	for id, want := range w.kept {
		got, err := db.After(w.t.Context(), id, 0, 100_000)
		if err != nil {
			w.t.Fatal(err)
		}
		lost += max(0, want-int64(len(got)))
	}
	return lost
}

func newWriting(t *testing.T, rnd *rand.Rand, d *faultDisk) *writing {
	return &writing{
		t:    t,
		rnd:  rnd,
		db:   mustOpen(t, d.dir),
		sums: map[eventlog.ID]eventlog.Summary{},
		kept: map[eventlog.ID]int64{},
	}
}

// powerLosses cuts the power at n random instants of one program's life.
func powerLosses(t *testing.T, n int) {
	rnd := seeded(t)
	d := newFaultDisk(t)
	w := newWriting(t, rnd, d)
	acknowledged := 0
	for range n {
		for range 1 + rnd.IntN(40) {
			if w.append() {
				acknowledged++
			}
		}
		if lost := w.lost(d.image(t, rnd)); lost > 0 {
			t.Fatalf("%d of %d acknowledged events are lost", lost, acknowledged)
		}
	}
	t.Logf("soak: %d losses of power, %d events acknowledged, 0 lost", n, acknowledged)
}

// TestPowerLoss: what begins or ends something is on the disk before it is acknowledged.

func TestSoakPowerLoss(t *testing.T) {
	if os.Getenv("WEBCHAT_SOAK") == "" {
		t.Skip("a long run: set WEBCHAT_SOAK to a seed")
	}
	powerLosses(t, 500)
}

// diskErrors has a disk fail and work again n times, and cuts the power meanwhile.
func diskErrors(t *testing.T, n int) {
	rnd := seeded(t)
	d := newFaultDisk(t)
	w := newWriting(t, rnd, d)
	acknowledged, refused := 0, 0
	for i := range 2 * n {
		d.set(i%2 == 1)
		for range 1 + rnd.IntN(40) {
			if w.append() {
				acknowledged++
			} else {
				refused++
			}
		}
		if lost := w.lost(d.image(t, rnd)); lost > 0 {
			t.Fatalf("%d of %d acknowledged events are lost", lost, acknowledged)
		}
	}
	if refused == 0 {
		t.Error("a disk that fails refuses nothing")
	}
	t.Logf("soak: %d failures of the disk, %d events acknowledged, %d refused, 0 lost", n,
		acknowledged, refused)
}

// TestDiskErrors: what a failing disk does not take is refused, and when it works again
// nothing of what it took is lost.

func TestSoakDiskErrors(t *testing.T) {
	if os.Getenv("WEBCHAT_SOAK") == "" {
		t.Skip("a long run: set WEBCHAT_SOAK to a seed")
	}
	diskErrors(t, 250)
}

// TestRelayedFollow: what an agent says on the way is on the disk within the bound, also
// when nothing else happens.
func TestRelayedFollow(t *testing.T) {
	rnd, d := seeded(t), newFaultDisk(t)
	synctest.Test(t, func(t *testing.T) {
		w := newWriting(t, rnd, d)
		defer w.db.Close()
		entries, sum := storetest.Start(t, "s", 1)
		if err := w.db.Append(t.Context(), "s", entries, sum); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			e := storetest.Entry(t, sum.LastSeq+1, event.AssistantMessage{
				MessageID: "m",
				Content:   "a part of an answer",
			})
			sum = eventlog.Summarize(sum, e)
			if err := w.db.Append(t.Context(), "s", []event.Entry{e}, sum); err != nil {
				t.Fatal(err)
			}
			w.kept["s"] = e.Seq
			time.Sleep(syncWithin)
			synctest.Wait()
			if lost := w.lost(d.image(t, rnd)); lost > 0 {
				t.Errorf("%d events are lost", lost)
			}
		}
	})
}
