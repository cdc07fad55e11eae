package sse

import (
	"net/http"
	"net/url"
	"strconv"
	"sync"

	r3labs "github.com/r3labs/sse/v2"
)

// blockSize is how large a block of a topic's queue may become: as much as one
// write takes.
const blockSize = 64 << 10

// live is a topic that has clients. Its queue is the only one between Publish and
// the network: frames are formatted into it once, and the clients write from it,
// each at its own place. The fan-out tells them that there is more. It carries no
// frames, so what it joins or holds back loses nothing.
//
// A live exists from its first client's attach to its last one's detach.
type live struct {
	hub    *Hub
	name   string // the topic's
	stream string // the stream's name in the fan-out: unique in the hub's life
	url    *url.URL
	more   *r3labs.Event
	refs   int // clients; guarded by hub.mu

	mu    sync.Mutex // guards what follows, and the blocks
	tail  *block     // the end of the queue; its clients hold on to the rest
	end   int64      // bytes published
	last  int64      // bytes published before the last frame
	ended bool       // nothing more is taken: the hub closes, or the last client left
}

// block is a part of a queue: frames as they go over the wire. What was written to
// it stays as it is, so clients read it without the lock.
type block struct {
	text   []byte
	places []place
	next   *block // nil while this one grows
}

// place is one frame of a block.
type place struct {
	pos int64 // the frame's Pos
	end int   // where its text ends
}

// reader is a client's place in the queue. It is also the ResponseWriter that
// r3labs writes to when there is more. That never blocks, since a blocked one would
// stop r3labs' loop and with it every client of the topic.
type reader struct {
	live     *live
	cut      func()        // what waits is more than the hub's Config.Buffer
	attached chan struct{} // closed when r3labs has the subscriber
	wake     chan struct{} // has one when there is more
	header   http.Header

	block   *block // guarded by live.mu, as what follows
	next    int    // the place of block to be taken next
	written int64  // bytes of the queue that the client has, or did not want
	taken   int64  // bytes of the queue up to next
}

// attach makes c a reader of the topic, creating its queue if c is the first or name
// is empty, and returns when r3labs has it: what is published from now on is there to be taken,
// the end of the topic included. detach undoes it and waits for all that was
// started.
func (h *Hub) attach(name string, c *client) (_ *reader, detach func()) {
	l := h.acquire(name)
	rd := l.reader(func() { c.cut(ErrSlow) })
	// Not the client's request: r3labs would read its query and headers.
	r := (&http.Request{URL: l.url}).WithContext(c.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.fanout.ServeHTTP(rd, r)
	}()
	<-rd.attached
	return rd, func() {
		// r3labs deregisters when the context ends, and only a stream that still
		// exists can do so: hence wait, then release.
		c.cancel(nil)
		<-done
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
		if name == "" {
			name = "/" + stream // for this client alone
		}
		l = &live{
			hub:    h,
			name:   name,
			stream: stream,
			url:    &url.URL{RawQuery: "stream=" + stream},
			// A comment, which r3labs writes as it is. Each stream has an event of its
			// own, because r3labs may write into one.
			more: &r3labs.Event{Comment: []byte("more")},
			tail: &block{},
			// Close has listed the topics before: nothing else would end this one.
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
	defer h.mu.Unlock()
	if l.refs--; l.refs > 0 {
		return
	}
	delete(h.topics, l.name)
	h.fanout.RemoveStream(l.stream)
	// A publisher may have found l just before. What it brings was in its log before
	// a client can attach anew, so none misses it.
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
		b := l.room(len("id: \nevent: \ndata: \n\n") + 19 + len(f.Event) + len(f.Data))
		before := len(b.text)
		b.text = appendFrame(b.text, f)
		b.places = append(b.places, place{f.Pos, len(b.text)})
		l.last, l.end = l.end, l.end+int64(len(b.text)-before)
	}
	l.tell()
}

// room returns the queue's last block if size more bytes fit there, else a new one,
// which is the larger the more was published before. l.mu is held.
func (l *live) room(size int) *block {
	if have := cap(l.tail.text); len(l.tail.text)+size > have {
		b := &block{text: make([]byte, 0, max(size, min(2*have, blockSize)))}
		l.tail.next, l.tail = b, b
	}
	return l.tail
}

// tell lets every client know that there is more. When the fan-out takes nothing,
// it has yet to tell them of something before, and they will find this, too. l.mu
// is held.
func (l *live) tell() { l.hub.fanout.TryPublish(l.stream, l.more) }

// publishEnd says that nothing follows on this topic.
func (l *live) publishEnd() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.tell()
}

// reader returns a reader of what is published from now on.
func (l *live) reader(cut func()) *reader {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &reader{
		live:     l,
		cut:      cut,
		attached: make(chan struct{}),
		wake:     make(chan struct{}, 1),
		header:   http.Header{},
		block:    l.tail,
		next:     len(l.tail.places),
		written:  l.end,
		taken:    l.end,
	}
}

// take returns the next text of frames that have no Pos up to pos: nil when there is
// none now, and then whether the topic has ended. What the call before returned
// counts as written.
func (r *reader) take(pos int64) (text []byte, end bool) {
	l := r.live
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { r.written = r.taken - int64(len(text)) }()
	for {
		b, from := r.block, 0
		if r.next > 0 {
			from = b.places[r.next-1].end
		}
		to := from
		for ; r.next < len(b.places); r.next++ {
			m := b.places[r.next]
			if m.pos > 0 && m.pos <= pos {
				if to > from {
					break
				}
				from = m.end
			}
			r.taken += int64(m.end - to)
			to = m.end
		}
		switch {
		case to > from:
			return b.text[from:to], false
		case b.next == nil:
			return nil, l.ended
		}
		r.block, r.next = b.next, 0
	}
}

// Header is for r3labs, which sets its own; ours are on the real response.
func (r *reader) Header() http.Header { return r.header }

// WriteHeader is r3labs' sign that the subscriber is registered.
func (r *reader) WriteHeader(int) { close(r.attached) }

// Write leaves out what r3labs writes: that it does is all that it says.
func (r *reader) Write(p []byte) (int, error) { return len(p), nil }

// Flush wakes the client for what was published. Here, and only here, it is decided
// that a client is too slow: when more waits for it than Config.Buffer, unless that
// is a single frame.
func (r *reader) Flush() {
	l := r.live
	l.mu.Lock()
	slow := l.end-r.written > int64(l.hub.config.Buffer) && r.written < l.last
	if slow { // let go of the queue, though the client may need a while to end
		r.block, r.next, r.written, r.taken = &block{}, 0, l.end, l.end
	}
	l.mu.Unlock()
	if slow {
		r.cut()
		return
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}
