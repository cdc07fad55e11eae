package sse

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// got is an event as a browser would dispatch it.
type got struct {
	name, data string
	lastID     string
}

// parser reads an event stream as the WHATWG standard says (HTML, 9.2.6), streaming.
type parser struct {
	r        *bufio.Reader
	started  bool
	skipLF   bool
	lastID   string
	retry    string
	comments int // comment lines seen
	bytes    int
}

func newParser(r io.Reader) *parser { return &parser{r: bufio.NewReader(r)} }

// next returns the next dispatched event; what is incomplete at the end is discarded.
func (p *parser) next() (got, error) {
	var name string
	var data strings.Builder
	hasData := false
	id := p.lastID
	for {
		line, err := p.line()
		if err != nil {
			return got{}, err
		}
		if line == "" {
			p.lastID = id
			if !hasData {
				name = ""
				continue
			}
			return got{name: name, data: strings.TrimSuffix(data.String(), "\n"), lastID: id}, nil
		}
		field, value, colon := strings.Cut(line, ":")
		if colon && field == "" {
			p.comments++
			continue
		}
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			name = value
		case "data":
			hasData = true
			data.WriteString(value + "\n")
		case "id":
			if !strings.Contains(value, "\x00") {
				id = value
			}
		case "retry":
			if value != "" && strings.Trim(value, "0123456789") == "" {
				p.retry = value
			}
		}
	}
}

// line reads up to LF, CR LF or CR. A line cut by the end of the stream is not a line.
func (p *parser) line() (string, error) {
	if !p.started {
		p.started = true
		if b, _ := p.r.Peek(3); string(b) == "\xef\xbb\xbf" {
			_, _ = p.r.Discard(3)
		}
	}
	var b strings.Builder
	for {
		c, err := p.r.ReadByte()
		if err != nil {
			return "", err
		}
		p.bytes++
		skip := p.skipLF
		p.skipLF = false
		switch {
		case c == '\n' && skip:
		case c == '\n':
			return b.String(), nil
		case c == '\r':
			p.skipLF = true
			return b.String(), nil
		default:
			b.WriteByte(c)
		}
	}
}

// comment reads until n more comment lines have come.
func (p *parser) comment(t testing.TB, n int) {
	t.Helper()
	for n += p.comments; p.comments < n; {
		line, err := p.line()
		if err != nil {
			t.Fatalf("the stream ended before its next comment: %v", err)
		}
		if strings.HasPrefix(line, ":") {
			p.comments++
		}
	}
}

func (p *parser) want(t testing.TB, data ...string) {
	t.Helper()
	for _, want := range data {
		g, err := p.next()
		if err != nil {
			t.Fatalf("the stream ended before %q: %v", want, err)
		}
		if g.data != want {
			t.Fatalf("got %q, want %q", g.data, want)
		}
	}
}

// rest reads to the end of the stream.
func (p *parser) rest() (all []got, err error) {
	for {
		g, err := p.next()
		if err != nil {
			return all, err
		}
		all = append(all, g)
	}
}

func newHub(t testing.TB, c Config) *Hub {
	t.Helper()
	h, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// server serves handler on a loopback port and, at the end of the test, waits for
// all of its requests.
func server(t testing.TB, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	return srv
}

// tightServer is server with small kernel buffers, which else hide a stalled client
// for megabytes.
func tightServer(t testing.TB, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(handler)
	srv.Config.ConnState = func(c net.Conn, s http.ConnState) {
		if s == http.StateNew {
			_ = c.(*net.TCPConn).SetWriteBuffer(4 << 10)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	return srv
}

// topicServer serves one topic with an optional replay; what Serve returned comes
// on the channel.
func topicServer(t testing.TB, topic *Topic,
	replay func(r *http.Request) func(context.Context, func(Frame) error) (int64,
		error)) (*httptest.Server, <-chan error) {
	t.Helper()
	results := make(chan error, 1000)
	return server(t, func(w http.ResponseWriter, r *http.Request) {
		var past func(context.Context, func(Frame) error) (int64, error)
		if replay != nil {
			past = replay(r)
		}
		results <- topic.Serve(w, r, past)
	}), results
}

// get opens a stream; it is closed at the end of the test if not before.
func get(t testing.TB, url string, header ...string) (*http.Response, *parser) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res, newParser(res.Body)
}

// stalledConn sends a GET and reads nothing.
func stalledConn(t testing.TB, srv *httptest.Server, path string) net.Conn {
	t.Helper()
	addr := srv.Listener.Addr().String()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: "+addr+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return conn
}

func frame(pos int64, data string) Frame { return Frame{ID: pos, Pos: pos, Data: []byte(data)} }

func number(pos int64) Frame { return frame(pos, strconv.FormatInt(pos, 10)) }

func receive[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came within 20 s")
		panic("unreachable")
	}
}

func closeHub(t testing.TB, h *Hub) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := h.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}
