//go:build unix

package sse

import (
	"net/http"
	"sync"
	"time"
)

// handwritten is what one would write on net/http alone, for speed and with nothing
// of what this package promises beside: no topics, no replay, no heartbeat, no
// bounds. Each frame is formatted once and appended to each client's buffer; each
// client's handler swaps its buffer, writes once and flushes once. The benchmarks
// measure against it.
type handwritten struct {
	mu      sync.RWMutex
	clients map[*handClient]struct{}
}

type handClient struct {
	wake chan struct{}
	mu   sync.Mutex
	buf  []byte
}

func newHandwritten() *handwritten { return &handwritten{clients: map[*handClient]struct{}{}} }

func (h *handwritten) publish(frames ...Frame) {
	var text []byte
	for _, f := range frames {
		text = appendFrame(text, f)
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	for c := range h.clients {
		c.mu.Lock()
		c.buf = append(c.buf, text...)
		c.mu.Unlock()
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

func (h *handwritten) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &handClient{wake: make(chan struct{}, 1)}
	h.mu.Lock()
	h.clients[c] = struct{}{}
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.clients, c)
		h.mu.Unlock()
	}()
	rc := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Write([]byte("retry: 1000\n\n"))
	rc.Flush()
	var spare []byte
	for {
		select {
		case <-r.Context().Done():
			return
		case <-c.wake:
		}
		c.mu.Lock()
		text := c.buf
		c.buf = spare[:0]
		c.mu.Unlock()
		spare = text
		rc.SetWriteDeadline(time.Now().Add(10 * time.Second))
		if _, err := w.Write(text); err != nil {
			return
		}
		if rc.Flush() != nil {
			return
		}
	}
}
