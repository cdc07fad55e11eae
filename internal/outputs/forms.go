package outputs

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	charset "golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// follow serves the bytes as they come. What comes in a burst is sent together.
func (h *Handler) follow(w http.ResponseWriter, r *http.Request, o *Output, q query) {
	of, head := o.content().head, w.Header()
	safeHeaders(head, of["Content-Type"], valSandbox, valNoStore)
	head["Content-Disposition"] = of["Content-Disposition"]
	head["X-Accel-Buffering"] = []string{"no"} // a proxy must not hold it back
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	p := &paced{ResponseWriter: w}
	defer p.done()
	if p.extend(followTimeout) != nil || p.flush() != nil {
		return
	}
	ctx, open := r.Context(), false
	for f := o.Follow(q.offset); ; {
		piece, err := f.Next(ctx)
		if err != nil {
			return // complete, or the client left
		}
		b := piece.Bytes
		if piece.Gap != nil {
			b = piece.Gap.notice(open)
		}
		open = b[len(b)-1] != '\n'
		if p.extend(followTimeout) != nil {
			return
		}
		if _, err := w.Write(b); err != nil {
			return
		}
		if f.Pending() {
			continue
		}
		if p.flush() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(followPause):
		}
	}
}

// lines serves lines as they are stored.
func (h *Handler) lines(w http.ResponseWriter, r *http.Request, o *Output, q query) {
	c := o.Raw().content()
	head := w.Header()
	safeHeaders(head, valText, valSandbox, valNoStore)
	head["Content-Disposition"] = c.head["Content-Disposition"]
	lines := c.window(&c.meta, q.from, q.to)
	lineHeader(head, c, lines)
	if c.complete && !q.veil {
		head["Cache-Control"] = valNoCache
		head["Etag"] = c.head["Etag"]
		if unchanged(w, r, head["Etag"][0]) {
			return
		}
	}
	if r.Method == http.MethodHead {
		return
	}
	p := &paced{ResponseWriter: w}
	if q.veil {
		_ = o.CopyShown(r.Context(), p, q.from, q.to, q.lifted) // fails only when the client is gone
	} else {
		_ = c.copy(r.Context(), p, &c.meta, lines.from, lines.to)
	}
	p.done()
}

func lineHeader(head http.Header, c *content, lines window) {
	first := int64(c.meta.First())
	head["Webchat-Lines"] = []string{fmt.Sprintf("%d-%d/%d", first+lines.first, first+lines.last,
		first+c.view.lines()-1)}
}

// highlighted serves lines as HTML.
func (h *Handler) highlighted(w http.ResponseWriter, r *http.Request, o *Output, q query) {
	c := o.Raw().content()
	if !q.ranged {
		q.to = c.meta.First() + defaultLines - 1
	}
	lines := c.window(&c.meta, q.from, q.to)
	if lines.last-lines.first >= MaxHTMLLines {
		refuse(w, r, http.StatusBadRequest, "too_many_lines", "Ask for at most "+
			strconv.Itoa(MaxHTMLLines)+" lines at once.")
		return
	}
	var html []byte
	if lines.last >= lines.first && r.Method != http.MethodHead {
		var err error
		if html, err = h.views.HTML(r.Context(), o, c.meta.First()+int(lines.first), c.meta.First()+
			int(lines.last)); err != nil {
			if r.Context().Err() == nil {
				h.log.Error("output lines not rendered", "type", c.meta.Type, "error", err)
			}
			refuse(w, r, http.StatusInternalServerError, "render_failed",
				"The lines cannot be rendered: ask for them as text.")
			return
		}
	}
	head := w.Header()
	head["Webchat-Views"] = []string{strings.Join(h.views.Of(o), " ")}
	lineHeader(head, c, lines)
	send(w, r, valHTML, html)
}

