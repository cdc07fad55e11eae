package guard_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"webchat/internal/guard"
)

func TestForeignHostIsRefusedBeforeEverything(t *testing.T) {
	g := newGuard(t, guard.Config{})
	h := routes(g)
	for _, path := range []string{"/", "/read", "/write", "/output", "/public", "/nope", "/none"} {
		for _, method := range []string{"GET", "POST", "OPTIONS"} {
			res := want(t, h, call{
				method: method,
				target: path,
				host:   "evil.test",
				header: map[string]string{
					"Authorization": "Bearer " + g.Token(), "Origin": "http://evil.test",
					"Sec-Fetch-Site": "same-origin"},
			}, 403)
			if len(res.Cookies()) > 0 {
				t.Errorf("%s: a foreign host got a cookie", path)
			}
		}
	}
}

func TestOddHosts(t *testing.T) {
	h := routes(newGuard(t, guard.Config{}))
	for _, ok := range []string{"localhost", "localhost:1", "LOCALHOST:8080", "127.0.0.1:8080",
		"[::1]:8080", "[::1]"} {
		want(t, h, call{target: "/public", host: ok}, 200)
	}
	for _, bad := range []string{"empty", "localhost.", "localhost.:80", "127.1", "127.0.0.2",
		"2130706433", "0x7f.1", "[::ffff:7f00:1]", "::1",
		"[::1", "[::1]x", "[::1]evil.test", "[0:0:0:0:0:0:0:1]", "localhost.evil.test", "evil.test:8080",
		"0.0.0.0:8080", "[::]:8080", "localhost:",
		"localhost:0", "localhost:65536", "localhost:80:80", "localhost:+80", "localhost:80@evil.test",
		"evil@localhost", "localhost ",
		"localhost\x00", "a.localhost", "webchat.localhost:8080", "localhost,evil.test", "localhoſt"} {
		want(t, h, call{target: "/public", host: bad}, 403)
	}
}

