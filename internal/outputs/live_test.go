package outputs

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// serve starts a real server; its client keeps connections and asks for no compression.
func serve(t testing.TB, h http.Handler) (url string, client *http.Client) {
	t.Helper()
	srv := httptest.NewServer(h)
	tr := &http.Transport{DisableCompression: true}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		srv.Close()
	})
	return srv.URL + "/api/outputs/", &http.Client{Transport: tr}
}

func request(t testing.TB, ctx context.Context, c *http.Client, url string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func TestFollowLive(t *testing.T) {
	s := newStore(t, 4<<20)
	url, client := serve(t, newHandler(s, nil))
	w := create(t, s, Meta{Type: Terminal}, Limits{})
	defer w.Complete(nil)
	resp := request(t, t.Context(), client, url+string(w.ID())+"?follow=1")
	defer resp.Body.Close()
	if h := resp.Header; h.Get("Content-Type") != typeText ||
		h.Get("Cache-Control") != "private, no-store" || h.Get("Etag") != "" ||
		h.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("%v", h) // and it came before the first byte
	}
	lines := bufio.NewReader(resp.Body)
	for i := range 20 { // each line arrives before the next is written
		fmt.Fprintf(w, "line %d\n", i)
		if got, err := lines.ReadString('\n'); err != nil || got != fmt.Sprintf("line %d\n", i) {
			t.Fatalf("%q, %v", got, err)
		}
	}
	now := request(t, t.Context(), client, url+string(w.ID()))
	defer now.Body.Close()
	if b, err := io.ReadAll(now.Body); err != nil || int64(len(b)) != w.Bytes() ||
		now.Header.Get("Etag") != "" || now.Header.Get("Cache-Control") != "private, no-store" {
		t.Fatalf("%d bytes of %d, %v, %v", len(b), w.Bytes(), now.Header, err)
	}
	w.Write([]byte("the end"))
	w.Complete(nil)
	if rest, err := io.ReadAll(lines); err != nil || string(rest) != "the end" {
		t.Fatalf("%q, %v", rest, err)
	}
	tail := request(t, t.Context(), client, url+string(w.ID())+"?follow=1&offset=7")
	defer tail.Body.Close()
	if got, err := bufio.NewReader(tail.Body).ReadString('\n'); err != nil || got != "line 1\n" {
		t.Fatalf("%q, %v", got, err)
	}
}

func TestFollowerLeaves(t *testing.T) {
	s := newStore(t, 4<<20)
	left := make(chan struct{})
	h := newHandler(s, nil)
	url, client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		close(left)
	}))
	w := create(t, s, Meta{Type: Terminal}, Limits{})
	defer w.Complete(nil)
	w.Write([]byte("x"))
	ctx, cancel := context.WithCancel(t.Context())
	resp := request(t, ctx, client, url+string(w.ID())+"?follow=1")
	defer resp.Body.Close()
	cancel()
	<-left
}

// TestSlowFollower: a reader that falls behind the ring learns what it missed, and never holds up
// the writer.
func TestSlowFollower(t *testing.T) {
	s := newStore(t, 4<<20)
	w := create(t, s, Meta{Type: Terminal}, Limits{Head: 16 << 10, Tail: 256 << 10})
	step := make(chan struct{})
	rec := &slowWriter{header: http.Header{}, step: step}
	var wg sync.WaitGroup
	wg.Go(func() {
		r := httptest.NewRequest("GET", "/api/outputs/"+string(w.ID())+"?follow=1", nil)
		newHandler(s, nil).ServeHTTP(rec, r)
	})
	p := make([]byte, 61)
	line := func() {
		pattern(p, w.Bytes())
		w.Write(p)
	}
	line()
	<-step // it is now writing the first bytes, and stays there
	for w.Bytes() < 8<<20 {
		line()
	}
	w.Complete(nil)
	go func() {
		for range step {
		}
	}()
	wg.Wait()
	close(step)
	text := rec.got.String()
	at := strings.Index(text, "… ")
	end := strings.Index(text, " left out …\n") + len(" left out …\n")
	if at < 0 || strings.Count(text, "…") != 2 {
		t.Fatalf("%d bytes, no gap line", len(text))
	}
	if samePattern([]byte(text[:at]), 0) >= 0 {
		t.Fatal("the bytes before the gap differ")
	}
	rest := text[end:]
	if samePattern([]byte(rest), w.Bytes()-int64(len(rest))) >= 0 || len(rest) < 100<<10 {
		t.Fatalf("the %d bytes after the gap differ", len(rest))
	}
	var bytes, lines int64
	if _, err := fmt.Sscanf(strings.ReplaceAll(text[at:end], ",", ""), "… %d bytes (%d lines)", &bytes,
		&lines); err != nil {
		t.Fatal(err)
	}
	if bytes != w.Bytes()-int64(at)-int64(len(rest)) || lines != bytes/61 {
		t.Fatalf("%q", text[at:end])
	}
}

// slowWriter is a client that takes each write only when the test lets it.
type slowWriter struct {
	header http.Header
	step   chan struct{}
	got    bytes.Buffer
}

