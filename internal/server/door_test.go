package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// wire sends bytes as they are and returns the status, the header and the body.
func (h *house) wire(t *testing.T, request string) (int, http.Header, string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	request = strings.NewReplacer("TOKEN", h.guard.Token(), "HERE",
		strings.TrimPrefix(h.url, "http://")).Replace(request)
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body) // a cut connection is an answer, too
	return res.StatusCode, res.Header, string(b)
}

// The door, row by row of THREATS, as bytes on the wire.
func TestDoor(t *testing.T) {
	t.Run("alone", func(t *testing.T) { testDoor(t, newHouse(t)) })
	t.Run("through another replica", func(t *testing.T) { testDoor(t, newEdge(t)) })
}

func testDoor(t *testing.T, h *house) {
	_, session := h.session(t)
	const auth, json = "Authorization: Bearer TOKEN\r\n",
		"Content-Type: application/json\r\nContent-Length: 2\r\n"
	get := func(path, more string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: HERE\r\n" + more + "\r\n"
	}
	post := func(path, more string) string {
		return "POST " + path + " HTTP/1.1\r\nHost: HERE\r\n" + more + json + "\r\n{}"
	}
	for _, c := range []struct {
		row, name, request string
		status             []int
	}{
		{"1", "rebound name",
			"GET / HTTP/1.1\r\nHost: evil.test\r\nOrigin: http://evil.test\r\nSec-Fetch-Site: " +
				"same-origin\r\n" + auth + "\r\n", []int{403}},
		{"1", "rebound name, no route", "GET /nope HTTP/1.1\r\nHost: evil.test\r\n\r\n", []int{403}},
		{"3", "no name", "GET / HTTP/1.0\r\n\r\n", []int{403}},
		{"3", "absolute form", "GET http://evil.test/ HTTP/1.1\r\nHost: HERE\r\n\r\n", []int{403}},
		{"3", "dot", "GET / HTTP/1.1\r\nHost: localhost.\r\n\r\n", []int{403}},
		{"3", "short address", "GET / HTTP/1.1\r\nHost: 127.1\r\n\r\n", []int{403}},
		{"3", "mapped address", "GET / HTTP/1.1\r\nHost: [::ffff:7f00:1]\r\n\r\n", []int{403}},
		{"4", "cross-site write", post("/api/sessions", auth+
			"Sec-Fetch-Site: cross-site\r\nOrigin: https://evil.test\r\n"), []int{403}},
		{"4", "cross-site write, old browser", post("/api/sessions", auth+
			"Origin: https://evil.test\r\n"), []int{403}},
		{"5", "neighbour port", post("/api/sessions", auth+
			"Sec-Fetch-Site: same-site\r\nOrigin: http://localhost:3000\r\n"), []int{403}},
		{"6", "nobody", post("/api/sessions", ""), []int{401}},
		{"7", "form", "POST /api/sessions HTTP/1.1\r\nHost: HERE\r\n" + auth +
			"Content-Type: application/x-www-form-urlencoded; charset=x\r\nContent-Length: 3\r\n\r\na=b",
			[]int{415}},
		{"7", "text", "POST /api/sessions HTTP/1.1\r\nHost: HERE\r\n" + auth +
			"Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}", []int{415}},
		{"7", "untyped chunks", "POST /api/sessions HTTP/1.1\r\nHost: HERE\r\n" + auth +
			"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", []int{415}},
		{"9", "preflight",
			"OPTIONS /api/sessions HTTP/1.1\r\nHost: HERE\r\nOrigin: https://evil.test\r\n" +
				"Access-Control-Request-Method: POST\r\n\r\n", []int{405}},
		{"9", "preflight of everything",
			"OPTIONS * HTTP/1.1\r\nHost: HERE\r\nOrigin: https://evil.test\r\n\r\n",
			[]int{400, 403, 404, 405}},
		{"10", "included as a script", get("/api/sessions", auth+
			"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: script\r\n"), []int{403}},
		{"10", "included stream", get("/api/stream", auth+
			"Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors\r\n"), []int{403}},
		{"11", "address as origin", post("/api/sessions", auth+"Origin: http://10.0.0.5:8080\r\n"),
			[]int{403}},
		{"11", "prefix of an origin", post("/api/sessions", auth+"Origin: http://HERE.evil.test\r\n"),
			[]int{403}},
		{"11", "null", post("/api/sessions", auth+"Origin: null\r\n"), []int{403}},
		{"11", "two origins", post("/api/sessions", auth+
			"Origin: http://HERE\r\nOrigin: https://evil.test\r\n"), []int{403}},
		{"12", "the address of none", "GET / HTTP/1.1\r\nHost: 0.0.0.0:8080\r\n\r\n", []int{403}},
		{"14", "websocket", get("/api/stream", auth+
			"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "+
			"dGhlIHNhbXBsZSBub25jZQ==\r\nSec-Fetch-Site: cross-site\r\n"), []int{403}},
		{"14", "h2c", get("/healthz",
			"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: "+
				"AAMAAABkAAQAAP__\r\n"), []int{200}},
		{"14", "tunnel", "CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n", []int{405}},
		{"14", "tunnel to itself", "CONNECT HERE HTTP/1.1\r\nHost: HERE\r\n\r\n", []int{405}},
		{"2", "health of any name",
			"GET /healthz HTTP/1.1\r\nHost: evil.test\r\nOrigin: http://evil.test\r\n\r\n", []int{200}},
		{"2", "health without a name", "GET /healthz HTTP/1.0\r\n\r\n", []int{200}},
		{"2", "readiness of any name", "GET /readyz HTTP/1.1\r\nHost: evil.test\r\n\r\n",
			[]int{200, 503}},
		{"2", "not quite health", "GET //healthz HTTP/1.1\r\nHost: evil.test\r\n\r\n", []int{403}},
		{"2", "below health", "GET /healthz/../api/sessions HTTP/1.1\r\nHost: evil.test\r\n\r\n",
			[]int{403}},
		{"16", "token in the query", get("/api/sessions?token=TOKEN&access_token=TOKEN", ""), []int{401}},
		{"21", "where to go next", get("/auth?next=//evil.test&gatewayUrl=http://evil.test", ""),
			[]int{200}},
		{"22", "made-up output", get("/api/outputs/out_AAAAAAAAAAAAAAAAAAAAAAAAAA", ""), []int{404}},
		{"24", "two slashes", get("//api/sessions", ""), []int{301, 307, 400, 401, 404}},
		{"24", "through static", get("/static/../api/sessions", ""), []int{301, 307, 400, 401, 404}},
		{"24", "through static, encoded", get("/static/%2e%2e/api/sessions", ""),
			[]int{301, 307, 400, 401, 404}},
		{"24", "encoded slash", get("/api%2Fsessions", ""), []int{400, 401, 404}},
		{"24", "encoded slash in the id", get("/api/sessions/%2e%2e%2fsessions", ""),
			[]int{400, 401, 404}},
		{"24", "semicolon", get("/api/sessions;x=/static/", ""), []int{400, 401, 404}},
		{"24", "override by header", get("/static/none",
			"X-Original-URL: /api/sessions\r\nX-Rewrite-URL: /api/sessions\r\n"), []int{404}},
		{"24", "override of the method", get("/api/sessions", auth+"X-HTTP-Method-Override: POST\r\n"),
			[]int{200}},
		{"66", "too much", "POST /api/sessions HTTP/1.1\r\nHost: HERE\r\n" + auth +
			"Content-Type: application/json\r\nContent-Length: 2097152\r\n\r\n", []int{413}},
		{"66", "compressed", "POST /api/sessions HTTP/1.1\r\nHost: HERE\r\n" + auth +
			"Content-Encoding: gzip\r\n" + json + "\r\n{}", []int{415}},
		{"66", "two lengths", "POST /api/sessions HTTP/1.1\r\nHost: HERE\r\n" + auth +
			"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", []int{400}},
		{"66", "length and chunks", "POST /api/sessions HTTP/1.1\r\nHost: HERE\r\n" + auth +
			"Content-Type: text/plain\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
			"GET /api/sessions HTTP/1.1\r\nHost: HERE\r\n" + auth + "\r\n", []int{400, 415}},
		{"69", "profiles", get("/debug/pprof/", auth), []int{404}},
		{"69", "variables", get("/debug/vars", auth), []int{404}},
		{"8", "a read that acts", get(session+"/messages?content=run+date", auth), []int{405}},
		{"8", "a read that deletes", get(session+"?_method=DELETE", auth), []int{200}},
		{"29", "a proxy for pictures", get("/api/proxy?url=http://evil.test/x.png", auth), []int{404}},
	} {
		status, header, body := h.wire(t, c.request)
		good := false
		for _, want := range c.status {
			good = good || status == want
		}
		if !good {
			t.Errorf("row %s, %s: %d %.200s, want %v", c.row, c.name, status, body, c.status)
		}
		for name, values := range header {
			if strings.HasPrefix(name, "Access-Control-") || name == "Location" &&
				strings.Contains(values[0], "evil.test") || status == 403 && name == "Set-Cookie" {
				t.Errorf("row %s, %s: %s: %s", c.row, c.name, name, values)
			}
		}
		if status == 401 && !strings.Contains(body, `Authorization: Bearer $(webchat token)`) &&
			!strings.Contains(body, "webchat url") {
			t.Errorf("row %s, %s: the refusal does not say how to come in: %s", c.row, c.name, body)
		}
		if strings.Contains(body, h.guard.Token()) || status != 200 &&
			strings.Contains(body, h.workspace) || strings.Contains(body, "evil.test") {
			t.Errorf("row %s, %s: the answer tells too much: %s", c.row, c.name, body)
		}
	}
	if _, body := h.do("GET", session+"/events", ""); strings.Contains(body, "user.message") {
		t.Errorf("something got through: %s", body)
	}
}

