package sse

import (
	"context"
	"fmt"
	"net/http"
	"sync"
)

// Topic is a named stream of a hub that many clients read.
type Topic struct {
	hub  *Hub
	name string
}

// Publish delivers frames, in this order, to every client of the topic. It never blocks and keeps
// no reference to the frames' data. Without clients it does nothing.
func (t *Topic) Publish(frames ...Frame) {
	t.hub.mu.RLock()
	l := t.hub.topics[t.name]
	t.hub.mu.RUnlock()
	if l != nil && len(frames) > 0 {
		l.publish(frames)
	}
}

// Replay sends the past that a client lacks and returns the Pos up to which the past is complete:
// live frames with a Pos up to there are dropped, all others follow. The header goes with the first
// frame it sends, or when it returns, so a replay that looks at the past before it sends lets a
// client that has the header miss nothing from then on. Frames may wait for each other until it
// returns.
//
// send waits for the client, at most WriteTimeout without progress. ctx ends when the client has
// gone or was cut, or the hub closes.
type Replay func(ctx context.Context, send func(Frame) error) (pos int64, err error)

// Serve answers r with the topic's stream until the client leaves, is cut or the hub closes. It
// attaches to the topic first and replays then. A nil replay sends nothing.
//
// Serve returns nil when the client left or the hub closed, ErrSlow when the client was cut, else
// replay's error. To a HEAD it writes the header alone.
func (t *Topic) Serve(w http.ResponseWriter, r *http.Request, replay Replay) error {
	c, err := t.hub.begin(w, r)
	if c == nil {
		return err
	}
	defer c.end()
	s, detach := t.hub.attach(t.name, c)
	defer detach()
	pos, err := c.replay(replay)
	if err == nil {
		err = c.follow(s, pos)
	}
	return c.result(err)
}

// Stream answers r with a stream of its own: what replay sends, then what live publishes until it
// returns. To publish never blocks, as with a topic. live's ctx ends as replay's does, and live
// should return then. A request's body must have been read to its end before.
//
// Stream returns the error of replay or live, unless that only says that the client has gone or the
// hub closes (nil), or that the client was too slow (ErrSlow). To a HEAD it writes the header alone
// and calls neither.
func (h *Hub) Stream(w http.ResponseWriter, r *http.Request, replay Replay,
	live func(ctx context.Context, publish func(...Frame)) error) error {
	c, err := h.begin(w, r)
	if c == nil {
		return err
	}
	defer c.end()
	s, detach := h.attach("", c)
	defer detach()
	pos, err := c.replay(replay)
	if err != nil {
		return c.result(err)
	}
	// live runs in the caller's goroutine, where the caller sees its panics.
	var written error
	var writer sync.WaitGroup
	writer.Go(func() { written = c.follow(s, pos) })
	defer writer.Wait()
	defer s.live.publishEnd()
	err = live(c.soft, func(frames ...Frame) { s.live.publish(frames) })
	s.live.publishEnd()
	writer.Wait()
	if err == nil {
		err = written
	}
	return c.result(err)
}

// replay sends the past and the header.
func (c *client) replay(replay Replay) (pos int64, err error) {
	if replay != nil {
		pos, err = replay(c.soft, c.send)
	}
	written := c.flush()
	switch {
	case c.ctx.Err() != nil:
		return 0, context.Cause(c.ctx)
	case c.soft.Err() != nil && replay != nil:
		if err := c.farewell(); err != nil {
			return 0, err
		}
		return 0, ErrClosed
	case err != nil:
		return 0, fmt.Errorf("sse: replay: %w", err)
	}
	return pos, written
}

// follow writes what is published, until the topic ends.
func (c *client) follow(s *sink, pos int64) error {
	for {
		text, end := s.take(pos)
		switch {
		case len(text) > 0:
			if err := c.write(text); err != nil {
				return err
			}
			continue
		case end && c.hub.closing():
			return c.farewell()
		case end:
			return nil
		}
		select {
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		case <-s.wake:
		}
	}
}
