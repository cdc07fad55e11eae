package outputs

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
)

// BenchmarkGet compares fetching an output with a handler that writes a []byte, over loopback,
// interleaved: "ratio" is the reference's time through ours, the median of the rounds (1 is equal,
// below 1 we are slower).
func BenchmarkGet(b *testing.B) {
	for _, tt := range []struct {
		name string
		size int
		grow bool
	}{
		{"1KiB", 1 << 10, false}, {"100KiB", 100 << 10, false}, {"10MiB", 10 << 20, false},
		{"10MiB-command", 10 << 20, true},
	} {
		b.Run(tt.name, func(b *testing.B) {
			data := make([]byte, tt.size)
			pattern(data, 0)
			s := newStore(b, 64<<20)
			running(b, s)
			var id ID
			if tt.grow {
				w := create(b, s, Meta{Type: Terminal}, Limits{})
				w.Write(data)
				w.Complete(nil)
				id = w.ID()
			} else {
				var err error
				if id, err = s.Put(Meta{Type: File, Path: "some/file.go"}, slices.Clone(data)); err != nil {
					b.Fatal(err)
				}
			}
			ours, _ := serve(b, newHandler(s, nil))
			ref, _ := serve(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", typeText)
				w.Header().Set("Content-Length", fmt.Sprint(len(data)))
				w.Write(data)
			}))
			b.SetBytes(int64(tt.size))
			compare(b, max(1, min(200, (4<<20)/tt.size)),
				fetcher(b, ours+string(id), tt.size), fetcher(b, ref, tt.size))
		})
	}
}

// running runs the store while the benchmark lasts, as a server does. Else the timer of each
// write's deadline would be the process's next one, which costs a wake-up.
func running(b *testing.B, s *Store) {
	ctx, cancel := context.WithCancel(b.Context())
	var run sync.WaitGroup
	run.Go(func() { _ = s.Run(ctx) })
	b.Cleanup(func() { cancel(); run.Wait() })
}

// fetcher returns a client that costs as little as possible, so that what is measured is the
// server: one kept connection, headers skipped but for the length.
func fetcher(b *testing.B, url string, size int) func() {
	host, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	request := []byte("GET /" + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
	r := bufio.NewReaderSize(conn, 64<<10)
	return func() {
		if _, err := conn.Write(request); err != nil {
			b.Fatal(err)
		}
		length := 0
		for {
			line, err := r.ReadSlice('\n')
			if err != nil {
				b.Fatal(err)
			}
			if len(line) == len("\r\n") {
				break
			}
			if v, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
				length, _ = strconv.Atoi(string(bytes.TrimSpace(v)))
			}
		}
		if n, err := r.Discard(length); err != nil || n != size {
			b.Fatalf("%d of %d bytes, %v", n, size, err)
		}
	}
}

// compare runs ours and the reference in turns, n times each in a round.
func compare(b *testing.B, n int, ours, ref func()) {
	ours()
	ref()
	var a, r []float64
	round := func(f func()) float64 {
		start := time.Now()
		for range n {
			f()
		}
		return float64(time.Since(start)) / float64(n)
	}
	for b.Loop() {
		for range 4 { // each is first in turn
			a, r = append(a, round(ours)), append(r, round(ref))
			r, a = append(r, round(ref)), append(a, round(ours))
		}
	}
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = r[i] / a[i]
	}
	b.ReportMetric(median(a), "ns/ours")
	b.ReportMetric(median(r), "ns/reference")
	b.ReportMetric(median(ratios), "ratio")
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// BenchmarkStoredCompression compares serving a stored gzip form with compressing on each request.
func BenchmarkStoredCompression(b *testing.B) {
	s := newStore(b, 64<<20)
	o := put(b, s, Meta{Type: File}, samples["chunks"])
	h := newHandler(s, nil)
	compare(b, 20,
		func() { ask(h, "GET", string(o.ID()), "Accept-Encoding", "gzip") },
		func() {
			z, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.WriteString(z, samples["chunks"]); err != nil || z.Close() != nil {
				b.Fatal(err)
			}
		})
}

// BenchmarkLines fetches 500 lines in the middle of a million.
func BenchmarkLines(b *testing.B) {
	s := newStore(b, 256<<20)
	data := make([]byte, 61_000_000)
	pattern(data, 0)
	id, err := s.Put(Meta{Type: File}, data)
	if err != nil {
		b.Fatal(err)
	}
	h := newHandler(s, nil)
	for b.Loop() {
		if w := ask(h, "GET", string(id)+"?lines=700000-700499"); w.Body.Len() != 500*61 {
			b.Fatal(w.Body.Len())
		}
	}
}

// BenchmarkGrep searches a million lines.
func BenchmarkGrep(b *testing.B) {
	s := newStore(b, 256<<20)
	data := make([]byte, 61_000_000)
	pattern(data, 0)
	id, err := s.Put(Meta{Type: Terminal}, data)
	if err != nil {
		b.Fatal(err)
	}
	h := newHandler(s, nil)
	for b.Loop() {
		if w := ask(h, "GET", string(id)+"?grep=zz[0-9]zz"); w.Header().Get("Webchat-Next") != "" {
			b.Fatal("not within the time limit")
		}
	}
}
