package guard

import (
	"context"
	"errors"
	"net/http"
	"sync"
)

// ErrStreams means that no further stream may be open: answer 503 with Retry-After.
var ErrStreams = errors.New("too many event streams and waiting requests are open")

// room is how much may be at work at the same time. One user may have half of it, and strangers a
// quarter together, so that none of them closes the server for the others.
type room struct {
	most int
	mu   sync.Mutex // guards what follows
	all  int
	of   map[visitor]int
}

func newRoom(most int) *room { return &room{most: most, of: map[visitor]int{}} }

// share is how much one visitor may have.
func (r *room) share(v visitor) int {
	if v.known {
		return max(r.most/2, 1)
	}
	return max(r.most/4, 1)
}

// enter takes a place; leave gives it back. nil means that there is none.
func (r *room) enter(v visitor) (leave func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all >= r.most || r.of[v] >= r.share(v) {
		return nil
	}
	r.all++
	r.of[v]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all--
		if r.of[v]--; r.of[v] == 0 {
			delete(r.of, v)
		}
	}
}

// seat is the place of a request that is at work.
type seat struct {
	streams *room
	v       visitor

	mu       sync.Mutex // guards what follows
	leave    func()
	streamed bool
}

type seatKey struct{}

// Streaming notes that the request has become an event stream, or waits until something happens.
// From then on it counts as so many streams, which have their own bound, and not as a request.
// [ErrStreams] when there are too many. What counts already is not counted again.
func Streaming(r *http.Request, streams int) error {
	s, ok := r.Context().Value(seatKey{}).(*seat)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streamed {
		return nil
	}
	var places []func()
	leave := func() {
		for _, leave := range places {
			leave()
		}
	}
	for range streams {
		place := s.streams.enter(s.v)
		if place == nil {
			leave()
			return ErrStreams
		}
		places = append(places, place)
	}
	s.leave()
	s.leave, s.streamed = leave, true
	return nil
}

func (s *seat) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave()
}

// atWork has a request done with a place of its own, or refused without one.
func (g *Guard) atWork(w http.ResponseWriter, r *http.Request, v visitor, next http.Handler) {
	leave := g.requests.enter(v)
	if leave == nil {
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "too_many_requests",
			"Too many requests are at work; try again in a second.")
		return
	}
	s := &seat{streams: g.streams, v: v, leave: leave}
	defer s.end()
	place := placeOf(r.Context())
	place.begin(v, answerTime)
	defer place.end()
	next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), seatKey{}, s)))
}
