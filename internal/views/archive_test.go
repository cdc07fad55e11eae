package views

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"webchat/internal/outputs"
)

var packedAt = time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC)

// hostileNames are names as others pack them.
var hostileNames = []string{"src/", "src/pump.go", "../../etc/passwd", "/abs", "a\u202egnp.exe",
	"line\nbreak", "</code><script>", "x (link)", strings.Repeat("long", 1000)}

func zipOf(t testing.TB, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: packedAt})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "/") {
			if _, err := io.WriteString(w, "hello"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarOf(t testing.TB, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := tar.NewWriter(&b)
	for _, name := range names {
		h := &tar.Header{Name: name, Mode: 0o644, ModTime: packedAt, Size: 5, Typeflag: tar.TypeReg}
		if strings.HasSuffix(name, "/") {
			h.Size, h.Typeflag = 0, tar.TypeDir
		}
		if err := z.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write([]byte("hello")[:h.Size]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func squeezed(t testing.TB, b []byte, make func(io.Writer) io.WriteCloser) []byte {
	t.Helper()
	var out bytes.Buffer
	w := make(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gzipped(t testing.TB, b []byte) []byte {
	return squeezed(t, b, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
}

func zstded(t testing.TB, b []byte) []byte {
	return squeezed(t, b, func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w)
		if err != nil {
			t.Fatal(err)
		}
		return z
	})
}

func TestArchivesAreLists(t *testing.T) {
	h := New(testStore(t), nil)
	plain := tarOf(t, hostileNames...)
	for what, b := range map[string][]byte{"zip": zipOf(t, hostileNames...), "tar": plain,
		"tar.gz": gzipped(t, plain), "tar.zst": zstded(t, plain)} {
		o := putBytes(t, h, b)
		if got := viewsOf(h, o); got != "list hex" {
			t.Errorf("%s: %s", what, got)
			continue
		}
		w := ask(t, h, o, outputs.Ask{View: List, Rows: 100})
		checkHarmless(t, what, w.HTML)
		got := string(w.HTML)
		for _, want := range []string{
			`<div class="line entry dir member"><span class="ln">1</span><code class="cl">src/</code><span class="size"></span>`,
			`<code class="cl">src/pump.go</code><span class="size">5 bytes</span><span class="when">3 Feb 2024</span>`,
			`../../etc/passwd`, `a<span class="vis">U+202E</span>gnp.exe`, `line<span class="nl">↵</span>`,
			`&lt;script&gt;`, `x (link)</code>`, `longlong…`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %s in %.600s", what, want, got)
			}
		}
		if w.Total != len(hostileNames) || strings.Contains(got, "entry link") {
			t.Errorf("%s: %d rows", what, w.Total)
		}
		if got := words(ask(t, h, o, outputs.Ask{
			View: List,
			Rows: 2,
			Sort: "-2",
		})); !strings.HasPrefix(got, "1 src/") {
			t.Errorf("%s, by size: %s", what, got)
		}
	}
	if got := viewsOf(h, putBytes(t, h, gzipped(t, []byte("only a text")))); got != "hex" {
		t.Error("a text in gzip:", got)
	}
}

// An archive that unpacks to very much, that is cut, or whose sizes are lies is shown as far as it
// can be, or as bytes with one sentence.
func TestThreat91HostileArchives(t *testing.T) {
	h := New(roomyStore(t), nil)
	shows := func(what string, b []byte, views, sentence string) {
		t.Helper()
		o := putBytes(t, h, b)
		if got := viewsOf(h, o); got != views {
			t.Errorf("%s: %s, want %s", what, got, views)
			return
		}
		w := ask(t, h, o, outputs.Ask{View: h.Of(o)[0], Rows: 5000})
		checkHarmless(t, what, w.HTML)
		if got := words(w) + w.Header["Note"]; sentence != "" &&
			!strings.HasSuffix(strings.TrimSpace(got), sentence) && !strings.Contains(got, sentence) {
			t.Errorf("%s: %.300s", what, got[max(0, len(got)-300):])
		}
	}
	// Files of a ZIP that share their bytes.
	whole := zipOf(t, "a", "b")
	central := bytes.Index(whole, []byte("PK\x01\x02"))
	bomb := bytes.Clone(whole)
	binary.LittleEndian.PutUint32(bomb[central+20:], 1<<31)
	shows("overlapping zip", bomb, "hex",
		"unpacks to far more than its size, as bombs do, so its bytes are shown.")
	bomb = bytes.Clone(whole)
	binary.LittleEndian.PutUint32(bomb[central+24:], 1<<31)
	shows("zip of zeros", bomb, "hex", "as bombs do, so its bytes are shown.")
	shows("cut zip", whole[:len(whole)-5], "hex", "This ZIP file is damaged, so its bytes are shown.")
	shows("zip of nothing", []byte("PK\x05\x06"+strings.Repeat("\x00", 18)), "list hex", "")

	var many []string
	for i := range maxMembers + 3 {
		many = append(many, fmt.Sprintf("f%d", i))
	}
	o := putBytes(t, h, zipOf(t, many...))
	if w := ask(t, h, o, outputs.Ask{View: List, From: maxMembers, Rows: 10}); w.Total != maxMembers+
		1 || !strings.Contains(words(w), "The first 10,000 names are listed. There are 3 more.") {
		t.Error(w.Total, words(w))
	}

	plain := tarOf(t, "a", "b")
	lying := bytes.Clone(plain)
	copy(lying[124:136], "77777777777\x00")
	sum := 0
	for i, c := range lying[:512] {
		if i >= 148 && i < 156 {
			c = ' '
		}
		sum += int(c)
	}
	copy(lying[148:156], fmt.Sprintf("%06o\x00 ", sum))
	shows("tar with a lying size", lying, "list hex", "The archive is damaged from here on.")
	shows("the same in gzip", gzipped(t, lying), "list hex", "The archive is damaged from here on.")
	shows("cut tar", plain[:1200], "list hex", "The archive is damaged from here on.")
	shows("cut gzip", gzipped(t, tarOf(t, hostileNames...))[:60], "hex",
		"This tar file is damaged, so its bytes are shown.")

	// A tar whose one file is zeros, which compress well.
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	const zeros = 120 << 20
	for _, name := range []string{"zeros", "after"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: zeros}); err != nil {
			t.Fatal(err)
		}
		if name == "after" {
			break
		}
		if _, err := io.CopyN(w, zero{}, zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	shows("tar of zeros", b.Bytes(), "hex", "as bombs do, so its bytes are shown.")
}

// zero reads zeros.
type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func FuzzArchive(f *testing.F) {
	plain := tarOf(f, "a", "dir/", "dir/b")
	for _, b := range [][]byte{zipOf(f, "a", "dir/"), plain, gzipped(f, plain), zstded(f, plain)} {
		f.Add(b, 0, byte(b[0]))
		f.Add(b, len(b)/2, byte(7))
	}
	f.Fuzz(func(t *testing.T, b []byte, at int, x byte) {
		if len(b) > 1<<20 {
			return
		}
		if b = bytes.Clone(b); at >= 0 && at < len(b) {
			b[at] = x
		}
		h := New(testStore(t), nil)
		o := putBytes(t, h, b)
		if !slices.Contains(h.Of(o), Hex) {
			t.Fatal("no bytes")
		}
		for _, v := range h.Of(o) {
			w, err := h.View(t.Context(), o, outputs.Ask{View: v, From: 1, Rows: 100})
			if err != nil && !isRefusal(err) {
				t.Fatal(v, err)
			}
			checkHarmless(t, v, w.HTML)
		}
	})
}
