package outputs

import (
	"container/list"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jellydator/ttlcache/v3"
)

// Store holds the outputs. The cache holds the complete ones, with their life and the order of
// their use; the store adds those that grow, and one account for all.
//
// The cache's own cost limit is set to the same budget but is never what evicts: it knows nothing
// of growing outputs, tells of an eviction only later and on a goroutine each, and a single item
// over the limit would empty it.
type Store struct {
	ttl    time.Duration
	budget int64
	log    *slog.Logger
	wall   func() time.Time // the wall clock
	wake   chan struct{}    // tells Run that there is something to expire

	keeper *keeper // nil: nothing is kept on disk
	finds  finds

	cache   *ttlcache.Cache[ID, *Output]
	growing sync.Map                       // ID to *Output
	evicted *ttlcache.Cache[ID, time.Time] // when outputs had to make room; not more than maxEvicted

	mu       sync.Mutex                // guards all below, and every change of cache
	used     int64                     // bytes, all outputs
	pinned   int64                     // of these, growing outputs': they cannot be evicted
	count    int                       // outputs
	grows    int                       // of these, growing
	expiry   *list.List                // of *Output, complete ones that are not pinned, next to expire first
	pins     map[ID]*Output            // pinned by the user
	sessions map[string]map[ID]*Output // by Meta.SessionID
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
	log := c.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Store{
		ttl:    c.TTL,
		budget: c.Budget,
		log:    log,
		wall:   time.Now,
		wake:   make(chan struct{}, 1),
		cache: ttlcache.New(
			ttlcache.WithTTL[ID, *Output](c.TTL),
			ttlcache.WithDisableTouchOnHit[ID, *Output](), // reading does not extend a life
			ttlcache.WithMaxCost(uint64(c.Budget), func(i ttlcache.CostItem[ID, *Output]) uint64 {
				return uint64(i.Value.cost) // Set is called with s.mu held
			}),
		),
		evicted:  ttlcache.New(ttlcache.WithCapacity[ID, time.Time](maxEvicted)),
		expiry:   list.New(),
		finds:    finds{most: maxFindHits},
		pins:     make(map[ID]*Output),
		sessions: make(map[string]map[ID]*Output),
	}
	if c.Keep > 0 {
		var err error
		if s.keeper, err = newKeeper(c, log); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Stats returns the account as it is now.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{Outputs: s.count, Growing: s.grows, Used: s.used, Budget: s.budget}
}

// Create makes an output that grows as the Writer is written to. It fails, wrapping ErrBudget, only
// when other growing outputs leave not even a few kilobytes.
func (s *Store) Create(m Meta, l Limits) (*Writer, error) {
	m.Gap = nil
	o := s.newOutput(m)
	cost := m.cost() + reserve
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.room(cost) {
		return nil, fmt.Errorf("create %s output: %w; wait for one to end", m.Type, ErrBudget)
	}
	s.growing.Store(o.id, o)
	s.pinned += cost
	s.grows++
	s.add(o, cost)
	return &Writer{o: o, limits: l.resolve(m.Type, s.budget), reserved: reserve}, nil
}

// Put stores data as a complete output. It takes data over: the caller must not change it
// afterwards. Data over half of what growing outputs leave of the budget is cut to head and tail;
// an image is refused instead, as is anything when they leave nothing at all (ErrBudget).
func (s *Store) Put(m Meta, data []byte) (ID, error) {
	o, err := s.put(m, data)
	if err != nil {
		return "", err
	}
	if s.keeper != nil {
		s.keeper.save(o)
	}
	return o.id, nil
}

func (s *Store) put(m Meta, data []byte) (*Output, error) {
	m.Gap = nil
	o := s.newOutput(m)
	s.mu.Lock()
	free := s.budget - s.pinned - s.held(false) - m.cost()
	s.mu.Unlock()
	l := Limits{}.resolve(m.Type, free)
	whole := int64(len(data)) <= min(l.Head+l.Tail, free)
	if !whole && (m.Type == Image || l.Head+l.Tail > free) {
		return nil, fmt.Errorf("put %s of %d bytes: %w; ask for less or raise the budget", m.Type, len(data), ErrBudget)
	}
	v := view{complete: true}
	if whole {
		if cap(data)-len(data) > len(data)/8 {
			data = append(make([]byte, 0, len(data)), data...)
		}
		v.set(data[:len(data):len(data)])
	} else {
		v.cut(data, l)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	cost := m.cost() + v.kept()
	if !s.room(cost) { // growing outputs grew meanwhile
		return nil, fmt.Errorf("put %s of %d bytes: %w; try again when one has ended", m.Type, len(data), ErrBudget)
	}
	s.add(o, cost)
	s.live(o, v, m)
	return o, nil
}

// cut makes copies of data's head and tail all that v keeps.
func (v *view) cut(data []byte, l Limits) {
	from := int64(len(data)) - l.Tail
	v.size, v.open = int64(len(data)), data[len(data)-1] != '\n'
	head := chunk{buf: data[:l.Head]}
	trimEnd(&head)
	tail := chunk{off: from, nl: count(data[:from]), buf: data[from:]}
	trimStart(&tail)
	clone := func(b []byte) []byte { return append(make([]byte, 0, len(b)), b...) }
	v.head, _ = split(clone(head.buf), 0, 0)
	v.tail, v.nl = split(clone(tail.buf), tail.off, tail.nl)
}

func (s *Store) newOutput(m Meta) *Output {
	return &Output{id: newID(), created: time.Now(), store: s, meta: m}
}

// add enters o into the account. The caller holds s.mu and has made room.
func (s *Store) add(o *Output, cost int64) {
	o.cost = cost
	s.used += cost
	s.count++
	if id := o.meta.SessionID; id != "" {
		if s.sessions[id] == nil {
			s.sessions[id] = make(map[ID]*Output)
		}
		s.sessions[id][o.id] = o
	}
}

// live starts o's life in its final state. The caller holds s.mu.
func (s *Store) live(o *Output, v view, m Meta) {
	o.mu.Lock()
	o.view, o.meta = v, m
	o.completed, o.wall = time.Now(), s.wall().Round(0)
	if s.keeper != nil && o.ends.IsZero() {
		o.ends = o.wall.Add(s.keeper.keep)
	}
	o.notify()
	o.mu.Unlock()
	s.cache.Set(o.id, o, s.lifeInCache(o))
	if s.pins[o.id] != nil {
		return
	}
	if o.elem = s.expiry.PushBack(o); s.expiry.Len() == 1 {
		s.awake()
	}
}

// grow pays n bytes more for o. gone says that o was deleted.
func (s *Store) grow(o *Output, n int64) (ok, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.gone {
		return false, true
	}
	if !s.room(n) {
		return false, false
	}
	o.cost += n
	s.used += n
	s.pinned += n
	return true, false
}

// complete ends o's growth.
func (s *Store) complete(o *Output, v view, m Meta) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.SessionID, m.Gap = o.meta.SessionID, nil // the session's index has it under this id
	if o.gone {
		o.mu.Lock()
		o.meta, o.view.complete = m, true
		o.notify()
		o.mu.Unlock()
		return
	}
	cost := m.cost() + v.kept()
	s.pinned -= o.cost
	s.used += cost - o.cost
	o.cost = cost
	s.grows--
	s.room(0) // the description may have grown
	s.live(o, v, m)
	s.growing.Delete(o.id) // after live: o can be found at every moment
}

// room evicts until n bytes more fit into the budget. It evicts nothing when they cannot fit. The
// caller holds s.mu.
func (s *Store) room(n int64) bool {
	if n > s.budget-s.pinned-s.held(false) {
		return false
	}
	for s.used+n > s.budget {
		v := s.victim()
		if v == nil {
			return false
		}
		if !s.expired(v) {
			s.evicted.Set(v.id, s.wall(), ttlcache.NoTTL)
		}
		s.remove(v)
	}
	s.sweep(4)
	return true
}

// maxEvicted is of how many outputs a Store knows when they had to make room.
const maxEvicted = 10_000

// EvictedAt is when an output had to make room for others; zero if it did not, or if many others
// had to since and were asked about more recently.
func (s *Store) EvictedAt(id ID) time.Time {
	if e := s.evicted.Get(id); e != nil {
		return e.Value()
	}
	return time.Time{}
}

// victim returns the complete output to lose first: an expired one, else the least recently read.
func (s *Store) victim() (v *Output) {
	front := s.expiry.Front()
	if front == nil {
		return nil
	}
	next := front.Value.(*Output)
	if s.expired(next) {
		return next
	}
	s.cache.RangeBackwards(func(i *ttlcache.Item[ID, *Output]) bool {
		if s.pins[i.Key()] != nil {
			return true
		}
		v = i.Value()
		return false
	})
	if v == nil {
		return next // all that is left expired just now
	}
	return v
}

// remove forgets o, growing or complete. The caller holds s.mu.
func (s *Store) remove(o *Output) {
	if o.gone {
		return
	}
	o.gone = true
	s.used -= o.cost
	s.count--
	delete(s.pins, o.id)
	if _, grows := s.growing.Load(o.id); !grows {
		s.cache.Delete(o.id)
		if o.elem != nil {
			s.expiry.Remove(o.elem)
			o.elem = nil
		}
	} else {
		s.pinned -= o.cost
		s.grows--
		s.growing.Delete(o.id)
		o.mu.Lock()
		o.view.complete = true
		o.notify()
		o.mu.Unlock()
	}
	if of := s.sessions[o.meta.SessionID]; of != nil {
		delete(of, o.id)
		if len(of) == 0 {
			delete(s.sessions, o.meta.SessionID)
		}
	}
}

// Get returns the output, complete or growing; reading it later needs no further Get. It fails with
// ErrExpired.
func (s *Store) Get(id ID) (*Output, error) {
	if o, ok := s.growing.Load(id); ok {
		return o.(*Output), nil
	}
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
	if item := s.cache.Get(id); item != nil {
		if !s.expired(item.Value()) {
			return item.Value(), nil // another reader was faster
		}
		s.remove(item.Value())
	}
	cost := o.meta.cost() + o.view.kept()
	if !s.room(cost) { // the caller gets it all the same
		o.completed, o.wall = time.Now(), s.wall().Round(0)
		return o, nil
	}
	s.add(o, cost)
	s.live(o, o.view, o.meta)
	return o, nil
}
