package sse

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	r3labs "github.com/r3labs/sse/v2"
)

// batchSize bounds how much is joined into one event: r3labs formats each event for each subscriber
// by package fmt, which reuses buffers up to 64 KiB.
const batchSize = 60 << 10

// live is a topic that has clients: a stream of r3labs, and what that has yet to take. It exists
// from its first client's attach to its last one's detach.
type live struct {
	hub  *Hub
	name string // the topic's and the stream's
	refs int    // clients; guarded by hub.mu

	mu      sync.Mutex // guards what follows
	pending [][]byte   // events that the stream has yet to take
	end     int64      // bytes of records published
	last    int64      // bytes of records published before the last one
	ended   bool       // nothing more is taken: the hub closes, or the last client left
}

// attach makes c a subscriber of the topic's stream, creating that if c is the first or name is
// empty. detach undoes it and waits for all that was started.
func (h *Hub) attach(name string, c *client) (_ *sink, detach func()) {
	l := h.acquire(name)
	s, left := l.subscribe(c.ctx, func() { c.cut(ErrSlow) })
	return s, func() {
		// r3labs deregisters when the context ends, and only a stream that still exists can do so:
		// hence wait, then release.
		c.cancel(nil)
		<-left
		h.release(l)
	}
}

// subscribe returns when r3labs has the subscriber: what is published from now on arrives in the
// sink, the end of the topic included. left is closed when r3labs has let go of it, after ctx
// ended.
func (l *live) subscribe(ctx context.Context, cut func()) (s *sink, left <-chan struct{}) {
	s = &sink{
		live:     l,
		cut:      cut,
		attached: make(chan struct{}),
		wake:     make(chan struct{}, 1),
		header:   http.Header{},
	}
	// Not the client's request: r3labs would read its query and headers.
	stream := &url.URL{RawQuery: url.Values{"stream": {l.name}}.Encode()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.hub.fanout.ServeHTTP(s, (&http.Request{URL: stream}).WithContext(ctx))
	}()
	<-s.attached
	return s, done
}

func (h *Hub) acquire(name string) *live {
	h.mu.Lock()
	defer h.mu.Unlock()
	if name == "" { // for one client alone
		h.private++
		name = "/" + strconv.FormatUint(h.private, 10)
	}
	l := h.topics[name]
	if l == nil {
		// Close has listed the topics before: nothing else would end this one.
		l = &live{hub: h, name: name, ended: h.closed}
		h.topics[name] = l
		h.fanout.CreateStream(name)
	}
	l.refs++
	return l
}

func (h *Hub) release(l *live) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.refs--; l.refs > 0 {
		return
	}
	delete(h.topics, l.name)
	h.fanout.RemoveStream(l.name)
	// A publisher may have found l just before. What it brings was in its log before a client can
	// attach anew, so none misses it.
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
}

func (l *live) publish(frames []Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	for _, f := range frames {
		n := len(l.pending) - 1
		if size := maxRecord(f); n < 0 || len(l.pending[n])+size > batchSize {
			l.pending = append(l.pending, make([]byte, 0, size))
			n++
		}
		before := len(l.pending[n])
		l.pending[n] = appendRecord(l.pending[n], l.end, f)
		l.last, l.end = l.end, l.end+int64(len(l.pending[n])-before)
	}
	l.move()
}

// move hands what is pending to the stream as far as that takes it at once, which is all in quiet
// times. If it takes nothing, an event waits before its loop, and each client that gets that one
// calls move anew. l.mu is held.
func (l *live) move() {
	for len(l.pending) > 0 {
		// A comment, since r3labs writes that as it is, while data gets an id line, even an empty
		// one, and is lost or forges lines depending on its bytes.
		if !l.hub.fanout.TryPublish(l.name, &r3labs.Event{Comment: l.pending[0]}) {
			return
		}
		l.pending[0] = nil
		l.pending = l.pending[1:]
	}
	l.pending = nil
}

// publishEnd lets the clients know that nothing follows on this topic.
func (l *live) publishEnd() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.pending = append(l.pending, []byte("end")) // shorter than a record
	l.move()
}
