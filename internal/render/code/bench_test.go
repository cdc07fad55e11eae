package code

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

func benchSource(b *testing.B, lines int) (string, Source) {
	src := corpus(b, lines)["Go"]
	t := newText(src)
	return src, t
}

// reference highlights the slice alone with chroma as it comes and writes the same rows.
func reference(b *testing.B, slice string) {
	it, err := lexers.Get("Go").Tokenise(nil, slice)
	if err != nil {
		b.Fatal(err)
	}
	w := &window{
		first: 1,
		from:  1,
		to:    strings.Count(slice, "\n"),
		lines: bytes.Split([]byte(strings.TrimSuffix(slice, "\n")), []byte("\n")),
		size:  len(slice),
	}
	out := newRowWriter(1, w)
	line := 1
	for token := it(); token != chroma.EOF; token = it() {
		out.text(line, tokenClass(token.Type), token.Value)
		line += strings.Count(token.Value, "\n")
	}
	out.finish()
}

func sliceLines(t Source, from, to int) string {
	b, _ := t.Lines(context.Background(), from, to)
	return string(b)
}

// against measures ours and a reference in turns, five times each at least, and reports the medians
// and their ratio.
func against(b *testing.B, ours, reference func()) {
	b.Helper()
	var mine, theirs []time.Duration
	took := func(f func()) time.Duration {
		start := time.Now()
		f()
		return time.Since(start)
	}
	for b.Loop() {
		for range 5 {
			mine, theirs = append(mine, took(ours)), append(theirs, took(reference))
		}
	}
	slices.Sort(mine)
	slices.Sort(theirs)
	m, t := mine[len(mine)/2], theirs[len(theirs)/2]
	b.ReportMetric(m.Seconds()*1e3, "ours-ms")
	b.ReportMetric(t.Seconds()*1e3, "reference-ms")
	b.ReportMetric(m.Seconds()/t.Seconds(), "ratio")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkCodeWindow is 500 highlighted lines of a file of 100,000 beside highlighting those 500
// lines alone. The ratio is to be at most 1.2, for the first window of a document just opened, for
// a later one that begins at a guess, and for one below a known state, which is exact.
func BenchmarkCodeWindow(b *testing.B) {
	_, src := benchSource(b, 100_000)
	rows := func(doc *Document, from int, exact bool) {
		if r, err := doc.Rows(b.Context(), from, from+499); err != nil || r.Exact != exact {
			b.Fatal(r.Exact, err)
		}
	}
	alone := func(from int) func() {
		slice := sliceLines(src, from, from+499)
		return func() { reference(b, slice) }
	}
	const later = 90_011
	b.Run("first", func(b *testing.B) {
		against(b, func() { rows(New("Go", src, 1), 1, true) }, alone(1))
	})
	b.Run("later, unknown what is above", func(b *testing.B) {
		against(b, func() { rows(New("Go", src, 1), later, false) }, alone(later))
	})
	doc := New("Go", src, 1)
	doc.save(later-100, rootState)
	b.Run("later, known", func(b *testing.B) {
		against(b, func() { rows(doc, later, true) }, alone(later))
	})
}

// BenchmarkCodePathological is the time a request takes on texts made to be slow, in limits of 100
// ms, whatever chroma alone would take.
func BenchmarkCodePathological(b *testing.B) {
	for name, p := range pathological() {
		b.Run(fmt.Sprintf("%s (%d bytes)", name, len(p[1])), func(b *testing.B) {
			for b.Loop() {
				if _, err := New(p[0], newText(p[1]), 1).Rows(b.Context(), 1, 500); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N)/100, "limits")
		})
	}
}