// What is wrong in several ways is refused for what is checked first.
func TestOrderOfChecks(t *testing.T) {
	h := newHouse(t)
	const path = "/api/sessions"
	faults := []struct{ header, code string }{ // in the order of THREATS §3
		{"Host: evil.test", "host_refused"},
		{"Origin: https://evil.test", "cross_origin"},
		{"Authorization: Bearer wrong", "unauthorized"},
		{"Content-Encoding: gzip", "content_encoding"},
		{"Content-Type: text/plain", "media_type"},
	}
	for i := range faults {
		var header []string
		for _, f := range faults[i:] {
			header = append(header, f.header)
		}
		res, body := h.do("POST", path, strings.Repeat("x", 2<<20), header...)
		if !strings.Contains(body, `"code":"`+faults[i].code+`"`) {
			t.Errorf("%v: %d %s, want %s", header, res.StatusCode, body, faults[i].code)
		}
	}
	// Of a read, where it comes from is asked before who asks.
	if _, body := h.do("GET", path, "", "Sec-Fetch-Site: cross-site",
		"Authorization: Bearer wrong"); !strings.Contains(body, `"cross_site"`) {
		t.Errorf("a read: %s", body)
	}
	// Only users who may see a session learn that it exists.
	if res, _ := h.do("GET", path+"/none", "", "Authorization:"); res.StatusCode != 401 {
		t.Errorf("a stranger learns what there is: %d", res.StatusCode)
	}
	if res, _ := h.do("GET", path+"/none", ""); res.StatusCode != 404 {
		t.Errorf("unknown: %d", res.StatusCode)
	}
}

