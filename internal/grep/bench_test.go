package grep

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"webchat/internal/policy"
	"webchat/internal/veil"
)

// source is about 10 kB that read like a program.
func source(r *rand.Rand) string {
	words := strings.Fields(
		"func return if err nil range session output server handler string byte context close buffer " +
			"reader lines policy Patience event type struct")
	var b strings.Builder
	for b.Len() < 10_000 {
		b.WriteString(strings.Repeat("\t", r.IntN(4)))
		for range 3 + r.IntN(9) {
			b.WriteString(words[min(r.IntN(len(words)), r.IntN(4*len(words)))])
			b.WriteByte(" (.,"[r.IntN(4)])
		}
		if r.IntN(20_000) == 0 {
			fmt.Fprintf(&b, "needleInHaystack%d", r.IntN(1000))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// BenchmarkFolder searches 10,000 files of together 100 MB, beside ripgrep in the same folder,
// interleaved: "ratio" is our time through ripgrep's, "first-ms" the time to the first hit, both
// the median of the rounds.
func BenchmarkFolder(b *testing.B) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		b.Skip("ripgrep is not installed")
	}
	r := rand.New(rand.NewPCG(5, 6))
	files := map[string]string{}
	for i := range 10_000 {
		files[fmt.Sprintf("pkg%d/part%d/file%d.go", i%40, i%400/10, i)] = source(r)
	}
	d := folder(b, files)
	var names policy.SensitiveNames
	d.Open, d.Closed = policy.OpenListed, names.Sensitive
	// as the server does
	d.Cover = func(name string, text []byte) { veil.Cover(text, veil.FileSpans(name, text)) }
	for _, bench := range []struct {
		name string
		q    Query
	}{
		{"literal/same-case", Query{Text: "needleInHaystack", Case: true}},
		{"literal/any-case", Query{Text: "needleinhaystack"}},
		{"expression/with-a-text", Query{Text: `needle\w+\d{2}`, Case: true, Expression: true}},
		{"expression/alternatives", Query{Text: `needleIn|Haystack\d`, Case: true, Expression: true}},
		{"expression/without-a-text", Query{
			Text:       `[a-z]+[A-Z]\w+[0-9]{2,}`,
			Case:       true,
			Expression: true,
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var ratios, firsts []float64
			for b.Loop() {
				e, err := bench.q.Parse()
				if err != nil {
					b.Fatal(err)
				}
				cmd := exec.CommandContext(context.Background(), rg, "--no-config", "-n", "-C3", e.String())
				cmd.Dir = d.Root.Name()
				begun := time.Now()
				out, err := cmd.Output()
				if err != nil {
					b.Fatal(err)
				}
				theirs := time.Since(begun)
				hits, first := 0, time.Duration(0)
				begun = time.Now()
				_, err = d.Search(b.Context(), e, func(f File) error {
					if hits += f.Hits; first == 0 {
						first = time.Since(begun)
					}
					return nil
				})
				ours := time.Since(begun)
				if err != nil || hits == 0 || len(out) == 0 {
					b.Fatal(hits, len(out), err)
				}
				ratios = append(ratios, ours.Seconds()/theirs.Seconds())
				firsts = append(firsts, first.Seconds()*1000)
			}
			b.ReportMetric(median(ratios), "ratio")
			b.ReportMetric(median(firsts), "first-ms")
			b.ReportMetric(0, "B/op")
		})
	}
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}
