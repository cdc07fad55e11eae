package outputs

import (
	"context"
	"testing"
	"time"

	"github.com/jellydator/ttlcache/v3"
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

// BenchmarkGetWhileExpiring measures the longest a Get waits while 200,000 outputs expire together,
// against the cache's own expiry loop.
func BenchmarkGetWhileExpiring(b *testing.B) {
	const n = 200_000
	ttl := 3 * time.Second
	var ours, ref time.Duration
	for b.Loop() {
		s, err := New(Config{TTL: ttl, Budget: 1 << 30})
		if err != nil {
			b.Fatal(err)
		}
		for range n {
			if _, err := s.Put(Meta{Type: File}, nil); err != nil {
				b.Fatal(err)
			}
		}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		ours = max(ours, longest(func() bool { _, _ = s.Get("out_x"); return s.Stats().Outputs > 0 }))
		stop()
		<-ended

		c := ttlcache.New(ttlcache.WithTTL[ID, *Output](ttl))
		for range n {
			c.Set(newID(), nil, ttlcache.DefaultTTL)
		}
		go c.Start()
		evicted := func() bool { return c.Metrics().Evictions < n }
		ref = max(ref, longest(func() bool { c.Get("out_x"); return evicted() }))
		c.Stop()
	}
	b.ReportMetric(float64(ours), "ns/longest-ours")
	b.ReportMetric(float64(ref), "ns/longest-reference")
	b.ReportMetric(float64(ref)/float64(ours), "ratio")
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

func longest(f func() bool) (worst time.Duration) {
	for more := true; more; {
		start := time.Now()
		more = f()
		worst = max(worst, time.Since(start))
	}
	return worst
}
