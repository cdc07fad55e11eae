package outputs

import (
	"context"
	"errors"
	"io"
)

// Snapshot is an output as it was at one moment, read as one file: head, a line in place of what
// was left out, tail. Its offsets are not the true ones once there is a gap. It belongs to one
// goroutine. Release must follow.
type Snapshot struct {
	Meta Meta // with its gap

	o      *Output
	v      view
	from   int64 // where the gap is, or the end
	to     int64
	notice []byte
	pos    int64
}

// Snapshot returns o as it is now.
func (o *Output) Snapshot() *Snapshot {
	v, m := o.acquire()
	c := &Snapshot{Meta: m, o: o, v: v, from: v.size, to: v.size}
	if g := v.describe(&m); g != nil {
		c.Meta.Gap, c.Meta.Truncated = g, true
		last := v.head[len(v.head)-1].buf
		c.from, c.to = g.Offset, g.Offset+g.Bytes
		c.notice = g.Notice(last[len(last)-1] != '\n')
	}
	return c
}

// Release says that the snapshot's bytes are no longer used.
func (c *Snapshot) Release() { c.o.release(&c.v) }

// Complete reports whether the output had stopped growing.
func (c *Snapshot) Complete() bool { return c.v.complete }

// Size is how many bytes were written, those left out included.
func (c *Snapshot) Size() int64 { return c.v.size }

// Length is how many bytes there are to read.
func (c *Snapshot) Length() int64 { return c.from + int64(len(c.notice)) + c.v.size - c.to }

// Head is some of the first bytes; empty: there are none.
func (c *Snapshot) Head() []byte {
	if c.v.len() == 0 {
		return nil
	}
	return c.v.at(0).buf
}

// LastLine is the number, as shown, of the last line.
func (c *Snapshot) LastLine() int { return c.Meta.First() + int(c.v.lines()) - 1 }

// Range is a range of lines that exist, by their numbers as shown; Last < First: none.
type Range struct {
	First, Last int
	from, to    int64 // of their bytes
}

// Lines returns those of the lines from to to that exist; from 0 means the first, to 0 the last.
func (c *Snapshot) Lines(from, to int) Range {
	w := c.v.window(&c.Meta, from, to)
	return Range{c.Meta.First() + int(w.first), c.Meta.First() + int(w.last), w.from, w.to}
}

// Copy writes lines exactly as they are stored, with a line of its own in place of the gap. The
// error is ctx's or w's.
func (c *Snapshot) Copy(ctx context.Context, w io.Writer, r Range) error {
	return c.v.copy(ctx, w, &c.Meta, r.from, r.to)
}

// Attached returns what create made for a complete output the first time it was asked. For one that
// grows it is created each time.
func (c *Snapshot) Attached(create func() any) any {
	if !c.v.complete {
		return create()
	}
	if p := c.o.attached.Load(); p != nil {
		return *p
	}
	made := create()
	c.o.attached.Store(&made)
	return made
}

// Each hands out all bytes, without copying.
func (c *Snapshot) Each(f func([]byte) error) error {
	if c.v.whole != nil {
		if len(c.v.whole) == 0 {
			return nil
		}
		return f(c.v.whole)
	}
	return c.v.pieces(0, c.v.size, func(b []byte, gap bool) error {
		if gap {
			b = c.notice
		}
		return f(b)
	})
}

// Read implements [io.Reader].
func (c *Snapshot) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		b := c.here()
		if len(b) == 0 {
			break
		}
		k := copy(p[n:], b)
		n, c.pos = n+k, c.pos+int64(k)
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// here returns what there is at pos without copying; empty at the end.
func (c *Snapshot) here() []byte {
	off := c.pos
	if off >= c.from {
		if k := off - c.from; k < int64(len(c.notice)) {
			return c.notice[k:]
		}
		off += c.to - c.from - int64(len(c.notice))
	}
	i := c.v.find(off)
	if i == c.v.len() {
		return nil
	}
	at := c.v.at(i)
	return at.buf[off-at.off:]
}

// Seek implements [io.Seeker].
func (c *Snapshot) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.pos
	case io.SeekEnd:
		offset += c.Length()
	}
	if offset < 0 {
		return 0, errors.New("seek in output: negative position")
	}
	c.pos = offset
	return offset, nil
}
