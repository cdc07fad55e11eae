package guard

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// hasBody reports whether a body follows the header, as far as that says.
func hasBody(r *http.Request) bool {
	return r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0
}

// A body has bodyTime to come. That of a request with credentials has a second more for each
// bodyRate bytes that came: a picture by a slow network is let in, and what only holds a place
// ends.
const (
	bodyTime = 5 * time.Second
	bodyRate = 8 << 10
)

// timedBody ends a body that comes too slowly. The deadline is the connection's, and one left
// standing would end the request while its handler still answers, so it is lifted as soon as the
// body has been read. A request that is refused before keeps it: net/http reads on for a while to
// give the refusal a chance.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
	steady  bool // each bodyRate bytes move the deadline on by a second
	begun   bool
	until   time.Time // the deadline
	came    int64     // bytes of the next second
	lifted  bool
}

// timed returns a request whose body has to come in time. It is a copy: net/http looks at its own
// to decide whether what was not read is worth waiting for.
func timed(w http.ResponseWriter, r *http.Request, known bool) *http.Request {
	control := http.NewResponseController(w)
	if !hasBody(r) || control.SetReadDeadline(time.Now().Add(bodyTime)) != nil {
		return r // without a connection there is nothing to wait for
	}
	got := *r
	got.Body = &timedBody{ReadCloser: r.Body, control: control, steady: known}
	return &got
}

func (b *timedBody) Read(p []byte) (int, error) {
	if !b.begun && b.steady { // its handler may have waited for something else before
		b.begun, b.until = true, time.Now().Add(bodyTime)
		_ = b.control.SetReadDeadline(b.until)
	}
	n, err := b.ReadCloser.Read(p)
	switch b.came += int64(n); {
	case b.lifted:
	case err == io.EOF: // after another error net/http looks for the end, and must not wait
		b.lifted = true
		_ = b.control.SetReadDeadline(time.Time{}) // fails only on a connection that is gone
	case b.steady && b.came >= bodyRate:
		b.until = b.until.Add(time.Duration(b.came/bodyRate) * time.Second)
		b.came %= bodyRate
		_ = b.control.SetReadDeadline(b.until)
	}
	return n, err
}

// What a stranger may send and take.
const (
	// maxStranger is the size of a body without credentials, in bytes.
	maxStranger = 1 << 10
	// answerTime is how long the answer may take to be read, but for that to the holder of an
	// output's id.
	answerTime = 30 * time.Second
)

// receive reads a stranger's body before the request takes any place: one that does not come holds
// nothing but its connection. It returns nil when it answered itself. A body that is too long is
// left alone, so that the reply names what else is wrong with the request.
func receive(w http.ResponseWriter, r *http.Request) *http.Request {
	if !hasBody(r) {
		return r
	}
	got := *r
	if r.ContentLength <= maxStranger {
		b, err := io.ReadAll(io.LimitReader(r.Body, maxStranger+1))
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			refuse(w, http.StatusRequestTimeout, "too_slow",
				"The body did not arrive in time; send it again.")
			return nil
		case err != nil:
			refuse(w, http.StatusBadRequest, "body_cut", "The body ended before its end; send it again.")
			return nil
		case len(b) <= maxStranger:
			got.Body, got.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
			return &got
		}
	}
	// net/http would wait for the rest before it answers.
	w.Header().Set("Connection", "close")
	got.Body = tooLong{}
	return &got
}

// tooLong is a body of which nothing is read.
type tooLong struct{}

func (tooLong) Read([]byte) (int, error) { return 0, &http.MaxBytesError{Limit: maxStranger} }

func (tooLong) Close() error { return nil }
