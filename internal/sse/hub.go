package sse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	r3labs "github.com/r3labs/sse/v2"
)

// Errors of Serve and Stream. With the first two nothing was written yet, so the caller still can
// answer; every other error comes after the 200 and is for a log.
var (
	// ErrClosed means that the hub closes: answer 503.
	ErrClosed = errors.New("sse: the hub is closed")
	// ErrUnsupported means that the ResponseWriter has no write deadline or no flush: some wrapper
	// of it lacks an Unwrap method.
	ErrUnsupported = errors.New(
		"sse: this ResponseWriter cannot stream: its wrapper needs an Unwrap method")
	// ErrSlow means that the client was cut because it did not keep up.
	ErrSlow = errors.New("sse: the client was too slow and was cut")
)

// Config says how a hub treats its streams. The zero value is good.
type Config struct {
	// Heartbeat is the silence after which a comment is sent, so that both ends notice a dead
	// connection. Default 15 s.
	Heartbeat time.Duration
	// WriteTimeout is how long a client may take no byte before it is cut. Default 10 s; the cut
	// may come up to a twentieth of it later.
	WriteTimeout time.Duration
	// Buffer is how many bytes may wait for one client beside what its connection holds; one frame
	// more is let through when nothing waits. Default 2 MiB.
	Buffer int
	// Retry is the least time after which a client should reconnect. Each gets its own, up to twice
	// as long, so that they do not all come at once. Default 1 s.
	Retry time.Duration
	// Closing makes the last frame of each stream when the hub closes; retry is what that client
	// gets. Nil sends only the retry line.
	Closing func(retry time.Duration) Frame
}

// Hub holds all open streams of a server.
type Hub struct {
	config Config
	fanout *r3labs.Server

	mu      sync.RWMutex // guards what follows
	topics  map[string]*live
	clients map[*client]struct{}
	private uint64        // streams of one client ever begun, for their names
	closed  bool          // no stream may begin
	drained chan struct{} // closed when closed and no client is left
}

// New makes a hub. It has no goroutine of its own. The error refuses a negative setting.
func New(c Config) (*Hub, error) {
	if min(c.Heartbeat, c.WriteTimeout, c.Retry) < 0 || c.Buffer < 0 {
		return nil, errors.New("sse: a setting is negative: use a positive value, or 0 for the default")
	}
	c.Heartbeat, c.WriteTimeout, c.Retry = cmp.Or(c.Heartbeat, 15*time.Second),
		cmp.Or(c.WriteTimeout, 10*time.Second), cmp.Or(c.Retry, time.Second)
	c.Buffer = cmp.Or(c.Buffer, 2<<20)
	fanout := r3labs.New()
	fanout.AutoReplay = false // it repeats, renumbers and never forgets
	fanout.AutoStream = false // names come from us only
	fanout.BufferSize = 1     // what comes while one waits is joined into the next
	return &Hub{
		config:  c,
		fanout:  fanout,
		topics:  map[string]*live{},
		clients: map[*client]struct{}{},
		drained: make(chan struct{}),
	}, nil
}

// Topic names a stream that many read. It is only a name: it costs nothing to make and nothing to
// forget.
func (h *Hub) Topic(name string) *Topic { return &Topic{hub: h, name: name} }

// begin admits a client, or answers a HEAD (and returns nil, nil).
func (h *Hub) begin(w http.ResponseWriter, r *http.Request) (*client, error) {
	if r.Method == http.MethodHead {
		setHeader(w, r)
		w.WriteHeader(http.StatusOK)
		return nil, nil
	}
	c := newClient(h, w, r)
	if err := h.admit(c); err != nil {
		c.cancel(err)
		return nil, err
	}
	if err := c.probe(); err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

func (h *Hub) admit(c *client) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	h.clients[c] = struct{}{}
	return nil
}

// Streams returns how many streams are open.
func (h *Hub) Streams() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.clients)
}

func (h *Hub) dismiss(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.clients, c)
	if h.closed && len(h.clients) == 0 {
		close(h.drained)
	}
}

// Close ends every stream: what was published before is delivered (a replay is stopped, though),
// then the frame of Config.Closing, then the response ends. Streams that begin later get ErrClosed.
// Close returns when all have ended; clients that do not take their last bytes are cut when three
// quarters of ctx's time are over. The error says how many streams still ran when ctx ended. A
// second Close waits like the first.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		if len(h.clients) == 0 {
			close(h.drained)
		}
	}
	topics := slices.Collect(maps.Values(h.topics))
	h.mu.Unlock()
	for _, l := range topics { // first: a producer that is to stop may publish once more
		l.publishEnd()
	}
	for _, c := range h.open() {
		c.stop(ErrClosed)
	}
	soft := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		soft, cancel = context.WithTimeout(ctx, time.Until(deadline)*3/4)
		defer cancel()
	}
	select {
	case <-h.drained:
		return nil
	case <-soft.Done():
	}
	for _, c := range h.open() {
		c.cut(ErrClosed)
	}
	select {
	case <-h.drained:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("sse: close: %d streams did not end: %w", len(h.open()), ctx.Err())
	}
}

func (h *Hub) closing() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.closed
}

// open returns the clients whose streams run.
func (h *Hub) open() []*client {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return slices.Collect(maps.Keys(h.clients))
}