func (s *slowWriter) Header() http.Header { return s.header }
func (s *slowWriter) WriteHeader(int)     {}
func (s *slowWriter) Write(p []byte) (int, error) {
	s.step <- struct{}{}
	s.step <- struct{}{}
	return s.got.Write(p)
}

// TestLifeEndsDuringDownload: a download that began is finished, and the next one is refused.
func TestLifeEndsDuringDownload(t *testing.T) {
	s := newStore(t, 64<<20)
	url, client := serve(t, newHandler(s, nil))
	data := make([]byte, 24<<20)
	pattern(data, 0)
	for _, header := range []string{"", "bytes=0-"} {
		id, err := s.Put(Meta{Type: File, SessionID: "s1"}, data)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequest("GET", url+string(id), nil)
		if err != nil {
			t.Fatal(err)
		}
		if header != "" {
			req.Header.Set("Range", header)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		half := make([]byte, len(data)/2)
		if _, err := io.ReadFull(resp.Body, half); err != nil {
			t.Fatal(err)
		}
		s.DeleteSession("s1")
		next := request(t, t.Context(), client, url+string(id))
		if b, err := io.ReadAll(next.Body); err != nil || next.StatusCode != 404 || string(b) != expired {
			t.Fatalf("%d %s %v", next.StatusCode, b, err)
		}
		next.Body.Close()
		rest, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !bytes.Equal(rest, data[len(half):]) {
			t.Fatalf("%d of %d bytes, %v", len(half)+len(rest), len(data), err)
		}
	}
	if got := s.Stats(); got.Used != 0 {
		t.Fatalf("%+v", got)
	}
}

// TestDeadlineIsTakenOff: a write deadline of one reply must not end the next on the same
// connection.
func TestDeadlineIsTakenOff(t *testing.T) {
	s := newStore(t, 4<<20)
	o := put(t, s, Meta{Type: File}, samples["chunks"])
	h := newHandler(s, nil)
	for _, q := range []string{"", "?format=json", "?lines=1-40000", "?follow=1", "?grep=line"} {
		rec := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		h.ServeHTTP(rec, httptest.NewRequest("GET", "/api/outputs/"+string(o.ID())+q, nil))
		if rec.n == 0 || !rec.last.IsZero() || rec.Body.Len() == 0 {
			t.Errorf("%q: %d deadlines, the last %v", q, rec.n, rec.last)
		}
	}
	ranged := httptest.NewRequest("GET", "/api/outputs/"+string(o.ID()), nil)
	ranged.Header.Set("Range", "bytes=1-")
	rec := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	if h.ServeHTTP(rec, ranged); rec.n == 0 || !rec.last.IsZero() {
		t.Errorf("range: %d deadlines, the last %v", rec.n, rec.last)
	}
}

type deadlines struct {
	*httptest.ResponseRecorder
	last time.Time
	n    int
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.last, d.n = t, d.n+1
	return nil
}

// TestManyAtOnce reads every form of the same outputs while they come and go.
func TestManyAtOnce(t *testing.T) {
	s := newStore(t, 2<<20)
	h := newHandler(s, testViews{})
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	rounds := 30
	if raceEnabled {
		rounds = 10
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range rounds {
				w, err := s.Create(Meta{Type: Terminal, SessionID: fmt.Sprint(g)},
					Limits{Head: 20 << 10, Tail: 20 << 10})
				if err != nil {
					t.Error(err)
					return
				}
				var readers sync.WaitGroup
				for _, q := range []string{"", "?follow=1", "?format=json", "?lines=5-", "?grep=ab",
					"?format=html"} {
					readers.Go(func() {
						for _, accept := range []string{"", "gzip", "zstd"} {
							if got := ask(h, "GET", string(w.ID())+q, "Accept-Encoding", accept); got.Code != 200 &&
								got.Code != 404 {
								t.Errorf("%s: %d", q, got.Code)
							}
						}
					})
				}
				p := make([]byte, 9999)
				for range 12 {
					pattern(p, w.Bytes())
					w.Write(p)
				}
				if i%5 == 4 {
					s.DeleteSession(fmt.Sprint(g))
				}
				w.Complete(func(m *Meta) { m.DurationMs = 5 })
				readers.Wait()
			}
		})
	}
	wg.Wait()
	cancel()
	if err := <-ran; err != nil {
		t.Fatal(err)
	}
	if got := s.Stats(); got.Used > got.Budget || got.Growing != 0 {
		t.Fatalf("%+v", got)
	}
}

// TestHalfAClient: one who sends a request and vanishes frees its handler.
func TestHalfAClient(t *testing.T) {
	s := newStore(t, 4<<20)
	ended := make(chan struct{}, 1)
	h := newHandler(s, nil)
	url, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		ended <- struct{}{}
	}))
	w := create(t, s, Meta{Type: Terminal}, Limits{})
	defer w.Complete(nil)
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/api/outputs/")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /%s?follow=1 HTTP/1.1\r\nHost: %s\r\n\r\n", w.ID(), host)
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	<-ended
}
