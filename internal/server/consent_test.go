package server_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"webchat/internal/policy"
	"webchat/internal/server"
)

// Rules, hooks and what was allowed for a session are shown, to programs and to
// people, with nothing hidden or executed.
func TestConsentIsShown(t *testing.T) {
	h := newHouse(t, server.Consent{Mode: "ask", Timeout: 5 * time.Minute,
		Rules: []server.Rule{{Rule: policy.Rule{
			Tool:     "bash",
			Command:  "make \u202e<b>",
			Decision: "allow",
		}}, {Rule: policy.Rule{Kind: "write", Path: "/etc/**", Decision: "deny"}}},
		Hooks: []server.Hook{{
			Event:   "before_tool",
			Matcher: "bash",
			Command: "check <i>",
			Timeout: "10s",
		}}})
	id, path := h.session(t)
	r := h.open(t, "GET", path+"/events", "")
	h.do("POST", path+"/messages", `{"content":"run echo hi"}`)
	asked := r.until("permission.requested")
	var e struct{ Data struct{ RequestID string } }
	if err := json.Unmarshal([]byte(asked[len(asked)-1].data), &e); err != nil {
		t.Fatal(err)
	}
	if res, body := h.do("POST", path+"/permissions/"+e.Data.RequestID,
		`{"decision":"allow","scope":"session"}`); res.StatusCode != 200 {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	r.until("turn.end")

	res, body := h.do("GET", "/api/permissions?session="+id, "")
	if want :=
		`{"mode":"ask","timeout":"5m0s","rules":[{"tool":"bash","command":"make \u202e\u003cb\u003e","decision":"allow"},{"kind":"write","path":"/etc/**","decision":"deny"}],` +
			`"grants":[{"id":"g`; res.StatusCode != 200 || !strings.HasPrefix(body, want) {
		t.Errorf("%d %s\nwant %s", res.StatusCode, body, want)
	}
	if _, body := h.do("GET", "/api/permissions", ""); !strings.HasSuffix(body, `"grants":[]}`+"\n") {
		t.Error(body)
	}
	if res, _ := h.do("GET", "/api/permissions?session=nobody", ""); res.StatusCode != 404 {
		t.Error(res.StatusCode)
	}
	if _, body := h.do("GET", "/api/hooks",
		""); body != `{"hooks":[{"event":"before_tool","matcher":"bash","command":"check \u003ci\u003e","timeout":"10s","bestEffort":false}]}`+"\n" {
		t.Error(body)
	}
	res, body = h.do("GET", "/consent?session="+id, "")
	for _, want := range []string{`<dt>allow</dt><dd>bash <code>make <span class="vis">U+202E</span>&lt;b&gt;</code></dd>`, `<dt>deny</dt><dd>write <code>/etc/**</code></dd>`,
		`this command, exactly: <code>echo hi</code> <span class="dim">given`,
		`before_tool of bash <code>check &lt;i&gt;</code>`,
		`You are asked before anything else. It is denied if you do not answer within 5`} {
		if res.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("%q is not in %s", want, body)
		}
	}
}

// What the user allowed is listed, holds in every session of the workspace, and is
// taken back by one call, at once.
func TestGrantsAreGivenAndTakenBack(t *testing.T) {
	h := newHouse(t)
	id, path := h.session(t)
	r := h.open(t, "GET", path+"/events", "")
	question := func(command string) (request string, grants []struct{ ID, Text string }) {
		h.do("POST", path+"/messages", `{"content":"run `+command+`"}`)
		asked := r.until("permission.requested")
		var e struct {
			Data struct {
				RequestID string
				Grants    []struct{ ID, Text string }
			}
		}
		if err := json.Unmarshal([]byte(asked[len(asked)-1].data), &e); err != nil {
			t.Fatal(err)
		}
		return path + "/permissions/" + e.Data.RequestID, e.Data.Grants
	}
	at, grants := question("ls")
	if len(grants) != 3 || grants[1].Text != "commands that only read inside this workspace" ||
		grants[2].Text != "every command in this folder, this session" {
		t.Fatalf("%+v", grants)
	}
	for body, want := range map[string]string{
		`{"decision":"allow","grant":"gnone","scope":"session"}`:                  `has no grant \"gnone\"`,
		`{"decision":"allow","grant":"` + grants[2].ID + `","scope":"workspace"}`: "for the session only",
		`{"decision":"allow","scope":"forever"}`: "once, session or " +
			"workspace",
		`{"decision":"deny","grant":"` + grants[0].ID +
			`"}`: "an allow may have a grant",
	} {
		if res, said := h.do("POST", at, body); res.StatusCode != 400 || !strings.Contains(said, want) {
			t.Errorf("%s: %d %s", body, res.StatusCode, said)
		}
	}
	if res, said := h.do("POST", at, `{"decision":"allow","grant":"`+grants[1].ID+
		`","scope":"workspace"}`); res.StatusCode != 200 {
		t.Fatalf("%d %s", res.StatusCode, said)
	}
	r.until("turn.end")

	_, list := h.do("GET", "/api/permissions", "")
	for _, want := range []string{`"grants":[{"id":"` + grants[1].ID +
		`","text":"commands that only read inside this workspace","scope":"workspace","workspace":"`,
		`"session":"` + id + `","at":"2`} {
		if !strings.Contains(list, want) {
			t.Errorf("no %s in %s", want, list)
		}
	}
	_, page := h.do("GET", "/consent", "")
	for _, want := range []string{"<dt>workspace</dt>",
		"commands that only read inside this workspace", `data-take-back="` + grants[1].ID + `"`,
		`href="/sessions/` + id + `"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}

	h.do("POST", path+"/messages", `{"content":"run ls -l"}`)
	decided := r.until("turn.end")
	allowed := false
	for _, e := range decided {
		allowed = allowed || strings.Contains(e.data, `"by":"grant"`) &&
			strings.Contains(e.data, grants[1].ID)
	}
	if !allowed {
		t.Errorf("the grant did not allow it: %v", decided)
	}
	if res, said := h.do("DELETE", "/api/permissions/"+grants[1].ID, ""); res.StatusCode != 204 ||
		said != "" {
		t.Errorf("%d %s", res.StatusCode, said)
	}
	if res, said := h.do("DELETE", "/api/permissions/"+grants[1].ID, ""); res.StatusCode != 404 ||
		!strings.Contains(said, "GET /api/permissions") {
		t.Errorf("%d %s", res.StatusCode, said)
	}
	at, grants = question("echo three")
	if res, said := h.do("POST", at, `{"decision":"allow","grant":"`+grants[0].ID+
		`","scope":"session"}`); res.StatusCode != 200 {
		t.Fatalf("%d %s", res.StatusCode, said)
	}
	r.until("turn.end")
	// which session?
	if res, _ := h.do("DELETE", "/api/permissions/"+grants[0].ID, ""); res.StatusCode != 404 {
		t.Error(res.StatusCode)
	}
	if res, said := h.do("DELETE", "/api/permissions/"+grants[0].ID+"?session="+id,
		""); res.StatusCode != 204 {
		t.Errorf("%d %s", res.StatusCode, said)
	}
	revoked := r.until("permission.revoked")
	if !strings.Contains(revoked[len(revoked)-1].data, `"data":{"grant":{"id":"`+grants[0].ID+`"`) {
		t.Errorf("%v", revoked[len(revoked)-1])
	}
	if _, list := h.do("GET", "/api/permissions?session="+id, ""); !strings.Contains(list,
		`"grants":[]`) {
		t.Error(list)
	}
}
