package files

import (
	"slices"
	"sync"
)

// Budget bounds what the names of several workspaces take together: the names used longest ago are
// let go, and listed anew when they are asked for. Those asked for last stay, however many they
// are.
type Budget struct {
	most int64 // bytes

	mu   sync.Mutex // guards what follows; it is taken before that of an index
	used []share    // the latest last
	sum  int64
}

// share is what the names of one index take.
type share struct {
	of    *Index
	bytes int64
}

// NewBudget returns a Budget of so many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{most: bytes} }

// use notes that x was asked. Its caller does not hold x.mu.
func (b *Budget) use(x *Index) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := b.find(x); i >= 0 {
		s := b.used[i]
		b.used = append(slices.Delete(b.used, i, i+1), s)
	}
}

// keep notes that x keeps names of so many bytes, and lets others go. Its caller does not hold
// x.mu.
func (b *Budget) keep(x *Index, bytes int64) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(x)
	if b.used, b.sum = append(b.used, share{x, bytes}), b.sum+bytes; x.isClosed() {
		b.remove(x)
	}
	for b.sum > b.most && len(b.used) > 1 {
		oldest := b.used[0].of
		b.remove(oldest)
		oldest.letGo()
	}
}

// forget notes that x keeps nothing. Its caller does not hold x.mu.
func (b *Budget) forget(x *Index) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(x)
}

func (b *Budget) find(x *Index) int {
	return slices.IndexFunc(b.used, func(s share) bool { return s.of == x })
}

func (b *Budget) remove(x *Index) {
	if i := b.find(x); i >= 0 {
		b.sum -= b.used[i].bytes
		b.used = slices.Delete(b.used, i, i+1)
	}
}
