package outputs

import (
	"testing"
)

// BenchmarkBudget floods a store with more than it may hold. "worst/budget" is the most it ever
// held; above 1 is a defect.
func BenchmarkBudget(b *testing.B) {
	s := newStore(b, 64<<20)
	data := make([]byte, 1<<20)
	worst := 0.0
	b.SetBytes(2 << 20)
	for b.Loop() {
		if _, err := s.Put(Meta{Type: File}, data); err != nil {
			b.Fatal(err)
		}
		w := create(b, s, Meta{Type: Terminal}, Limits{})
		w.Write(data)
		w.Complete(nil)
		u := s.Stats()
		worst = max(worst, float64(u.Used)/float64(u.Budget))
	}
	b.ReportMetric(worst, "worst/budget")
}

// BenchmarkWrite floods one writer far beyond its limits.
func BenchmarkWrite(b *testing.B) {
	s := newStore(b, 256<<20)
	w := create(b, s, Meta{Type: Terminal}, Limits{})
	p := make([]byte, 32<<10)
	pattern(p, 0)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		w.Write(p)
	}
}
