package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// until asks a path until the reply matches, and returns what the expression finds.
func (a *apart) until(path, expr string) string {
	a.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		_, text := a.do("GET", path, "")
		if m := regexp.MustCompile(expr).FindStringSubmatch(text); m != nil {
			return m[len(m)-1]
		}
		if time.Now().After(end) {
			a.Fatalf("no %s in %s", expr, text)
		}
	}
}

// TestTwoProgramsShareGrants: two servers whose files of grants are one file. What is allowed in
// one answers the question that is open in the other, holds there for what comes, and is not
// removed by what that one is allowed; what is taken back in one ends in both.
func TestTwoProgramsShareGrants(t *testing.T) {
	t.Parallel()
	var both []*apart
	for range 2 {
		both = append(both, &apart{T: t, p: prepare(t, self(t), []string{"GORACE=atexit_sleep_ms=0"})})
	}
	one, two := both[0], both[1]
	file := filepath.Join(one.p.data, "grants.json")
	for _, a := range both {
		a.p.workspace = one.p.workspace
		if err := os.Mkdir(a.p.data, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, filepath.Join(two.p.data, "grants.json")); err != nil {
		t.Skip("no symbolic links here")
	}
	// asks has a session's agent run a command, and returns its events, its question and a grant.
	begin := func(a *apart) string {
		return "/api/sessions/" + a.found(a.post("/api/sessions", map[string]any{}, 201),
			`"id":"([^"]+)"`)
	}
	asks := func(a *apart, line, covers string) (session, request, grant string) {
		session = begin(a)
		a.post(session+"/messages", map[string]any{"content": "run " + line}, 202)
		request = a.until(session+"/events?limit=500",
			`"type":"permission.requested".*?"requestId":"([^"]+)"`)
		return session, request, a.until(session+"/events?limit=500", `"id":"(g[0-9a-f]+)","text":"`+
			covers)
	}
	allow := func(a *apart, session, request, grant string) {
		a.post(session+"/permissions/"+request, map[string]any{"decision": "allow", "grant": grant,
			"scope": "workspace"}, 200)
	}
	for _, a := range both {
		a.p.start(t)
	}
	waits, _, grant := asks(two, "ls -l", "commands that only read")
	session, request, same := asks(one, "ls", "commands that only read")
	if grant != same {
		t.Fatalf("%s and %s", grant, same)
	}
	allow(one, session, request, grant)
	two.until(waits+"/events?limit=500", `"decision":"allow","scope":"workspace","grant":\{"id":"`+
		grant+`".*"by":"grant"`)
	two.post(begin(two)+"/messages?wait=true", map[string]any{"content": "run ls -a"}, 200)

	session, request, other := asks(two, "touch made", "")
	if other == grant {
		t.Fatal("the same grant covers both")
	}
	allow(two, session, request, other)
	for _, a := range both {
		for _, id := range []string{grant, other} {
			a.until("/api/permissions", `"grants":.*"id":"`+id+`"`)
		}
	}
	if res, text := one.do("DELETE", "/api/permissions/"+other, ""); res.StatusCode != 204 {
		t.Errorf("take back: %s %s", res.Status, text)
	}
	two.until("/api/permissions", `"grants":\[\{"id":"`+grant+`"[^{\]]*\]`)
	for _, a := range both {
		if _, text := a.do("GET", "/api/permissions", ""); strings.Contains(text, other) ||
			!strings.Contains(text, grant) {
			t.Errorf("%s was taken back and %s not: %s", other, grant, text)
		}
	}
}
