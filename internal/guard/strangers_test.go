package guard_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"webchat/internal/guard"
)

// besieged is a server on whose port others may knock.
type besieged struct {
	*guard.Guard
	t       *testing.T
	address string
}

func besiege(t *testing.T, connections, requests int) *besieged {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &besieged{
		Guard:   newGuard(t, guard.Config{MaxRequests: requests}),
		t:       t,
		address: l.Addr().String(),
	}
	places := guard.NewConnections(connections)
	var open sync.WaitGroup
	server := &http.Server{
		Handler:     routes(b.Guard),
		ConnContext: places.Context,
		ConnState: func(c net.Conn, s http.ConnState) {
			places.State(c, s)
			switch s {
			case http.StateNew:
				open.Add(1)
			case http.StateClosed:
				open.Done()
			}
		},
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(places.Listener(l)) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		open.Wait() // net/http lingers a moment over a refusal
	})
	return b
}

// knock sends something and leaves the connection open until the test's end.
func (b *besieged) knock(text string) net.Conn {
	b.t.Helper()
	c, err := net.Dial("tcp", b.address)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		b.t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		b.t.Fatal(err)
	}
	return c
}

// status reads an answer to its end; 0 means that the connection was cut.
func status(c net.Conn) int {
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

const unfinished = "POST /public HTTP/1.1\r\nHost: localhost\r\nContent-Type: " +
	"application/json\r\nContent-Length: 1000\r\n\r\n{"

// THREATS 81: strangers whose bodies do not come take no request's place: who is
// signed in is served, and so is who signs in.
func TestUnfinishedBodiesTakeNoPlace(t *testing.T) {
	b := besiege(t, 400, 4)
	for range 20 { // five times what may be at work
		b.knock(unfinished)
	}
	read := "GET /read HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + b.Token() + "\r\n\r\n"
	write := "POST /write HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + b.Token() +
		"\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
	for range 20 {
		for what, request := range map[string]string{"a read": read, "a write": write,
			"a sign-in": strings.Replace(unfinished, "1000", "1", 1),
			"a page":    "GET /auth HTTP/1.1\r\nHost: localhost\r\n\r\n"} {
			if got := status(b.knock(request)); got != 200 {
				t.Fatalf("%s: %d", what, got)
			}
		}
	}
}

// THREATS 81: connections that say nothing, or half of it, make room for those
// that come after them, and the connections of who is signed in stay.
func TestSilentConnectionsMakeRoom(t *testing.T) {
	b := besiege(t, 40, 1000)
	read := "GET /read HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + b.Token() + "\r\n\r\n"
	mine := b.knock(read)
	if got := status(mine); got != 200 {
		t.Fatal(got)
	}
	var silent []net.Conn
	for i := range 200 { // five times what may be open
		silent = append(silent, b.knock([]string{"", "GET / HTTP/1.1\r\nHost: loc", unfinished}[i%3]))
	}
	if got := status(b.knock("GET /auth HTTP/1.1\r\nHost: localhost\r\n\r\n")); got != 200 {
		t.Errorf("a page, over a new connection: %d", got)
	}
	if got := status(b.knock(read)); got != 200 {
		t.Errorf("a read, over a new connection: %d", got)
	}
	if _, err := io.WriteString(mine, read); err != nil {
		t.Fatal(err)
	}
	if got := status(mine); got != 200 {
		t.Errorf("a read, over the connection of before: %d", got)
	}
	if got := status(silent[0]); got != 0 {
		t.Errorf("the oldest silent connection got an answer: %d", got)
	}
}

// visitors are credentials of two users, and of a stranger.
func visitors(t *testing.T, g *guard.Guard) (mine, theirs, strange map[string]string) {
	t.Helper()
	key, err := g.MCPKey("other")
	if err != nil {
		t.Fatal(err)
	}
	bearer := func(token string) map[string]string {
		return map[string]string{"Authorization": "Bearer " + token}
	}
	return bearer(g.Token()), bearer(key), bearer("wrong")
}

// THREATS 81 and 111: strangers have a quarter of the requests and of the streams, and a user half.
func TestThreat114EachHasAShare(t *testing.T) {
	g := newGuard(t, guard.Config{MaxRequests: 8, MaxStreams: 8})
	enter, leave := make(chan struct{}), make(chan struct{})
	h := g.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" && guard.Streaming(r, 1) != nil {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		if r.URL.Path != "/" {
			enter <- struct{}{}
			<-leave
		}
	}))
	mine, theirs, strange := visitors(t, g)
	held := 0
	done := make(chan struct{})
	hold := func(n int, path string, header map[string]string) {
		for range n {
			go func() { do(h, call{target: path, header: header}); done <- struct{}{} }()
			<-enter
			held++
		}
	}
	for _, path := range []string{"/stream", "/long"} {
		refused := map[string]int{"/stream": http.StatusTeapot, "/long": 503}[path]
		hold(2, path, strange)
		want(t, h, call{target: path, header: strange}, refused)
		want(t, h, call{target: path}, refused) // they are one
		hold(4, path, mine)
		want(t, h, call{target: path, header: mine}, refused)
		hold(2, path, theirs)
		want(t, h, call{target: path, header: theirs}, refused) // that is all
	}
	if res := want(t, h, call{target: "/", header: mine}, 503); res.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	close(leave)
	for range held {
		<-done
	}
	for _, who := range []map[string]string{mine, theirs, strange} {
		want(t, h, call{target: "/", header: who}, 200)
	}
}

