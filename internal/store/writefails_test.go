package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

// TestEachWriteFails: whichever write fails, once, what was accepted is there and
// everything ends.
func TestEachWriteFails(t *testing.T) {
	last := 1
	defer func() { t.Logf("%d writes", last) }()
	for n := 1; n <= last; n++ {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, t, n)
			defer w.end()
			for len(w.accepted) < 2 {
				w.create(nil)
			}
			ids := slices.Sorted(maps.Keys(w.accepted))
			sess, other := w.get(ids[0]), w.get(ids[1])
			w.say(sess, "hello you")
			w.say(other, "wait for me")
			w.show(sess)
			w.mark(sess, true)
			time.Sleep(10 * time.Second)
			w.halt(other)
			w.say(sess, "wait for me")
			w.say(sess, "hello again")
			time.Sleep(time.Second)
			w.drop(other)
			time.Sleep(time.Minute)
			w.settle()
			if w.disk.writes > last {
				last = w.disk.writes
			}
		})
	}
}

// TestFlippedBits: whatever is damaged, there is an answer or an error, never a
// panic, and the file stays.
func TestFlippedBits(t *testing.T) {
	_, good := filled(t)
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	dir := t.TempDir()
	file := filepath.Join(dir, FileName)
	reported := 0
	for range 20 {
		b := bytes.Clone(content)
		for range 1 + rnd.IntN(20) {
			b[rnd.IntN(len(b))] ^= byte(1 + rnd.IntN(255))
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(Config{Dir: dir})
		if err == nil {
			_, listed := db.List(t.Context(), sessions.Query{})
			for i := range 10 {
				_, read := db.After(t.Context(), eventlog.ID(fmt.Sprint("s", i)), 0, 100)
				err = errors.Join(err, read)
			}
			err = errors.Join(err, listed)
			db.Close()
		}
		if err != nil {
			reported++
		}
		if _, err := os.Stat(file); err != nil {
			t.Fatal(err)
		}
		os.Remove(file + "-wal")
		os.Remove(file + "-shm")
	}
	if reported == 0 {
		t.Error("no damage was ever reported")
	}
}

func TestStartsWithFlippedBits(t *testing.T) { flips(t, 40) }

// TestFlippedHeadersCostNothing: one bit is wrong in the header of one page, of each in turn. All
// that was is there afterwards; of a page with a part of a long event, which has no header, all but
// that.
func TestFlippedHeadersCostNothing(t *testing.T) {
	from, want := varied(t)
	file, err := os.ReadFile(filepath.Join(from, FileName))
	if err != nil {
		t.Fatal(err)
	}
	count, aside, parts := len(file)/ordinarySize, 0, 0
	for page := range count {
		header := page * ordinarySize
		if page == 0 {
			header += headSize
		}
		db, r, _ := damagedCopy(t, from, func(b []byte) { b[header+page%8] ^= 1 << (page / 3 % 8) })
		if len(r.Aside) > 0 {
			aside++
		}
		got, lost := contents(t, db), 0
		for id, was := range want {
			if lost += strings.Count(got[id], `"session.damaged"`); lost == 0 && got[id] != was {
				t.Errorf("page %d: session %s is\n%.300s\nwant\n%.300s", page+1, id, got[id], was)
			}
		}
		if parts += lost; len(got) != len(want) || lost > 0 &&
			(lost > 1 || file[page*ordinarySize] != 0) || r.Lost > 0 {
			t.Errorf("page %d: %d sessions, want %d; %d events lost; %+v", page+1, len(got), len(want), lost,
				r)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d of %d pages had the file set aside, %d cost one event, none cost more", aside, count,
		parts)
	if aside == 0 {
		t.Error("no flip was noticed")
	}
}
