package guard_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/guard"
)

// THREATS 65: a client with many connections gets 503, no other client notices, and
// what is closed makes room.
func TestConnectionsAreLimited(t *testing.T) {
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	second, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const most = 3
	g, places := newGuard(t, guard.Config{}), guard.NewConnections(most)
	server := &http.Server{Handler: routes(g), ConnContext: places.Context}
	ended := make(chan error, 2)
	for _, l := range []net.Listener{plain, second} {
		go func() { ended <- server.Serve(places.Listener(l)) }()
	}
	defer func() {
		_ = server.Close()
		<-ended
		<-ended
	}()
	var held []net.Conn
	ask := func(l net.Listener) (*http.Response, net.Conn) {
		t.Helper()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "GET /read HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+
			g.Token()+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		return res, c
	}
	for i := range most {
		res, c := ask([]net.Listener{plain, second}[i%2])
		if held = append(held, c); res.StatusCode != 200 {
			t.Fatalf("connection %d: %s", i+1, res.Status)
		}
	}
	for range 20 {
		res, c := ask(second)
		b, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != 503 || res.Header.Get("Retry-After") == "" ||
			!strings.Contains(string(b), `"code":"too_many_connections"`) {
			t.Errorf("one too many: %s %v %q %v", res.Status, res.Header, b, err)
		}
		_ = c.Close()
	}
	_ = held[0].Close()
	for end := time.Now().Add(10 * time.Second); ; {
		res, c := ask(plain)
		defer c.Close()
		if res.StatusCode == 200 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("a closed connection left no room")
		}
	}
	for _, c := range held[1:] {
		_ = c.Close()
	}
}

// pipes is a listener whose connections live in one process and one fake time.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p pipes) Close() error { return nil }
func (p pipes) Addr() net.Addr {
	return &net.UnixAddr{Name: "pipe"}
}

// THREATS 62: a client that sends a header or a body slowly is disconnected, allowed or refused.
func TestSlowSendersAreLetGo(t *testing.T) {
	for name, c := range map[string]struct {
		send string
		most time.Duration
	}{
		"nothing":       {"", 6 * time.Second},
		"half a header": {"GET /public HTTP/1.1\r\nHost: localhost\r\nX-A: b", 6 * time.Second},
		"a body that is " +
			"awaited": {"POST /write HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer TOKEN\r\n" +
			"Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{", 6 * time.Second},
		"a body without " +
			"credentials": {"POST /write HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
			"Content-Length: 9\r\n\r\n{",
			6 * time.Second},
		"a body for no route": {"POST /nope HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
			"9\r\n\r\n{", 6 * time.Second},
		"a body for another " +
			"host": {"POST / HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 9\r\n\r\n{", 6 * time.Second},
		"chunks for another " +
			"host": {"POST / HTTP/1.1\r\nHost: evil.test\r\nTransfer-Encoding: chunked\r\n\r\n" +
			"9\r\n{", 6 * time.Second},
		"a big body that is " +
			"announced": {"POST /public HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
			"Content-Length: 200000\r\n\r\n{", 6 * time.Second},
		"big chunks": {"POST /public HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: " +
			"chunked\r\n\r\n800\r\n" + strings.Repeat(" ", 2048), 6 * time.Second},
		"a body that is " +
			"too big": {"POST /write HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer TOKEN\r\n" +
			"Content-Type: application/json\r\nContent-Length: 2097152\r\n\r\n", time.Second},
		"nothing after an answer": {"GET /public HTTP/1.1\r\nHost: localhost\r\n\r\n",
			61 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuard(t, guard.Config{})
			synctest.Test(t, func(t *testing.T) {
				server := httptest.Server{Config: &http.Server{
					Handler:           routes(g),
					ReadHeaderTimeout: 5 * time.Second,
					IdleTimeout:       time.Minute,
					MaxHeaderBytes:    32 << 10,
				}}
				l := make(pipes)
				done := make(chan struct{})
				go func() { defer close(done); _ = server.Config.Serve(l) }()
				near, far := net.Pipe()
				l <- far
				go func() { _, _ = io.WriteString(near, strings.Replace(c.send, "TOKEN", g.Token(), 1)) }()
				began := time.Now()
				if _, err := io.Copy(io.Discard, near); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took > c.most {
					t.Errorf("let go after %v", took)
				}
				_ = near.Close()
				close(l)
				<-done
			})
		})
	}
}

// THREATS 62 and 111: a body with credentials may take long, as long as it comes at the least rate.
func TestThreat114BodiesHaveALeastRate(t *testing.T) {
	for name, c := range map[string]struct {
		each int // bytes a second
		want string
	}{"a byte a second": {1, "408"}, "too slow": {7 << 10, "408"}, "slow": {9 << 10, "200"}} {
		t.Run(name, func(t *testing.T) {
			g := newGuard(t, guard.Config{})
			synctest.Test(t, func(t *testing.T) {
				served := g.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if _, err := io.Copy(io.Discard, r.Body); err != nil {
						w.WriteHeader(http.StatusRequestTimeout)
					}
				}))
				server := http.Server{Handler: served}
				l := make(pipes)
				done := make(chan struct{})
				go func() { defer close(done); _ = server.Serve(l) }()
				near, far := net.Pipe()
				l <- far
				const size = 1 << 20
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					_, err := fmt.Fprintf(near,
						"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer %s\r\n"+
							"Content-Length: %d\r\n\r\n", g.Token(), size)
					for sent := 0; err == nil && sent < size; sent += c.each {
						time.Sleep(time.Second)
						_, err = near.Write(make([]byte, min(c.each, size-sent)))
					}
				}()
				line, err := bufio.NewReader(near).ReadString('\n')
				if err != nil || !strings.Contains(line, c.want) {
					t.Errorf("answered %q, %v", line, err)
				}
				_ = near.Close()
				close(l)
				<-done
				<-sent
			})
		})
	}
}

// A client that is not signed in and does not read the answer is cut off; one that is signed in may
// take their time.
func TestAnswersThatAreNotRead(t *testing.T) {
	for _, known := range []bool{false, true} {
		g := newGuard(t, guard.Config{})
		synctest.Test(t, func(t *testing.T) {
			places := guard.NewConnections(8)
			server := &http.Server{Handler: routes(g), ConnContext: places.Context}
			l := make(pipes)
			done := make(chan struct{})
			go func() { defer close(done); _ = server.Serve(places.Listener(l)) }()
			near, far := net.Pipe()
			l <- far
			request := "GET /public HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
			if known {
				request += "Authorization: Bearer " + g.Token() + "\r\n"
			}
			if _, err := io.WriteString(near, request+"\r\n"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(31 * time.Second)
			if b, err := io.ReadAll(near); err != nil || known != strings.Contains(string(b), "served") {
				t.Errorf("known %v: got %q, %v", known, b, err)
			}
			_ = near.Close()
			close(l)
			<-done
		})
	}
}
