package outputs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestWriterKeepsHeadAndTail compares what is kept with what was written, for any limits and any
// sizes of writes.
func TestWriterKeepsHeadAndTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := New(Config{TTL: time.Hour, Budget: 4 << 20})
		if err != nil {
			t.Fatal(err)
		}
		l := Limits{rapid.Int64Range(0, 300<<10).Draw(t, "head"),
			rapid.Int64Range(1, 300<<10).Draw(t, "tail")}
		w, err := s.Create(Meta{Type: Terminal}, l)
		if err != nil {
			t.Fatal(err)
		}
		l.Head, l.Tail = max(l.Head, minChunk), max(l.Tail, 2*minChunk)
		var all []byte
		for range rapid.IntRange(0, 30).Draw(t, "writes") {
			p := make([]byte, rapid.SampledFrom([]int{0, 1, 60, 61, 4096, 5000, 40_000}).Draw(t, "size"))
			pattern(p, int64(len(all)))
			w.Write(p)
			all = append(all, p...)
		}
		check := func(slack int64) {
			o := w.Output()
			v, m := o.acquire()
			if v.size != int64(len(all)) || v.nl != count(all) {
				t.Fatalf("%d bytes, %d line ends; want %d, %d", v.size, v.nl, len(all), count(all))
			}
			for i := range v.len() {
				c := v.at(i)
				if !bytes.Equal(c.buf, all[c.off:c.end()]) || c.nl != count(all[:c.off]) {
					t.Fatalf("chunk at %d differs", c.off)
				}
			}
			g := v.describe(&m)
			if g == nil {
				if k := v.kept(); len(all) > 0 && k < v.size {
					t.Fatalf("kept %d of %d without a gap", k, v.size)
				}
				return
			}
			if v.size <= l.Head+l.Tail/8 {
				t.Fatalf("a gap in %d bytes with %+v", v.size, l)
			}
			if g.Lines != count(all[g.Offset:g.Offset+g.Bytes]) {
				t.Fatalf("%d lines left out, want %d", g.Lines, count(all[g.Offset:g.Offset+g.Bytes]))
			}
			if g.Offset < l.Head-slack || g.Offset > l.Head {
				t.Fatalf("gap at %d, head %d", g.Offset, l.Head)
			}
			tail := v.size - g.Offset - g.Bytes
			if step := max(minChunk, l.Tail/8); tail > l.Tail || tail < l.Tail-2*step-slack {
				t.Fatalf("tail %d of %d", tail, l.Tail)
			}
		}
		check(0)
		w.Complete(nil)
		check(61)
		if u := s.Stats(); u.Used > l.Head+l.Tail+2*overhead {
			t.Fatalf("%+v for %+v", u, l)
		}
	})
}

// TestWriteZeros compares what is kept of zeros with what was written, as for Write.
func TestWriteZeros(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := New(Config{TTL: time.Hour, Budget: 4 << 20})
		if err != nil {
			t.Fatal(err)
		}
		l := Limits{rapid.Int64Range(minChunk, 300<<10).Draw(t, "head"),
			rapid.Int64Range(2*minChunk, 300<<10).Draw(t, "tail")}
		w, err := s.Create(Meta{Type: File}, l)
		if err != nil {
			t.Fatal(err)
		}
		var all []byte
		for range rapid.IntRange(0, 8).Draw(t, "writes") {
			p := make([]byte, rapid.SampledFrom([]int{0, 1, 61, 5000, 200_000}).Draw(t, "size"))
			pattern(p, int64(len(all)))
			w.Write(p)
			n := rapid.SampledFrom([]int{0, 1, 5000, 700_000, 3_000_000}).Draw(t, "zeros")
			w.WriteZeros(int64(n))
			all = append(append(all, p...), make([]byte, n)...)
		}
		v, _ := w.Output().acquire()
		if v.size != int64(len(all)) || v.nl != count(all) ||
			v.open != (len(all) > 0 && all[len(all)-1] != '\n') {
			t.Fatalf("%d bytes, %d line ends; want %d, %d", v.size, v.nl, len(all), count(all))
		}
		var kept int64
		for i := range v.len() {
			c := v.at(i)
			if !bytes.Equal(c.buf, all[c.off:c.end()]) || c.nl != count(all[:c.off]) {
				t.Fatalf("chunk at %d differs", c.off)
			}
			kept += int64(len(c.buf))
		}
		if least := min(v.size, l.Head+l.Tail-2*max(minChunk, l.Tail/8)); kept < least {
			t.Fatalf("%d bytes of %d are kept with %+v", kept, v.size, l)
		}
	})
}

