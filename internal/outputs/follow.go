package outputs

import (
	"context"
	"io"
)

// Piece is what a Follower reads next: bytes, or a gap.
type Piece struct {
	Bytes []byte // valid until the next call of Next
	Gap   *Gap   // Bytes is empty: what this follower misses
}

// followStep bounds what a follower copies at once. It copies so that a slow client holds no more
// of an output's memory than this.
const followStep = 64 << 10

// Follower reads an output while it grows. It is used by one goroutine.
type Follower struct {
	o       *Output
	off, nl int64
	buf     []byte
}

// Follow returns a Follower that begins at the true offset off; what is after off already comes
// first.
func (o *Output) Follow(off int64) *Follower {
	v, _ := o.acquire()
	f := &Follower{o: o, off: max(off, 0)}
	_ = v.pieces(0, f.off, func(b []byte, gap bool) error {
		if gap {
			_, _, nl, _ := v.gap()
			f.nl += nl
		}
		f.nl += count(b)
		return nil
	})
	return f
}

// Next waits for more. It returns io.EOF at the end of a complete output, or ctx's error.
func (f *Follower) Next(ctx context.Context) (Piece, error) {
	for {
		if err := ctx.Err(); err != nil {
			return Piece{}, err
		}
		p, size, ok := f.read()
		if ok {
			return p, nil
		}
		changed := f.o.wait(size)
		if changed == nil {
			if f.done() {
				return Piece{}, io.EOF
			}
			continue
		}
		select {
		case <-ctx.Done():
			return Piece{}, ctx.Err()
		case <-changed:
		}
	}
}

// Pending reports whether Next would return at once.
func (f *Follower) Pending() bool {
	f.o.mu.Lock()
	defer f.o.mu.Unlock()
	return f.o.view.complete || f.off < f.o.view.size
}

func (f *Follower) done() bool {
	f.o.mu.Lock()
	defer f.o.mu.Unlock()
	return f.o.view.complete && f.off >= f.o.view.size
}

func (f *Follower) read() (Piece, int64, bool) {
	v, m := f.o.acquire()
	i := v.find(f.off)
	if i == v.len() {
		f.off = max(f.off, v.size) // a reader may start beyond the end
		return Piece{}, v.size, false
	}
	c := v.at(i)
	if c.off > f.off {
		g := &Gap{Offset: f.off, Bytes: c.off - f.off, Lines: c.nl - f.nl, AfterLine: m.First() - 1 +
			int(f.nl)}
		f.off, f.nl = c.off, c.nl
		return Piece{Gap: g}, v.size, true
	}
	if f.buf == nil {
		f.buf = make([]byte, followStep)
	}
	b := f.buf[:copy(f.buf, c.buf[f.off-c.off:])]
	f.off += int64(len(b))
	f.nl += count(b)
	return Piece{Bytes: b}, v.size, true
}
