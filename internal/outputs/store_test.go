package outputs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestConfig(t *testing.T) {
	for _, c := range []Config{{}, {TTL: time.Hour}, {TTL: time.Hour, Budget: MinBudget - 1},
		{Budget: 1 << 20}, {TTL: -1, Budget: 1 << 20}} {
		if _, err := New(c); err == nil {
			t.Errorf("New(%+v) accepted", c)
		}
	}
}

func TestLifeStartsWhenComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, 1<<20)
		w := create(t, s, Meta{Type: Terminal}, Limits{})
		w.Write([]byte("x"))
		time.Sleep(48 * time.Hour)
		o := get(t, s, w.ID()) // a growing output never expires
		if !o.ExpiresAt().IsZero() || o.Complete() {
			t.Fatal("a growing output has no end of life")
		}
		w.Complete(nil)
		if want := time.Now().Add(30 * time.Minute); !o.ExpiresAt().Equal(want) {
			t.Fatalf("expires %v, want %v", o.ExpiresAt(), want)
		}
		for range 29 { // reading does not extend it
			time.Sleep(time.Minute)
			get(t, s, w.ID())
		}
		time.Sleep(time.Minute)
		if _, err := s.Get(w.ID()); !errors.Is(err, ErrExpired) {
			t.Fatalf("after its life: %v", err)
		}
		p := make([]byte, 1)
		if n, _ := o.ReadAt(p, 0); n != 1 || p[0] != 'x' {
			t.Fatal("a reader in flight could not finish")
		}
	})
}

func TestRunFreesMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, 1<<30)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		for range 3 {
			for range 2000 {
				put(t, s, Meta{Type: File, SessionID: "s"}, "data")
			}
			time.Sleep(10 * time.Minute)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := s.Stats(); got.Outputs != 4000 {
			t.Fatalf("after 30m: %+v", got)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := s.Stats(); got.Outputs != 0 || got.Used != 0 || s.cache.Len() != 0 {
			t.Fatalf("left over: %+v", got)
		}
		put(t, s, Meta{Type: File}, "again") // and it wakes up again
		time.Sleep(31 * time.Minute)
		if got := s.Stats(); got.Outputs != 0 {
			t.Fatalf("left over: %+v", got)
		}
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	})
}

func TestChurn(t *testing.T) {
	n := 200_000
	if testing.Short() || raceEnabled {
		n = 20_000
	}
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, 8<<30)
		ctx, stop := context.WithCancel(t.Context())
		go s.Run(ctx)
		for i := range n {
			if _, err := s.Put(Meta{Type: File}, nil); err != nil {
				t.Fatal(i, err)
			}
		}
		time.Sleep(31 * time.Minute) // all expire together
		synctest.Wait()
		stop()
		if got := s.Stats(); got.Outputs != 0 || got.Used != 0 ||
			s.cache.Metrics().Evictions != uint64(n) {
			t.Fatalf("left over: %+v", got)
		}
	})
}

func TestWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, 1<<20)
		var jump atomic.Int64 // the store looks at the clock when it likes
		s.wall = func() time.Time { return time.Now().Add(time.Duration(jump.Load())) }
		ctx, stop := context.WithCancel(t.Context())
		go s.Run(ctx)
		defer stop()

		slept := put(t, s, Meta{Type: File}, "a")
		jump.Store(int64(time.Hour)) // the laptop slept: the monotonic clock did not run
		if _, err := s.Get(slept.ID()); !errors.Is(err, ErrExpired) {
			t.Fatalf("after sleep: %v", err)
		}
		jump.Store(0)
		back := put(t, s, Meta{Type: File}, "b")
		jump.Store(int64(-8760 * time.Hour)) // the clock was set back: the monotonic one counts
		get(t, s, back.ID())
		time.Sleep(31 * time.Minute)
		if _, err := s.Get(back.ID()); !errors.Is(err, ErrExpired) {
			t.Fatalf("immortal: %v", err)
		}
		if synctest.Wait(); s.Stats().Outputs != 0 {
			t.Fatalf("memory not freed: %+v", s.Stats())
		}
	})
}

func TestLeastRecentlyReadGoesFirst(t *testing.T) {
	s := newStore(t, 1<<20)
	var ids []ID
	for range 10 {
		ids = append(ids, put(t, s, Meta{Type: File}, strings.Repeat("x", 100<<10)).ID())
	}
	get(t, s, ids[0])
	put(t, s, Meta{Type: File}, strings.Repeat("y", 100<<10))
	get(t, s, ids[0])
	if _, err := s.Get(ids[1]); !errors.Is(err, ErrExpired) {
		t.Fatal("the least recently read one is still there")
	}
	if got := s.Stats(); got.Used > got.Budget || got.Outputs != 10 {
		t.Fatalf("%+v", got)
	}
}

func TestOversizedNeverEmptiesTheCache(t *testing.T) {
	s := newStore(t, 1<<20)
	small := put(t, s, Meta{Type: File}, "small")
	other := put(t, s, Meta{Type: File}, strings.Repeat("o", 300<<10))
	big := make([]byte, 64<<20)
	pattern(big, 0)
	id, err := s.Put(Meta{Type: File, Path: "big"}, big)
	if err != nil {
		t.Fatal(err)
	}
	get(t, s, small.ID())
	get(t, s, other.ID())
	o := get(t, s, id)
	m := o.Meta()
	if o.Size() != 64<<20 || !m.Truncated || m.Gap == nil || m.Gap.Lines < 1_000_000 {
		t.Fatalf("size %d, %+v, gap %+v", o.Size(), m, m.Gap)
	}
	if o.TotalLines() != (64<<20)/61+1 {
		t.Fatalf("lines %d", o.TotalLines())
	}
	if _, err := s.Put(Meta{Type: Image}, big); !errors.Is(err, ErrBudget) {
		t.Fatalf("an image cannot be cut: %v", err)
	}
	if got := s.Stats(); got.Used > got.Budget || got.Outputs != 3 {
		t.Fatalf("%+v", got)
	}
}