// THREATS 16, 20, 22: reading the page of the link does not spend it, spending it
// works once, and what it gives is returned once, never by a read.
func TestSignInLinkIsSpentOnce(t *testing.T) {
	h := newHouse(t)
	_, launch, _ := strings.Cut(h.guard.Link(h.url), "#t=")
	for range 100 {
		if res, body := h.do("GET", "/auth", "", "Authorization:"); res.StatusCode != 200 ||
			strings.Contains(body, launch) {
			t.Fatalf("%d", res.StatusCode)
		}
	}
	spend := func() (*http.Response, string) {
		return h.do("POST", "/api/sign-in", fmt.Sprintf(`{"token":%q}`, launch), "Authorization:")
	}
	res, body := spend()
	_, secret, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(body), `"}`), `"secret":"`)
	if res.StatusCode != 200 || len(secret) < 32 {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	if res, _ := spend(); res.StatusCode != 401 {
		t.Errorf("twice: %d", res.StatusCode)
	}
	cookie := res.Cookies()[0].Value
	for _, row := range published(t, h) {
		if row.method != "GET" || strings.HasSuffix(row.pattern, "stream") {
			continue
		}
		path := strings.NewReplacer("{id}", "x", "*", "v/js/theme.js").Replace(row.pattern)
		res, body := h.do("GET", path, "", "Authorization: Bearer "+secret)
		for _, s := range []string{secret, cookie, launch, h.guard.Token()} {
			if strings.Contains(body+fmt.Sprint(res.Header), s) {
				t.Errorf("GET %s tells a secret", row.pattern)
			}
		}
	}
	for _, s := range []string{secret, cookie, launch, h.guard.Token()} {
		if strings.Contains(h.log.String(), s) {
			t.Error("the log holds a secret")
		}
	}
}

