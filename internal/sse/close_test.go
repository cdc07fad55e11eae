package sse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func closing(retry time.Duration) Frame {
	return Frame{Data: fmt.Appendf(nil, `{"type":"stream.closing","retryMs":%d}`,
		retry.Milliseconds())}
}

func TestCloseSaysGoodbyeToEveryStream(t *testing.T) {
	h := newHub(t, Config{Closing: closing, Retry: 3 * time.Second})
	topic := h.Topic("live")
	began := make(chan struct{}, 1)
	late := make(chan error, 1)
	results := make(chan error, 10)
	srv := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/live":
			results <- topic.Serve(w, r, nil)
		case "/replay":
			results <- h.Topic("replay").Serve(w, r, func(ctx context.Context,
				send func(Frame) error) (int64, error) {
				if err := send(number(1)); err != nil {
					return 0, err
				}
				began <- struct{}{}
				<-ctx.Done()
				return 0, ctx.Err()
			})
		case "/private":
			results <- h.Stream(w, r, nil, func(ctx context.Context, publish func(...Frame)) error {
				publish(number(1))
				began <- struct{}{}
				<-ctx.Done()
				publish(number(2)) // too late
				return ctx.Err()
			})
		case "/late":
			late <- topic.Serve(w, r, nil)
		}
	})
	_, live := get(t, srv.URL+"/live")
	_, replay := get(t, srv.URL+"/replay")
	receive(t, began)
	_, private := get(t, srv.URL+"/private")
	receive(t, began)
	var want []string
	for pos := int64(1); pos <= 500; pos++ {
		topic.Publish(number(pos)) // all of it arrives, since it was published before
		want = append(want, fmt.Sprint(pos))
	}
	closeHub(t, h)
	topic.Publish(number(501))

	live.want(t, want...)
	replay.want(t, "1")
	private.want(t, "1")
	for name, p := range map[string]*parser{"live": live, "replay": replay, "private": private} {
		g, err := p.next()
		if err != nil || !strings.Contains(g.data, "stream.closing") {
			t.Fatalf("%s: last frame %+v, %v", name, g, err)
		}
		if name == "live" && g.lastID != "500" {
			t.Errorf("the last frame moved the id to %q", g.lastID)
		}
		if want := fmt.Sprintf(`"retryMs":%s}`, p.retry); !strings.HasSuffix(g.data, want) {
			t.Errorf("%s: %s beside retry: %s", name, g.data, p.retry)
		}
		if _, err := p.next(); err != io.EOF {
			t.Errorf("%s: after the last frame: %v", name, err)
		}
		wantErr(t, receive(t, results), nil)
	}
	get(t, srv.URL+"/late")
	wantErr(t, receive(t, late), ErrClosed)
	closeHub(t, h) // a second time: nothing to do
}

func TestCloseWithoutStreams(t *testing.T) {
	h := newHub(t, Config{})
	closeHub(t, h)
	closeHub(t, h)
}

// A client that takes nothing cannot keep the server from ending.
func TestCloseCutsAStalledClient(t *testing.T) {
	inBubble(t, Config{}, func(h *Hub, w http.ResponseWriter, r *http.Request) error {
		return h.Stream(w, r, nil, func(ctx context.Context, _ func(...Frame)) error {
			<-ctx.Done()
			return nil
		})
	}, func(t *testing.T, h *Hub, p *pipes) {
		conn, s := p.get(t)
		defer conn.Close()
		if _, err := s.line(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		start := time.Now()
		if err := h.Close(ctx); err != nil {
			t.Error(err)
		}
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("closed after %v, want three quarters of 4 s", d)
		}
		wantErr(t, <-p.results, nil)
	})
}

// A producer that ignores its context is named, not waited for.
func TestCloseReportsWhatDidNotEnd(t *testing.T) {
	var release chan struct{} // made in the bubble, as its waiting must be seen
	inBubble(t, Config{}, func(h *Hub, w http.ResponseWriter, r *http.Request) error {
		return h.Stream(w, r, nil, func(context.Context, func(...Frame)) error {
			<-release
			return nil
		})
	}, func(t *testing.T, h *Hub, p *pipes) {
		release = make(chan struct{})
		conn, s := p.get(t)
		defer conn.Close()
		if _, err := s.line(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := h.Close(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 streams") {
			t.Errorf("%v", err)
		}
		close(release)
	})
}

// heldWriter holds a stream between its admission and its joining of the topic.
type heldWriter struct {
	http.ResponseWriter
	hold func()
}

func (w heldWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w heldWriter) SetWriteDeadline(at time.Time) error {
	w.hold()
	return http.NewResponseController(w.ResponseWriter).SetWriteDeadline(at)
}

// A stream that was admitted before Close and joins its topic after it ends with
// the last frame, too, whether the topic has another reader or not.
func TestCloseReachesAStreamThatIsJoining(t *testing.T) {
	for _, shared := range []bool{false, true} {
		var joining, proceed chan struct{} // made in the bubble, as their waiting must be seen
		inBubble(t, Config{Closing: closing}, func(h *Hub, w http.ResponseWriter, r *http.Request) error {
			if r.Header.Get("Held") != "" {
				w = heldWriter{w, sync.OnceFunc(func() { joining <- struct{}{}; <-proceed })}
			}
			return serveLive(h, w, r)
		}, func(t *testing.T, h *Hub, p *pipes) {
			joining, proceed = make(chan struct{}), make(chan struct{})
			want := func(s *parser) {
				t.Helper()
				if all, err := s.rest(); err != io.EOF || len(all) != 1 ||
					!strings.Contains(all[0].data, "closing") {
					t.Errorf("shared %t: the stream ends with %v, %v", shared, all, err)
				}
				wantErr(t, <-p.results, nil)
			}
			var other *parser
			if shared { // reads nothing for now, so the topic lasts
				conn, s := p.get(t)
				defer conn.Close()
				other = s
			}
			ended := make(chan error)
			go func() {
				<-joining
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				go func() { synctest.Wait(); close(proceed) }()
				ended <- h.Close(ctx)
			}()
			start := time.Now()
			conn, s := p.get(t, "Held: yes")
			defer conn.Close()
			want(s)
			if shared {
				want(other)
			}
			wantErr(t, <-ended, nil)
			if d := time.Since(start); d != 0 {
				t.Errorf("shared %t: closed after %v", shared, d)
			}
		})
	}
}

// Streams come and go while the hub closes; each ends, and none is forgotten.
func TestCloseRacesWithJoins(t *testing.T) {
	for range 60 {
		h := newHub(t, Config{Closing: closing})
		topic := h.Topic("a")
		srv := server(t, func(w http.ResponseWriter, r *http.Request) {
			if errors.Is(topic.Serve(w, r, nil), ErrClosed) {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		done := make(chan bool, 8)
		for range cap(done) {
			go func() {
				res, p := get(t, srv.URL)
				all, err := p.rest()
				done <- res.StatusCode == http.StatusServiceUnavailable || err == io.EOF && len(all) == 1 &&
					strings.Contains(all[0].data, "closing")
			}()
		}
		waitFor(t, func() bool { return topic.Subscribers() > 0 })
		closeHub(t, h)
		for range cap(done) {
			if !receive(t, done) {
				t.Fatal("a stream ended without its last frame")
			}
		}
		srv.Close()
	}
}
