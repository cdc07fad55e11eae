package sse

import (
	"bytes"
	"context"
	"fmt"

	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"

	"sync"
	"testing"
	"time"

	r3labs "github.com/r3labs/sse/v2"
)

// The tests of this file show, one by one, what r3labs/sse v2.10.0 gets wrong when it
// serves clients itself, and that a stream of this package does not. They run the same
// story on both where that can be done, and fail too when bare r3labs does well: then
// the cure has lost its reason, or the story shows nothing.

// side is one of the two under test: a stream that remembers what was published.
type side struct {
	publish func(f Frame)
	handler http.HandlerFunc
}

// oursWithLog serves a topic with a log, as a session does.
func oursWithLog(t *testing.T) side {
	h := newHub(t, Config{})
	l := newHistory(h.Topic("a"))
	return side{
		publish: func(f Frame) {
			l.mu.Lock()
			defer l.mu.Unlock()
			f.Pos = int64(len(l.entries) + 1)
			l.entries = append(l.entries, f)
			l.topic.Publish(f)
		},
		handler: func(w http.ResponseWriter, r *http.Request) {
			after, ok, present := ParseLastEventID(r)
			if present && !ok {
				_ = l.topic.Serve(w, r, func(ctx context.Context, send func(Frame) error) (int64, error) {
					if err := send(Frame{Data: []byte("stream.resync")}); err != nil {
						return 0, err
					}
					return l.replay(0, 100)(ctx, send)
				})
				return
			}
			if !present {
				after = int64(len(l.after(0, 1e9))) // only what comes from now on
			}
			_ = l.topic.Serve(w, r, l.replay(after, 100))
		},
	}
}

// bareR3labs is the library as its documentation uses it, but that a client has left
// before the stream is removed: else its goroutine may wait for ever.
func bareR3labs(t *testing.T, change func(*r3labs.Server)) side {
	left := make(chan struct{})
	s := r3labs.NewWithCallback(nil, func(string, *r3labs.Subscriber) { left <- struct{}{} })
	if change != nil {
		change(s)
	}
	s.CreateStream("a")
	t.Cleanup(s.Close)
	return side{
		publish: func(f Frame) {
			e := &r3labs.Event{Data: f.Data, Event: []byte(f.Event)}
			if f.ID > 0 {
				e.ID = strconv.AppendInt(nil, f.ID, 10)
			}
			s.Publish("a", e)
		},
		handler: func(w http.ResponseWriter, r *http.Request) {
			r.URL.RawQuery = "stream=a"
			ctx, leave := context.WithCancel(r.Context())
			s.ServeHTTP(w, r.WithContext(ctx))
			leave()
			if w.Header().Get("Content-Type") == "text/event-stream" { // else it was refused
				<-left
			}
		},
	}
}

func noReplay(s *r3labs.Server)      { s.AutoReplay = false }
func noReplaySplit(s *r3labs.Server) { s.AutoReplay, s.SplitData = false, true }

// lastFrame ends each story, so that no reader has to wait for silence.
var lastFrame = Frame{ID: 1000, Data: []byte("the end")}

// story publishes past, connects with the header, publishes live, and returns the
// status and the events up to lastFrame or the end of the stream.
func (s side) story(t *testing.T, past, live []Frame, header ...string) (status int, events []got) {
	t.Helper()
	srv := server(t, s.handler)
	for _, f := range past {
		s.publish(f)
	}
	res, p := get(t, srv.URL, header...)
	if res.StatusCode != http.StatusOK {
		return res.StatusCode, nil
	}
	for _, f := range append(live, lastFrame) {
		s.publish(f)
	}
	for {
		g, err := p.next()
		if err != nil || g.data == string(lastFrame.Data) {
			res.Body.Close()
			return res.StatusCode, events
		}
		events = append(events, g)
	}
}

