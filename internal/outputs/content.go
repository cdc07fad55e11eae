package outputs

import (
	"errors"
	"io"
)

// content is an output as one file: head, the gap's notice, tail. Its offsets are
// not the true ones once there is a gap.
type content struct {
	v      view
	from   int64 // where the gap is, or the end
	to     int64
	notice []byte
	pos    int64
}

func newContent(v view, m *Meta) *content {
	c := &content{v: v, from: v.size, to: v.size}
	if g := v.describe(m); g != nil {
		last := v.head[len(v.head)-1].buf
		c.from, c.to = g.Offset, g.Offset+g.Bytes
		c.notice = g.notice(last[len(last)-1] != '\n')
	}
	return c
}

func (c *content) size() int64 { return c.from + int64(len(c.notice)) + c.v.size - c.to }

// each hands out all bytes, without copying.
func (c *content) each(f func([]byte) error) error {
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

func (c *content) Read(p []byte) (int, error) {
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
func (c *content) here() []byte {
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

func (c *content) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.pos
	case io.SeekEnd:
		offset += c.size()
	}
	if offset < 0 {
		return 0, errors.New("seek in output: negative position")
	}
	c.pos = offset
	return offset, nil
}
