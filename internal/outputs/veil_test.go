package outputs

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"webchat/internal/grep"
	"webchat/internal/veil"
	"webchat/internal/wording"
)

// A veiled output has the bytes, lines and offsets of the one it covers, also where a line goes on
// in the next chunk, and while it grows.
func TestVeiled(t *testing.T) {
	s := newStore(t, 64<<20)
	const secret = "TOKEN=hunter2hunter2\n"
	for _, pad := range []int{0, maxChunk - 3, maxChunk - 10, maxChunk - 17, 2*maxChunk - 9} {
		text := strings.Repeat("x", max(pad-1, 0)) + strings.Repeat("\n", min(pad, 1)) + secret +
			"TOKEN_COUNT=12\nlast\n"
		o := put(t, s, Meta{Type: File, Path: "a"}, text)
		v := o.Veiled()
		if v.Veiled() != v || v.Raw() != o || o.Veiled() != v || v.Size() != o.Size() ||
			v.TotalLines() != o.TotalLines() {
			t.Fatal("a veiled output is another one")
		}
		b := make([]byte, len(text))
		if n, err := v.ReadAt(b, 0); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
		if bytes.Contains(b, []byte("hunter")) || bytes.Contains(b, []byte("nter2h")) ||
			!bytes.HasSuffix(b, []byte("TOKEN_COUNT=12\nlast\n")) ||
			strings.Count(string(b), "\n") != strings.Count(text, "\n") {
			t.Errorf("behind %d bytes: %q", pad, b[pad:])
		}
		e, err := grep.Parse("hunter2|last")
		if err != nil {
			t.Fatal(err)
		}
		if h, err := v.Find(t.Context(), e, time.Minute); err != nil || len(h.Lines) != 1 ||
			h.Lines[0] != o.TotalLines() {
			t.Errorf("found in %v, %v", h.Lines, err)
		}
		for _, guess := range []string{"hunter2", "hunter3"} { // the other alternative matches either way
			e, err := grep.Parse(guess + "|TOKEN=[^a-z]")
			if err != nil {
				t.Fatal(err)
			}
			if h, err := v.Find(t.Context(), e, time.Minute); err != nil || len(h.Lines) != 1 {
				t.Errorf("with the guess %s found in %v, %v", guess, h.Lines, err)
			}
		}
		if h, err := o.Find(t.Context(), e, time.Minute); err != nil || len(h.Lines) != 2 {
			t.Errorf("without a veil found in %v, %v", h.Lines, err)
		}
	}

	for _, above := range []string{"password: |\n", "machine h\n  login me\n",
		"tokens:\n  - aaa111\n"} {
		below := map[byte]string{'p': "  hunter22\n", 'm': "  password hunter22\n",
			't': "  - hunter22\n"}[above[0]]
		o := put(t, s, Meta{Type: File, Path: "a"}, strings.Repeat("x", maxChunk-len(above)-1)+"\n"+above+
			below+"end\n")
		b := make([]byte, o.Size())
		if _, err := o.Veiled().ReadAt(b, 0); err != nil || bytes.Contains(b, []byte("hunter")) ||
			!bytes.HasSuffix(b, []byte("\nend\n")) {
			t.Errorf("below %q in the next chunk: %q, %v", above, b[maxChunk:], err)
		}
	}
	w, err := s.Create(Meta{Type: Terminal, Command: "env"}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Complete(func(*Meta) {})
	fmt.Fprint(w, "-----BEGIN PRIVATE KEY-----\nMIIE")
	v, b := w.Output().Veiled(), make([]byte, 100)
	if n, _ := v.ReadAt(b, 0); bytes.Contains(b[:n], []byte("MIIE")) {
		t.Errorf("%q", b[:n])
	}
	fmt.Fprint(w, "abcd\nEFGH\n-----END PRIVATE KEY-----\nx\n")
	if n, _ := v.ReadAt(b, 0); bytes.Contains(b[:n], []byte("EFGH")) ||
		!bytes.HasSuffix(b[:n], []byte("KEY-----\nx\n")) {
		t.Errorf("%q", b[:n])
	}
}

// What is copied or handed over has dots, but for the lines that were lifted.
func TestCopyShown(t *testing.T) {
	s := newStore(t, 1<<20)
	o := put(t, s, Meta{Type: File, Path: "a", StartLine: 1},
		"A_TOKEN=aaa111\nB_TOKEN=bbb222\nC_TOKEN=ccc333\nD=4\n")
	for lifted, want := range map[string]string{
		"":      "A_TOKEN=•• B_TOKEN=•• C_TOKEN=•• D=4 ",
		"2":     "A_TOKEN=•• B_TOKEN=bbb222 C_TOKEN=•• D=4 ",
		"1-2":   "A_TOKEN=aaa111 B_TOKEN=bbb222 C_TOKEN=•• D=4 ",
		"1,3-9": "A_TOKEN=aaa111 B_TOKEN=•• C_TOKEN=ccc333 D=4 ",
	} {
		var up [][2]int
		if lifted != "" {
			var err error
			if up, err = wording.Ranges(lifted); err != nil {
				t.Fatal(err)
			}
		}
		for _, which := range [][2]int{{0, 0}, {2, 3}, {3, 0}} {
			var b strings.Builder
			if err := o.CopyShown(t.Context(), &b, which[0], which[1], up); err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(want, " ")
			to := which[1]
			if to == 0 {
				to = 4
			}
			if got := strings.ReplaceAll(b.String(), "\n",
				" "); got != strings.Join(lines[max(which[0], 1)-1:to], "") {
				t.Errorf("lifted %q, lines %v: %q", lifted, which, got)
			}
		}
	}
	bare, err := New(Config{TTL: time.Minute, Budget: 1 << 20, Unveiled: true})
	if err != nil {
		t.Fatal(err)
	}
	o = put(t, bare, Meta{Type: File, Path: "a"}, "A_TOKEN=aaa111\n")
	var b strings.Builder
	if err := o.CopyShown(t.Context(), &b, 0, 0, nil); err != nil || o.Veiled() != o ||
		b.String() != "A_TOKEN=aaa111\n" {
		t.Errorf("with the setting off: %q, %v", b.String(), err)
	}
}

// BenchmarkVeiled is a first window of 500 lines of a log of 11 MB, and a search of all of it, of
// which one line in a thousand holds a secret.
func BenchmarkVeiled(b *testing.B) {
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text,
			"2026-11-26T10:%02d:%02d.%03dZ INFO worker=%d request=\"GET /api/items/%d?page=2\" status=200 "+
				"took=%dms", i/60%60, i%60, i%1000, i%9, i*7, i%999)
		if i%1000 == 7 {
			text.WriteString(" token=abc123def456")
		}
		text.WriteString("\n")
	}
	s := newStore(b, 256<<20)
	e, err := grep.Parse("worker=3|abc123")
	if err != nil {
		b.Fatal(err)
	}
	for _, veiled := range []bool{false, true} {
		fresh := func() *Output {
			o := put(b, s, Meta{Type: File, Path: "a"}, text.String())
			if veiled {
				return o.Veiled()
			}
			return o
		}
		b.Run(fmt.Sprintf("window/veiled=%v", veiled), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				o := fresh()
				b.StartTimer()
				for range o.Lines(b.Context(), 50_000, 50_500) {
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms")
		})
		b.Run(fmt.Sprintf("find/veiled=%v", veiled), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				o := fresh()
				b.StartTimer()
				if _, err := o.Find(b.Context(), e, time.Minute); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms")
		})
	}
	if got := string(veil.Dotted([]byte(veil.Dot3 + veil.Dot2))); got != "••" {
		b.Fatal(got)
	}
}
