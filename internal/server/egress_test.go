package server_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"webchat/web"
)

// THREATS 29: no route fetches an address for who asks, or sends them there.
func TestNoRouteFetchesOrRedirects(t *testing.T) {
	h := newHouse(t)
	var hits atomic.Int64
	sink := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		hits.Add(1)
	}))
	defer sink.Close()
	query := url.Values{}
	for _, name := range []string{"url", "u", "uri", "src", "href", "image", "img", "link", "target",
		"to", "next", "redirect", "return", "continue", "callback", "proxy", "q", "path", "file",
		"name"} {
		query.Set(name, sink.URL+"/x.png")
	}
	_, session := h.session(t)
	for _, row := range published(t, h) {
		if row.method != http.MethodGet || strings.HasSuffix(row.pattern, "stream") ||
			strings.HasSuffix(row.pattern, "/events") {
			continue
		}
		for _, id := range []string{strings.TrimPrefix(session, "/api/sessions/"),
			url.PathEscape(sink.URL)} {
			path := strings.NewReplacer("{id}", id, "{requestId}", url.PathEscape(sink.URL), "{toolCallId}",
				url.PathEscape(sink.URL), "{outputId}", url.PathEscape(sink.URL), "*",
				url.PathEscape(sink.URL)).Replace(row.pattern)
			res, _ := h.do("GET", path+"?"+query.Encode(), "")
			if to := res.Header.Get("Location"); strings.Contains(to, sink.URL) ||
				strings.Contains(to, "//") && !strings.HasPrefix(to, h.url) {
				t.Errorf("GET %s leads to %s", row.pattern, to)
			}
		}
	}
	if n := hits.Load(); n > 0 {
		t.Errorf("the server fetched %d times what a query named", n)
	}
}

// load is an address of another host in a place from which a browser loads.
var load = regexp.MustCompile(
	`(?i)(?:\b(?:src|srcset|data|poster|action|formaction|background|manifest|xlink:href)\s*=\s*["']?|` +
		`<(?:link|base|use|image)\b[^>]*\bhref\s*=\s*["']?|url\(\s*["']?|@import\s*["']?|(?:\bfrom|\bimport|\bfetch|\bWorker|\bEventSource|\bWebSocket|\bimportScripts)\s*\(?\s*["'` + "`" + `])\s*(?:https?:|wss?:)?//[^\s"'>]+`)

// THREATS 73: nothing that is served loads anything from elsewhere.
func TestNothingIsLoadedFromElsewhere(t *testing.T) {
	h := newHouse(t)
	h.file("README.md", "# Demo\n")
	_, session := h.session(t)
	h.do("POST", session+"/display",
		`{"tool":"render_file_contents","arguments":{"path":"README.md"}}`)
	served := map[string]string{}
	for _, path := range []string{"/", "/auth", "/sessions", "/consent", "/nope",
		strings.TrimPrefix(session, "/api"), session + "/export?format=html"} {
		res, body := h.do("GET", path, "")
		served[path] = body
		if res.StatusCode == 200 && path != "/nope" && !strings.Contains(body, "<") {
			t.Errorf("%s is not a page: nothing was looked at", path)
		}
	}
	err := fs.WalkDir(web.FS, "static", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			_, served[name] = h.do("GET", web.Static()+strings.TrimPrefix(name, "static"), "",
				"Authorization:")
		}
		return err
	})
	if err != nil || len(served) < 50 {
		t.Fatalf("%d files, %v", len(served), err)
	}
	for name, text := range served {
		if found := load.FindString(text); found != "" {
			t.Errorf("%s loads %s", name, found)
		}
	}
	for _, bad := range []string{`<script src="https://cdn.test/x.js">`,
		`<link rel=stylesheet href=//cdn.test/x.css>`, `@import "https://cdn.test/x"`,
		`url(http://cdn.test/f.woff)`, `import x from 'https://cdn.test/x.js'`,
		`fetch("https://cdn.test")`, `<img srcset="//cdn.test/x 2x">`} {
		if !load.MatchString(bad) {
			t.Errorf("%s would not be found", bad)
		}
	}
}
