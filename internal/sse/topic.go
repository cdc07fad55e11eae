package sse

import (
	"context"
	"fmt"
	"net/http"
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
	rd, detach := t.hub.attach(t.name, c)
	defer detach()
	return c.result(t.serve(c, rd, replay))
}

func (t *Topic) serve(c *client, rd *reader, replay func(context.Context, func(Frame) error) (int64, error)) error {
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
		return c.farewell()
	case err != nil:
		return fmt.Errorf("sse: replay for %s: %w", t.name, err)
	case written != nil:
		return written
	}
	for {
		text, end := rd.take(pos)
		switch {
		case len(text) > 0:
			if err := c.write(text); err != nil {
				return err
			}
			continue
		case end:
			return c.farewell()
		}
		select {
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		case <-rd.wake:
		}
	}
}