func TestHostsOnTheWire(t *testing.T) {
	server := httptest.NewUnstartedServer(routes(newGuard(t, guard.Config{})))
	server.Config.DisableGeneralOptionsHandler = true
	server.Start()
	defer server.Close()
	for request, wants := range map[string][]string{
		"GET /public HTTP/1.1\r\nHost: localhost:1\r\n":                  {"200"},
		"GET /public HTTP/1.0\r\n":                                       {"403"},
		"GET /public HTTP/1.1\r\n":                                       {"400"},
		"GET /public HTTP/1.1\r\nHost:\r\n":                              {"403"},
		"GET /public HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n": {"400"},
		"GET http://evil.test/public HTTP/1.1\r\nHost: localhost\r\n":    {"403"},
		"GET //evil.test/public HTTP/1.1\r\nHost: localhost\r\n":         {"404"},
		"OPTIONS * HTTP/1.1\r\nHost: evil.test\r\n":                      {"403"},
		"CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n":          {"405"},
		"GET /public HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n": {"200"},
	} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(conn).ReadString('\n')
		if fields := strings.Fields(line); err != nil || len(fields) < 2 || fields[1] != wants[0] {
			t.Errorf("%q: %q, %v, want %s", request, line, err, wants)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOrigins(t *testing.T) {
	g := newGuard(t, guard.Config{})
	h := routes(g)
	bearer := "Bearer " + g.Token()
	for _, c := range []struct {
		origin, site string
		status       int
	}{
		{"", "", 200},
		{"http://localhost:8080", "", 200},
		{"http://localhost:8080", "same-origin", 200},
		{"", "none", 200},
		{"https://evil.test", "cross-site", 403},
		{"http://localhost:3000", "same-site", 403},
		{"http://localhost:3000", "", 403},
		{"http://localhost:8080", "same-site", 403},
		{"https://evil.test", "same-origin", 403},
		{"http://10.0.0.5:8080", "", 403},
		{"http://127.0.0.1:8080", "", 403},
		{"http://localhost:8080.evil.test", "", 403},
		{"http://localhost", "", 403},
		{"https://localhost:8080", "", 403},
		{"http://localhost:8080/", "", 403},
		{"null", "", 403},
		{"null", "same-origin", 403},
		{"", "cross-site", 403},
	} {
		for _, path := range []string{"/write", "/upload", "/public", "/read", "/output"} {
			header := map[string]string{"Authorization": bearer}
			if c.origin != "" {
				header["Origin"] = c.origin
			}
			if c.site != "" {
				header["Sec-Fetch-Site"] = c.site
			}
			want(t, h, call{method: "POST", target: path, header: header}, c.status)
			status := c.status
			if path == "/public" && (c.origin == "" || c.origin == "http://"+host) &&
				c.site != "same-origin" {
				status = 200 // a plain link from anywhere
			}
			want(t, h, call{target: path, header: header}, status)
		}
	}
	r := httptest.NewRequest("POST", "/write", nil)
	r.Host = host
	r.Header["Origin"] = []string{"http://localhost:8080", "https://evil.test"}
	r.Header.Set("Authorization", bearer)
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 403 {
		t.Errorf("two origins: %d", w.Code)
	}
}

func TestNoReplyAllowsAnotherOrigin(t *testing.T) {
	h := routes(newGuard(t, guard.Config{}))
	for _, path := range []string{"/", "/read", "/write", "/output", "/public", "/static", "/auth",
		"/nope"} {
		for _, method := range []string{"GET", "POST", "OPTIONS"} {
			res := do(h, call{
				method: method,
				target: path,
				header: map[string]string{"Origin": "https://evil.test",
					"Access-Control-Request-Method": "POST"},
			})
			for name := range res.Header {
				if strings.HasPrefix(name, "Access-Control") {
					t.Errorf("%s %s sends %s", method, path, name)
				}
			}
			if method == "OPTIONS" && path != "/nope" && res.StatusCode != 405 {
				t.Errorf("OPTIONS %s: %d", path, res.StatusCode)
			}
		}
	}
}

func TestPagesLiveUnderOneName(t *testing.T) {
	h := routes(newGuard(t, guard.Config{}))
	for _, c := range []struct{ host, target, to string }{
		{"127.0.0.1:8080", "/auth", "http://localhost:8080/auth"},
		{"[::1]:9", "/?q=a%26b", "http://localhost:9/?q=a%26b"},
		{"127.0.0.1", "/auth?next=//evil.test", "http://localhost/auth?next=//evil.test"},
	} {
		res := want(t, h, call{target: c.target, host: c.host}, 307)
		if got := res.Header.Get("Location"); got != c.to {
			t.Errorf("%s%s goes to %q, want %q", c.host, c.target, got, c.to)
		}
	}
	want(t, h, call{target: "/auth"}, 200)
	want(t, h, call{target: "/auth?next=//evil.test"}, 200)
	want(t, h, call{target: "/output", host: "127.0.0.1:8080"}, 200)
	want(t, h, call{target: "/read", host: "127.0.0.1:8080"}, 401)
}

func TestPublicURL(t *testing.T) {
	g := newGuard(t, guard.Config{PublicURL: "https://Chat.example/"})
	h := routes(g)
	res := want(t, h, call{target: "/public", host: "chat.example"}, 200)
	if res.Header.Get("Strict-Transport-Security") == "" {
		t.Error("no HSTS behind https")
	}
	want(t, h, call{target: "/public", host: "chat.example:443"}, 200)
	// the port is the proxy's business
	want(t, h, call{target: "/public", host: "chat.example:8443"}, 200)
	want(t, h, call{target: "/public", host: "x.chat.example"}, 403)
	res = want(t, h, call{
		target: "/public",
		host:   "localhost:8080",
		header: map[string]string{"X-Forwarded-Host": "chat.example"},
	}, 403)
	if b, _ := io.ReadAll(res.Body); !bytes.Contains(b, []byte("proxy_set_header Host")) {
		t.Errorf("no hint for the proxy's owner: %s", b)
	}
	bearer := "Bearer " + g.Token()
	for origin, status := range map[string]int{"https://chat.example": 200, "http://chat.example": 403,
		"https://chat.example:8443": 403, "https://evil.test": 403} {
		want(t, h, call{
			method: "POST",
			target: "/write",
			host:   "chat.example",
			header: map[string]string{"Origin": origin, "Authorization": bearer},
		}, status)
	}
	if link := g.Link("http://localhost:8080"); !strings.HasPrefix(link,
		"https://chat.example/auth#t=") {
		t.Errorf("link %s", link)
	}
	cookies := signInOn(t, g, "chat.example").Cookies()
	if len(cookies) != 1 || cookies[0].Name != "__Host-webchat" || !cookies[0].Secure ||
		cookies[0].Path != "/" || cookies[0].Domain != "" {
		t.Errorf("cookies %v", cookies)
	}
}

func TestUnusablePublicURL(t *testing.T) {
	for _, u := range []string{"chat.example", "ftp://chat.example", "https://",
		"https://chat.example/a b", "https://chat.example/a/../b", "https://chat.example/%2e",
		"https://chat.example//a", "https://chat.example/a;b", "https://u@chat.example",
		"https://chat.example?x=1", "https://:80", "::", "https://a:99999", "https://a:0", "https://a:"} {
		if _, err := guard.New(guard.Config{Dir: t.TempDir(), PublicURL: u}); err == nil {
			t.Errorf("%q was accepted", u)
		}
	}
	if _, err := guard.New(guard.Config{
		Dir:       t.TempDir(),
		PublicURL: "https://chat.example",
		NoAuth:    true,
	}); err == nil {
		t.Error("no sign-in on a public URL was accepted")
	}
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"localhost:8080", "[::1]:1", "127.0.0.1", "localhost.", "[::1]evil",
		"localhost:80:80", "evil.test", ""} {
		f.Add(s)
	}
	local := routes(newGuard(f, guard.Config{}))
	public := routes(newGuard(f, guard.Config{PublicURL: "https://chat.example"}))
	f.Fuzz(func(t *testing.T, host string) {
		if host == "" {
			host = "empty"
		}
		accepted := func(h http.Handler, names ...string) {
			if do(h, call{target: "/public", host: host}).StatusCode == 403 {
				return
			}
			u, err := url.Parse("http://" + host + "/")
			if err != nil || u.User != nil || !contains(names, strings.ToLower(u.Hostname())) {
				t.Errorf("%q was let in, as %v %v", host, u, err)
			}
		}
		accepted(local, "localhost", "127.0.0.1", "::1")
		accepted(public, "chat.example")
	})
}

func FuzzOrigin(f *testing.F) {
	for _, s := range []string{"http://localhost:8080", "null", "http://localhost:8080.evil.test",
		"https://localhost:8080", ""} {
		f.Add(s, "same-origin")
		f.Add(s, "")
	}
	g := newGuard(f, guard.Config{})
	h := routes(g)
	f.Fuzz(func(t *testing.T, origin, site string) {
		res := do(h, call{
			method: "POST",
			target: "/write",
			header: map[string]string{"Origin": origin, "Sec-Fetch-Site": site, "Authorization": "Bearer " +
				g.Token()},
		})
		if res.StatusCode == 403 {
			return
		}
		if origin != "http://"+host || site != "" && site != "same-origin" && site != "none" {
			t.Errorf("origin %q, site %q: %d", origin, site, res.StatusCode)
		}
	})
}

// Behind a public URL an agent of this server calls its tools under a loopback name: with a token
// for MCP, at /mcp, and not from a browser. Nothing else is answered under that name.
func TestAgentsCallAtLoopback(t *testing.T) {
	g := newGuard(t, guard.Config{PublicURL: "https://chat.example"})
	h := routes(g)
	key, err := g.MCPKey("s-one")
	if err != nil {
		t.Fatal(err)
	}
	with := func(more ...string) map[string]string {
		header := map[string]string{"Authorization": "Bearer " + key}
		for i := 0; i < len(more); i += 2 {
			header[more[i]] = more[i+1]
		}
		return header
	}
	for _, host := range []string{"127.0.0.1:8080", "localhost:8080", "[::1]:8080"} {
		want(t, h, call{
			method: "POST",
			target: "/mcp",
			host:   host,
			header: with("Content-Type", "application/json"),
			body:   "{}",
		}, 200)
	}
	for _, c := range []call{
		{target: "/mcp", host: "127.0.0.1:8080"},
		{target: "/mcp", host: "127.0.0.1:8080", header: with("Authorization", "Bearer s-one.wrong")},
		{target: "/mcp", host: "127.0.0.1:8080", header: with("Origin", "http://127.0.0.1:8080")},
		{target: "/mcp", host: "127.0.0.1:8080", header: with("Origin", "https://chat.example")},
		{target: "/mcp", host: "127.0.0.1:8080", header: with("Sec-Fetch-Site", "same-origin")},
		{target: "/mcp", host: "evil.test", header: with()},
		{target: "/mcp", host: "127.1:8080", header: with()},
		{target: "/mcp/", host: "127.0.0.1:8080", header: with()},
		{target: "/read", host: "127.0.0.1:8080", header: with()},
		{target: "/read", host: "127.0.0.1:8080", header: with("Authorization", "Bearer "+g.Token())},
		{target: "/write", host: "localhost:8080", header: with("Authorization", "Bearer "+g.Token())},
	} {
		want(t, h, c, 403)
	}
}