// THREATS 114: idle connections of users make room, first those of the user with the most.
func TestThreat114IdleConnectionsMakeRoom(t *testing.T) {
	b := besiege(t, 40, 1000)
	mine, theirs, _ := visitors(t, b.Guard)
	open := func(who map[string]string) net.Conn {
		t.Helper()
		c := b.knock("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: " + who["Authorization"] +
			"\r\n\r\n")
		if got := status(c); got != 200 {
			t.Fatalf("a request over a new connection: %d", got)
		}
		return c
	}
	kept := []net.Conn{open(theirs), open(theirs)}
	for range 100 {
		open(mine)
	}
	kept = append(kept, open(theirs))
	for i, c := range kept {
		if _, err := io.WriteString(c, "GET /auth HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if got := status(c); got != 200 {
			t.Errorf("connection %d of the other user: %d", i, got)
		}
	}
}

// Event streams have a bound of their own.
func TestStreamsTakeNoRequestsPlace(t *testing.T) {
	g := newGuard(t, guard.Config{MaxRequests: 1})
	enter, leave := make(chan struct{}), make(chan struct{})
	h := g.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" {
			if err := guard.Streaming(r, 1); err != nil {
				t.Error(err)
			}
			enter <- struct{}{}
			<-leave
		}
	}))
	done := make(chan struct{})
	for range 3 {
		go func() { do(h, call{target: "/stream"}); done <- struct{}{} }()
		<-enter
	}
	want(t, h, call{target: "/"}, 200)
	close(leave)
	for range 3 {
		<-done
	}
	want(t, h, call{target: "/"}, 200)
}

// A stranger's body is small, whatever is announced, and what is wrong besides is said.
func TestStrangersBodiesAreSmall(t *testing.T) {
	b := besiege(t, 40, 40)
	for text, want := range map[string]int{
		"POST /public HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
			"1024\r\n\r\n" + strings.Repeat(" ", 1024): 200,
		"POST /public HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
			"1025\r\n\r\n": 413,
		"POST /public HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
			"Transfer-Encoding: chunked\r\n\r\n401\r\n" + strings.Repeat(" ", 1025): 413,
		"POST /public HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: " +
			"9999\r\n\r\n": 415,
		"POST /write HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
			"9999\r\n\r\n": 401,
		"POST /write HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
			"Transfer-Encoding: chunked\r\n\r\n7ff\r\n" + strings.Repeat(" ", 0x7ff): 401,
		"POST /public HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" +
			"\r\n": 200,
		"POST /public HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
			"Transfer-Encoding: chunked\r\n\r\nx\r\n": 400,
		"POST /public HTTP/1.1\r\nHost: evil.test\r\nContent-Type: application/json\r\nContent-Length: " +
			"99999999\r\n\r\n": 403,
		"POST /write HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + b.Token() +
			"\r\nContent-Type: application/json\r\nContent-Length: 1048577\r\n\r\n": 413,
	} {
		if got := status(b.knock(text)); got != want {
			t.Errorf("%.150q: %d, want %d", text, got, want)
		}
	}
}
