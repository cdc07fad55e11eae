package sse

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	r3labs "github.com/r3labs/sse/v2"
)

const (
	// fanoutBuffer is how many events may wait for r3labs' loop. Few, because what
	// waits on our side of it is joined into one.
	fanoutBuffer = 1
	// batchSize bounds how much is joined into one event: r3labs formats each
	// event for each subscriber by package fmt, which reuses buffers up to 64 KiB.
	batchSize = 60 << 10
)

// Topic is a named stream of a hub that many clients read.
type Topic struct {
	hub  *Hub
	name string
}

// Publish delivers frames, in this order, to every client of the topic. It never
// blocks and keeps no reference to the frames' data. Without clients it does
// nothing.
func (t *Topic) Publish(frames ...Frame) {
	t.hub.mu.RLock()
	l := t.hub.topics[t.name]
	t.hub.mu.RUnlock()
	if l != nil && len(frames) > 0 {
		l.publish(frames)
	}
}

// Subscribers counts the clients of the topic.
func (t *Topic) Subscribers() int {
	t.hub.mu.RLock()
	defer t.hub.mu.RUnlock()
	if l := t.hub.topics[t.name]; l != nil {
		return l.refs
	}
	return 0
}

// Serve answers r with the topic's stream until the client leaves, is cut or the
// hub closes. It attaches to the topic first, then calls replay, which sends the
// past that this client lacks and returns the Pos up to which the past is
// complete: live frames with a Pos up to there are dropped, all others follow.
// The header goes with the first frame that replay sends, or when it returns, so a
// replay that looks at the past before it sends lets a client that has the header
// miss nothing from then on. Frames that replay sent may wait for each other until
// it returns. Its send waits for the client, at most WriteTimeout without progress; its ctx ends when
// the client has gone or was cut, or the hub closes. A nil replay sends nothing.
//
// Serve returns nil when the client left or the hub closed, ErrSlow when the
// client was cut, else replay's error. To a HEAD it writes the header alone.
func (t *Topic) Serve(w http.ResponseWriter, r *http.Request, replay func(ctx context.Context, send func(Frame) error) (pos int64, err error)) error {
	c, err := t.hub.open(w, r)
	if c == nil {
		return err
	}
	defer c.end()
	s, detach := t.hub.attach(t.name, c)
	defer detach()
	return c.result(t.serve(c, s, replay))
}

func (t *Topic) serve(c *client, s *sink, replay func(context.Context, func(Frame) error) (int64, error)) error {
	var pos int64
	var err error
	if replay != nil {
		pos, err = replay(c.soft, func(f Frame) error { return c.send(f, false) })
	}
	written := c.flush()
	switch {
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	case c.soft.Err() != nil && replay != nil:
		return c.farewell(nil)
	case err != nil:
		return fmt.Errorf("sse: replay for %s: %w", t.name, err)
	case written != nil:
		return written
	}
	s.goLive(pos)
	for {
		select {
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		case <-s.wake:
		}
		text, end := s.take()
		if end {
			return c.farewell(text)
		}
		err := c.write(text)
		s.written(text)
		if err != nil {
			return err
		}
	}
}

// live is a topic that has clients: one stream of the fan-out and the queue before
// it. It exists from its first client's attach to its last one's detach.
type live struct {
	hub    *Hub
	name   string // the topic's
	stream string // the stream's name in the fan-out: unique in the hub's life
	url    *url.URL
	refs   int // clients; guarded by hub.mu

	mu      sync.Mutex // guards what follows
	clients map[*client]struct{}
	queue   [][]byte // batches of records the fan-out could not take yet
	queued  int      // bytes in queue
	pumping bool     // a goroutine moves queue into the fan-out
	ended   bool     // nothing more is taken: the hub closes, or the last client left
	pumps   sync.WaitGroup
}

// attach makes c a subscriber of the topic's stream, creating that if c is the
// first, and returns when r3labs has it: what is published from now on arrives in
// the sink, the end of the topic included. detach undoes it and waits for all that
// was started.
func (h *Hub) attach(name string, c *client) (_ *sink, detach func()) {
	l := h.acquire(name)
	l.mu.Lock()
	l.clients[c] = struct{}{}
	l.mu.Unlock()

	s := newSink(h.config.Buffer, &h.buffers, func() { c.cut(ErrSlow) })
	// Not the client's request: r3labs would read its query and headers.
	r := (&http.Request{URL: l.url}).WithContext(c.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.fanout.ServeHTTP(s, r)
	}()
	<-s.attached
	l.repeatEnd()
	return s, func() {
		// r3labs deregisters when the context ends, and only a stream that still
		// exists can do so: hence wait, then release.
		c.cancel(nil)
		<-done
		l.mu.Lock()
		delete(l.clients, c)
		l.mu.Unlock()
		h.release(l)
	}
}

