package sse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// chunk is how much is written under one deadline: a slow client that takes this much in time
	// is slow, not gone.
	chunk = 64 << 10
	// replayChunk is how much of a replay is joined into one write.
	replayChunk = 16 << 10
)

// client is one response being streamed, from admit to end.
type client struct {
	hub   *Hub
	retry time.Duration

	// ctx ends when the client has gone or was cut; its cause says which. soft ends then, too, and
	// when the hub closes: the producer should stop, but a last frame can still be written.
	ctx    context.Context
	cancel context.CancelCauseFunc
	slow   atomic.Bool // cut for being slow: net/http, too, cancels after a failed write
	soft   context.Context
	stop   context.CancelCauseFunc

	mu    sync.Mutex // guards w and what follows; held while writing
	w     http.ResponseWriter
	r     *http.Request
	out   []byte      // encoded, not yet written; at first the client's own retry time
	begun bool        // the header was written
	last  time.Time   // of the last write
	over  bool        // no more writes
	beats *time.Timer // never replaced

	deadline sync.Mutex // guards what follows, and setting the deadline; never held while writing
	rc       *http.ResponseController
	armed    time.Time // when the write deadline was set last
	expired  bool      // by cut or end: it is not to be extended
}

func newClient(h *Hub, w http.ResponseWriter, r *http.Request) *client {
	c := &client{hub: h, w: w, r: r, rc: http.NewResponseController(w), retry: h.config.Retry +
		rand.N(h.config.Retry)}
	c.ctx, c.cancel = context.WithCancelCause(r.Context())
	c.soft, c.stop = context.WithCancelCause(c.ctx)
	c.beats = time.AfterFunc(math.MaxInt64, c.beat)
	c.beats.Stop() // the first write sets it
	c.out = appendRetry(nil, c.retry)
	return c
}

func setHeader(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Del("Content-Length")
	h.Del("Content-Encoding")
	if r.ProtoMajor == 1 {
		// To net/http this means: no chunks, and the connection ends with the response. A large
		// write then is one system call, not three. And a write deadline stays with its connection:
		// a later response there would inherit ours.
		h.Set("Transfer-Encoding", "identity")
	}
}

// probe refuses a response that cannot stream, before anything is written.
func (c *client) probe() error {
	if err := c.arm(); err != nil { // what has a deadline can be flushed, too
		return fmt.Errorf("%w (%w)", ErrUnsupported, err)
	}
	// A read deadline, set by the handler that bounds the reading of bodies, would end the stream:
	// net/http watches the connection by reading from it. A ResponseWriter that knows none has none
	// to lift.
	_ = c.rc.SetReadDeadline(time.Time{})
	return nil
}

// beat runs in the timer's goroutine.
func (c *client) beat() {
	every := c.hub.config.Heartbeat
	if !c.mu.TryLock() {
		c.beats.Reset(every) // another goroutine writes: no silence
		return
	}
	defer c.mu.Unlock()
	if c.over || c.ctx.Err() != nil {
		return
	}
	if silent := time.Since(c.last); silent < every {
		c.beats.Reset(every - silent)
		return
	}
	if len(c.out) == 0 {
		c.out = append(c.out, ": ping\n\n"...)
	}
	if c.flushLocked() == nil {
		c.beats.Reset(every)
	}
}

// send encodes a frame and writes it: the first at once and the others when enough has come
// together.
func (c *client) send(f Frame) error {
	if c.soft.Err() != nil {
		return context.Cause(c.soft)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = appendFrame(c.out, f)
	if c.begun && len(c.out) < replayChunk {
		return nil
	}
	return c.flushLocked()
}

// flush writes the header, if nothing was written yet, and what send has collected.
func (c *client) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.flushLocked()
	c.out = nil
	return err
}

func (c *client) flushLocked() error {
	if len(c.out) == 0 {
		return nil
	}
	err := c.writeLocked(c.out)
	if c.out = c.out[:0]; cap(c.out) > chunk {
		c.out = nil
	}
	return err
}

func (c *client) write(text []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writeLocked(text)
}

func (c *client) writeLocked(text []byte) error {
	if c.over {
		return context.Cause(c.ctx)
	}
	if !c.begun {
		c.begun = true
		setHeader(c.w, c.r)
		c.w.WriteHeader(http.StatusOK)
		c.beats.Reset(c.hub.config.Heartbeat)
	}
	for len(text) > 0 {
		n := min(len(text), chunk)
		if err := c.arm(); err != nil {
			return c.fail(err)
		}
		if _, err := c.w.Write(text[:n]); err != nil {
			return c.fail(err)
		}
		text = text[n:]
	}
	if err := c.rc.Flush(); err != nil {
		return c.fail(err)
	}
	c.last = time.Now()
	return nil
}

// fail ends the stream after a failed write. c.mu is held.
func (c *client) fail(err error) error {
	c.over = true
	if errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(context.Cause(c.ctx), ErrClosed) {
		c.slow.Store(true)
		err = ErrSlow
	}
	c.cancel(err)
	return err
}

// arm gives the next write its time. A deadline younger than a twentieth of WriteTimeout is good
// enough: moving it costs as much as formatting a frame.
func (c *client) arm() error {
	c.deadline.Lock()
	defer c.deadline.Unlock()
	if c.expired {
		return os.ErrDeadlineExceeded
	}
	now, timeout := time.Now(), c.hub.config.WriteTimeout
	if !c.armed.IsZero() && now.Sub(c.armed) < timeout/20 {
		return nil
	}
	c.armed = now
	return c.rc.SetWriteDeadline(now.Add(timeout + timeout/20))
}

// cut ends the stream at once, a blocked write included.
func (c *client) cut(why error) {
	if errors.Is(why, ErrSlow) {
		c.slow.Store(true)
	}
	c.cancel(why)
	c.deadline.Lock()
	defer c.deadline.Unlock()
	if !c.expired {
		c.expired = true
		_ = c.rc.SetWriteDeadline(time.Unix(1, 0)) // it worked before; else the old deadline holds
	}
}

// farewell writes what is left and the hub's last frame.
func (c *client) farewell() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = appendRetry(c.out, c.retry)
	if closing := c.hub.config.Closing; closing != nil {
		c.out = appendFrame(c.out, closing(c.retry))
	}
	if err := c.flushLocked(); err != nil {
		return err
	}
	c.over = true
	return nil
}

// end forgets the client; after it nothing touches the response.
func (c *client) end() {
	c.cancel(nil)
	c.mu.Lock()
	c.over, c.out = true, nil
	c.beats.Stop()
	c.mu.Unlock()
	c.deadline.Lock()
	c.expired = true
	c.deadline.Unlock()
	c.hub.dismiss(c)
}

// result says how a stream ended, for the caller of Serve and Stream.
func (c *client) result(err error) error {
	switch {
	case c.slow.Load():
		return ErrSlow
	case c.soft.Err() != nil:
		return nil // the client left, or the hub closed
	}
	return err
}
