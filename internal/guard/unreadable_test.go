package guard_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"webchat/internal/guard"
)

// What net/http refuses before the handler has it is refused as everything else is, on
// a connection that was used before as well; and what a handler writes stays as it is.
func TestRequestsThatCannotBeRead(t *testing.T) {
	const start = "GET /read HTTP/1.1\r\nHost: localhost\r\n"
	const shown = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n" +
		"Connection: close\r\n\r\n400 Bad Request"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g, places := newGuard(t, guard.Config{}), guard.NewConnections(8)
	server := &http.Server{
		ConnContext:    places.Context,
		ConnState:      places.State,
		MaxHeaderBytes: 32 << 10,
		Handler: g.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(shown)))
			_ = http.NewResponseController(w).Flush() // so that it begins what is written next
			_, _ = io.WriteString(w, shown)
		})),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(places.Listener(l)) }()
	defer func() { _ = server.Close(); <-ended }()
	for request, status := range map[string]int{
		start + "X-A: a\x01b\r\n\r\n":                                   400,
		start + "X-A: a\x00b\r\n\r\n":                                   400,
		start + "X\x7f: a\r\n\r\n":                                      400,
		"GET /read HTTP/1.1\r\n\r\n":                                    400,
		"GET /\x01 HTTP/1.1\r\nHost: localhost\r\n\r\n":                 400,
		"nonsense\r\n\r\n":                                              400,
		start + "X-A: " + strings.Repeat("a", 64<<10) + "\r\n\r\n":      431,
		start + "Transfer-Encoding: gzip\r\n\r\n":                       501,
		"GET /read HTTP/3.0\r\nHost: localhost\r\n\r\n":                 505,
		start + "Expect: something\r\nContent-Length: 1\r\n\r\nx":       417,
		start + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nx":       400,
		start + "Content-Length: 1\r\nTransfer-Encoding: x\r\n\r\nx":    501,
		start + "Content-Length: minus one\r\nX-A: " + "b" + "\r\n\r\n": 400,
	} {
		for _, before := range []string{"", start + "\r\n"} {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			read := bufio.NewReader(c)
			if before != "" {
				_, err = io.WriteString(c, before)
				res, e := http.ReadResponse(read, nil)
				if err != nil || e != nil {
					t.Fatal(err, e)
				}
				if b, err := io.ReadAll(res.Body); err != nil || string(b) != shown {
					t.Fatalf("what is shown is changed: %q %v", b, err)
				}
			}
			_, err = io.WriteString(c, request)
			res, e := http.ReadResponse(read, nil)
			if err != nil || e != nil {
				t.Fatalf("%.60q: %v %v", request, err, e)
			}
			var said struct{ Error, Code string }
			b, err := io.ReadAll(res.Body)
			if e := json.Unmarshal(b, &said); err != nil || e != nil || res.StatusCode != status ||
				said.Code != "unreadable_request" || said.Error == "" ||
				res.Header.Get("X-Content-Type-Options") != "nosniff" ||
				!strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") || !res.Close {
				t.Errorf("%.60q: %s %v %q, want %d", request, res.Status, res.Header, b, status)
			}
			_, _ = io.Copy(io.Discard, read) // until the server closes it
			_ = c.Close()
		}
	}
}
