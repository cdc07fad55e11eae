package outputs

import (
	"bytes"
	"context"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jellydator/ttlcache/v3"

	"webchat/internal/grep"
)

// Hits are the lines of an output that match an expression.
type Hits struct {
	Lines    []int // their numbers as shown, ascending; not to be changed
	Complete bool  // false: there was no time for the lines from Next on
	Next     int
	LeftOut  int64 // bytes that are not kept and so were not searched
}

const (
	maxFinds    = 16       // searches that are kept
	maxFindHits = 4 << 20  // lines that they keep together
	tuning      = 16 << 10 // bytes of a text that are looked at to search it fast
	findBatch   = 16       // chunks between two looks at the clock, for each processor
)

// finds keeps the latest searches, so that a repeated search continues where it stopped and
// questions about its hits cost nothing.
type finds = ttlcache.Cache[findKey, *find]

func newFinds(most uint64) *finds {
	return ttlcache.New(ttlcache.WithCapacity[findKey, *find](maxFinds),
		ttlcache.WithMaxCost(most, func(i ttlcache.CostItem[findKey, *find]) uint64 {
			return min(uint64(i.Value.kept.Load()), most/2) // else a large one would evict itself
		}))
}

type findKey struct {
	id     ID
	expr   string
	veiled bool
}

// find is one search of one output.
type find struct {
	mu    sync.Mutex   // held while it searches
	kept  atomic.Int64 // len(lines), for callers that do not hold mu
	lines []int        // indexes of lines, from 0
	done  int64        // offset of the first line that was not searched
	next  int          // and its index
}

// Find searches all lines of o that are kept, on all processors, for as long as within; e is this
// search's only. A search that had to end goes on when it is asked for again. Of what still grows,
// a line is searched once it has ended. The only error is ctx's.
func (o *Output) Find(ctx context.Context, e *grep.Expression, within time.Duration) (Hits, error) {
	v, m := o.acquire()
	key := findKey{o.id, e.String(), o.IsVeiled()}
	item, _ := o.store.finds.GetOrSetFunc(key, func() *find { return &find{} })
	s := item.Value()
	s.mu.Lock()
	defer s.mu.Unlock()
	until := time.Now().Add(within)
	gone := func() bool { return ctx.Err() != nil }
	expired := func() bool { return gone() || time.Now().After(until) }
	if v.len() > 0 {
		sample := v.at(v.len() / 2).buf
		e.Tune(sample[:min(len(sample), tuning)])
	}
	complete := s.search(&v, &m, e, gone, expired)
	s.kept.Store(int64(len(s.lines)))
	o.store.finds.Set(key, s, ttlcache.NoTTL)
	if err := ctx.Err(); err != nil {
		return Hits{}, err
	}
	h := Hits{Complete: complete, Next: s.next + m.First()}
	g := v.describe(&m)
	for _, n := range s.lines {
		if n += m.First(); g == nil || n <= g.AfterLine || n > g.AfterLine+int(g.Lines) {
			h.Lines = append(h.Lines, n)
		}
	}
	if g != nil {
		h.LeftOut = g.Bytes
	}
	return h, nil
}

// search continues to the end of v or until expired, and reports whether it reached the end. It
// searches at least one chunk unless gone, so repeated searches make progress.
func (s *find) search(v *view, m *Meta, e *grep.Expression, gone, expired func() bool) bool {
	batch := findBatch * runtime.GOMAXPROCS(0)
	for first := true; ; first = false {
		i := v.find(s.done)
		last := min(i+batch, v.len())
		if i >= last {
			return true
		}
		if gone() || !first && expired() {
			return false
		}
		parts := make([]part, last-i)
		var workers sync.WaitGroup
		var following atomic.Int64
		for range min(runtime.GOMAXPROCS(0), len(parts)) {
			workers.Go(func() {
				for k := int(following.Add(1)) - 1; k < len(parts); k = int(following.Add(1)) - 1 {
					stop := expired
					if k == 0 && first {
						stop = gone
					}
					hits := v.searchChunk(i+k, s.done, m.Type == Terminal, e, stop)
					parts[k] = part{hits, !stop()}
				}
			})
		}
		workers.Wait()
		whole := 0
		for whole < len(parts) && parts[whole].whole {
			s.lines = append(s.lines, parts[whole].hits...)
			whole++
		}
		if whole == 0 {
			return false
		}
		if more := s.advance(v, i+whole); !more {
			return true
		}
	}
}

