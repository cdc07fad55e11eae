package outputs

import "io"

// snapshot is an output as it was at one moment, read as one file: head, a line in place of what
// was left out, tail. Its offsets are not the true ones once there is a gap.
type snapshot struct {
	view
	o      *Output
	meta   Meta  // with its gap
	from   int64 // where the gap is, or the end
	to     int64
	notice []byte
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

// begin is some of the first bytes; empty if there are none.
func (c *snapshot) begin() []byte {
	if c.len() == 0 {
		return nil
	}
	return c.text(0).buf
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

// ReadAt implements [io.ReaderAt].
func (c *snapshot) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		b := c.here(off + int64(n))
		if len(b) == 0 {
			return n, io.EOF
		}
		n += copy(p[n:], b)
	}
	return n, nil
}

// here returns what there is at an offset without copying; empty at the end.
func (c *snapshot) here(off int64) []byte {
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
	at := c.text(i)
	return at.buf[off-at.off:]
}

// reader reads all of it.
func (c *snapshot) reader() *io.SectionReader { return io.NewSectionReader(c, 0, c.length()) }

// Reader reads what there is of o now, with a line of its own in place of the gap.
func (o *Output) Reader() *io.SectionReader { return o.snapshot().reader() }
