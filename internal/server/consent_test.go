package server_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"webchat/internal/server"
)

// Rules, hooks and what was allowed for a session are shown, to programs and to
// people, with nothing hidden or executed.
func TestConsentIsShown(t *testing.T) {
	h := newHouse(t)
	h.server.Consent = server.Consent{Mode: "ask", Timeout: 5 * time.Minute,
		Rules: []server.Rule{{Tool: "bash", Command: "make \u202e<b>", Decision: "allow"}, {Kind: "write", Path: "/etc/**", Decision: "deny"}},
		Hooks: []server.Hook{{Event: "before_tool", Matcher: "bash", Command: "check <i>", Timeout: "10s"}}}
	id, path := h.session(t)
	r := h.open(t, "GET", path+"/events", "")
	h.do("POST", path+"/messages", `{"content":"run echo hi"}`)
	asked := r.until("permission.requested")
	var e struct{ Data struct{ RequestID string } }
	if err := json.Unmarshal([]byte(asked[len(asked)-1].data), &e); err != nil {
		t.Fatal(err)
	}
	if res, body := h.do("POST", path+"/permissions/"+e.Data.RequestID, `{"decision":"allow","scope":"session"}`); res.StatusCode != 200 {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	r.until("turn.end")

	res, body := h.do("GET", "/api/permissions?session="+id, "")
	if want := `{"mode":"ask","timeout":"5m0s","rules":[{"tool":"bash","command":"make ` + "\u202e" + `\u003cb\u003e","decision":"allow"},{"kind":"write","path":"/etc/**","decision":"deny"}],` +
		`"grants":[{"id":"g`; res.StatusCode != 200 || !strings.HasPrefix(body, want) {
		t.Errorf("%d %s\nwant %s", res.StatusCode, body, want)
	}
	if _, body := h.do("GET", "/api/permissions", ""); !strings.HasSuffix(body, `"grants":[]}`+"\n") {
		t.Error(body)
	}
	if res, _ := h.do("GET", "/api/permissions?session=nobody", ""); res.StatusCode != 404 {
		t.Error(res.StatusCode)
	}
	if _, body := h.do("GET", "/api/hooks", ""); body != `{"hooks":[{"event":"before_tool","matcher":"bash","command":"check \u003ci\u003e","timeout":"10s","bestEffort":false}]}`+"\n" {
		t.Error(body)
	}
	res, body = h.do("GET", "/consent?session="+id, "")
	for _, want := range []string{`<dt>allow</dt><dd>bash <code>make <span class="vis">U+202E</span>&lt;b&gt;</code></dd>`, `<dt>deny</dt><dd>write <code>/etc/**</code></dd>`,
		"this command, exactly: `echo hi`", `before_tool of bash <code>check &lt;i&gt;</code>`, `Everything else asks you, and is denied after 5`} {
		if res.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("%q is not in %s", want, body)
		}
	}
}