func TestDefectsOfReplayAndEncoding(t *testing.T) {
	text := func(ss ...string) (frames []Frame) {
		for i, s := range ss {
			frames = append(frames, Frame{ID: int64(i + 1), Data: []byte(s)})
		}
		return frames
	}
	later := []Frame{{ID: 1, Data: []byte("a")}, {Data: []byte("b")}}
	for _, c := range []struct {
		name       string
		change     func(*r3labs.Server)
		past, live []Frame
		header     []string
		want       []got
	}{
		{"replay repeats the event seen last", nil, text("a", "b", "c"), nil,
			[]string{"Last-Event-ID", "2"}, []got{{"", "c", "3"}}},
		{"a first connect gets the whole log", nil, text("a", "b"), nil, nil, nil},
		{"published ids are overwritten", nil, nil, []Frame{{ID: 40, Data: []byte("a")}}, nil,
			[]got{{"", "a", "40"}}},
		{"a foreign Last-Event-ID is refused with 400", nil, text("a"), nil,
			[]string{"Last-Event-ID", "x7"}, []got{{"", "stream.resync", ""}, {"", "a", "1"}}},
		{"an event without id resets the client's", noReplay, nil, later, nil,
			[]got{{"", "a", "1"}, {"", "b", "1"}}},
		{"a line end in data forges a frame", noReplay, nil, text("a\n\nevent: permission\ndata: {}"),
			nil, []got{{"", "a\n\nevent: permission\ndata: {}", "1"}}},
		{"a lone CR forges a frame", noReplay, nil, text("a\r\revent: permission\rdata: {}"), nil,
			[]got{{"", "a\n\nevent: permission\ndata: {}", "1"}}},
		{"a lone CR forges a frame, SplitData or not", noReplaySplit, nil,
			text("a\r\revent: permission\rdata: {}"), nil,
			[]got{{"", "a\n\nevent: permission\ndata: {}", "1"}}},
		{"a line end in the name forges a frame", noReplay, nil,
			[]Frame{{ID: 1, Event: "x\ndata: forged", Data: []byte("a")}}, nil,
			[]got{{"xdata: forged", "a", "1"}}},
		{"data that begins with a colon is lost", noReplay, nil, text(":a", "b"), nil,
			[]got{{"", ":a", "1"}, {"", "b", "2"}}},
		{"empty data ends the response", noReplay, nil, text("", "b"), nil, []got{{"", "b", "2"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			same := func(status int, events []got) bool {
				return status == http.StatusOK && fmt.Sprint(events) == fmt.Sprint(c.want)
			}
			if status, events := oursWithLog(t).story(t, c.past, c.live, c.header...); !same(status,
				events) {
				t.Errorf("ours: %d, %q, want %q", status, events, c.want)
			}
			if status, events := bareR3labs(t, c.change).story(t, c.past, c.live, c.header...); same(status,
				events) {
				t.Error("bare r3labs does this right")
			}
		})
	}
}

func TestDefectNoHeartbeat(t *testing.T) {
	h := newHub(t, Config{Heartbeat: time.Millisecond})
	_, ours := get(t, server(t, func(w http.ResponseWriter, r *http.Request) {
		_ = h.Topic("a").Serve(w, r, nil)
	}).URL)
	ours.comment(t, 1)
	res, bare := get(t, server(t, bareR3labs(t, nil).handler).URL)
	time.AfterFunc(200*time.Millisecond, func() { _ = res.Body.Close() })
	if _, _ = bare.rest(); bare.comments != 0 {
		t.Error("bare r3labs has a heartbeat")
	}
}

func TestDefectNamesFromRequestsAreKept(t *testing.T) {
	s := r3labs.New()
	s.AutoStream = true
	defer s.Close()
	srv := server(t, s.ServeHTTP)
	res, _ := get(t, srv.URL+"/?stream=made-up")
	res.Body.Close()
	srv.Close() // the client has gone, and its handler ended
	if !s.StreamExists("made-up") {
		t.Error("bare r3labs forgets names by itself")
	}

	h := newHub(t, Config{})
	srv = server(t, func(w http.ResponseWriter, r *http.Request) { _ = h.Topic("a").Serve(w, r, nil) })
	res, _ = get(t, srv.URL+"/?stream=made-up")
	if h.fanout.StreamExists("made-up") || !h.fanout.StreamExists("a") {
		t.Error("ours: the request named the stream")
	}
	res.Body.Close()
	srv.Close()
	if h.fanout.StreamExists("a") || len(h.topics) != 0 {
		t.Error("ours: the stream outlived its client")
	}
}

// retained measures the heap that n publishes of a kilobyte leave behind.
func retained(n int, publish func(Frame)) int64 {
	measure := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := measure()
	for range n {
		publish(Frame{ID: 1, Data: make([]byte, 1<<10)})
	}
	return measure() - before
}

func TestDefectLogIsNeverTrimmed(t *testing.T) {
	const n = 4_000
	s := bareR3labs(t, func(s *r3labs.Server) { s.EventTTL = time.Nanosecond })
	if kept := retained(n, s.publish); kept < n<<10/2 {
		t.Errorf("bare r3labs keeps only %d bytes", kept)
	}
	h := newHub(t, Config{})
	topic := h.Topic("a")
	srv, _ := topicServer(t, topic, nil)
	_, p := get(t, srv.URL)
	kept := retained(n, func(f Frame) {
		topic.Publish(f)
		if _, err := p.next(); err != nil {
			t.Fatal(err)
		}
	})
	if kept > n<<10/4 {
		t.Errorf("ours keeps %d bytes", kept)
	}
}

// Ours has TestOneStalledClient and TestPublishNeverBlocksOnTheFanOut.
func TestDefectOneStalledClientStopsAll(t *testing.T) {
	s := r3labs.New()
	s.AutoReplay, s.BufferSize = false, 0
	s.CreateStream("a")
	defer s.Close()
	d := &deaf{header: http.Header{}, ready: make(chan struct{}), release: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { s.ServeHTTP(d, httptest.NewRequest("GET", "/?stream=a", nil).WithContext(ctx)) })
	<-d.ready

	published := 0
	waitFor(t, func() bool { // one is being written, 64 wait in the channel, one in the loop
		for s.TryPublish("a", &r3labs.Event{Data: []byte("x")}) {
			published++
		}
		return published == 66
	})
	stuck := make(chan struct{})
	wg.Go(func() { s.Publish("a", &r3labs.Event{Data: []byte("x")}); close(stuck) })
	joined := make(chan struct{})
	w := &notified{header: http.Header{}, ready: joined}
	wg.Go(func() { s.ServeHTTP(w, httptest.NewRequest("GET", "/?stream=a", nil).WithContext(ctx)) })
	select {
	case <-stuck:
		t.Error("bare r3labs published past a stalled client")
	case <-joined:
		t.Error("bare r3labs let a client in behind a stalled one")
	case <-time.After(50 * time.Millisecond):
	}
	close(d.release)
	<-stuck
	<-joined
	cancel()
	wg.Wait()
}

type notified struct {
	header http.Header
	ready  chan struct{}
}

func (n *notified) Header() http.Header         { return n.header }
func (n *notified) WriteHeader(int)             { close(n.ready) }
func (n *notified) Flush()                      {}
func (n *notified) Write(p []byte) (int, error) { return len(p), nil }

// When r3labs' stream goes before its client, the goroutine that waits for the client
// to leave waits for ever. That leak cannot be shown here without leaking; what is
// shown is its cause: deregistrations are no longer received.
func TestDefectRemovedStreamLeavesItsClientsBehind(t *testing.T) {
	stacks := func() int {
		buf := make([]byte, 1<<20)
		return bytes.Count(buf[:runtime.Stack(buf, true)], []byte("sse.(*Subscriber).close"))
	}
	h := newHub(t, Config{})
	topic := h.Topic("a")
	srv, results := topicServer(t, topic, nil)
	for range 50 { // the last client's leaving and the stream's removal, as close as can be
		res, p := get(t, srv.URL)
		topic.Publish(number(1))
		p.want(t, "1")
		res.Body.Close()
		receive(t, results)
	}
	get(t, srv.URL)
	closeHub(t, h) // the server ends the response first
	receive(t, results)
	srv.Close()
	if n := stacks(); n != 0 {
		t.Errorf("ours: %d goroutines wait for a removed stream", n)
	}
}

// One event published to two streams is a race in r3labs, which writes the id and the
// time into it. Here frames are values, and run under -race this test says so.
func TestDefectSharedEventRaces(t *testing.T) {
	h := newHub(t, Config{})
	f := Frame{ID: 3, Pos: 3, Data: []byte("shared"), Event: "x"}
	srv := server(t, func(w http.ResponseWriter, r *http.Request) {
		_ = h.Topic(r.URL.Path).Serve(w, r, nil)
	})
	_, a := get(t, srv.URL+"/a")
	_, b := get(t, srv.URL+"/b")
	var wg sync.WaitGroup
	for _, name := range []string{"/a", "/b", "/a", "/b"} {
		wg.Go(func() { h.Topic(name).Publish(f) })
	}
	wg.Wait()
	copy(f.Data, "SHARED") // the publisher's own again
	a.want(t, "shared", "shared")
	b.want(t, "shared", "shared")

	log := r3labs.EventLog{}
	e := &r3labs.Event{ID: []byte("3"), Data: []byte("shared")}
	log.Add(e)
	if string(e.ID) == "3" {
		t.Error("bare r3labs leaves a published event alone")
	}
}

// A write that never returns is what a deadline is for; r3labs sets none.
func TestDefectNoWriteDeadline(t *testing.T) {
	spy := func(serve http.HandlerFunc) (deadlines int) {
		var d deadlineSpy
		srv := server(t, func(w http.ResponseWriter, r *http.Request) {
			d.ResponseWriter = w
			serve(&d, r)
		})
		res, err := http.Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		srv.Close()
		http.DefaultClient.CloseIdleConnections()
		return d.set
	}
	if spy(oursWithLog(t).handler) == 0 {
		t.Error("ours: no write deadline")
	}
	if spy(bareR3labs(t, nil).handler) != 0 {
		t.Error("bare r3labs sets a write deadline")
	}
}

type deadlineSpy struct {
	http.ResponseWriter
	set int
}

func (d *deadlineSpy) Unwrap() http.ResponseWriter { return d.ResponseWriter }
func (d *deadlineSpy) Flush() {
	_ = http.NewResponseController(
		d.ResponseWriter).Flush()
}
func (d *deadlineSpy) SetWriteDeadline(at time.Time) error {
	d.set++
	return http.NewResponseController(d.ResponseWriter).SetWriteDeadline(at)
}
