package outputs

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
)

// allocated returns how many bytes f allocates in all, freed ones included.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestFloodTakesBoundedMemory: a command that never stops printing takes its head
// and its tail and nothing more.
func TestFloodTakesBoundedMemory(t *testing.T) {
	total := int64(1 << 30)
	if raceEnabled {
		total = 64 << 20
	}
	s := newStore(t, 256<<20)
	w := create(t, s, Meta{Type: Terminal}, Limits{})
	p := make([]byte, 32<<10)
	pattern(p, 0)
	got := allocated(func() {
		for w.Bytes() < total {
			w.Write(p)
		}
	})
	if most := int64(2*commandCap + 2<<20); got > most {
		t.Errorf("allocated %d MiB, at most %d MiB expected", got>>20, most>>20)
	}
	if u := s.Stats(); u.Used > 2*commandCap+reserve+2*overhead {
		t.Errorf("%+v", u)
	}
	w.Complete(nil)
	if m := w.Output().Meta(); w.Bytes() != total || m.Gap == nil || m.Gap.Bytes < total-2*commandCap {
		t.Errorf("%d bytes, gap %+v", w.Bytes(), m.Gap)
	}
}

// TestServingCopiesNothing: a large output is never in memory a second time,
// whatever form it is asked for in.
func TestServingCopiesNothing(t *testing.T) {
	s := newStore(t, 128<<20)
	h := NewHandler(s, nil)
	size := 32 << 20
	if raceEnabled {
		size = 4 << 20
	}
	text := make([]byte, size)
	pattern(text, 0)
	binary := append([]byte("\xff"), text...)
	for _, data := range [][]byte{text, binary} {
		id, err := s.Put(Meta{Type: File}, data)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{"", "?format=json", "?lines=1-", "?follow=1", "?grep=zz[0-9]zz"} {
			w := &counter{header: http.Header{}}
			got := allocated(func() { h.ServeHTTP(w, httptest.NewRequest("GET", "/"+string(id)+q, nil)) })
			if got > 1<<20 && !raceEnabled { // the race detector empties pools at random
				t.Errorf("%q allocates %d KiB", q, got>>10)
			}
			if w.n < int64(len(data)) && q != "?grep=zz[0-9]zz" {
				t.Errorf("%q: %d bytes", q, w.n)
			}
		}
	}
}

// counter is a client that takes everything at once.
type counter struct {
	header http.Header
	n      int64
}

func (c *counter) Header() http.Header { return c.header }
func (c *counter) WriteHeader(int)     {}
func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
