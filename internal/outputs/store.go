package outputs

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jellydator/ttlcache/v3"
)

// Store holds the outputs. The cache has their lives and the order of their use: growing ones
// have no end. The store adds one account for all, since an output that grows or is pinned
// cannot be evicted and the cache's own cost limit knows no such thing.
type Store struct {
	ttl    time.Duration
	budget int64
	log    *slog.Logger
	wall   func() time.Time // the wall clock

	unveiled bool         // see [Config]
	maker    func() int64 // its number, or 0

	keeper   *keeper // nil: nothing is kept on disk
	finds    *finds
	attached *ttlcache.Cache[*Output, any] // see [Output.Attach]; not more than maxAttached
	cache    *ttlcache.Cache[ID, *Output]
	evicted  *ttlcache.Cache[ID, time.Time] // when outputs had to make room; not more than maxEvicted

	mu     sync.Mutex // guards all below, and every change of cache but expiry
	used   int64      // bytes, all outputs
	fixed  int64      // of these, growing and pinned outputs': they cannot be evicted
	pinned int64      // of these, pinned ones'
	count  int        // outputs
	grows  int        // of these, growing
}

// Stats is a Store's account.
type Stats struct {
	Outputs, Growing int
	Used, Budget     int64 // bytes
}

// New returns an empty Store.
func New(c Config) (*Store, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &Store{
		ttl:      c.TTL,
		budget:   c.Budget,
		log:      cmp.Or(c.Logger, slog.New(slog.DiscardHandler)),
		wall:     time.Now,
		unveiled: c.Unveiled,
		maker:    c.Maker,
		finds:    newFinds(maxFindHits),
		attached: ttlcache.New(ttlcache.WithCapacity[*Output, any](maxAttached)),
		// reading does not extend a life
		cache:   ttlcache.New(ttlcache.WithDisableTouchOnHit[ID, *Output]()),
		evicted: ttlcache.New(ttlcache.WithCapacity[ID, time.Time](maxEvicted)),
	}
	s.cache.OnEviction(func(_ context.Context, _ ttlcache.EvictionReason,
		i *ttlcache.Item[ID, *Output]) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.forget(i.Value()) // what the store removed itself is forgotten already
	})
	if s.maker == nil {
		s.maker = func() int64 { return 0 }
	}
	if c.Keep > 0 {
		var err error
		if s.keeper, err = newKeeper(c, s.log); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Run frees outputs whose life has ended, until ctx ends. It returns nil.
func (s *Store) Run(ctx context.Context) error {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.cache.Start()
	}()
	every := sweepKept
	if s.keeper != nil {
		every = min(every, max(s.keeper.keep/6, time.Second))
	}
	old := time.NewTicker(every)
	defer old.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-old.C:
			if s.keeper != nil {
				s.keeper.sweep()
			}
		}
	}
	for {
		s.cache.Stop() // does nothing if Start has not begun yet
		select {
		case <-stopped:
			return nil
		case <-time.After(time.Millisecond):
		}
	}
}

// maxAttached is how many outputs keep what is attached to them, which the budget does not count.
const maxAttached = 64

// Stats returns the account as it is now.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{Outputs: s.count, Growing: s.grows, Used: s.used, Budget: s.budget}
}

// Create makes an output that grows as the Writer is written to. It fails, wrapping ErrBudget,
// only when other growing outputs leave not even a few kilobytes.
func (s *Store) Create(m Meta, l Limits) (*Writer, error) {
	m.Gap = nil
	o := &Output{id: newID(s.maker()), created: time.Now(), store: s, meta: m, grows: true}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.room(m.cost() + reserve) {
		return nil, fmt.Errorf("create %s output: %w; wait for one to end", m.Type, ErrBudget)
	}
	s.grows++
	s.add(o, m.cost()+reserve)
	s.cache.Set(o.id, o, ttlcache.NoTTL)
	return &Writer{o: o, limits: l.resolve(m.Type, s.budget), reserved: reserve}, nil
}

// Put stores data as a complete output. It takes data over: the caller must not change it
// afterwards. Data over half of what growing outputs leave of the budget is cut to head and
// tail; an image is refused instead, as is anything when they leave nothing at all (ErrBudget).
func (s *Store) Put(m Meta, data []byte) (ID, error) {
	m.Gap = nil
	s.mu.Lock()
	free := s.budget - s.fixed - m.cost()
	s.mu.Unlock()
	l := Limits{}.resolve(m.Type, free)
	v := view{complete: true}
	switch size := int64(len(data)); {
	case size <= min(l.Head+l.Tail, free):
		v.set(slices.Clip(data))
		if cap(data)-len(data) > len(data)/8 {
			v.set(slices.Clone(data))
		}
	case m.Type == Image || l.Head+l.Tail > free:
		return "", fmt.Errorf("put %s of %d bytes: %w; ask for less or raise the budget", m.Type, size,
			ErrBudget)
	default:
		v.cut(data, l)
	}
	o := &Output{id: newID(s.maker()), created: time.Now(), store: s}
	if !s.enter(o, v, m) { // growing outputs grew meanwhile
		return "", fmt.Errorf("put %s of %d bytes: %w; try again when one has ended", m.Type, len(data),
			ErrBudget)
	}
	if s.keeper != nil {
		s.keeper.save(o)
	}
	return o.id, nil
}

// enter adds a complete output; false if there is no room for it.
func (s *Store) enter(o *Output, v view, m Meta) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.room(m.cost() + v.kept()) {
		return false
	}
	s.add(o, m.cost()+v.kept())
	s.live(o, v, m)
	return true
}

