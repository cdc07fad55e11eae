package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"webchat/internal/guard"
)

// published reads the table of routes as clients see it.
func published(t *testing.T, h *house) (rows []struct{ method, pattern, class string }) {
	_, body := h.do("GET", "/api/openapi.json", "")
	var doc struct {
		Paths map[string]map[string]struct {
			Class string `json:"x-class"`
		} `json:"paths"`
	}
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatal(err)
	}
	for pattern, methods := range doc.Paths {
		for method, op := range methods {
			rows = append(rows, struct{ method, pattern, class string }{strings.ToUpper(method), pattern,
				op.Class})
		}
	}
	if len(rows) < 30 {
		t.Fatalf("only %d routes", len(rows))
	}
	return rows
}

// Every route and method: who does not belong is refused, and for the reason that
// comes first.
func TestEveryRouteIsGuarded(t *testing.T) {
	h := newHouse(t)
	h.session(t) // from here on it is ready
	open := map[string]bool{guard.Public.String(): true, guard.Static.String(): true,
		guard.Door.String(): true, guard.Output.String(): true, guard.Frame.String(): true}
	writes := map[string]bool{guard.Write.String(): true, guard.Upload.String(): true}
	expect := func(row struct{ method, pattern, class string }, what string, wants int, body string,
		header ...string) {
		t.Helper()
		path := strings.NewReplacer("{id}", "x", "{requestId}", "y", "{toolCallId}", "z", "*",
			"v/js/theme.js").Replace(row.pattern)
		res, text := h.do(row.method, path, body, header...)
		if res.StatusCode != wants {
			t.Errorf("%s %s (%s), %s: %d %s, want %d", row.method, row.pattern, row.class, what,
				res.StatusCode, text, wants)
		}
		if res.StatusCode == http.StatusSwitchingProtocols ||
			res.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s, %s: %v", row.method, row.pattern, what, res.Header)
		}
		if res.Header.Get("X-Content-Type-Options") != "nosniff" ||
			res.Header.Get("Content-Security-Policy") == "" ||
			res.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s %s, %s: headers are missing: %v", row.method, row.pattern, what, res.Header)
		}
		if what == "foreign host" && len(res.Cookies()) > 0 {
			t.Errorf("%s %s: a foreign host got a cookie", row.method, row.pattern)
		}
	}
	for _, row := range published(t, h) {
		foreign := 403
		if row.pattern == "/healthz" || row.pattern == "/readyz" {
			foreign = 200 // it says one word, and whoever watches the server knows its address only
		}
		expect(row, "foreign host", foreign, "", "Host: evil.test")
		expect(row, "foreign origin", 403, "", "Origin: https://evil.test")
		expect(row, "neighbour port", 403, "", "Origin: http://localhost:3000",
			"Sec-Fetch-Site: same-site")
		if row.method != "GET" {
			expect(row, "cross-site write", 403, "", "Sec-Fetch-Site: cross-site")
		} else if row.class == guard.Read.String() || row.class == guard.Output.String() || row.class == guard.Frame.String() {
			expect(row, "cross-site read", 403, "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: script")
		}
		if !open[row.class] {
			expect(row, "no credentials", 401, "", "Authorization:")
			expect(row, "wrong credentials", 401, "", "Authorization: Bearer wrong",
				"Cookie: webchat_80=wrong")
		}
		media := "text/plain"
		if row.class == guard.Upload.String() {
			media = "application/x-www-form-urlencoded"
		}
		expect(row, "wrong media type", 415, "x", "Content-Type: "+media)
		expect(row, "form", 415, "a=b", "Content-Type: application/x-www-form-urlencoded; charset=utf-8")
		expect(row, "compressed body", 415, "x", "Content-Type: application/json",
			"Content-Encoding: gzip")
		size := guard.MaxBody
		if row.class == guard.Upload.String() {
			size = guard.MaxUpload
		}
		expect(row, "too large", 413, strings.Repeat(" ", size+1), "Content-Type: application/json")
		if row.class != guard.MCP.String() && writes[row.class] != (row.method != "GET" &&
			row.pattern != "/api/sign-in") {
			t.Errorf("%s %s has the class %s", row.method, row.pattern, row.class)
		}
	}
}

// GET and HEAD never change anything, whatever they carry.
func TestReadsChangeNothing(t *testing.T) {
	h := newHouse(t)
	h.file("go.mod", "module demo\n")
	_, body := h.do("POST", "/api/sessions", "{}")
	var one struct{ ID string }
	if err := json.Unmarshal([]byte(body), &one); err != nil {
		t.Fatal(err)
	}
	state := func() string {
		_, a := h.do("GET", "/api/sessions", "")
		_, b := h.do("GET", "/api/sessions/"+one.ID+"/events", "")
		_, c := h.do("GET", "/api/sessions/"+one.ID+"/outputs", "")
		return a + b + c
	}
	before := state()
	for _, row := range published(t, h) {
		if strings.HasSuffix(row.pattern, "stream") {
			continue // it would not end; the query is the same
		}
		path := strings.NewReplacer("{id}", one.ID, "{requestId}", "y", "{toolCallId}", "z", "*",
			"v/js/theme.js").Replace(row.pattern)
		for _, method := range []string{"GET", "HEAD"} {
			h.do(method, path+"?content=run+date&title=x&decision=allow&delete=1&tool=run_and_display", "")
		}
	}
	if after := state(); after != before {
		t.Errorf("reading changed\n%s\nto\n%s", before, after)
	}
}
