package sse

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestServeSendsPastThenLive(t *testing.T) {
	h := newHub(t, Config{})
	topic := h.Topic("a")
	srv, results := topicServer(t, topic, func(*http.Request) func(context.Context,
		func(Frame) error) (int64, error) {
		return func(_ context.Context, send func(Frame) error) (int64, error) {
			topic.Publish(number(2), number(3), number(4)) // live while the past is read
			for pos := int64(1); pos <= 3; pos++ {
				if err := send(number(pos)); err != nil {
					return 0, err
				}
			}
			return 3, nil
		}
	})
	res, p := get(t, srv.URL)
	for key, want := range map[string]string{
		"Content-Type":                 "text/event-stream; charset=utf-8",
		"Cache-Control":                "no-store",
		"X-Accel-Buffering":            "no",
		"X-Content-Type-Options":       "nosniff",
		"Cross-Origin-Resource-Policy": "same-origin",
	} {
		if g := res.Header.Get(key); g != want {
			t.Errorf("%s is %q, want %q", key, g, want)
		}
	}
	if !res.Close || len(res.TransferEncoding) != 0 {
		t.Errorf("close %v, transfer encoding %v: our deadline would outlive the stream on its "+
			"connection", res.Close, res.TransferEncoding)
	}
	p.want(t, "1", "2", "3", "4")
	topic.Publish(number(5))
	topic.Publish(Frame{Event: "note", Data: []byte("no id")})
	p.want(t, "5")
	g, err := p.next()
	if err != nil || g != (got{name: "note", data: "no id", lastID: "5"}) {
		t.Fatalf("got %+v, %v", g, err)
	}
	if n := topic.Subscribers(); n != 1 {
		t.Errorf("%d subscribers, want 1", n)
	}
	res.Body.Close()
	if err := receive(t, results); err != nil {
		t.Errorf("a client that left is no error: %v", err)
	}
	if n := topic.Subscribers(); n != 0 {
		t.Errorf("%d subscribers after the client left, want 0", n)
	}
}

func TestFirstBytesComeBeforeAnyEvent(t *testing.T) {
	h := newHub(t, Config{Retry: 1500 * time.Millisecond})
	srv, _ := topicServer(t, h.Topic("a"), nil)
	seen := map[string]bool{}
	for range 8 {
		_, p := get(t, srv.URL)
		line, err := p.line()
		if err != nil {
			t.Fatal(err)
		}
		ms, err := strconv.Atoi(strings.TrimPrefix(line, "retry: "))
		if err != nil || ms < 1500 || ms > 3000 {
			t.Fatalf("first line %q, want a retry between 1500 and 3000", line)
		}
		seen[line] = true
	}
	if len(seen) == 1 {
		t.Error("all clients were told to come back at the same time")
	}
}

// The order of the fields inside a block does not matter to a client; that each
// block is whole in one write does, when the connection breaks.
func TestWire(t *testing.T) {
	h := newHub(t, Config{})
	topic := h.Topic("a")
	srv, _ := topicServer(t, topic, nil)
	res, _ := get(t, srv.URL)
	r := bufio.NewReader(res.Body)
	skip(t, r, 2)
	topic.Publish(
		Frame{ID: 7, Event: "x", Data: []byte(`{"a":1}`)},
		Frame{Data: []byte(`{}`)},
		Frame{ID: 8},
		Frame{Data: []byte("a\r\nb\rc\nd")},
	)
	want := "id: 7\nevent: x\ndata: {\"a\":1}\n\ndata: {}\n\nid: 8\n\ndata: a\ndata: b\ndata: c\n" +
		"data: d\n\n"
	b := make([]byte, len(want))
	if _, err := io.ReadFull(r, b); err != nil || string(b) != want {
		t.Fatalf("got %q, %v\nwant %q", b, err, want)
	}
}

