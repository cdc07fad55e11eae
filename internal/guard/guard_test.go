package guard_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"webchat/internal/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const host = "localhost:8080"

// classPaths is a route per class; each answers 200 "served".
var classPaths = map[guard.Class]string{
	guard.Public: "/public", guard.Static: "/static", guard.Door: "/auth", guard.Page: "/",
	guard.Read:  "/read",
	guard.Write: "/write", guard.Upload: "/upload", guard.MCP: "/mcp", guard.Output: "/output",
	guard.Frame: "/frame",
}

func newGuard(t testing.TB, c guard.Config) *guard.Guard {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	g, err := guard.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// routes stands for the router: it matches exactly and gives each route its class.
func routes(g *guard.Guard) http.Handler {
	served := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		fmt.Fprint(w, "served")
	})
	byPath := map[string]http.Handler{"/none": g.Class(0)(served)}
	for class, path := range classPaths {
		byPath[path] = g.Class(class)(served)
	}
	return g.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, ok := byPath[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
		case r.Method == http.MethodOptions:
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			h.ServeHTTP(w, r)
		}
	}))
}

type call struct {
	method, target, host, body string
	header                     map[string]string
}

func do(h http.Handler, c call) *http.Response {
	var body io.Reader
	if c.body != "" {
		body = strings.NewReader(c.body)
	}
	if c.method == "" {
		c.method = http.MethodGet
	}
	r := httptest.NewRequest(c.method, c.target, body)
	r.Host = host
	if c.host != "" {
		r.Host = strings.TrimPrefix(c.host, "empty")
	}
	for k, v := range c.header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func want(t *testing.T, h http.Handler, c call, status int) *http.Response {
	t.Helper()
	res := do(h, c)
	if res.StatusCode != status {
		b, _ := io.ReadAll(res.Body)
		t.Errorf("%s %s host=%q %v: %d %s, want %d", c.method, c.target, c.host, c.header, res.StatusCode,
			b, status)
	}
	return res
}

// A page that rebinds its name sends that name, and gets nothing.
func TestCredentialsByClass(t *testing.T) {
	g := newGuard(t, guard.Config{})
	h := routes(g)
	cookie, secret := signIn(t, g)
	key, err := g.MCPKey("claude")
	if err != nil {
		t.Fatal(err)
	}
	creds := map[string]map[string]string{
		"none":         {},
		"cookie":       {"Cookie": cookie},
		"secret":       {"Authorization": "Bearer " + secret},
		"api":          {"Authorization": "bearer " + g.Token()},
		"wrong":        {"Authorization": "Bearer wrong", "Cookie": "webchat_8080=wrong"},
		"basic":        {"Authorization": "Basic " + g.Token()},
		"empty":        {"Authorization": "Bearer ", "Cookie": "webchat_8080="},
		"other cookie": {"Cookie": strings.Replace(cookie, "8080", "8081", 1)},
		"swapped": {"Cookie": "webchat_8080=" + secret, "Authorization": "Bearer " +
			strings.TrimPrefix(cookie, "webchat_8080=")},
		"in the query": {},
		"mcp":          {"Authorization": "Bearer " + g.MCPToken()},
		"mcp key":      {"Authorization": "Bearer " + key},
		"other's key":  {"Authorization": "Bearer codex" + strings.TrimPrefix(key, "claude")},
	}
	open := []guard.Class{guard.Public, guard.Static, guard.Door, guard.Output, guard.Frame}
	read := append([]guard.Class{guard.Page, guard.Read}, open...)
	all := append([]guard.Class{guard.Write, guard.Upload}, read...)
	mcp := append([]guard.Class{guard.MCP}, open...)
	may := map[string][]guard.Class{"cookie": read, "secret": all, "api": append(mcp, all...),
		"mcp": mcp, "mcp key": mcp}
	for name, header := range creds {
		for class, path := range classPaths {
			status := 401
			for _, c := range append(may[name], open...) {
				if c == class {
					status = 200
				}
			}
			if name == "in the query" {
				path += "?token=" + g.Token() + "&access_token=" + g.Token()
			}
			t.Run(name+" "+class.String(), func(t *testing.T) {
				res := want(t, h, call{method: "POST", target: path, header: header}, status)
				if status != 401 {
					return
				}
				b, _ := io.ReadAll(res.Body)
				if !bytes.Contains(b, []byte(`Authorization: Bearer $(webchat token`)) ||
					res.Header.Get("WWW-Authenticate") != "Bearer" {
					t.Errorf("the refusal does not say how to come in: %s", b)
				}
			})
		}
	}
}

func TestKeysForMCPSayWhoseTheyAre(t *testing.T) {
	var log bytes.Buffer
	dir := t.TempDir()
	g := newGuard(t, guard.Config{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	key, err := g.MCPKey("claude-1")
	if err != nil {
		t.Fatal(err)
	}
	again, err := newGuard(t, guard.Config{Dir: dir}).MCPKey("claude-1")
	if err != nil || again != key {
		t.Errorf("after a restart the key is %q, %v, want %q", again, err, key)
	}
	for b, name := range map[string]string{g.Token(): "api", g.MCPToken(): "mcp", key: "key claude-1",
		"claude-1.x": "", "": "", ".": ""} {
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.Header.Set("Authorization", "Bearer "+b)
		if got := g.KeyName(r); got != name {
			t.Errorf("KeyName of %q is %q, want %q", b, got, name)
		}
	}
	for _, name := range []string{"", "a.b", "ä", strings.Repeat("x", 65)} {
		if key, err := g.MCPKey(name); err == nil {
			t.Errorf("the name %q has the key %q", name, key)
		}
	}
	for range 3 {
		want(t, routes(g), call{
			method: "POST",
			target: "/mcp",
			header: map[string]string{"Authorization": "Bearer wrong-secret"},
		}, 401)
	}
	if n := strings.Count(log.String(), "without a valid token"); n != 1 ||
		strings.Contains(log.String(), "wrong-secret") {
		t.Errorf("the log says it %d times, want once and without the token: %s", n, &log)
	}
}

func TestWithoutAuth(t *testing.T) {
	h := routes(newGuard(t, guard.Config{NoAuth: true}))
	want(t, h, call{method: "POST", target: "/write"}, 200)
	want(t, h, call{target: "/"}, 200)
	want(t, h, call{method: "POST", target: "/write", host: "evil.test"}, 403)
	want(t, h, call{
		method: "POST",
		target: "/write",
		header: map[string]string{"Origin": "http://localhost:3000"},
	}, 403)
}

func TestZeroClassIsClosed(t *testing.T) {
	g := newGuard(t, guard.Config{})
	want(t, routes(g), call{target: "/none", header: map[string]string{"Authorization": "Bearer " +
		g.Token()}}, 403)
	if guard.Class(0).Valid() || guard.Class(99).Valid() || !guard.Output.Valid() {
		t.Error("Valid is wrong about a class")
	}
}

func TestBodies(t *testing.T) {
	g := newGuard(t, guard.Config{})
	h := routes(g)
	auth := func(contentType, coding string) map[string]string {
		m := map[string]string{"Authorization": "Bearer " + g.Token()}
		if contentType != "" {
			m["Content-Type"] = contentType
		}
		if coding != "" {
			m["Content-Encoding"] = coding
		}
		return m
	}
	for _, c := range []struct {
		path, contentType, coding string
		size, status              int
	}{
		{"/write", "application/json", "", 2, 200},
		{"/write", "Application/JSON; charset=utf-8", "", 2, 200},
		{"/write", "application/json; charset", "", 2, 200},
		{"/write", "application/json", "identity", 2, 200},
		{"/write", "", "", 0, 200},
		{"/write", "", "", 2, 415},
		{"/write", "text/plain", "", 2, 415},
		{"/write", "text/plain; application/json", "", 2, 415},
		{"/write", "application/x-www-form-urlencoded; charset=x", "", 2, 415},
		{"/write", "multipart/form-data; boundary=application/json", "", 2, 415},
		{"/write", "application/jsonx", "", 2, 415},
		{"/write", "application/json", "gzip", 2, 415},
		{"/write", "application/json", "", guard.MaxBody, 200},
		{"/write", "application/json", "", guard.MaxBody + 1, 413},
		{"/public", "application/json", "", guard.MaxBody + 1, 413},
		{"/public", "text/plain", "", 2, 415},
		{"/read", "text/plain", "", 2, 415},
		{"/read", "application/json", "", guard.MaxBody + 1, 413},
		{"/upload", "image/png", "", guard.MaxBody + 1, 200},
		{"/upload", "text/x-go", "", 2, 200},
		{"/upload", "application/octet-stream", "", 2, 200},
		{"/upload", "multipart/form-data; boundary=x", "", 2, 415},
		{"/upload", "image/png", "br", 2, 415},
		{"/upload", "image/png", "", guard.MaxUpload + 1, 413},
	} {
		body := strings.Repeat("x", c.size)
		want(t, h, call{
			method: "POST",
			target: c.path,
			body:   body,
			header: auth(c.contentType, c.coding),
		}, c.status)
	}
	// A body without a declared length is counted.
	r := httptest.NewRequest("POST", "/write", io.LimitReader(zeros{}, guard.MaxBody+1))
	r.Host, r.ContentLength = host, -1
	for k, v := range auth("application/json", "") {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 413 {
		t.Errorf("chunked body over the limit: %d", w.Code)
	}
	// Credentials come before the body.
	want(t, h, call{
		method: "POST",
		target: "/write",
		body:   "{}",
		header: map[string]string{"Content-Type": "text/plain"},
	}, 401)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestHeaders(t *testing.T) {
	g := newGuard(t, guard.Config{})
	h := routes(g)
	every := map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin",
		"X-Frame-Options":              "DENY", "Strict-Transport-Security": ""}
	policy := map[string][]string{
		"/": {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'",
			"base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'",
			"trusted-types webchat"},
		"/auth": {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'",
			"trusted-types webchat"},
		"/static": {"default-src 'none'", "connect-src 'self'"},
		"/output": {"default-src 'none'", "sandbox", "frame-ancestors 'none'"},
		"/read":   {"default-src 'none'", "frame-ancestors 'none'"},
		"/frame": {"default-src 'none'", "sandbox", "base-uri 'none'", "form-action 'none'",
			"frame-ancestors 'self'", "style-src 'unsafe-inline'", "img-src data:", "font-src data:"},
		"/nope": {"default-src 'none'", "frame-ancestors 'none'"},
	}
	cache := map[string]string{"/": "no-store", "/auth": "no-store", "/static": "no-cache",
		"/output": "private, no-cache", "/read": "no-store", "/frame": "no-store", "/nope": "no-store"}
	for path, parts := range policy {
		for _, token := range []string{g.Token(), "wrong"} {
			res := do(h, call{target: path, header: map[string]string{"Authorization": "Bearer " + token}})
			for name, value := range every {
				if path == "/frame" && name == "X-Frame-Options" {
					value = "SAMEORIGIN"
				}
				if res.Header.Get(name) != value {
					t.Errorf("%s: %s is %q, want %q", path, name, res.Header.Get(name), value)
				}
			}
			directives := strings.Split(res.Header.Get("Content-Security-Policy"), "; ")
			for _, part := range parts {
				if !contains(directives, part) {
					t.Errorf("%s: policy %q lacks %q", path, directives, part)
				}
			}
			for _, d := range directives {
				if path == "/frame" && (d == "style-src 'unsafe-inline'" ||
					strings.HasSuffix(d, "-src data:")) {
					continue // nothing else is loaded there, and nothing runs
				}
				if strings.Contains(d, "unsafe") || strings.Contains(d, "data:") || strings.Contains(d, "*") ||
					strings.Contains(d, "http") {
					t.Errorf("%s: policy has %q", path, d)
				}
			}
			if got := res.Header.Get("Cache-Control"); got != cache[path] && res.StatusCode == 200 {
				t.Errorf("%s: Cache-Control %q", path, got)
			}
		}
	}
	for _, path := range []string{"/", "/auth"} {
		if got := do(h, call{target: path}).Header.Get(
			"Cross-Origin-Opener-Policy"); got != "same-origin" {
			t.Errorf("%s: opener policy %q", path, got)
		}
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func TestPersonIsAnsweredByThePage(t *testing.T) {
	h := routes(newGuard(t, guard.Config{Refuse: func(w http.ResponseWriter, _ *http.Request,
		status int, code, sentence string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, "<p>%s %s", code, sentence)
	}}))
	res := want(t, h, call{target: "/"}, 401)
	if b, _ := io.ReadAll(res.Body); !bytes.HasPrefix(b, []byte("<p>unauthorized Not signed in")) {
		t.Errorf("a person reads %s", b)
	}
	res = want(t, h, call{target: "/read"}, 401)
	if got := res.Header.Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("a program gets %s", got)
	}
}