// send answers with what was made for this request.
func send(w http.ResponseWriter, r *http.Request, contentType []string, body []byte) {
	safeHeaders(w.Header(), contentType, valSandbox, valNoStore)
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	if r.Method == http.MethodHead {
		return
	}
	p := &paced{ResponseWriter: w}
	_, _ = p.Write(body) // the client is gone if this fails
	p.done()
}

// Whole is an output as one object.
type Whole struct {
	ID   ID     `json:"id"`
	Data string `json:"data"`
	Facts
}

// Facts are what a [Whole] has besides the bytes.
type Facts struct {
	Encoding  string   `json:"encoding"` // of the data: utf-8 or base64
	Metadata  any      `json:"metadata"` // a [Meta]
	Size      int64    `json:"size"`
	Truncated bool     `json:"truncated"`
	CreatedAt string   `json:"createdAt"`
	ExpiresAt *string  `json:"expiresAt"` // null while it grows
	Views     []string `json:"views,omitempty"`
}

const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// json serves the output as one object, written as it goes: a large output is never in memory a
// second time.
func (h *Handler) json(w http.ResponseWriter, r *http.Request, o *Output, _ query) {
	c := o.content()
	tail := Facts{
		Encoding:  "utf-8",
		Metadata:  c.meta,
		Size:      c.size,
		Truncated: c.meta.Truncated,
		CreatedAt: o.CreatedAt().UTC().Format(timeFormat),
		Views:     h.views.Of(o),
	}
	if t := o.ExpiresAt(); c.complete && !t.IsZero() {
		s := t.UTC().Format(timeFormat)
		tail.ExpiresAt = &s
	}
	if !validUTF8(c.reader()) {
		tail.Encoding = "base64"
	}
	end, err := json.Marshal(tail)
	if err != nil {
		h.log.Error("output description not marshalled", "error", err)
		refuse(w, r, http.StatusInternalServerError, "internal", "The output cannot be described.")
		return
	}
	safeHeaders(w.Header(), valJSON, valJSONPolicy, valNoStore)
	if r.Method == http.MethodHead {
		return
	}
	p := &paced{ResponseWriter: w, always: true}
	defer p.done()
	b := bufio.NewWriterSize(p, 32<<10) // keeps the first error: the client is gone then
	_, _ = b.WriteString(`{"id":"` + string(o.ID()) + `","data":"`)
	if err := writeData(b, c, tail.Encoding); err != nil {
		return
	}
	_, _ = b.WriteString(`",`)
	_, _ = b.Write(end[1:])
	_ = b.Flush()
}

func writeData(w *bufio.Writer, c *content, encoding string) error {
	if encoding == "utf-8" {
		return c.each(func(b []byte) error { return escape(w, b) })
	}
	z := base64.NewEncoder(base64.StdEncoding, w)
	if err := c.each(func(b []byte) error { _, err := z.Write(b); return err }); err != nil {
		return err
	}
	return z.Close()
}

// escape writes b, a part of valid UTF-8, as a part of a JSON string that is harmless inside HTML
// too. The error is w's own.
func escape(w *bufio.Writer, b []byte) error {
	const hex = "0123456789abcdef"
	from := 0
	for i, c := range b {
		if c >= 0x20 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' {
			continue
		}
		_, _ = w.Write(b[from:i]) // w keeps its first error
		from = i + 1
		_ = w.WriteByte('\\')
		switch c {
		case '"', '\\':
			_ = w.WriteByte(c)
		case '\n':
			_ = w.WriteByte('n')
		case '\r':
			_ = w.WriteByte('r')
		case '\t':
			_ = w.WriteByte('t')
		default:
			_, _ = w.WriteString("u00")
			_ = w.WriteByte(hex[c>>4])
			_ = w.WriteByte(hex[c&15])
		}
	}
	_, err := w.Write(b[from:])
	return err
}

func validUTF8(r io.Reader) bool {
	_, err := io.Copy(io.Discard, transform.NewReader(r, charset.UTF8Validator))
	return err == nil
}