func (h *Hub) acquire(name string) *live {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.topics[name]
	if l == nil {
		h.made++
		stream := strconv.FormatUint(h.made, 10)
		l = &live{
			hub:     h,
			name:    name,
			stream:  stream,
			url:     &url.URL{RawQuery: "stream=" + stream},
			clients: map[*client]struct{}{},
			// Close has listed the topics before: nobody else would end this one.
			ended: h.closed,
		}
		h.topics[name] = l
		h.fanout.CreateStream(stream)
	}
	l.refs++
	return l
}

func (h *Hub) release(l *live) {
	h.mu.Lock()
	l.refs--
	last := l.refs == 0
	if last {
		delete(h.topics, l.name)
		h.fanout.RemoveStream(l.stream) // also frees a pump that waits for it
	}
	h.mu.Unlock()
	if !last {
		return
	}
	// A publisher may have found l just before. What it brings was in its log before
	// anybody can attach anew, so nobody misses it.
	l.mu.Lock()
	l.ended, l.queue, l.queued = true, nil, 0
	l.mu.Unlock()
	l.pumps.Wait()
}

func (l *live) publish(frames []Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	for _, f := range frames {
		b := l.batch(recordHead + len("id: \nevent: \ndata: \n\n") + 19 + len(f.Event) + len(f.Data))
		before := len(*b)
		*b = appendRecord(*b, f)
		l.queued += len(*b) - before
	}
	l.move()
}

// publishEnd says that nothing follows on this topic.
func (l *live) publishEnd() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ended = true
	l.endLocked()
}

// repeatEnd publishes the end of a topic that has ended once more, for a client
// that the fan-out may have taken after the first. The others ignore it.
func (l *live) repeatEnd() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		l.endLocked()
	}
}

// endLocked queues the record of the end. l.mu is held.
func (l *live) endLocked() {
	b := l.batch(recordHead)
	*b = appendEnd(*b)
	l.move()
}

// batch returns the queue's last batch if size more bytes are to go there, else a
// new one. l.mu is held.
func (l *live) batch(size int) *[]byte {
	n := len(l.queue)
	if n == 0 || len(l.queue[n-1])+size > batchSize {
		l.queue = append(l.queue, make([]byte, 0, size))
		n++
	}
	return &l.queue[n-1]
}

// move hands the queue to the fan-out as far as that takes it at once, which is
// all in quiet times, and lets a goroutine wait with the rest. While it waits, what
// is published joins the queue's last batch. l.mu is held.
func (l *live) move() {
	if l.pumping {
		if l.queued > l.hub.config.Buffer && len(l.queue) > 1 {
			l.overflow()
		}
		return
	}
	for len(l.queue) > 0 {
		if !l.hub.fanout.TryPublish(l.stream, event(l.queue[0])) {
			l.pumping = true
			l.pumps.Go(l.pump)
			return
		}
		l.pop()
	}
}

func (l *live) pump() {
	for {
		l.mu.Lock()
		if len(l.queue) == 0 {
			l.pumping = false
			l.mu.Unlock()
			return
		}
		batch := l.pop()
		l.mu.Unlock()
		l.hub.fanout.Publish(l.stream, event(batch))
	}
}

func (l *live) pop() []byte {
	batch := l.queue[0]
	l.queued -= len(batch)
	l.queue[0] = nil
	if l.queue = l.queue[1:]; len(l.queue) == 0 {
		l.queue = nil
	}
	return batch
}

// overflow ends all streams of a topic whose publisher outran the fan-out: nothing
// may be left out, so the clients fetch it from the log. l.mu is held.
func (l *live) overflow() {
	l.queue, l.queued = nil, 0
	for c := range l.clients {
		c.cut(ErrSlow)
	}
}

// event wraps records for the fan-out. As a comment, since r3labs writes that as it
// is, while data gets an id line, even an empty one, which resets the client's
// Last-Event-ID, and is lost or forges lines depending on its bytes.
func event(records []byte) *r3labs.Event { return &r3labs.Event{Comment: records} }
