package outputs

import (
	"errors"
	"io"
	"math/bits"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A coding is a compressed form in which an output's bytes are stored as well.
type coding int

const (
	asIs coding = iota - 1
	asZstd
	asGzip
	codings
)

var codingNames = []string{"identity", "zstd", "gzip"} // in HTTP

// String is its name in HTTP.
func (e coding) String() string { return codingNames[e+1] }

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

// compressed returns the stored bytes in a coding, nil if it is not worth it, and whether that is
// decided yet. It never waits for a compression.
func (c *content) compressed(e coding) (data []byte, decided bool) {
	if size := c.length; size < compressMin || size > compressMax || !c.complete {
		return nil, true
	}
	f := &c.o.forms[e]
	if !f.mu.TryLock() {
		return nil, false
	}
	defer f.mu.Unlock()
	return f.data, f.tried
}

// compress returns the bytes in a coding, made once and then kept, or nil if it is not worth it or
// the budget has no room for it. Nothing is evicted for it.
func (c *content) compress(e coding) []byte {
	if data, decided := c.compressed(e); decided {
		return data
	}
	f := &c.o.forms[e]
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tried {
		return f.data
	}
	store, limit := c.o.store, c.length/10*9
	if !store.pay(c.o, limit, false) {
		return nil
	}
	b := &bounded{max: int(limit)}
	if err := writeCompressed(e, b, c); err != nil {
		f.tried = true
		store.refund(c.o, limit)
		return nil
	}
	data := slices.Clip(slices.Clone(b.b))
	if store.refund(c.o, limit-int64(len(data))) {
		f.tried, f.data = true, data
	}
	return data
}

func writeCompressed(e coding, w io.Writer, c *content) error {
	var z io.WriteCloser
	var err error
	if e == asGzip {
		z, err = gzip.NewWriterLevel(w, gzip.BestSpeed)
	} else {
		window := 1 << bits.Len64(uint64(min(max(c.length, 32<<10), 1<<20)-1)) // its memory grows with it
		z, err = zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window),
			// else text without repetitions stays as it is
			zstd.WithAllLitEntropyCompression(true),
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
