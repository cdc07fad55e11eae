package outputs

import (
	"errors"
	"io"
)

// snapshot is an output as it was at one moment, read as one file: head, a line in place of what
// was left out, tail. Its offsets are not the true ones once there is a gap. It belongs to one
// goroutine.
type snapshot struct {
	view
	o      *Output
	meta   Meta  // with its gap
	from   int64 // where the gap is, or the end
	to     int64
	notice []byte
	pos    int64
}

func (o *Output) snapshot() *snapshot {
	v, m := o.acquire()
	c := &snapshot{view: v, o: o, meta: m, from: v.size, to: v.size}
	if g := v.describe(&m); g != nil {
		c.meta.Gap, c.meta.Truncated = g, true
		c.from, c.to = g.Offset, g.Offset+g.Bytes
		c.notice = g.Notice(!endsWithLine(v.head[len(v.head)-1].buf))
	}
	return c
}

// length is how many bytes there are to read.
func (c *snapshot) length() int64 { return c.from + int64(len(c.notice)) + c.size - c.to }

// begin is some of the first bytes; empty: there are none.
func (c *snapshot) begin() []byte {
	if c.len() == 0 {
		return nil
	}
	return c.at(0).buf
}

// each hands out all bytes, without copying.
func (c *snapshot) each(f func([]byte) error) error {
	return c.pieces(0, c.size, func(b []byte, gap bool) error {
		if gap {
			b = c.notice
		}
		return f(b)
	})
}

// Read implements [io.Reader].
func (c *snapshot) Read(p []byte) (int, error) {
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
func (c *snapshot) here() []byte {
	off := c.pos
	if off >= c.from {
		if k := off - c.from; k < int64(len(c.notice)) {
			return c.notice[k:]
		}
		off += c.to - c.from - int64(len(c.notice))
	}
	i := c.find(off)
	if i == c.len() {
		return nil
	}
	at := c.at(i)
	return at.buf[off-at.off:]
}

// Seek implements [io.Seeker].
func (c *snapshot) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.pos
	case io.SeekEnd:
		offset += c.length()
	}
	if offset < 0 {
		return 0, errors.New("seek in output: negative position")
	}
	c.pos = offset
	return offset, nil
}
