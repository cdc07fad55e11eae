package server_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"webchat/internal/cage"
)

// Pictures of other sites come through the server, after they were asked for: only those the shown
// text names, by https, from public addresses, without cookies or an address of the page.
func TestPicturesOfOtherSites(t *testing.T) {
	const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	var hits, private atomic.Int64
	site := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		for _, name := range []string{"Referer", "Cookie", "Authorization", "Origin"} {
			if r.Header.Get(name) != "" {
				t.Errorf("%s is sent to another site", name)
			}
		}
		switch r.URL.Path {
		case "/a.svg":
			_, _ = w.Write([]byte(svg))
		case "/on":
			http.Redirect(w, r, "/a.svg", http.StatusFound)
		case "/down":
			http.Redirect(w, r, "http://far.example.com/a.svg", http.StatusFound)
		case "/in":
			http.Redirect(w, r, "https://private.example.com/a.svg", http.StatusFound)
		case "/text":
			_, _ = w.Write([]byte("<script>alert(1)</script>"))
		case "/large":
			_, _ = w.Write(append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 10<<20)...))
		}
	}))
	defer site.Close()
	public := cage.Public()
	judging := public.DialContext
	public.TLSClientConfig = site.Client().Transport.(*http.Transport).TLSClientConfig
	public.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "private.") {
			private.Add(1)
			return judging(ctx, network, "127.0.0.1:443")
		}
		var d net.Dialer
		return d.DialContext(ctx, network, site.Listener.Addr().String())
	}
	h := newHouse(t, public)
	h.file("README.md", "![Badge](https://far.example.com/a.svg) ![](https://far.example.com/on) ![](https://far.example.com/down)\n"+
		"![](https://far.example.com/in) ![](https://far.example.com/text) ![](https://far.example.com/large) ![](http://far.example.com/a.svg) ![](//far.example.com/a.svg)\n")
	_, session := h.session(t)
	_, shown := h.do("POST", session+"/display", `{"tool":"render_file_contents","arguments":{"path":"README.md"}}`)
	output := "/api/outputs/" + regexp.MustCompile(`out_\w+`).FindString(shown)
	if res, _ := h.do("GET", output+"/pictures/"+strings.Repeat("0", 16), ""); res.StatusCode != 404 {
		t.Errorf("a picture of a text that was not drawn is answered %d", res.StatusCode)
	}
	_, html := h.do("GET", output+"?format=html&view=preview&from=1&rows=50", "")
	names := regexp.MustCompile(`data-far="(\w+)" data-host="far.example.com"`).FindAllStringSubmatch(html, -1)
	if len(names) != 6 {
		t.Fatalf("%d pictures can be fetched: %s", len(names), html)
	}
	if n := hits.Load(); n > 0 {
		t.Errorf("drawing the text asked the site %d times", n)
	}
	get := func(i int) (*http.Response, string) { return h.do("GET", output+"/pictures/"+names[i][1], "") }
	for i := range 2 {
		res, body := get(i)
		if res.StatusCode != 200 || body != svg || res.Header.Get("Content-Type") != "image/svg+xml" ||
			res.Header.Get("Content-Security-Policy") != "sandbox; default-src 'none'; style-src 'unsafe-inline'" ||
			res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("picture %d: %d %v %s", i, res.StatusCode, res.Header, body)
		}
	}
	for i, want := range []string{"not https", "this machine or", "not a picture", "larger than 10 MB"} {
		if res, body := get(2 + i); res.StatusCode != 400 || !strings.Contains(body, want) {
			t.Errorf("picture %d: %d %s, want %q", 2+i, res.StatusCode, body, want)
		}
	}
	if private.Load() != 1 {
		t.Error("the address that a redirect leads to was not judged")
	}
}