// add enters o into the account. The caller holds s.mu and has made room.
func (s *Store) add(o *Output, cost int64) {
	s.count++
	s.charge(o, cost)
}

// charge changes what o costs by n bytes. The caller holds s.mu.
func (s *Store) charge(o *Output, n int64) {
	o.cost += n
	s.used += n
	if o.grows || o.pinned {
		s.fixed += n
	}
	if o.pinned {
		s.pinned += n
	}
}

// fix says whether o grows and is pinned from now on. The caller holds s.mu.
func (s *Store) fix(o *Output, grows, pinned bool) {
	cost := o.cost
	s.charge(o, -cost)
	o.grows, o.pinned = grows, pinned
	s.charge(o, cost)
}

// pay charges o for n bytes more; false if there is no room for them, or o is gone. Only for
// bytes that are worth it others are evicted.
func (s *Store) pay(o *Output, n int64, evict bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !evict && s.used+n > s.budget || evict && !s.room(n) || o.gone {
		return false
	}
	s.charge(o, n)
	return true
}

// refund gives back what was paid, and says whether o still counts.
func (s *Store) refund(o *Output, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !o.gone {
		s.charge(o, -n)
	}
	return !o.gone
}

// live starts o's life in its final state. The caller holds s.mu.
func (s *Store) live(o *Output, v view, m Meta) {
	o.mu.Lock()
	o.view, o.meta, o.completed = v, m, time.Now()
	if s.keeper != nil && o.kept.IsZero() {
		o.kept = o.completed.Round(0).Add(s.keeper.keep)
	}
	o.notify()
	o.mu.Unlock()
	s.setLife(o)
}

// setLife sets in the cache when o's life ends. The caller holds s.mu.
func (s *Store) setLife(o *Output) {
	o.mu.Lock()
	end := o.until()
	o.mu.Unlock()
	s.cache.Set(o.id, o, max(time.Until(end), 1))
}

// complete ends o's growth.
func (s *Store) complete(o *Output, v view, m Meta) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.SessionID, m.Gap = o.meta.SessionID, nil
	if o.gone {
		o.mu.Lock()
		o.meta = m
		o.mu.Unlock()
		return
	}
	s.charge(o, m.cost()+v.kept()-o.cost)
	s.room(0) // the description may have grown
	s.grows--
	s.fix(o, false, o.pinned)
	s.live(o, v, m)
}

// room evicts until n bytes more fit into the budget, the least recently read outputs first.
// It evicts nothing when they cannot fit. The caller holds s.mu.
func (s *Store) room(n int64) bool {
	if n > s.budget-s.fixed {
		return false
	}
	for s.used+n > s.budget {
		var v *Output
		s.cache.RangeBackwards(func(i *ttlcache.Item[ID, *Output]) bool {
			v = i.Value()
			return v.grows || v.pinned || v.gone
		})
		if v == nil || v.grows || v.pinned || v.gone { // the rest has expired and is being forgotten
			return false
		}
		s.evicted.Set(v.id, s.wall(), ttlcache.NoTTL)
		s.remove(v)
	}
	return true
}

// maxEvicted is for how many outputs a Store remembers when they were evicted.
const maxEvicted = 10_000

// EvictedAt is when an output was evicted for others; zero if it was not, or if that is forgotten
// because many others were evicted since.
func (s *Store) EvictedAt(id ID) time.Time {
	if e := s.evicted.Get(id); e != nil {
		return e.Value()
	}
	return time.Time{}
}

// TTL is the life of a complete output.
func (s *Store) TTL() time.Duration { return s.ttl }

// remove ends o's life, growing or complete. The caller holds s.mu.
func (s *Store) remove(o *Output) {
	s.cache.Delete(o.id)
	s.forget(o)
}

// forget takes o, which the cache no longer has, from the account. The caller holds s.mu.
func (s *Store) forget(o *Output) {
	if o.gone {
		return
	}
	s.charge(o, -o.cost)
	s.count--
	o.gone = true
	for _, k := range s.attached.Keys() {
		if k.id == o.id { // or its text in UTF-8
			s.attached.Delete(k)
		}
	}
	if o.grows {
		s.grows--
		o.mu.Lock()
		o.view.complete = true
		o.notify()
		o.mu.Unlock()
	}
}

// expired says whether o's life in memory has ended by either clock, or that of its file.
func (s *Store) expired(o *Output) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.completed.IsZero() {
		return false
	}
	end, wall := o.until(), s.wall().Round(0)
	return !time.Now().Before(end) || !wall.Before(end.Round(0)) ||
		!o.kept.IsZero() && o.pin.IsZero() && !wall.Before(o.kept)
}

// Get returns the output, complete or growing; reading it later needs no further Get. It fails
// with ErrExpired.
func (s *Store) Get(id ID) (*Output, error) {
	if item := s.cache.Get(id); item != nil && !s.expired(item.Value()) {
		return item.Value(), nil
	}
	if s.keeper != nil {
		return s.revive(id)
	}
	return nil, ErrExpired
}

// revive has an output back from the disk. It lives in memory as if it were new.
func (s *Store) revive(id ID) (*Output, error) {
	o, ok := s.keeper.load(s, id)
	if !ok {
		return nil, ErrExpired
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache.DeleteExpired() // else the one that expired would be replaced and never forgotten
	if item := s.cache.Get(id); item != nil {
		if !s.expired(item.Value()) {
			return item.Value(), nil // another reader was faster
		}
		s.remove(item.Value())
	}
	if cost := o.meta.cost() + o.view.kept(); s.room(cost) {
		s.add(o, cost)
		s.live(o, o.view, o.meta)
	} else { // the caller gets it all the same
		o.completed = time.Now()
	}
	return o, nil
}
