package cage

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

func none(*url.URL) (*url.URL, error) { return nil, nil }

// opened serves a door and returns the addresses of its listeners.
func opened(t *testing.T, d *door, listeners int) (at []string) {
	t.Helper()
	if d.through == nil {
		d.through = none
	}
	d.logger = slog.New(slog.DiscardHandler)
	var all []net.Listener
	for range listeners {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		all, at = append(all, l), append(at, l.Addr().String())
	}
	d.serve(all)
	t.Cleanup(d.close)
	return at
}

// said sends a request, as it is, and returns the answer's status and body.
func said(t *testing.T, at, request string) (int, string) {
	t.Helper()
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, request)
	method, _, _ := strings.Cut(request, " ")
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	defer res.Body.Close()
	if method == http.MethodConnect && res.StatusCode == http.StatusOK {
		return res.StatusCode, ""
	}
	body, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(body)
}

// target is a server of this machine.
func model(t *testing.T) (host, port string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %q", r.Method, r.RequestURI, r.Header.Get("Proxy-Authorization"))
	}))
	t.Cleanup(s.Close)
	host, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}

// The door reaches what was named, and of this machine and its link what is the tree's own.
func TestDoor(t *testing.T) {
	host, port := model(t)
	_, otherPort := model(t)
	d := &door{hosts: []string{"localhost:" + port, "169.254.169.254", "0.0.0.0:" + port, "[::1]:" +
		port, "[::ffff:127.0.0.1]:" + port, "*.example.test"}, own: []string{host + ":" + port}}
	at := opened(t, d, 1)[0]
	connect := func(to string) string {
		return "CONNECT " + to + " HTTP/1.1\r\nHost: " + to + "\r\n\r\n"
	}
	for request, want := range map[string]struct {
		code int
		text string
	}{
		connect("evil.test:443"):                   {403, "not among those"},
		connect("evil.test:22"):                    {403, "add it to hosts"},
		connect(host + ":" + port):                 {200, ""},
		connect(host + ":" + otherPort):            {403, "this machine"},
		connect("localhost:" + port):               {403, "this machine"},
		connect("LOCALHOST.:" + port):              {403, "this machine"},
		connect("169.254.169.254:80"):              {403, "local link"},
		connect("0.0.0.0:" + port):                 {403, "this machine"},
		connect("[::1]:" + port):                   {403, "this machine"},
		connect("[::ffff:127.0.0.1]:" + port):      {403, "this machine"},
		connect("example.test:443"):                {403, "not among those"},
		connect("a.example.test.evil.com:443"):     {403, "not among those"},
		connect("a.example.test:22"):               {403, "not among those"},
		connect("*.com:443"):                       {400, "no host"},
		connect("a%E2%80%AEb.com:443"):             {400, "no host"},
		connect(strings.Repeat("a", 300) + ":443"): {400, "no host"},
		connect(":443"):                            {400, "no host"},
		connect(host + ":0"):                       {400, "no host"},
		"GET http://" + host + ":" + port +
			"/x?y=1 HTTP/1.1\r\nHost: other\r\nProxy-Authorization: secret\r\n\r\n": {200, `GET /x?y=1 ""`},
		"GET http://evil.test/ HTTP/1.1\r\nHost: " + host + ":" + port +
			"\r\n\r\n": {403, "evil.test:80"},
		"GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n":        {400, "proxy"},
		"GET ftp://" + host + "/ HTTP/1.1\r\nHost: x\r\n\r\n": {400, "proxy"},
	} {
		if code, text := said(t, at, request); code != want.code || !strings.Contains(text, want.text) {
			t.Errorf("%q: %d %q", request, code, text)
		}
	}
}

