package outputs

import (
	"io"
	"net/http"
	"sort"
	"strconv"

	"webchat/internal/kind"
)

// content is an output as it was at one moment, read as one file: head, a line in place of what was
// left out, tail. Its offsets are not the true ones once there is a gap.
type content struct {
	view
	o      *Output
	meta   Meta // with its gap
	parts  []piece
	length int64 // bytes there are to read

	head      http.Header // of a reply with the bytes as they are; shared by all replies
	squeezes  bool        // compression may make it smaller
	validator string      // without quotes
}

// piece is some of the bytes, up to an offset.
type piece struct {
	end   int64
	buf   []byte
	chunk int // its number; below 0: it stands for the gap
}

// content returns what there is of o now. That of a complete output is made once.
func (o *Output) content() *content {
	if made := o.made.Load(); made != nil {
		return made
	}
	v, m := o.acquire()
	c := &content{view: v, o: o, meta: m}
	gap := v.describe(&m)
	for i := range v.len() {
		at := v.at(i)
		if gap != nil && i == len(v.head) {
			c.meta.Gap, c.meta.Truncated = gap, true
			c.add(gap.notice(!endsWithLine(v.at(i-1).buf)), -1)
		}
		c.add(at.buf, i)
	}
	c.describe()
	if v.complete {
		o.made.Store(c)
	}
	return c
}

func (c *content) add(b []byte, chunk int) {
	c.length += int64(len(b))
	c.parts = append(c.parts, piece{c.length, b, chunk})
}

// describe makes what a reply says of the bytes. They never change under an id once complete: size
// and time of birth make the validator look like no other output's.
func (c *content) describe() {
	media := contentType(&c.meta, c.begin())
	c.validator = strconv.FormatInt(c.size, 36) + "-" +
		strconv.FormatInt(c.o.CreatedAt().UnixNano(), 36)
	c.head = http.Header{"Content-Disposition": {disposition(&c.meta)}}
	safeHeaders(c.head, []string{media}, valSandbox, valNoStore)
	if c.complete {
		c.head["Cache-Control"] = valNoCache
		c.head["Etag"] = []string{`"` + c.validator + `"`}
	}
	if c.length >= compressMin {
		c.head["Vary"] = valVary
		c.squeezes = c.complete && (media == typeText || media == kind.Unknown || media == kind.SVG)
	}
}

// begin is some of the first bytes; empty if there are none.
func (c *content) begin() []byte {
	if len(c.parts) == 0 {
		return nil
	}
	return c.bytes(0)
}

// bytes returns a part as readers may see it.
func (c *content) bytes(i int) []byte {
	if p := c.parts[i]; c.covers == nil || p.chunk < 0 {
		return p.buf
	}
	return c.text(c.parts[i].chunk).buf
}

// each hands out all bytes, without copying.
func (c *content) each(f func([]byte) error) error {
	for i := range c.parts {
		if err := f(c.bytes(i)); err != nil {
			return err
		}
	}
	return nil
}

// ReadAt implements [io.ReaderAt].
func (c *content) ReadAt(p []byte, off int64) (n int, err error) {
	i := sort.Search(len(c.parts), func(i int) bool { return c.parts[i].end > off })
	for ; n < len(p) && i < len(c.parts); i++ {
		b := c.bytes(i)
		n += copy(p[n:], b[off+int64(n)-c.parts[i].end+int64(len(b)):])
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// reader reads all of it.
func (c *content) reader() *io.SectionReader { return io.NewSectionReader(c, 0, c.length) }

// Reader reads what there is of o now, with a line of its own in place of the gap.
func (o *Output) Reader() *io.SectionReader { return o.content().reader() }
