package guard

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// A server that cannot begin says so to everybody, and lives.
func TestWaiting(t *testing.T) {
	h := Waiting("engine", "engine_away", "It waits for its <database>.")
	for _, c := range []struct {
		method, path, accept string
		status               int
		body                 string
	}{
		{"GET", "/healthz", "", 200, "ok\n"},
		{"GET", "/readyz", "text/html", 503, "engine\n"},
		{"GET", "/sessions/x", "text/html,*/*", 503, "<p>It waits for its &lt;database&gt;. This page"},
		{"GET", "/api/sessions", "application/json", 503, `"code":"engine_away"`},
		{"POST", "/api/sessions", "text/html", 503, `"code":"engine_away"`},
	} {
		r, w := httptest.NewRequest(c.method, c.path, strings.NewReader("{}")), httptest.NewRecorder()
		r.Host = "evil.test"
		r.Header.Set("Accept", c.accept)
		h.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.body) {
			t.Errorf("%s %s: %d %s", c.method, c.path, w.Code, w.Body)
		}
		again := c.status == 503 && c.path != "/readyz"
		if got := w.Header(); got.Get("X-Content-Type-Options") != "nosniff" ||
			got.Get("Cache-Control") != "no-store" || got.Get("Connection") != "close" ||
			(got.Get("Retry-After") != "") != again ||
			(got.Get("Refresh") != "") != strings.HasPrefix(got.Get("Content-Type"), "text/html") ||
			!strings.HasPrefix(got.Get("Content-Security-Policy"), "default-src 'none'; ") ||
			strings.Contains(got.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("%s %s: %v", c.method, c.path, got)
		}
	}
}