// THREATS 67 and 68: what users, agents and commands say stays out of the log and
// out of other sessions, also when things go wrong.
func TestCanariesStayWhereTheyBelong(t *testing.T) {
	h := newHouse(t)
	const canary = "CANARY-5d1f"
	h.file("secret.txt", canary+" in a file\n")
	_, mine := h.session(t)
	_, other := h.session(t)
	for _, content := range []string{canary + " in a prompt", "show secret.txt", "show " + canary +
		"/missing", "run echo " + canary + " # asks"} {
		res, body := h.do("POST", mine+"/messages", fmt.Sprintf(`{"content":%q}`, content))
		if res.StatusCode != 202 {
			t.Fatalf("%d %s", res.StatusCode, body)
		}
	}
	h.do("POST", mine+"/display",
		`{"tool":"run_and_display","arguments":{"command":"cat secret.txt; echo `+canary+
			` >&2; exit 3"}}`)
	h.do("POST", mine+"/display", `{"tool":"render_file_contents","arguments":{"path":"`+canary+`"}}`)
	h.do("POST", mine+"/attachments", canary+" attached", "Content-Type: text/plain")
	h.do("POST", mine+"/messages", `{"content":"`+canary)
	h.do("GET", "/api/sessions/"+canary+"?q="+canary, "")
	h.do("GET", "/nope/"+canary+"?token="+canary, "", "Cookie: webchat_80="+canary,
		"Authorization: Bearer "+canary, "Referer: http://x/"+canary)
	h.do("POST", "/api/sign-in", `{"token":"`+canary+`"}`)
	if _, body := h.do("GET", mine+"/events?limit=5000", ""); !strings.Contains(body, canary) {
		t.Fatal("the session itself does not know of it: nothing was tried")
	}
	for where, text := range map[string]string{"the log": h.log.String(),
		"another session": h.text(t, other+"/events"), "its outputs": h.text(t, other+"/outputs"),
		"the metrics": h.text(t, "/metrics"), "the description": h.text(t, "/api/openapi.json")} {
		if i := strings.Index(text, canary); i >= 0 {
			t.Errorf("%s holds %q", where, text[max(0, i-100):min(len(text), i+60)])
		}
	}
	h.stop()
	if strings.Contains(h.log.String(), canary) || strings.Contains(h.log.String(), h.guard.Token()) {
		t.Error("the log of the end holds it")
	}
}

func (h *house) text(t *testing.T, path string) string {
	t.Helper()
	_, body := h.do("GET", path, "")
	return body
}