// TestReadersWhileTheRingTurns: bytes that were handed out never change although the writer uses
// the memory of dropped chunks again.
func TestReadersWhileTheRingTurns(t *testing.T) {
	s := newStore(t, 8<<20)
	w := create(t, s, Meta{Type: Terminal}, Limits{Head: 16 << 10, Tail: 64 << 10})
	o := w.Output()
	done := make(chan struct{})
	var wg sync.WaitGroup
	reader := func(f func()) {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					f()
				}
			}
		})
	}
	reader(func() {
		p := make([]byte, 10_000)
		off := max(0, o.Size()-50_000)
		n, _ := o.ReadAt(p, off)
		if i := samePattern(p[:n], off); i >= 0 {
			t.Errorf("wrong byte at %d", off+int64(i))
		}
	})
	reader(func() {
		var last []byte
		var number int
		for l, err := range o.Lines(t.Context(), 0, 0) {
			if err != nil {
				t.Error(err)
			}
			if l.Gap == nil {
				last, number = l.Text, l.Number
			}
		}
		want := make([]byte, len(last))
		pattern(want, int64(number-1)*61)
		if number > 0 && !bytes.Equal(last, want) {
			t.Errorf("line %d is %q, want %q", number, last, want)
		}
	})
	wg.Go(func() {
		f, off := o.Follow(0), int64(0)
		for {
			p, err := f.Next(t.Context())
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Error(err)
				break
			}
			if p.Gap != nil {
				if p.Gap.Offset != off || p.Gap.Lines != (off+p.Gap.Bytes)/61-off/61 {
					t.Errorf("gap %+v at %d", p.Gap, off)
				}
				off += p.Gap.Bytes
			}
			if i := samePattern(p.Bytes, off); i >= 0 {
				t.Errorf("followed a wrong byte at %d", off+int64(i))
			}
			off += int64(len(p.Bytes))
		}
		if off != o.Size() {
			t.Errorf("followed to %d of %d", off, o.Size())
		}
	})
	total := int64(50 << 20)
	if raceEnabled {
		total = 4 << 20
	}
	p := make([]byte, 3001)
	for off := int64(0); off < total; off += int64(len(p)) {
		pattern(p, off)
		w.Write(p)
	}
	close(done)
	w.Complete(nil)
	wg.Wait()
	if _, gaps := checkKept(t, o); gaps != 1 {
		t.Fatalf("%d gaps", gaps)
	}
}

// TestRecycling: without readers a flood takes no new memory; with a snapshot held it must not
// touch what the snapshot sees.
func TestRecycling(t *testing.T) {
	s := newStore(t, 8<<20)
	w := create(t, s, Meta{Type: Terminal}, Limits{Head: 4 << 10, Tail: 64 << 10})
	flood := func() {
		p := make([]byte, 200<<10)
		pattern(p, w.Bytes())
		w.Write(p)
	}
	flood()
	before := w.o.view.tail[0].buf
	flood()
	found := false
	for _, c := range append(w.o.view.tail, w.o.view.last) {
		found = found || &c.buf[:1][0] == &before[0]
	}
	if !found {
		t.Error("the memory of a dropped chunk was not used again")
	}
	v, _ := w.o.acquire()
	flood()
	for i := range v.len() {
		if c := v.at(i); samePattern(c.buf, c.off) >= 0 {
			t.Fatal("a snapshot changed")
		}
	}
}

func TestCutsFallBetweenLines(t *testing.T) {
	s := newStore(t, 1<<20)
	for _, tt := range []struct{ name, unit string }{
		{"lines", "ein schöner Tag, 世界\r\n"},
		{"one line of wide characters", "世界é𝄞"},
		{"bytes", "\xff\xfe\x80"},
	} {
		data := []byte(strings.Repeat(tt.unit, (2<<20)/len(tt.unit)))
		w := create(t, s, Meta{Type: Terminal}, Limits{Head: 10_001, Tail: 50_003})
		w.Write(data)
		w.Complete(nil)
		putID, err := s.Put(Meta{Type: File}, data)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []*Output{w.Output(), get(t, s, putID)} {
			g := o.Meta().Gap
			if g == nil {
				t.Fatalf("%s: no gap", tt.name)
			}
			before, after := make([]byte, 8), make([]byte, 8)
			o.ReadAt(before, g.Offset-8)
			o.ReadAt(after, g.Offset+g.Bytes)
			if tt.name == "lines" && (before[7] != '\n' || !bytes.HasPrefix(after, []byte("ein "))) {
				t.Errorf("%s: cut at %q … %q", tt.name, before, after)
			}
			if r, _ := utf8.DecodeRune(after); r == utf8.RuneError && tt.name != "bytes" {
				t.Errorf("%s: after the gap %q", tt.name, after)
			}
			if r, _ := utf8.DecodeLastRune(before); r == utf8.RuneError && tt.name != "bytes" {
				t.Errorf("%s: before the gap %q", tt.name, before)
			}
		}
	}
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, 1<<20)
		w := create(t, s, Meta{Type: Terminal}, Limits{})
		f := w.Output().Follow(0)
		type got struct {
			b   string
			err error
		}
		seen := make(chan got, 1)
		next := func() {
			go func() {
				p, err := f.Next(t.Context())
				seen <- got{string(p.Bytes), err}
			}()
			synctest.Wait()
		}
		next()
		if len(seen) != 0 || f.Pending() {
			t.Fatal("something came from nothing")
		}
		w.Write(nil)
		synctest.Wait()
		if len(seen) != 0 {
			t.Fatal("an empty write woke the follower")
		}
		w.Write([]byte("one\n"))
		if g := <-seen; g.b != "one\n" || g.err != nil {
			t.Fatalf("%+v", g)
		}
		next()
		w.Complete(nil)
		if g := <-seen; g.err != io.EOF {
			t.Fatalf("%+v", g)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.Output().Follow(0).Next(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if _, err := w.Output().Follow(100).Next(t.Context()); err != io.EOF {
			t.Fatalf("beyond the end: %v", err)
		}
		if p, err := w.Output().Follow(2).Next(t.Context()); err != nil || string(p.Bytes) != "e\n" {
			t.Fatalf("%q, %v", p.Bytes, err)
		}
	})
}

func TestFollowerOfADeletedOutputEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, 1<<20)
		w := create(t, s, Meta{Type: Terminal, SessionID: "s"}, Limits{})
		ended := make(chan error, 1)
		go func() {
			_, err := w.Output().Follow(0).Next(t.Context())
			ended <- err
		}()
		synctest.Wait()
		s.DeleteSession("s")
		if err := <-ended; err != io.EOF {
			t.Fatal(err)
		}
	})
}
