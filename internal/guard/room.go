package guard

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
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

// Streaming notes that the request has become an event stream. It no longer counts as a request at
// work: streams have their own bound.
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
