package server_test

import (
	"io"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	"webchat/internal/outputs"
)

// BenchmarkForward compares what comes through another replica with the same through a bare proxy of
// the standard library, and a large output with the same at its owner.
func BenchmarkForward(b *testing.B) {
	edge := newEdge(b)
	_, path := edge.session(b)
	at, err := url.Parse(edge.owner.url)
	if err != nil {
		b.Fatal(err)
	}
	bare := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(at) }})
	defer bare.Close()
	direct := *edge.owner
	direct.url = bare.URL
	took := func(h *house, path string, size int64) time.Duration {
		begin := time.Now()
		res, err := h.client.Do(h.request("GET", path, ""))
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.Copy(io.Discard, res.Body)
		if _ = res.Body.Close(); err != nil || res.StatusCode != 200 || size > 0 && n != size {
			b.Fatal(res.StatusCode, n, err)
		}
		return time.Since(begin)
	}
	run := func(name, path string, size int64, other *house) {
		b.Run(name, func(b *testing.B) {
			var through, there time.Duration
			for b.Loop() {
				there += took(other, path, size)
				through += took(edge, path, size)
			}
			if size > 0 {
				b.ReportMetric(float64(there)/float64(through), "ratio")
				return
			}
			b.ReportMetric(float64(through)/float64(there), "ratio")
		})
	}
	run("JSON", path, 0, &direct)
	for _, c := range []struct {
		name string
		size int64
		with *house
	}{{"100KiB", 100 << 10, &direct}, {"10MiB", 10 << 20, edge.owner}} {
		id, err := edge.owner.outputs.Put(outputs.Meta{Type: outputs.File, Path: "x.bin"}, make([]byte, c.size))
		if err != nil {
			b.Fatal(err)
		}
		run(c.name, "/api/outputs/"+string(id), c.size, c.with)
	}
}
