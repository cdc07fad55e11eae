package outputs

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func TestStoredCompression(t *testing.T) {
	s := newStore(t, 16<<20)
	h := newHandler(s, nil)
	data := samples["chunks"]
	o := put(t, s, Meta{Type: File, Path: "a"}, data)
	before := s.Stats().Used
	etags := map[string]bool{}
	for _, tt := range []struct{ accept, want string }{
		{"", ""}, {"gzip", "gzip"}, {"zstd", "zstd"}, {"gzip, deflate, br, zstd", "zstd"},
		{"gzip;q=1.0, zstd;q=0.5", "gzip"}, {"GZIP", "gzip"}, {"br", ""}, {"*", "zstd"}, {"*;q=0", ""},
		{"zstd;q=0, *", "gzip"}, {"gzip;q=0", ""}, {"gzip;q=2", ""}, {"gzip;q=x", ""}, {"identity", ""},
	} {
		for range 2 {
			w := ask(h, "GET", string(o.ID()), "Accept-Encoding", tt.accept)
			if got := w.Header().Get("Content-Encoding"); got != tt.want {
				t.Fatalf("%q: %q, want %q", tt.accept, got, tt.want)
			}
			if got := w.Header().Get("Content-Length"); got != fmt.Sprint(w.Body.Len()) {
				t.Fatalf("%q: length %s of %d", tt.accept, got, w.Body.Len())
			}
			if decode(t, tt.want, w.Body) != data {
				t.Fatalf("%q: bytes differ", tt.accept)
			}
			etags[w.Header().Get("Etag")] = true
			if w := ask(h, "GET", string(o.ID()), "Accept-Encoding", tt.accept, "If-None-Match",
				w.Header().Get("Etag")); w.Code != 304 {
				t.Fatalf("%q: %d", tt.accept, w.Code)
			}
		}
	}
	if len(etags) != 3 {
		t.Errorf("%d strong validators for three encodings", len(etags))
	}
	stored := int64(0)
	for _, e := range []coding{asZstd, asGzip} {
		data, _ := o.content().compressed(e)
		stored += int64(len(data))
	}
	if got := s.Stats().Used - before; got != stored || stored == 0 {
		t.Errorf("%d bytes stored, %d counted", stored, got)
	}
}

// Digits hardly repeat, so zstd saves nothing of them by matches alone.
func TestTextWithoutRepetitionsIsCompressed(t *testing.T) {
	s := newStore(t, 16<<20)
	h := newHandler(s, nil)
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintln(&b, i)
	}
	o := put(t, s, Meta{Type: File}, b.String())
	w := ask(h, "GET", string(o.ID()), "Accept-Encoding", "zstd")
	if w.Header().Get("Content-Encoding") != "zstd" || w.Body.Len() > b.Len()*6/10 ||
		decode(t, "zstd", w.Body) != b.String() {
		t.Errorf("%d of %d bytes, %v", w.Body.Len(), b.Len(), w.Header())
	}
}

func decode(t *testing.T, encoding string, r io.Reader) string {
	t.Helper()
	var err error
	switch encoding {
	case "gzip":
		r, err = gzip.NewReader(r)
	case "zstd":
		var d *zstd.Decoder
		d, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		defer d.Close()
		r = d
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestNotCompressed(t *testing.T) {
	s := newStore(t, 4<<20)
	h := newHandler(s, nil)
	random := make([]byte, 500_000)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	w := create(t, s, Meta{Type: Terminal}, Limits{})
	w.Write([]byte(samples["chunks"]))
	for name, o := range map[string]*Output{
		"small":          put(t, s, Meta{Type: File}, strings.Repeat("a", 1000)),
		"incompressible": put(t, s, Meta{Type: File}, string(random)),
		"image":          put(t, s, Meta{Type: Image}, "\xff\xd8\xff"+strings.Repeat("a", 10_000)),
		"growing":        w.Output(),
	} {
		before := s.Stats().Used
		for range 2 {
			r := ask(h, "GET", string(o.ID()), "Accept-Encoding", "gzip, zstd")
			if r.Header().Get("Content-Encoding") != "" || r.Body.Len() != int(o.Size()) {
				t.Errorf("%s: %v", name, r.Header())
			}
		}
		if got := s.Stats().Used; got != before {
			t.Errorf("%s: costs %d more", name, got-before)
		}
	}
	full := put(t, s, Meta{Type: File}, strings.Repeat("b", 1<<20)) // no room for its compressed form
	for s.Stats().Budget-s.Stats().Used > 600<<10 {
		put(t, s, Meta{Type: File}, strings.Repeat("c", 500<<10))
	}
	n := s.Stats().Outputs
	if r := ask(h, "GET", string(full.ID()), "Accept-Encoding",
		"gzip"); r.Header().Get(
		"Content-Encoding") != "" || r.Body.Len() != 1<<20 || s.Stats().Outputs != n {
		t.Errorf("%v", r.Header())
	}
}

func TestTheNextBestEncodingIsServed(t *testing.T) {
	s := newStore(t, 1<<20)
	o := put(t, s, Meta{Type: File}, strings.Repeat("line of a longer text\n", 1000))
	o.forms[asZstd].tried = true // and was not worth it
	w := ask(newHandler(s, nil), "GET", string(o.ID()), "Accept-Encoding", "gzip, zstd")
	if w.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("%v", w.Header())
	}
}
