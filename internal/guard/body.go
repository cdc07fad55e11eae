package guard

import (
	"io"
	"net/http"
	"time"
)

// hasBody reports whether a body follows the header, as far as that says.
func hasBody(r *http.Request) bool {
	return r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0
}

// timedBody ends a body that comes too slowly. The deadline is the connection's, and one left
// standing would end the request while its handler still answers, so it is lifted as soon as the
// body has been read. A request that is refused before keeps it: net/http reads on for a while to
// give the refusal a chance.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
	lifted  bool
}

func timed(w http.ResponseWriter, body io.ReadCloser, known bool) io.ReadCloser {
	control, limit := http.NewResponseController(w), strangerTime
	if known {
		limit = bodyTime
	}
	if control.SetReadDeadline(time.Now().Add(limit)) != nil {
		return body // not a connection, so there is nothing to wait for
	}
	return &timedBody{ReadCloser: body, control: control}
}

// Read implements [io.Reader].
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF { // after another error net/http looks for the end, and must not wait
		b.lift()
	}
	return n, err
}

func (b *timedBody) lift() {
	if !b.lifted {
		b.lifted = true
		_ = b.control.SetReadDeadline(time.Time{}) // fails only on a connection that is gone
	}
}
