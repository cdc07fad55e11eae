package server_test

import (
	"io"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"webchat/internal/outputs"
)

// BenchmarkForward compares what comes through another replica with the same through a bare proxy
// of the standard library, and outputs also with the same at their owner.
func BenchmarkForward(b *testing.B) {
	edge := newEdge(b)
	_, path := edge.session(b)
	at, err := url.Parse(edge.owner.url)
	if err != nil {
		b.Fatal(err)
	}
	bare := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(at)
	}})
	defer bare.Close()
	direct := *edge.owner
	direct.url = bare.URL
	took := func(h *house, path string, size int64) time.Duration {
		begin := time.Now()
		res, err := h.client.Do(h.request("GET", path, "", "Accept-Encoding: identity"))
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.Copy(io.Discard, res.Body)
		if _ = res.Body.Close(); err != nil || res.StatusCode != 200 || size > 0 && n != size {
			b.Fatal(res.StatusCode, n, err)
		}
		return time.Since(begin)
	}
	run := func(name, path string, size int64) {
		b.Run(name, func(b *testing.B) {
			var through, proxied, there time.Duration
			for b.Loop() {
				proxied += took(&direct, path, size)
				through += took(edge, path, size)
				if size > 0 {
					there += took(edge.owner, path, size)
				}
			}
			if size > 0 {
				b.ReportMetric(float64(proxied)/float64(through), "of-proxy")
				b.ReportMetric(float64(there)/float64(through), "of-owner")
				return
			}
			b.ReportMetric(float64(through)/float64(proxied), "ratio")
		})
	}
	run("JSON", path, 0)
	for _, c := range []struct {
		name string
		size int64
	}{{"100KiB", 100 << 10}, {"10MiB", 10 << 20}} {
		id, err := edge.owner.outputs.Put(outputs.Meta{Type: outputs.File, Path: "x.bin"},
			make([]byte, c.size))
		if err != nil {
			b.Fatal(err)
		}
		run(c.name, "/api/outputs/"+string(id), c.size)
	}
}

// BenchmarkForwardedEvents compares how long an event takes from the backend to what 50 readers
// read through another replica with the same at its owner.
func BenchmarkForwardedEvents(b *testing.B) {
	const readers, events = 50, 40
	w := newTown(b)
	owner := w.houseOf(&pacer{n: events, rate: 100}, false)
	edge := w.house(false)
	measure := func(h *house) (took []time.Duration) {
		_, path := owner.session(b)
		var all sync.WaitGroup
		var mu sync.Mutex
		for range readers {
			res, err := h.client.Do(h.request("GET", path+"/events", "", "Accept: text/event-stream"))
			if err != nil {
				b.Fatal(err)
			}
			all.Go(func() {
				one, err := wire(res.Body, events)
				_ = res.Body.Close()
				mu.Lock()
				defer mu.Unlock()
				if took = append(took, one...); err != nil {
					b.Error(err)
				}
			})
		}
		if res, body := owner.do("POST", path+"/messages", `{"content":"go"}`); res.StatusCode != 202 {
			b.Fatalf("%d %s", res.StatusCode, body)
		}
		all.Wait()
		return took
	}
	var there, through []time.Duration
	for b.Loop() {
		there = append(there, measure(owner)...)
		through = append(through, measure(edge)...)
	}
	slices.Sort(there)
	slices.Sort(through)
	b.ReportMetric(float64(through[len(through)/2])/float64(there[len(there)/2]), "ratio")
}
