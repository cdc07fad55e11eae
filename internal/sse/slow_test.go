package sse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	r3labs "github.com/r3labs/sse/v2"
)

func serveLive(h *Hub, w http.ResponseWriter, r *http.Request) error {
	return h.Topic("a").Serve(w, r, nil)
}

func TestHeartbeatInSilence(t *testing.T) {
	inBubble(t, Config{}, serveLive, func(t *testing.T, h *Hub, p *pipes) {
		topic := h.Topic("a")
		conn, s := p.get(t)
		defer conn.Close()
		start := time.Now()
		for i := 1; i <= 3; i++ {
			s.comment(t, 1)
			if since := time.Since(start); since != time.Duration(i)*15*time.Second {
				t.Fatalf("heartbeat %d after %v", i, since)
			}
		}
		topic.Publish(number(1))
		s.want(t, "1")
		// Frames every 10 s: no silence, so no heartbeat; then the next comes 15 s
		// after the last of them.
		last := make(chan time.Time, 1)
		go func() {
			for pos := int64(2); pos <= 9; pos++ {
				time.Sleep(10 * time.Second)
				topic.Publish(number(pos))
			}
			last <- time.Now()
		}()
		s.want(t, "2", "3", "4", "5", "6", "7", "8", "9")
		if s.comments != 3 {
			t.Errorf("%d heartbeats beside a busy stream", s.comments-3)
		}
		s.comment(t, 1)
		if since := time.Since(<-last); since != 15*time.Second {
			t.Errorf("heartbeat %v after the last frame", since)
		}
	})
}

