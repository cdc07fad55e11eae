package sse

import (
	"net/http"
	"sync"
)

// sink is the ResponseWriter that r3labs writes a client's events to. It takes
// them at once, always: a blocked one would stop r3labs' loop and with it every
// client of the topic. What it holds is bounded; beyond, it calls over and takes
// no more.
type sink struct {
	limit    int
	over     func()
	buffers  *bufferPool
	attached chan struct{} // closed when r3labs has the subscriber
	wake     chan struct{} // has one when there is something to take

	mu      sync.Mutex // guards what follows
	header  http.Header
	buf     []byte // records while holding, else text for the client
	writing int    // bytes taken and not yet written
	holding bool   // the client still replays
	pos     int64  // what the replay held
	end     bool   // the topic ended
	full    bool   // over was called
}

func newSink(limit int, buffers *bufferPool, over func()) *sink {
	return &sink{
		limit:    limit,
		over:     over,
		buffers:  buffers,
		attached: make(chan struct{}),
		wake:     make(chan struct{}, 1),
		header:   http.Header{},
		holding:  true,
	}
}

// Header is for r3labs, which sets its own; ours are on the real response.
func (s *sink) Header() http.Header { return s.header }

// WriteHeader is r3labs' sign that the subscriber is registered.
func (s *sink) WriteHeader(int) {
	s.header = nil
	close(s.attached)
}

// Write takes what r3labs writes for an event: a comment, which is our records
// between ": " and a line end, in one call; then an empty line in another.
func (s *sink) Write(p []byte) (int, error) {
	if len(p) < len(": \n") {
		return len(p), nil
	}
	records := p[len(": ") : len(p)-len("\n")]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		return len(p), nil
	}
	if waiting := len(s.buf) + s.writing; waiting > 0 && waiting+len(records) > s.limit {
		s.full, s.buf = true, nil
		s.over()
		return len(p), nil
	}
	if s.holding {
		s.buf = append(s.buf, records...)
	} else {
		s.add(records)
	}
	return len(p), nil
}

func (s *sink) add(records []byte) {
	if s.buf == nil {
		s.buf = s.buffers.get()
	}
	var end bool
	s.buf, end = appendLive(s.buf, records, s.pos)
	s.end = s.end || end
}

// Flush ends an event of r3labs.
func (s *sink) Flush() {
	s.mu.Lock()
	ready := !s.holding && (len(s.buf) > 0 || s.end)
	s.mu.Unlock()
	if ready {
		s.signal()
	}
}

func (s *sink) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// goLive ends the holding: what was held and lies after pos is to be taken, then
// all that comes.
func (s *sink) goLive(pos int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.buf
	s.buf, s.pos, s.holding = nil, pos, false
	s.add(held)
	s.signal()
}

// take returns what is to be written now, which belongs to the caller until
// written, and whether the topic ended with it.
func (s *sink) take() (text []byte, end bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = s.buf
	s.buf, s.writing = nil, len(text)
	return text, s.end
}

// written gives back what take returned.
func (s *sink) written(text []byte) {
	s.mu.Lock()
	s.writing = 0
	s.mu.Unlock()
	s.buffers.put(text)
}

// bufferPool lends the sinks of a hub their buffers, so that an idle stream holds
// none.
type bufferPool struct{ pool sync.Pool }

func (p *bufferPool) get() []byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, 4<<10)
}

func (p *bufferPool) put(b []byte) {
	if cap(b) > 0 && cap(b) <= 128<<10 {
		p.pool.Put(&b)
	}
}