// part is what was found in a chunk; whole is false if there was no time for all of it.
type part struct {
	hits  []int
	whole bool
}

// advance records that the lines that begin before chunk last were searched, except for a last line
// that still grows. It returns false when there are no more chunks.
func (s *find) advance(v *view, last int) bool {
	c := v.at(last - 1)
	s.done, s.next = c.end(), int(c.nl+count(c.buf))
	if last == v.len() {
		if v.open && v.complete {
			s.next++
		}
		if v.open && !v.complete {
			s.done, _ = v.lineStart(int64(s.next))
		}
		return false
	}
	if c.buf[len(c.buf)-1] != '\n' && v.at(last).off == c.end() {
		s.next++ // its line began here
	}
	return true
}

// searchChunk searches the lines that begin in a chunk, and not before from.
//
// Of a veiled output, only what is shown is searched, so that no expression reveals what is
// covered. What is covered is looked for only in chunks that may match.
func (v *view) searchChunk(i int, from int64, strip bool, e *grep.Expression,
	stop func() bool) (hits []int) {
	if v.covers != nil && !v.mayMatch(i, strip, e) {
		return nil
	}
	c := v.text(i)
	b, n := c.buf, int(c.nl)
	if from > c.off && from < c.end() {
		skipped := b[:from-c.off]
		b, n = b[len(skipped):], n+int(count(skipped))
	} else if i > 0 && v.at(i-1).end() == c.off && !endsWithLine(v.at(i-1).buf) {
		skip := bytes.IndexByte(b, '\n') + 1
		if skip == 0 {
			return nil
		}
		b, n = b[skip:], n+1
	}
	whole := bytes.LastIndexByte(b, '\n') + 1
	rest := v.lineRest(i, b[whole:])
	search := e.Lines
	if strip && (hasControls(b) || hasControls(rest)) {
		search = func(b []byte, n int, hits []int, stop func() bool) []int {
			return stripped(e, b, n, hits, stop)
		}
	}
	hits = search(b[:whole], n, nil, stop)
	if len(rest) > 0 {
		hits = search(rest, n+int(count(b[:whole])), hits, stop)
	}
	return hits
}

// mayMatch reports whether a line that begins in chunk i may match, however much of it is covered.
func (v *view) mayMatch(i int, strip bool, e *grep.Expression) bool {
	bare := *v
	bare.covers = nil
	b := bare.at(i).buf
	rest := bare.lineRest(i, b[bytes.LastIndexByte(b, '\n')+1:])
	return strip && (hasControls(b) || hasControls(rest)) || e.MayMatch(b) || e.MayMatch(rest)
}

func endsWithLine(b []byte) bool { return b[len(b)-1] == '\n' }

// lineRest returns the whole line that begins with begin, the last bytes of chunk i, up to
// maxSearch; nothing if the line may still grow.
func (v *view) lineRest(i int, begin []byte) []byte {
	if len(begin) == 0 || i == v.len()-1 {
		if !v.complete {
			return nil
		}
		return begin
	}
	line := bytes.Clone(begin)
	for i++; i < v.len() && v.at(i).off == v.at(i-1).end(); i++ {
		part, _, ends := bytes.Cut(v.text(i).buf, []byte{'\n'})
		line = append(line, part[:min(len(part), max(0, grep.MaxLine-len(line)))]...)
		if ends {
			return line
		}
	}
	if i == v.len() && !v.complete {
		return nil
	}
	return line
}

// stripped is [grep.Expression.Lines] for what holds terminal controls.
func stripped(e *grep.Expression, b []byte, n int, hits []int, stop func() bool) []int {
	var scratch []byte
	e = e.Until(stop)
	for tried := 1; len(b) > 0 && (tried%64 != 0 || !stop()); tried++ {
		line, rest, _ := bytes.Cut(b, []byte{'\n'})
		if scratch = stripControls(scratch[:0], grep.Searched(line)); e.Match(scratch) {
			hits = append(hits, n)
		}
		n, b = n+1, rest
	}
	return hits
}

// Parts counts hits in n parts of equal length of the lines first to last.
func (h *Hits) Parts(n, first, last int) []int {
	parts := make([]int, n)
	for _, line := range h.Lines {
		if line >= first && line <= last {
			parts[(line-first)*n/(last-first+1)]++
		}
	}
	return parts
}

// Before returns how many hits are on lines before line.
func (h *Hits) Before(line int) int { return sort.SearchInts(h.Lines, line) }