// What had to make room is known, however many others had to since, up to a bound.
func TestEvictedAt(t *testing.T) {
	s := newStore(t, 1<<20)
	var ids []ID
	for range maxEvicted + 4000 {
		ids = append(ids, put(t, s, Meta{Type: File}, "x").ID())
	}
	gone := len(ids) - s.Stats().Outputs
	if gone <= maxEvicted {
		t.Fatalf("only %d of %d had to go", gone, len(ids))
	}
	for i, id := range ids {
		known := i >= gone-maxEvicted && i < gone
		if got := s.EvictedAt(id); got.IsZero() == known {
			t.Fatalf("output %d of %d, of which %d had to go: %v", i, len(ids), gone, got)
		}
	}
}

func TestGrowingOutputsShareTheBudget(t *testing.T) {
	const budget = 1 << 20
	s := newStore(t, budget)
	put(t, s, Meta{Type: File}, strings.Repeat("x", 400<<10))
	var writers []*Writer
	for {
		w, err := s.Create(Meta{Type: Terminal}, Limits{Head: budget / 4, Tail: budget / 4})
		if errors.Is(err, ErrBudget) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		writers = append(writers, w)
	}
	if len(writers) < 50 {
		t.Fatalf("only %d writers", len(writers))
	}
	if _, err := s.Put(Meta{Type: File}, make([]byte, 1<<20)); !errors.Is(err, ErrBudget) {
		t.Fatalf("put: %v", err)
	}
	var wg sync.WaitGroup
	for _, w := range writers {
		wg.Go(func() {
			p := make([]byte, 5000)
			for off := int64(0); off < 200_000; off += 5000 {
				pattern(p, off)
				w.Write(p)
				if got := s.Stats(); got.Used > got.Budget {
					t.Errorf("over budget: %+v", got)
				}
			}
		})
	}
	wg.Wait()
	for _, w := range writers {
		checkKept(t, w.Output())
		w.Complete(nil)
		w.Complete(nil)
		checkKept(t, w.Output())
		if w.Bytes() != 200_000 || w.Lines() != 200_000/61+1 {
			t.Errorf("%d bytes, %d lines", w.Bytes(), w.Lines())
		}
	}
	if got := s.Stats(); got.Used > got.Budget || got.Growing != 0 || s.fixed != 0 {
		t.Fatalf("%+v", got)
	}
}

// checkKept reads everything that is kept of an output of pattern.
func checkKept(t *testing.T, o *Output) (kept int64, gaps int) {
	t.Helper()
	p := make([]byte, 3000)
	for off := int64(0); ; {
		n, err := o.ReadAt(p, off)
		if i := samePattern(p[:n], off); i >= 0 {
			t.Fatalf("wrong byte at %d", off+int64(i))
		}
		off, kept = off+int64(n), kept+int64(n)
		var g *GapError
		switch {
		case errors.As(err, &g):
			if g.From != off || g.To <= off {
				t.Fatalf("%v at %d", g, off)
			}
			off, gaps = g.To, gaps+1
		case err == io.EOF:
			return kept, gaps
		case err != nil:
			t.Fatal(err)
		}
	}
}

func TestSessions(t *testing.T) {
	s := newStore(t, 1<<20)
	a := put(t, s, Meta{Type: File, SessionID: "one", Path: "a"}, "a")
	w := create(t, s, Meta{Type: Terminal, SessionID: "one"}, Limits{})
	w.Write([]byte("growing\n"))
	other := put(t, s, Meta{Type: File, SessionID: "two"}, "c")
	if all := s.Session("one"); len(all) != 2 || all[0].ID != a.ID() || all[1].ID != w.ID() {
		t.Fatalf("%v", all)
	}
	s.DeleteSession("one")
	s.DeleteSession("none")
	for _, id := range []ID{a.ID(), w.ID()} {
		if _, err := s.Get(id); !errors.Is(err, ErrExpired) {
			t.Fatalf("%v", err)
		}
	}
	get(t, s, other.ID())
	if n, err := w.Write([]byte("dropped")); n != 7 || err != nil {
		t.Fatalf("a writer whose session is gone: %d, %v", n, err)
	}
	if w.Bytes() != 8 {
		t.Fatalf("kept %d", w.Bytes())
	}
	w.Complete(func(m *Meta) { m.TimedOut = true })
	if got := s.Stats(); got.Outputs != 1 || got.Growing != 0 || s.fixed != 0 ||
		len(s.Session("one")) != 0 {
		t.Fatalf("%+v", got)
	}
}

func TestIDs(t *testing.T) {
	seen := map[ID]bool{}
	ordered := 0
	var last ID
	for range 10_000 {
		id := newID(0)
		if seen[id] || len(id) < len("out_")+26 || !strings.HasPrefix(string(id), "out_") {
			t.Fatalf("%s", id)
		}
		if id > last {
			ordered++
		}
		seen[id], last = true, id
	}
	if ordered < 4500 || ordered > 5500 {
		t.Fatalf("ids follow time: %d of 10000 ascend", ordered)
	}
}

func TestPutTakesNoSpareMemory(t *testing.T) {
	s := newStore(t, 1<<20)
	data := append(make([]byte, 0, 500<<10), "short"...)
	id, err := s.Put(Meta{Type: File}, data)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Stats(); got.Used > 2048 {
		t.Fatalf("%+v", got)
	}
	v, _ := get(t, s, id).acquire()
	if !bytes.Equal(v.at(0).buf, []byte("short")) {
		t.Fatal("changed")
	}
}
