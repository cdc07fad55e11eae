package outputs

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/internal/kind"
	"webchat/web"
)

// headers are the header values of an output's bytes. Those of a complete output are made once.
type headers struct {
	contentType, disposition, length []string
	etag                             [codings + 1][]string // of identity first
}

func makeHeaders(o *Output, c *snapshot) *headers {
	h := &headers{
		contentType: []string{contentType(&c.meta, c.begin())},
		disposition: []string{disposition(&c.meta)},
		length:      []string{strconv.FormatInt(c.length(), 10)},
	}
	// The bytes under an id never change once complete: size and time of birth are only there to
	// look like no other output's.
	tag := strconv.FormatInt(c.size, 36) + "-" + strconv.FormatInt(o.CreatedAt().UnixNano(), 36)
	for e := asIs; e < codings; e++ {
		s := `"` + tag + `"`
		if e != asIs {
			s = `"` + tag + "-" + e.String() + `"`
		}
		h.etag[e+1] = []string{s}
	}
	return h
}

// prepared returns what is served of o and its headers.
func prepared(o *Output) (*snapshot, *headers) {
	c := o.snapshot()
	if h := o.headers.Load(); h != nil {
		return c, h
	}
	h := makeHeaders(o, c)
	if c.complete {
		o.headers.Store(h)
	}
	return c, h
}

// raw serves the bytes. http.ServeContent, which copies, is left to requests that need it.
func (h *Handler) raw(w http.ResponseWriter, r *http.Request, o *Output) {
	c, hs := prepared(o)
	head := w.Header()
	safeHeaders(head, hs.contentType, valSandbox, valNoCache)
	head["Content-Disposition"] = hs.disposition
	if !c.complete {
		head["Cache-Control"] = valNoStore
	}
	if c.length() >= compressMin { // smaller: never compressed, and not worth a range
		head["Accept-Ranges"] = valBytes
		head["Vary"] = valVary
	}
	if r, ok := conditional(r); ok {
		if c.complete {
			head["Etag"] = hs.etag[0]
		}
		p := &paced{ResponseWriter: w, always: true}
		http.ServeContent(&judged{paced: p, request: r}, r, "", time.Time{}, c.reader())
		p.done()
		return
	}
	e, data := asIs, []byte(nil)
	if c.complete && squeezable(hs.contentType[0]) {
		e, data = h.encoded(r, c)
	}
	if c.complete {
		head["Etag"] = hs.etag[e+1]
		if h.unchanged(w, r, hs.etag[e+1][0]) {
			return
		}
	}
	head["Content-Length"] = hs.length
	if data != nil {
		head["Content-Encoding"] = []string{e.String()}
		head["Content-Length"] = []string{strconv.Itoa(len(data))}
	}
	if r.Method == http.MethodHead {
		return
	}
	p := &paced{ResponseWriter: w}
	if data != nil {
		_, _ = p.Write(data) // the client is gone if this fails
	} else {
		_ = c.each(func(b []byte) error { _, err := p.Write(b); return err })
	}
	p.done()
}

// conditional reports whether r needs ServeContent, and returns r without a range in a unit other
// than bytes, which is ignored (RFC 9110 §14.2).
func conditional(r *http.Request) (*http.Request, bool) {
	_, ranged := r.Header["Range"]
	if unit, _, _ := strings.Cut(r.Header.Get("Range"), "="); ranged && !strings.EqualFold(unit, "bytes") {
		r = r.Clone(r.Context())
		r.Header.Del("Range")
		ranged = false
	}
	_, matched := r.Header["If-Match"]
	return r, ranged || matched
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

// squeezable reports whether compression may make bytes of this type smaller.
func squeezable(contentType string) bool {
	return contentType == typeText || contentType == kind.Unknown || contentType == kind.SVG
}

// encoded returns the bytes in the first of the wanted encodings that is worth it.
func (h *Handler) encoded(r *http.Request, c *snapshot) (coding, []byte) {
	for _, name := range web.Encodings(r) {
		e := coding(slices.Index(codingNames, name) - 1)
		if data := h.compressed(r, e, c); data != nil {
			return e, data
		}
	}
	return asIs, nil
}

func (h *Handler) compressed(r *http.Request, e coding, c *snapshot) []byte {
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
func (h *Handler) unchanged(w http.ResponseWriter, r *http.Request, etag string) bool {
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