// A tunnel carries both ways, and ends with the door.
func TestDoorTunnels(t *testing.T) {
	far, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	_, port, _ := net.SplitHostPort(far.Addr().String())
	d := &door{
		own:     []string{far.Addr().String()},
		forward: localPorts([]string{"127.0.0.1:" + port, "model.example:1", "localhost:" + port}),
	}
	at := opened(t, d, 2)
	conns := make([]net.Conn, 2)
	for i := range conns {
		if conns[i], err = net.Dial("tcp", at[i]); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close()
		if i == 0 {
			fmt.Fprintf(conns[i], "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\nearly ", far.Addr())
			if line, err := bufio.NewReader(io.LimitReader(conns[i],
				int64(len(
					"HTTP/1.1 200 Connection established\r\n"+
						"\r\n")))).ReadString('\n'); !strings.Contains(line, "200") {
				t.Fatal(line, err)
			}
		}
		up, err := far.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer up.Close()
		io.WriteString(conns[i], "there")
		want := map[int]string{0: "early there", 1: "there"}[i]
		got := make([]byte, len(want))
		if _, err := io.ReadFull(up, got); err != nil || string(got) != want {
			t.Errorf("%q, %v", got, err)
		}
		io.WriteString(up, "back")
		if _, err := io.ReadFull(conns[i], got[:4]); err != nil || string(got[:4]) != "back" {
			t.Errorf("%q, %v", got[:4], err)
		}
	}
	asking, err := net.Dial("tcp", at[0]) // plain http, without an answer yet
	if err != nil {
		t.Fatal(err)
	}
	defer asking.Close()
	fmt.Fprintf(asking, "GET http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", far.Addr())
	asked, err := far.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer asked.Close()
	if _, err := http.ReadRequest(bufio.NewReader(asked)); err != nil {
		t.Fatal(err)
	}
	d.own = nil // it is closed again
	for i, c := range conns {
		if i == 0 {
			d.cut()
			_ = asked.SetReadDeadline(time.Now().Add(10 * time.Second)) // it would stay open for good
			if _, err := io.ReadAll(asked); err != nil && !strings.Contains(err.Error(), "reset") {
				t.Errorf("plain http to a host that was closed: %v", err)
			}
		} else {
			d.close()
		}
		if _, err := io.ReadAll(c); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// However many connections a tree makes, this server has only so many of it, and serves on.
func TestDoorIsBounded(t *testing.T) {
	host, port := model(t)
	d := &door{own: []string{host + ":" + port}, forward: localPorts([]string{host + ":" + port})}
	at := opened(t, d, 2)
	var held []net.Conn
	for i := range mostConns + 1 {
		conn, err := net.Dial("tcp", at[i%2])
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		held = append(held, conn)
	}
	ended := make(chan error, len(held))
	for _, conn := range held {
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second)) // all would be kept for good
		go func() { _, err := conn.Read(make([]byte, 1)); ended <- err }()
	}
	if err := <-ended; errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("all are kept: %v", err)
	}
	for _, conn := range held {
		_ = conn.Close()
	}
	for until := time.Now().Add(20 * time.Second); ; {
		conn, err := net.Dial("tcp", at[0])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET http://%s:%s/ HTTP/1.1\r\nHost: x\r\n\r\n", host, port)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		_ = conn.Close()
		if err == nil && res.StatusCode == http.StatusOK {
			return
		}
		if time.Now().After(until) {
			t.Fatal("it serves nothing after the others ended", err)
		}
	}
}

// Through the second door webchat's MCP is reached, and nothing else of the server.
func TestDoorOfMCP(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %s %s", r.Method, r.URL, r.Host, r.Header.Get("Authorization"))
	}))
	defer s.Close()
	at := opened(t, &door{lent: s.URL + "/mcp"}, 2)[1]
	for request, want := range map[string]string{
		"POST /mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\nContent-Length: 0\r\n" +
			"\r\n": "POST /mcp " + strings.TrimPrefix(s.URL, "http://") + " Bearer k",
		"GET /mcp HTTP/1.1\r\nHost: x\r\n\r\n":                 "GET /mcp",
		"GET /servers/other HTTP/1.1\r\nHost: x\r\n\r\n":       "its tools only",
		"GET /api/sessions HTTP/1.1\r\nHost: x\r\n\r\n":        "its tools only",
		"GET /mcp/ HTTP/1.1\r\nHost: x\r\n\r\n":                "its tools only",
		"GET /mcp/../api/sessions HTTP/1.1\r\nHost: x\r\n\r\n": "its tools only",
		"GET /%6dcp HTTP/1.1\r\nHost: x\r\n\r\n":               "its tools only",
		"GET //mcp HTTP/1.1\r\nHost: x\r\n\r\n":                "its tools only",
		"GET /mcp?x=1 HTTP/1.1\r\nHost: x\r\n\r\n":             "its tools only",
		"GET http://evil.test/mcp HTTP/1.1\r\nHost: x\r\n" +
			"\r\n": "GET /mcp " + strings.TrimPrefix(s.URL, "http://"),
		"CONNECT evil.test:443 HTTP/1.1\r\nHost: x\r\n\r\n": "its tools only",
	} {
		if code, text := said(t, at, request); !strings.Contains(text, want) {
			t.Errorf("%q: %d %q", request, code, text)
		}
	}
}

// Where this server reaches the network by a proxy, its door does so too, and lets that look
// names up.
func TestDoorThroughAProxy(t *testing.T) {
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	asked := make(chan string, 1)
	go func() {
		conn, err := proxy.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		r, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		asked <- r.Method + " " + r.Host + " " + r.Header.Get("Proxy-Authorization")
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\nfrom there")
	}()
	c := Config{Env: []string{"https_proxy=http://u:p@" + proxy.Addr().String()}}
	at := opened(t, &door{
		hosts:   []string{"far.test", "localhost", "169.254.169.254"},
		through: c.proxy(),
	}, 1)[0]
	for _, near := range []string{"localhost:443", "169.254.169.254:80"} {
		if code, text := said(t, at, "CONNECT "+near+" HTTP/1.1\r\nHost: x\r\n\r\n"); code != 403 {
			t.Errorf("%s: %d %s", near, code, text)
		}
	}
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "CONNECT far.test:443 HTTP/1.1\r\nHost: x\r\n\r\n")
	if all, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(all), "from there") {
		t.Errorf("%q, %v", all, err)
	}
	if got := <-asked; got != "CONNECT far.test:443 Basic dTpw" {
		t.Error(got)
	}
}

func TestHostsOfSettings(t *testing.T) {
	for host, ok := range map[string]bool{"example.com": true, "*.example.com": true,
		"example.com:8443": true, "10.0.0.1": true, "[fd00::1]:80": true,
		"": false, "*": false, "https://example.com": false, "example.com/x": false,
		"example.com:0": false, "a b": false, "*.*": false, "u@example.com": false} {
		if err := CheckHost(host); (err == nil) != ok {
			t.Errorf("%q: %v", host, err)
		}
	}
}
