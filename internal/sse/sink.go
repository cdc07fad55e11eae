package sse

import (
	"net/http"
	"sync"
)

// sink is the ResponseWriter that r3labs writes a client's events to. It takes them at once,
// always: a blocked one would stop r3labs' loop and with it every client of the topic. The client
// takes from it what it writes to the network.
type sink struct {
	live     *live
	cut      func()        // what waits is more than the hub's Config.Buffer
	attached chan struct{} // closed when r3labs has the subscriber
	wake     chan struct{} // has one when there is more
	header   http.Header
	from     int64 // bytes published before r3labs had the subscriber

	taken int64  // bytes published up to what take returned; for take alone, like spare
	spare []byte // what take returned, to be filled next

	mu      sync.Mutex // guards what follows
	buf     []byte     // records
	written int64      // bytes published that the client has, or did not want
	full    bool       // cut was called
}

// Header is for r3labs, which sets its own; ours are on the real response.
func (s *sink) Header() http.Header { return s.header }

// WriteHeader is r3labs' sign that the subscriber is registered.
func (s *sink) WriteHeader(int) {
	s.live.mu.Lock()
	s.from = s.live.end
	s.live.mu.Unlock()
	s.taken, s.written, s.header = s.from, s.from, nil
	close(s.attached)
}

// Write takes what r3labs writes for an event: a comment, which is our records between ": " and a
// line end, in one call; then an empty line in another.
func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(p) - len("\n"); n > recordHead && !s.full {
		s.buf = append(s.buf, p[len(": "):n]...)
	}
	return len(p), nil
}

// Flush ends an event of r3labs. Here, and only here, it is decided that a client is too slow: when
// more waits for it, here or before r3labs, than Config.Buffer, unless that is a single frame.
func (s *sink) Flush() {
	l := s.live
	l.mu.Lock()
	l.move()
	end, last := l.end, l.last
	l.mu.Unlock()
	s.mu.Lock()
	slow := !s.full && end-s.written > int64(l.hub.config.Buffer) && s.written < last
	if slow {
		s.full, s.buf = true, nil
	}
	s.mu.Unlock()
	if slow {
		s.cut()
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// take returns the text of the frames that wait and have no Pos up to pos: nil when there is none
// now, and then whether the topic has ended. It is the caller's until the next call, for which it
// counts as written.
func (s *sink) take(pos int64) (text []byte, end bool) {
	for {
		s.mu.Lock()
		records := s.buf
		s.buf, s.spare, s.written = s.spare[:0], records, s.taken
		if len(records) == 0 {
			s.buf, s.spare = nil, nil // an idle stream holds none
		}
		s.mu.Unlock()
		if len(records) == 0 {
			s.live.mu.Lock()
			defer s.live.mu.Unlock()
			return nil, s.live.ended && s.taken == s.live.end
		}
		if text, s.taken = appendLive(records[:0], records, s.from, pos); len(text) > 0 {
			return text, false
		}
	}
}
