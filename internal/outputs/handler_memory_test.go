package outputs

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestServingCopiesNothing: a large output is never in memory a second time, whatever form it is
// asked for in.
func TestServingCopiesNothing(t *testing.T) {
	s := newStore(t, 128<<20)
	h := newHandler(s, nil)
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
			got := allocated(func() {
				h.ServeHTTP(w, httptest.NewRequest("GET", "/api/outputs/"+string(id)+q, nil))
			})
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
