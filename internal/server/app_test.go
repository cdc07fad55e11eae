package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"webchat/internal/outputs"
)

// TestThreat124PageOfAServer shows what the page of an MCP server may reach: nothing, and what it
// names once its user allowed that. It is there for frames of ours only, and calls nothing that its
// session's servers do not have.
func TestThreat124PageOfAServer(t *testing.T) {
	h := newHouse(t)
	id, path := h.session(t)
	_, other := h.session(t)
	app, err := h.outputs.PutApp(outputs.Meta{SessionID: id}, outputs.App{Server: "docs", Tool: "find", Arguments: json.RawMessage(`{}`), Result: json.RawMessage(`{"_meta":{"m":1}}`),
		Hosts: outputs.NewAppHosts([]string{"https://api.test", "https://a.test; script-src *"}, []string{"https://*.cdn.test"}), HTML: "<p>Page"})
	if err != nil {
		t.Fatal(err)
	}
	file, err := h.outputs.Put(outputs.Meta{Type: outputs.File, SessionID: id, MimeType: outputs.AppType}, []byte(`{"html":"<p>No page"}`))
	if err != nil {
		t.Fatal(err)
	}
	at := "/api/outputs/" + string(app) + "/app"
	policy := func() string {
		t.Helper()
		res, body := h.do("GET", at, "", "Sec-Fetch-Site: same-origin")
		if res.StatusCode != 200 || body != "<p>Page" || res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s %q %v", res.Status, body, res.Header)
		}
		return res.Header.Get("Content-Security-Policy")
	}
	const closed = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; connect-src 'none'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
	if got := policy(); got != closed {
		t.Errorf("its policy is %s", got)
	}
	if _, body := h.do("GET", at+"/data", ""); body != `{"server":"docs","tool":"find","arguments":{},"result":{"_meta":{"m":1}},"hosts":{"connect":["https://api.test"],"load":["https://*.cdn.test"]},"allowed":false}`+"\n" {
		t.Errorf("it draws %s", body)
	}
	for _, c := range []struct {
		method, path, body, header string
		status                     int
	}{
		{"GET", at, "", "Sec-Fetch-Site: cross-site", 403}, // as a page that goes somewhere asks
		{"GET", at + "/data", "", "Sec-Fetch-Site: cross-site", 403},
		{"GET", "/api/outputs/" + string(file) + "/app", "", "", 404},
		{"POST", other + "/outputs/" + string(app) + "/app/hosts", "", "", 404},
		{"POST", path + "/outputs/" + string(file) + "/app/hosts", "", "", 404},
		{"POST", path + "/outputs/" + string(app) + "/app/hosts", "", "Authorization: no", 401},
		{"POST", path + "/outputs/" + string(app) + "/app/call", `{"tool":"find","arguments":{}}`, "", 400},
		{"POST", other + "/outputs/" + string(app) + "/app/call", `{"tool":"find","arguments":{}}`, "", 404},
	} {
		header := []string{}
		if c.header != "" {
			header = append(header, c.header)
		}
		if res, body := h.do(c.method, c.path, c.body, header...); res.StatusCode != c.status {
			t.Errorf("%s %s: %s %s", c.method, c.path, res.Status, body)
		}
	}
	if got := policy(); got != closed {
		t.Errorf("before it was allowed more its policy is %s", got)
	}
	if res, body := h.do("POST", path+"/outputs/"+string(app)+"/app/hosts", ""); res.StatusCode != 204 {
		t.Fatalf("%s %s", res.Status, body)
	}
	if got := policy(); !strings.Contains(got, "script-src 'unsafe-inline' https://*.cdn.test;") || !strings.Contains(got, "connect-src https://api.test;") || !strings.HasSuffix(got, "; sandbox allow-scripts") {
		t.Errorf("allowed more its policy is %s", got)
	}
}
