package outputs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"webchat/internal/grep"
)

// bigLog is a log of 1,000,000 lines and about 110 MB.
func bigLog() []byte {
	r := rand.New(rand.NewPCG(3, 4))
	levels := []string{"INFO ", "DEBUG", "DEBUG", "DEBUG", "DEBUG", "DEBUG", "DEBUG", "WARN "}
	b := make([]byte, 0, 120<<20)
	for i := range 1_000_000 {
		level := levels[r.IntN(len(levels))]
		if r.IntN(50) == 0 {
			level = "ERROR"
		}
		b = fmt.Appendf(b,
			"2026-11-21T21:57:%02d.%03dZ %s pump-%d accepted sink=%d region=eu-west frames=%d buffer full "+
				"for %dms cut\n",
			i%60, i%1000, level, i%16, i, r.IntN(99_999), i%2000)
	}
	return b
}

// BenchmarkFind counts the lines of 1,000,000 that match, beside ripgrep counting the same file,
// interleaved: "ratio" is our time through ripgrep's, the median of the rounds. "first" is how long
// a request waits that asks within 50 ms.
func BenchmarkFind(b *testing.B) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		b.Skip("ripgrep is not installed")
	}
	data := bigLog()
	name := filepath.Join(b.TempDir(), "big.log")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		b.Fatal(err)
	}
	s := newStore(b, 512<<20)
	o := put(b, s, Meta{Type: File}, string(data))
	for _, re := range []string{"ERROR", "(?i)error", "frames=77", `ERROR.*sink=\d+5 `,
		`sink=\d+5 .*ms`, `[A-Z]{5}`, "ERROR|WARN"} {
		b.Run(strings.ReplaceAll(re, " ", "_"), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			var ratios, firsts []float64
			for b.Loop() {
				begun := time.Now()
				out, err := exec.CommandContext(context.Background(), rg, "-c", "--no-config", re,
					name).Output()
				if err != nil {
					b.Fatal(err)
				}
				theirs := time.Since(begun)
				e, err := grep.Parse(re)
				if err != nil {
					b.Fatal(err)
				}
				s.finds.DeleteAll()
				begun = time.Now()
				if _, err := o.Find(b.Context(), e, 50*time.Millisecond); err != nil {
					b.Fatal(err)
				}
				firsts = append(firsts, time.Since(begun).Seconds()*1000)
				s.finds.DeleteAll()
				begun = time.Now()
				hits, err := o.Find(b.Context(), e, time.Minute)
				ours := time.Since(begun)
				if want, _ := strconv.Atoi(strings.TrimSpace(string(out))); err != nil ||
					len(hits.Lines) != want {
					b.Fatalf("%d hits, ripgrep has %d, %v", len(hits.Lines), want, err)
				}
				ratios = append(ratios, ours.Seconds()/theirs.Seconds())
			}
			slices.Sort(ratios)
			slices.Sort(firsts)
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
			b.ReportMetric(firsts[len(firsts)/2], "first-ms")
		})
	}
}