func skip(t *testing.T, r *bufio.Reader, lines int) {
	t.Helper()
	for range lines {
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHeadWritesTheHeaderOnly(t *testing.T) {
	h := newHub(t, Config{})
	srv := server(t, func(w http.ResponseWriter, r *http.Request) {
		err := h.Topic("a").Serve(w, r, func(context.Context, func(Frame) error) (int64, error) {
			t.Error("replay ran for a HEAD")
			return 0, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	for range 3 {
		res, err := http.Head(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if ct := res.Header.Get("Content-Type"); res.StatusCode != 200 ||
			ct != "text/event-stream; charset=utf-8" {
			t.Fatalf("%s, %q", res.Status, ct)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestHTTP10Client(t *testing.T) {
	h := newHub(t, Config{})
	topic := h.Topic("a")
	srv, _ := topicServer(t, topic, nil)
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if len(res.TransferEncoding) != 0 || !res.Close {
		t.Fatalf("transfer encoding %v, close %v", res.TransferEncoding, res.Close)
	}
	p := newParser(res.Body)
	if _, err := p.line(); err != nil { // the subscriber is registered before any byte
		t.Fatal(err)
	}
	topic.Publish(number(1))
	p.want(t, "1")
	closeHub(t, h)
	if _, err := p.rest(); err != io.EOF {
		t.Fatalf("the stream ended with %v", err)
	}
}

// waitFor polls a condition that nothing announces.
func waitFor(t testing.TB, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			t.Fatal("did not happen within 20 s")
		}
		<-time.After(time.Millisecond)
	}
}

func TestRefusesAResponseThatCannotStream(t *testing.T) {
	h := newHub(t, Config{})
	type noUnwrap struct{ http.ResponseWriter }
	type onlyFlush struct {
		http.ResponseWriter
		http.Flusher
	}
	for range 2 {
		w := httptest.NewRecorder()
		wantErr(t, h.Topic("a").Serve(noUnwrap{w}, httptest.NewRequest("GET", "/", nil), nil),
			ErrUnsupported)
		wantErr(t, h.Stream(onlyFlush{w, w}, httptest.NewRequest("GET", "/", nil), nil, nil),
			ErrUnsupported)
		if w.Body.Len() > 0 || len(w.Header()) > 0 || w.Flushed {
			t.Error("something was written")
		}
	}
	if n := h.Streams(); n != 0 {
		t.Errorf("%d streams are open", n)
	}
}

func TestReplayError(t *testing.T) {
	h := newHub(t, Config{})
	broken := errors.New("disk on fire")
	srv, results := topicServer(t, h.Topic("a"), func(*http.Request) func(context.Context,
		func(Frame) error) (int64, error) {
		return func(_ context.Context, send func(Frame) error) (int64, error) { return 0, broken }
	})
	_, p := get(t, srv.URL)
	if all, err := p.rest(); len(all) != 0 || err != io.EOF {
		t.Fatalf("%v, %v", all, err)
	}
	wantErr(t, receive(t, results), broken)
}

func TestPanicInReplayLeavesNothing(t *testing.T) {
	h := newHub(t, Config{})
	srv := server(t, func(w http.ResponseWriter, r *http.Request) {
		_ = h.Topic("a").Serve(w, r, func(_ context.Context, send func(Frame) error) (int64, error) {
			_ = send(number(1))
			panic(http.ErrAbortHandler)
		})
	})
	_, p := get(t, srv.URL)
	p.want(t, "1")
	if _, err := p.rest(); err == nil {
		t.Fatal("no end")
	}
	waitFor(t, func() bool { return len(h.open()) == 0 && h.Topic("a").Subscribers() == 0 })
}

func TestPrivateStream(t *testing.T) {
	h := newHub(t, Config{})
	results := make(chan error, 1)
	broken := errors.New("broken")
	srv := server(t, func(w http.ResponseWriter, r *http.Request) {
		past := func(_ context.Context, send func(Frame) error) (int64, error) {
			return 1, send(number(1))
		}
		results <- h.Stream(w, r, past, func(ctx context.Context, publish func(...Frame)) error {
			publish(number(1), number(2)) // the first was in the past
			publish(number(3))
			switch r.URL.Path {
			case "/broken":
				return broken
			case "/endless":
				<-ctx.Done()
				publish(number(4))
				return ctx.Err()
			}
			return nil
		})
	})
	_, p := get(t, srv.URL)
	p.want(t, "1", "2", "3")
	if _, err := p.rest(); err != io.EOF {
		t.Fatal(err)
	}
	wantErr(t, receive(t, results), nil)

	_, p = get(t, srv.URL+"/broken")
	p.want(t, "1", "2", "3")
	wantErr(t, receive(t, results), broken)

	res, p := get(t, srv.URL+"/endless")
	p.want(t, "1", "2", "3")
	res.Body.Close()
	wantErr(t, receive(t, results), nil)
}

// The server's WriteTimeout, and the read deadline that a handler around this one set
// for the body, are meant for requests; a stream outlives both. 75 heartbeats of 20 ms
// are half as long again as each.
func TestOutlivesTheServersTimeouts(t *testing.T) {
	h := newHub(t, Config{Heartbeat: 20 * time.Millisecond})
	topic := h.Topic("a")
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			t.Error(err)
		}
		_ = topic.Serve(w, r, nil)
	}))
	srv.Config.WriteTimeout = time.Second
	srv.Start()
	t.Cleanup(srv.Close)
	_, p := get(t, srv.URL)
	p.comment(t, 75)
	topic.Publish(number(1))
	p.want(t, "1")
}

func TestTopicsCostNothingWithoutClients(t *testing.T) {
	h := newHub(t, Config{})
	data := Frame{Pos: 1, Data: make([]byte, 1<<10)}
	for i := range 1000 {
		h.Topic(fmt.Sprint(i)).Publish(data)
	}
	if len(h.topics) != 0 || h.fanout.StreamExists("0") || h.fanout.StreamExists("999") {
		t.Fatalf("%d topics are kept", len(h.topics))
	}
	topic := h.Topic("quiet")
	if n := testing.AllocsPerRun(100, func() { topic.Publish(data) }); n != 0 {
		t.Errorf("publishing to nobody allocates %v times", n)
	}
	srv, results := topicServer(t, topic, nil)
	for range 5 {
		res, _ := get(t, srv.URL)
		res.Body.Close()
		receive(t, results)
	}
	if len(h.topics) != 0 || h.fanout.StreamExists("quiet") {
		t.Error("the topic outlived its clients")
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{{Heartbeat: -1}, {WriteTimeout: -1}, {Buffer: -1}, {Retry: -1}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}
