package sse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	r3labs "github.com/r3labs/sse/v2"
)

// Errors of Serve and Stream. With the first three nothing was written yet, so the caller still can
// answer; every other error comes after the 200 and is for a log.
var (
	// ErrTooMany means that MaxStreams are open: answer 503 with Retry-After.
	ErrTooMany = errors.New("sse: too many open streams: close one or raise the limit")
	// ErrClosed means that the hub closes: answer 503.
	ErrClosed = errors.New("sse: the hub is closed")
	// ErrUnsupported means that the ResponseWriter has no write deadline or no flush: some wrapper
	// of it lacks an Unwrap method.
	ErrUnsupported = errors.New("sse: this ResponseWriter cannot stream: its wrapper needs an Unwrap method")
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
	// MaxStreams bounds the open streams of all topics together. Default 256.
	MaxStreams int
	// Retry is the least time after which a client should reconnect. Each is told its own, up to
	// twice as long, so that they do not all come at once. Default 1 s.
	Retry time.Duration
	// Closing makes the last frame of each stream when the hub closes; retry is what that client is
	// told. Nil sends only the retry line.
	Closing func(retry time.Duration) Frame
}

func (c *Config) setDefaults() error {
	return errors.Join(
		setDefault("Heartbeat", &c.Heartbeat, 15*time.Second),
		setDefault("WriteTimeout", &c.WriteTimeout, 10*time.Second),
		setDefault("Retry", &c.Retry, time.Second),
		setDefault("Buffer", &c.Buffer, 2<<20),
		setDefault("MaxStreams", &c.MaxStreams, 256),
	)
}

func setDefault[T int | time.Duration](name string, value *T, std T) error {
	if *value < 0 {
		return fmt.Errorf("sse: Config.%s is %v: use a positive value, or 0 for %v", name, *value, std)
	}
	*value = cmp.Or(*value, std)
	return nil
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

// New makes a hub. It has no goroutine of its own.
func New(c Config) (*Hub, error) {
	if err := c.setDefaults(); err != nil {
		return nil, err
	}
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

// open admits a client, or answers a HEAD (and returns nil, nil).
func (h *Hub) open(w http.ResponseWriter, r *http.Request) (*client, error) {
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
	if len(h.clients) >= h.config.MaxStreams {
		return ErrTooMany
	}
	h.clients[c] = struct{}{}
	return nil
}

// Read reports whether any stream is open.
func (h *Hub) Read() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.clients) > 0
}

func (h *Hub) dismiss(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.clients, c)
	if h.closed && len(h.clients) == 0 {
		close(h.drained)
	}
}

// retry is one client's own time to wait before it comes back.
func (h *Hub) retry() time.Duration { return h.config.Retry + rand.N(h.config.Retry) }

// Close ends every stream: what was published before is delivered (a replay is stopped, though),
// then the frame of Config.Closing, then the response ends. Streams that begin later get ErrClosed.
// Close returns when all have ended; clients that do not take their last bytes are cut when three
// quarters of ctx's time are over. The error says how many streams still ran when ctx ended. A
// second Close waits like the first.
func (h *Hub) Close(ctx context.Context) error {
	clients, topics := h.shut()
	for _, l := range topics { // first: a producer that is told to stop may publish once more
		l.publishEnd()
	}
	for _, c := range clients {
		c.leave(ErrClosed)
	}
	patience := ctx.Done()
	if deadline, ok := ctx.Deadline(); ok {
		soft, cancel := context.WithTimeout(ctx, time.Until(deadline)*3/4)
		defer cancel()
		patience = soft.Done()
	}
	select {
	case <-h.drained:
		return nil
	case <-patience:
	}
	for _, c := range h.remaining() {
		c.cut(ErrClosed)
	}
	select {
	case <-h.drained:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("sse: close: %d streams did not end: %w", len(h.remaining()), ctx.Err())
	}
}

// shut lets no stream begin and returns what is open.
func (h *Hub) shut() ([]*client, []*live) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		if len(h.clients) == 0 {
			close(h.drained)
		}
	}
	return slices.Collect(maps.Keys(h.clients)), slices.Collect(maps.Values(h.topics))
}

func (h *Hub) closing() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.closed
}

func (h *Hub) remaining() []*client {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return slices.Collect(maps.Keys(h.clients))
}
