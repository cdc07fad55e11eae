package outputs

import (
	"cmp"
	"errors"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jellydator/ttlcache/v3"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// An encoding is a way to store an output's bytes once more, compressed.
type encoding int

const (
	identity encoding = iota - 1
	zstdForm
	gzipForm
	encodings
)

func (e encoding) String() string { return [...]string{"identity", "zstd", "gzip"}[e+1] }

const (
	compressMin = 1400     // below, a reply is one packet anyway
	compressMax = 64 << 20 // above, the first reader would wait too long
)

// form is one stored encoding of a complete output.
type form struct {
	mu    sync.Mutex // held while compressing: the second reader waits for the first
	tried bool
	data  []byte // nil after tried: not worth it
}

// negotiate returns the encodings a client wants, most wanted first (RFC 9110
// §12.5.3); between equals zstd, then gzip. Without the header, none.
func negotiate(accept []string) []encoding {
	q := [encodings]float64{-1, -1}
	rest := -1.0
	for _, field := range accept {
		for part := range strings.SplitSeq(field, ",") {
			name, params, _ := strings.Cut(part, ";")
			weight := quality(params)
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "zstd":
				q[zstdForm] = weight
			case "gzip", "x-gzip":
				q[gzipForm] = weight
			case "*":
				rest = weight
			}
		}
	}
	var wanted []encoding
	for e := range encodings {
		if q[e] < 0 {
			q[e] = rest
		}
		if q[e] > 0 {
			wanted = append(wanted, e)
		}
	}
	slices.SortStableFunc(wanted, func(a, b encoding) int { return cmp.Compare(q[b], q[a]) })
	return wanted
}

func quality(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		if k, v, ok := strings.Cut(p, "="); ok && strings.EqualFold(strings.TrimSpace(k), "q") {
			w, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			if err != nil || !(w >= 0 && w <= 1) {
				return 0
			}
			return w
		}
	}
	return 1
}

// compressed returns o's bytes in encoding e, made once and then kept, or nil when
// that is not worth it or the budget has no room left for it. Nothing is evicted
// for it.
func (o *Output) compressed(e encoding, c *content) []byte {
	if size := c.size(); size < compressMin || size > compressMax {
		return nil
	}
	f := &o.forms[e]
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tried {
		return f.data
	}
	limit := c.size() / 10 * 9
	if !o.store.lend(o, limit) {
		return nil
	}
	b := &bounded{max: int(limit)}
	if err := compress(e, b, c); err != nil {
		f.tried = true
		o.store.settle(o, limit, 0)
		return nil
	}
	data := append(make([]byte, 0, len(b.b)), b.b...)
	if o.store.settle(o, limit, int64(len(data))) {
		f.tried, f.data = true, data
	}
	return data
}

func compress(e encoding, w io.Writer, c *content) error {
	var z io.WriteCloser
	var err error
	if e == gzipForm {
		z, err = gzip.NewWriterLevel(w, gzip.BestSpeed)
	} else {
		window := 1 << bits.Len64(uint64(min(max(c.size(), 32<<10), 1<<20)-1)) // its memory grows with it
		z, err = zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window),
			zstd.WithAllLitEntropyCompression(true),                        // else text without repetitions stays as it is
			zstd.WithLowerEncoderMem(true), zstd.WithEncoderConcurrency(1)) // 1: no goroutines
	}
	if err != nil {
		return err
	}
	err = c.each(func(b []byte) error {
		for len(b) > 0 { // in steps, to give up early on what does not shrink
			n := min(len(b), maxChunk)
			if _, err := z.Write(b[:n]); err != nil {
				return err
			}
			b = b[n:]
		}
		return nil
	})
	return errors.Join(err, z.Close())
}

// bounded is a buffer that refuses to hold more than max bytes.
type bounded struct {
	b   []byte
	max int
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(b.b)+len(p) > b.max {
		return 0, io.ErrShortWrite
	}
	b.b = append(b.b, p...)
	return len(p), nil
}

// lend takes n bytes of what is free of the budget for o.
func (s *Store) lend(o *Output, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.gone || s.used+n > s.budget {
		return false
	}
	s.used += n
	o.cost += n
	return true
}

// settle gives back what was lent but for n bytes, and says whether o still counts.
func (s *Store) settle(o *Output, lent, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.gone {
		return false // everything was given back with it
	}
	s.used -= lent - n
	o.cost -= lent - n
	s.cache.Set(o.id, o, ttlcache.PreviousOrDefaultTTL) // the new cost; its life goes on
	return true
}
