package outputs

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/web"
)

// bytes serves the bytes as they are, or in a coding that is stored.
func (h *Handler) bytes(w http.ResponseWriter, r *http.Request, o *Output, _ query) {
	c := o.content()
	maps.Copy(w.Header(), c.head)
	var body io.ReadSeeker = io.NewSectionReader(c, 0, c.length)
	if r.Header["Range"] != nil || r.Header["If-Match"] != nil { // they may get a part, or a refusal
		h.parts(w, r, body)
		return
	}
	if c.squeezes && r.Header["Accept-Encoding"] != nil {
		if data := h.encoded(w.Header(), r, c); data != nil {
			body = bytes.NewReader(data)
		}
	}
	p := &paced{ResponseWriter: w}
	http.ServeContent(p, r, "", time.Time{}, body)
	p.done()
}

// parts serves what a request asks for of body, with refusals of ours. A range in a unit other than
// bytes is ignored (RFC 9110 §14.2).
func (h *Handler) parts(w http.ResponseWriter, r *http.Request, body io.ReadSeeker) {
	if unit, _, _ := strings.Cut(r.Header.Get("Range"), "="); !strings.EqualFold(unit, "bytes") {
		r = r.Clone(r.Context())
		r.Header.Del("Range")
	}
	p := &paced{ResponseWriter: w, always: true}
	http.ServeContent(&judged{paced: p, request: r}, r, "", time.Time{}, body)
	p.done()
}

// judged replaces the error replies of ServeContent with ours.
type judged struct {
	*paced
	request *http.Request
	refused bool
}

// WriteHeader implements [http.ResponseWriter].
func (j *judged) WriteHeader(status int) {
	code, sentence := "", ""
	switch status {
	case http.StatusRequestedRangeNotSatisfiable:
		code, sentence = "bad_range", "There are no such bytes: Content-Range says how many there are."
	case http.StatusPreconditionFailed:
		code, sentence = "precondition_failed", "These are not the bytes that If-Match names."
	default:
		j.paced.WriteHeader(status)
		return
	}
	j.refused = true
	head := j.Header()
	delete(head, "Content-Disposition")
	delete(head, "Etag")
	refuse(j.paced, j.request, status, code, sentence)
}

// Write implements [io.Writer].
func (j *judged) Write(b []byte) (int, error) {
	if j.refused {
		return len(b), nil
	}
	return j.paced.Write(b)
}

// encoded returns the bytes in the first of the wanted codings that is worth it, and says so in the
// header of the reply; nil means as they are.
func (h *Handler) encoded(head http.Header, r *http.Request, c *content) []byte {
	for _, name := range web.Encodings(r) {
		if data := h.compressed(r, coding(slices.Index(codingNames, name)-1), c); data != nil {
			head["Etag"] = []string{`"` + c.validator + "-" + name + `"`}
			head["Content-Encoding"] = []string{name}
			head["Content-Length"] = []string{strconv.Itoa(len(data))}
			return data
		}
	}
	return nil
}

func (h *Handler) compressed(r *http.Request, e coding, c *content) []byte {
	if data, decided := c.compressed(e); decided { // the usual case
		return data
	}
	if !h.enter(r) {
		return nil
	}
	defer h.exit()
	return c.compress(e)
}

// enter waits for a slot for heavy work. It returns false if the client left.
func (h *Handler) enter(r *http.Request) bool {
	select {
	case h.heavy <- struct{}{}:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (h *Handler) exit() { <-h.heavy }

// unchanged answers 304 when the client has what etag names.
func unchanged(w http.ResponseWriter, r *http.Request, etag string) bool {
	for _, field := range r.Header["If-None-Match"] {
		for t := range strings.SplitSeq(field, ",") {
			if t = strings.TrimPrefix(strings.TrimSpace(t), "W/"); t == etag || t == "*" {
				head := w.Header()
				for _, k := range []string{"Content-Type", "Content-Disposition", "Content-Length"} {
					delete(head, k)
				}
				w.WriteHeader(http.StatusNotModified)
				return true
			}
		}
	}
	return false
}

// paced cuts a client that reads nothing: it must take each writeStep bytes within writeTimeout. A
// small reply, which the kernel buffers at once, is written without a deadline.
type paced struct {
	http.ResponseWriter
	always  bool                     // many small writes are coming
	control *http.ResponseController // nil until something large is written
}

func (p *paced) Write(b []byte) (int, error) {
	if len(b) <= 16<<10 && p.control == nil && !p.always {
		return p.ResponseWriter.Write(b)
	}
	n := 0
	for len(b) > 0 {
		if err := p.extend(writeTimeout); err != nil {
			return n, err
		}
		k, err := p.ResponseWriter.Write(b[:min(len(b), writeStep)])
		if n += k; err != nil {
			return n, err
		}
		b = b[k:]
	}
	return n, nil
}

// ReadFrom implements [io.ReaderFrom] for [http.ServeContent], which copies: the bytes of an output
// are written from where they are kept.
func (p *paced) ReadFrom(src io.Reader) (n int64, err error) {
	part, _ := src.(*io.LimitedReader)
	if part == nil {
		return io.Copy(struct{ io.Writer }{p}, src)
	}
	s, ok := part.R.(*io.SectionReader)
	if !ok {
		return io.Copy(struct{ io.Writer }{p}, src)
	}
	all, _, _ := s.Outer()
	at, err := s.Seek(0, io.SeekCurrent)
	for _, x := range all.(*content).parts { // never covered: what is served as bytes is not
		if err != nil || n == part.N {
			break
		}
		if x.end > at {
			b := x.buf[at-x.end+int64(len(x.buf)):]
			var k int
			k, err = p.Write(b[:min(int64(len(b)), part.N-n)])
			n, at = n+int64(k), at+int64(k)
		}
	}
	return n, err
}

func (p *paced) extend(d time.Duration) error {
	if p.control == nil {
		p.control = http.NewResponseController(p.ResponseWriter)
	}
	err := p.control.SetWriteDeadline(time.Now().Add(d))
	if errors.Is(err, http.ErrNotSupported) {
		return nil // no connection of its own, as in tests
	}
	return err
}

func (p *paced) flush() error {
	err := p.control.Flush()
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// done takes the deadline off the connection, which may serve more requests.
func (p *paced) done() {
	if p.control != nil {
		_ = p.control.SetWriteDeadline(time.Time{}) // refused only where there is no deadline
	}
}

var _ io.Writer = (*paced)(nil)