func TestHeartbeatWhileProducerIsSilent(t *testing.T) {
	wait := func(ctx context.Context, send func(Frame) error) error {
		if err := send(number(1)); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
	for name, serve := range map[string]func(h *Hub, w http.ResponseWriter, r *http.Request) error{
		"private": func(h *Hub, w http.ResponseWriter, r *http.Request) error {
			return h.Stream(w, r, nil, func(ctx context.Context, publish func(...Frame)) error {
				return wait(ctx, func(f Frame) error { publish(f); return nil })
			})
		},
		"replay": func(h *Hub, w http.ResponseWriter, r *http.Request) error {
			return h.Topic("a").Serve(w, r, func(ctx context.Context, send func(Frame) error) (int64,
				error) {
				return 0, wait(ctx, send)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, serve, func(t *testing.T, _ *Hub, p *pipes) {
				conn, s := p.get(t)
				defer conn.Close()
				start := time.Now()
				s.want(t, "1")
				s.comment(t, 2)
				if since := time.Since(start); since > 45*time.Second {
					t.Errorf("two heartbeats took %v", since)
				}
			})
		})
	}
}

// A client that takes no byte is cut when WriteTimeout is over, wherever the stream
// is: live, replaying, private, or only kept alive.
func TestStalledClientIsCutByTheDeadline(t *testing.T) {
	one := func(send func(Frame) error) error {
		return send(frame(1, strings.Repeat("x", replayChunk)))
	}
	for name, serve := range map[string]func(h *Hub, w http.ResponseWriter, r *http.Request) error{
		"live": func(h *Hub, w http.ResponseWriter, r *http.Request) error {
			return h.Topic("a").Serve(w, r, func(context.Context, func(Frame) error) (int64, error) {
				h.Topic("a").Publish(number(1))
				return 0, nil
			})
		},
		"replay": func(h *Hub, w http.ResponseWriter, r *http.Request) error {
			return h.Topic("a").Serve(w, r, func(_ context.Context, send func(Frame) error) (int64, error) {
				return 0, one(send)
			})
		},
		"private": func(h *Hub, w http.ResponseWriter, r *http.Request) error {
			return h.Stream(w, r, nil, func(_ context.Context, publish func(...Frame)) error {
				return one(func(f Frame) error { publish(f); return nil })
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, serve, func(t *testing.T, h *Hub, p *pipes) {
				conn, s := p.get(t)
				defer conn.Close()
				if _, err := s.line(); err != nil { // and then nothing more
					t.Fatal(err)
				}
				start := time.Now()
				err := <-p.results
				wantErr(t, err, ErrSlow)
				if d := time.Since(start); d < 9*time.Second || d > 11*time.Second {
					t.Errorf("cut after %v, want 10 s", d)
				}
				if n := h.Topic("a").Subscribers(); n != 0 {
					t.Errorf("%d subscribers are left", n)
				}
			})
		})
	}
	t.Run("heartbeat", func(t *testing.T) {
		inBubble(t, Config{}, serveLive, func(t *testing.T, h *Hub, p *pipes) {
			conn, s := p.get(t)
			defer conn.Close()
			s.comment(t, 1)
			start := time.Now()
			for h.Topic("a").Subscribers() > 0 {
				time.Sleep(time.Second)
			}
			if d := time.Since(start); d < 24*time.Second || d > 27*time.Second {
				t.Errorf("gone after %v, want a heartbeat's 15 s and the deadline's 10 s", d)
			}
		})
	})
}

// A slow client is not a stalled one: it may take longer than WriteTimeout for much,
// as long as it goes on taking.
func TestSlowClientIsNotCut(t *testing.T) {
	const size = 1 << 20
	inBubble(t, Config{}, serveLive, func(t *testing.T, h *Hub, p *pipes) {
		topic := h.Topic("a")
		conn, s := p.get(t)
		if _, err := s.line(); err != nil {
			t.Fatal(err)
		}
		topic.Publish(frame(1, strings.Repeat("x", size)))
		start := time.Now()
		buf := make([]byte, 16<<10)
		for n := 0; n < size; time.Sleep(time.Second) { // 16 KiB a second, at most
			k, err := conn.Read(buf)
			if err != nil {
				t.Fatalf("cut after %d bytes and %v: %v", n, time.Since(start), err)
			}
			n += k
		}
		if d := time.Since(start); d < 30*time.Second {
			t.Errorf("it took %v only, which shows nothing", d)
		}
		conn.Close()
		wantErr(t, <-p.results, nil)
	})
}

// Many clients, one of them stalled: the others get all of it in order, none waits,
// and the stalled one is cut at the bound of its buffer and resumes without a hole.
func TestOneStalledClient(t *testing.T) {
	const clients, frames = 8, 120
	h := newHub(t, Config{Buffer: 256 << 10, WriteTimeout: time.Hour}) // what cuts is the bound
	l := newHistory(h.Topic("a"))
	results := make(chan error, clients+2)
	srv := tightServer(t, func(w http.ResponseWriter, r *http.Request) {
		after, _, _ := ParseLastEventID(r)
		results <- l.topic.Serve(w, r, l.replay(after, 100))
	})
	stalledConn(t, srv, "/")
	waitFor(t, func() bool { return l.topic.Subscribers() == 1 })

	read := make(chan error, clients)
	for range clients {
		_, p := get(t, srv.URL)
		go func() {
			for pos := 1; pos <= frames; pos++ {
				g, err := p.next()
				if err == nil && g.lastID != strconv.Itoa(pos) {
					err = fmt.Errorf("got %q for %d", g.lastID, pos)
				}
				read <- err
				if err != nil {
					return
				}
			}
		}()
	}
	payload := strings.Repeat("x", 8<<10)
	for pos := int64(1); pos <= frames; pos++ {
		l.mu.Lock()
		l.entries = append(l.entries, frame(pos, payload))
		l.topic.Publish(frame(pos, payload))
		l.mu.Unlock()
		for range clients { // the publisher keeps pace with all but the stalled one
			if err := receive(t, read); err != nil {
				t.Fatal(err)
			}
		}
	}
	wantErr(t, receive(t, results), ErrSlow)
	waitFor(t, func() bool { return l.topic.Subscribers() == clients })
	_, p := get(t, srv.URL, "Last-Event-ID", "17")
	for pos := 18; pos <= frames; pos++ {
		if g, err := p.next(); err != nil || g.lastID != strconv.Itoa(pos) {
			t.Fatalf("after resuming: %q, %v; want %d", g.lastID, err, pos)
		}
	}
}

// While a client still takes its replay, what is published waits for it up to the
// bound; beyond, it is cut although its replay would go on.
func TestBufferIsBoundedDuringReplay(t *testing.T) {
	h := newHub(t, Config{Buffer: 64 << 10})
	topic := h.Topic("a")
	replaying := make(chan struct{})
	srv, results := topicServer(t, topic, func(*http.Request) func(context.Context,
		func(Frame) error) (int64, error) {
		return func(ctx context.Context, send func(Frame) error) (int64, error) {
			if err := send(number(1)); err != nil {
				return 0, err
			}
			close(replaying)
			<-ctx.Done()
			return 0, ctx.Err()
		}
	})
	get(t, srv.URL)
	receive(t, replaying)
	for pos := int64(1); topic.Subscribers() > 0; pos++ {
		topic.Publish(frame(pos, strings.Repeat("x", 1<<10)))
		if pos > 1e6 {
			t.Fatal("a gigabyte waits")
		}
	}
	wantErr(t, receive(t, results), ErrSlow)
}

// What publishes on a stream of one client does not wait for it either, and the same
// bound cuts it.
func TestPrivateStreamIsBounded(t *testing.T) {
	h := newHub(t, Config{Buffer: 64 << 10, WriteTimeout: time.Hour})
	results := make(chan error, 1)
	srv := tightServer(t, func(w http.ResponseWriter, r *http.Request) {
		results <- h.Stream(w, r, nil, func(ctx context.Context, publish func(...Frame)) error {
			for pos := int64(1); ctx.Err() == nil; pos++ {
				publish(frame(pos, strings.Repeat("x", 1<<10)))
				if pos > 1e6 {
					return errors.New("a gigabyte waits")
				}
			}
			return ctx.Err()
		})
	})
	stalledConn(t, srv, "/")
	wantErr(t, receive(t, results), ErrSlow)
}

// What waits and what is being written count together, and one frame may be larger
// than the bound when nothing else waits.
func TestBoundOfWhatWaits(t *testing.T) {
	h := newHub(t, Config{Buffer: 1000})
	l := h.acquire("a")
	defer h.release(l)
	cut := 0
	newReader := func() *sink {
		cut = 0
		s := &sink{live: l, cut: func() { cut++ }, attached: make(chan struct{})}
		s.WriteHeader(http.StatusOK)
		return s
	}
	put := func(s *sink, size int) { // as r3labs does, which has no subscriber here
		f := Frame{Data: make([]byte, size)}
		fmt.Fprintf(s, ": %s\n", appendRecord(nil, l.end, f))
		fmt.Fprint(s, "\n")
		l.publish([]Frame{f})
		s.Flush()
	}
	take := func(s *sink) int {
		text, _ := s.take(0)
		return len(text)
	}
	s := newReader()
	put(s, 5000)
	if n := take(s); cut != 0 || n < 5000 {
		t.Fatalf("one large frame: %d cuts, %d bytes", cut, n)
	}
	put(s, 1)
	if cut != 1 {
		t.Fatal("5,000 bytes are being written, and more was let through")
	}
	for range 3 {
		put(s, batchSize)
	}
	if cut != 1 || s.buf != nil || take(s) != 0 {
		t.Fatal("after the cut something was taken")
	}

	s = newReader()
	for range 100 { // each written before the next comes
		put(s, 900)
		for take(s) > 0 {
		}
	}
	put(s, 400)
	put(s, 400)
	if cut != 0 {
		t.Fatal("cut within the bound")
	}
	put(s, 400)
	if cut != 1 {
		t.Fatal("1,200 bytes wait")
	}
}

// deaf is a subscriber that stops r3labs' loop, as bare r3labs' own do.
type deaf struct {
	header  http.Header
	ready   chan struct{}
	release chan struct{}
}

func (d *deaf) Header() http.Header         { return d.header }
func (d *deaf) WriteHeader(int)             { close(d.ready) }
func (d *deaf) Flush()                      {}
func (d *deaf) Write(p []byte) (int, error) { <-d.release; return len(p), nil }

// A fan-out that is held up holds up no publisher. What comes meanwhile is joined, in
// events of bounded size, and its clients get everything afterwards.
func TestPublishNeverBlocksOnTheFanOut(t *testing.T) {
	h := newHub(t, Config{})
	topic := h.Topic("a")
	srv, _ := topicServer(t, topic, nil)
	_, p := get(t, srv.URL)
	l := h.acquire("a")
	defer h.release(l)
	ctx, cancel := context.WithCancel(t.Context())
	d := &deaf{header: http.Header{}, ready: make(chan struct{}), release: make(chan struct{})}
	var wg sync.WaitGroup
	wg.Go(func() {
		r := httptest.NewRequest("GET", "/?stream=a", nil)
		h.fanout.ServeHTTP(d, r.WithContext(ctx))
	})
	<-d.ready
	filled := 0
	// one is being written, 64 fill the channel, one is in the loop and one before it
	waitFor(t, func() bool {
		for h.fanout.TryPublish("a", &r3labs.Event{Comment: []byte("no record")}) {
			filled++
		}
		return filled == 67
	})
	var want []string
	for pos := int64(1); pos <= 10_000; pos++ {
		topic.Publish(number(pos))
		want = append(want, strconv.FormatInt(pos, 10))
	}
	l.mu.Lock()
	for i, b := range l.pending {
		if len(b) > batchSize || i+1 < len(l.pending) && len(b) < batchSize*9/10 {
			t.Errorf("an event of %d bytes", len(b))
		}
	}
	l.mu.Unlock()
	cancel()
	close(d.release)
	wg.Wait()
	p.want(t, want...)
}
