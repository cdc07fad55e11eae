package guard

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// room is how many requests may be at work. Strangers have a quarter of it.
type room struct {
	most, strangers int64
	all, strange    atomic.Int64
}

func newRoom(most int) *room { return &room{most: int64(most), strangers: max(int64(most)/4, 1)} }

// enter takes a place; release gives it back and may be called more than once. nil means that there
// is none.
func (r *room) enter(known bool) (release func()) {
	if !known && r.strange.Add(1) > r.strangers {
		r.strange.Add(-1)
		return nil
	}
	if r.all.Add(1) > r.most {
		r.release(known)
		return nil
	}
	return sync.OnceFunc(func() { r.release(known) })
}

func (r *room) release(known bool) {
	r.all.Add(-1)
	if !known {
		r.strange.Add(-1)
	}
}

type releaseKey struct{}

// Streaming says that the request has become an event stream. It does not count as a request at
// work any more: streams have their own bound.
func Streaming(r *http.Request) {
	if release, ok := r.Context().Value(releaseKey{}).(func()); ok {
		release()
	}
}

// atWork has a request done with a place of its own, or refused without one.
func (g *Guard) atWork(w http.ResponseWriter, r *http.Request, known bool, next http.Handler) {
	release := g.room.enter(known)
	if release == nil {
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "too_many_requests", "Too many requests are at work; try again in a second.")
		return
	}
	defer release()
	place := placeOf(r.Context())
	place.begin(known, answerTime)
	defer place.end()
	next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), releaseKey{}, release)))
}

// What a stranger may send and take.
const (
	// maxStranger is the size of a body without credentials, in bytes.
	maxStranger = 1 << 10
	// strangerTime is how long it may take.
	strangerTime = 5 * time.Second
	// answerTime is how long the answer may take to be read, but for that to the holder of an
	// output's id.
	answerTime = 30 * time.Second
)

// receive reads a stranger's body before the request takes any place: one that does not come holds
// nothing but its connection. It returns nil when it answered itself. A body that is too long is
// left alone, so that whatever is wrong with the request besides is said.
func receive(w http.ResponseWriter, r *http.Request) *http.Request {
	if !hasBody(r) {
		return r
	}
	got := *r
	if r.ContentLength <= maxStranger {
		b, err := io.ReadAll(io.LimitReader(r.Body, maxStranger+1))
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			refuse(w, http.StatusRequestTimeout, "too_slow", "The body did not arrive in time; send it again.")
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

// Read implements [io.Reader].
func (tooLong) Read([]byte) (int, error) { return 0, &http.MaxBytesError{Limit: maxStranger} }

// Close implements [io.Closer].
func (tooLong) Close() error { return nil }
