package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// apart is a server with two workspaces, and a session in each.
type apart struct {
	*testing.T
	p                         *program
	other                     string // the workspace that is not the server's first
	mine, theirs              string // the sessions
	output, call, upload      string // of theirs
	forms                     []string
	plan                      string // what theirs shows
	workspaceID, theirsBefore string
}

const secretPlan = "zebra-of-the-harbour"

func newApart(t *testing.T) *apart {
	t.Helper()
	a := &apart{T: t, p: prepare(t, self(t), []string{"GORACE=atexit_sleep_ms=0"})}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	a.p.workspace, err = filepath.EvalSymlinks(a.p.workspace)
	must(err)
	a.other = filepath.Join(filepath.Dir(a.p.workspace), "other")
	must(os.MkdirAll(filepath.Join(a.other, "sub"), 0o700))
	a.plan = filepath.Join(a.other, "plan.txt")
	must(os.WriteFile(a.plan, []byte(secretPlan+"\n"), 0o600))
	must(os.WriteFile(filepath.Join(a.p.workspace, "own.txt"), []byte("mine\n"), 0o600))
	a.forms = []string{a.plan, "../other/plan.txt", "./../other/plan.txt",
		filepath.Join(a.p.workspace, "..", "other", "plan.txt"), a.p.workspace + "/../other/plan.txt",
		"file://" + a.plan}
	if os.Symlink(a.other, filepath.Join(a.p.workspace, "way")) == nil &&
		os.Symlink(a.plan, filepath.Join(a.p.workspace, "plan")) == nil {
		a.forms = append(a.forms, "way/plan.txt", "plan", filepath.Join(a.p.workspace, "way", "plan.txt"))
	}
	a.p.start(t)
	a.workspaceID = a.found(a.post("/api/workspaces", map[string]any{"path": a.other}, 201),
		`"id":"([^"]+)"`)
	a.mine = a.found(a.post("/api/sessions", map[string]any{"workspace": a.p.workspace}, 201),
		`"id":"([^"]+)"`)
	a.theirs = a.found(a.post("/api/sessions", map[string]any{"workspace": a.other,
		"title": "their harbour"}, 201), `"id":"([^"]+)"`)
	shown := a.post("/api/sessions/"+a.theirs+"/display",
		map[string]any{"tool": "render_file_contents", "arguments": map[string]any{"path": "plan.txt"}},
		200)
	a.output, a.call = a.found(shown, `"id":"([^"]+)"`), a.found(shown, `"toolCallId":"([^"]+)"`)
	_, body := a.do("POST", "/api/sessions/"+a.theirs+"/attachments", secretPlan,
		"Content-Type: text/plain")
	a.upload = a.found(body, `"id":"([^"]+)"`)
	a.post("/api/sessions/"+a.theirs+"/messages?wait=true",
		map[string]any{"content": "show me plan.txt"}, 200)
	_, a.theirsBefore = a.do("GET", "/api/sessions/"+a.theirs+"/events", "")
	return a
}

func self(t *testing.T) string {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func (a *apart) do(method, path, body string, header ...string) (*http.Response, string) {
	a.Helper()
	header = append([]string{"Authorization: Bearer " + a.p.token, "Content-Type: application/json"},
		header...)
	return ask1(a.T, method, a.p.address, a.p.address, path, body, header...)
}

// post sends a body that has to be answered with a status.
func (a *apart) post(path string, body any, status int) string {
	a.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		a.Fatal(err)
	}
	res, text := a.do("POST", path, string(b))
	if res.StatusCode != status {
		a.Fatalf("%s %s: %s %s", path, b, res.Status, text)
	}
	return text
}

func (a *apart) found(text, expr string) string {
	a.Helper()
	m := regexp.MustCompile(expr).FindStringSubmatch(text)
	if m == nil {
		a.Fatalf("no %s in %s", expr, text)
	}
	return m[1]
}

// refused makes a request for the session in the first workspace that names something
// of the other, and must be refused and learn nothing.
func (a *apart) refused(method, path, body string) {
	a.Helper()
	res, text := a.do(method, path, body)
	if res.StatusCode < 400 || res.StatusCode >= 500 || strings.Contains(text, secretPlan) {
		a.Errorf("%s %s %s: %s %s", method, path, body, res.Status, text)
	}
}

// TestWorkspacesAreApart: THREATS 87: a session of one workspace reads nothing of
// another, by no route and no tool, whatever of the other's paths and ids it is given.
func TestWorkspacesAreApart(t *testing.T) {
	t.Parallel()
	a := newApart(t)
	a.tools()
	a.prompts()
	a.routes()
	a.lists()
	if _, after := a.do("GET", "/api/sessions/"+a.theirs+"/events", ""); after != a.theirsBefore {
		t.Errorf("the other session was changed:\n%s\nwas\n%s", after, a.theirsBefore)
	}
	for _, path := range []string{"/events", "/export?format=md", "/export?format=jsonl",
		"/export?format=html", "/outputs", ""} {
		if _, text := a.do("GET", "/api/sessions/"+a.mine+path, ""); strings.Contains(text, secretPlan) {
			t.Errorf("%s holds what is of the other workspace: %s", path, text)
		}
	}
}

// tools are called with paths of the other workspace.
func (a *apart) tools() {
	a.Helper()
	one := "/api/sessions/" + a.mine
	for _, form := range a.forms {
		for tool, args := range map[string]map[string]any{
			"render_file_contents": {"path": form}, "display_image": {"path": form},
			"run_and_display": {"command": "cat plan.txt", "cwd": filepath.Dir(form)},
		} {
			if form == "plan" && tool == "run_and_display" {
				continue // whose folder is the workspace
			}
			body, err := json.Marshal(map[string]any{"tool": tool, "arguments": args})
			if err != nil {
				a.Fatal(err)
			}
			a.refused("POST", one+"/display", string(body))
			a.refused("POST", one+"/display", strings.TrimSuffix(string(body), "}")+`,"preview":true}`)
		}
		_, text := a.do("POST", one+"/messages?wait=true", fmt.Sprintf(`{"content":%q}`, "show me "+form))
		if strings.Contains(text, secretPlan) || !strings.Contains(text, `"outputs":[]`) {
			a.Errorf("the agent shows %s: %s", form, text)
		}
	}
}

// prompts name what is of the other workspace.
func (a *apart) prompts() {
	a.Helper()
	path := "/api/sessions/" + a.mine + "/messages"
	for _, form := range a.forms {
		a.refused("POST", path, fmt.Sprintf(`{"content":"read","attachments":[{"path":%q}]}`, form))
	}
	a.refused("POST", path, fmt.Sprintf(`{"content":"read","attachments":[{"id":%q}]}`, a.upload))
	a.refused("POST", path, fmt.Sprintf(`{"content":"read","attachments":[{"outputId":%q}]}`,
		a.output))
	a.refused("POST", path,
		fmt.Sprintf(`{"content":"read","attachments":[{"outputId":%q,"lines":"1-1"}]}`, a.output))
}

// routes are all that are about one thing of a session: they do not find the other's.
func (a *apart) routes() {
	a.Helper()
	var doc struct {
		Paths map[string]map[string]any
	}
	if _, text := a.do("GET", "/api/openapi.json", ""); json.Unmarshal([]byte(text), &doc) != nil {
		a.Fatal(text)
	}
	param, tried := regexp.MustCompile(`\{[^}]+\}`), 0
	for path, methods := range doc.Paths {
		rest, ofSession := strings.CutPrefix(strings.TrimPrefix(path, "/api"), "/sessions/{id}/")
		if !ofSession || !param.MatchString(rest) {
			continue
		}
		for method := range methods {
			for _, id := range []string{a.output, a.call, a.upload} {
				tried++
				at := strings.TrimSuffix(path, rest) + param.ReplaceAllString(rest, id)
				body := ""
				if method != "get" {
					body = map[bool]string{true: `{"pinned":true}`, false: `{}`}[strings.HasSuffix(path, "/pin")]
				}
				a.refused(strings.ToUpper(method), strings.ReplaceAll(at, "{id}", a.mine), body)
			}
		}
	}
	if tried < 20 {
		a.Errorf("only %d routes with ids were found", tried/3)
	}
}

// lists and completions of one workspace hold nothing of the other.
func (a *apart) lists() {
	a.Helper()
	for _, form := range append(slices.Clone(a.forms), "pla", "../", "../other/", a.other, "/") {
		_, text := a.do("GET", "/api/files?workspace="+a.p.workspace+"&limit=200&q="+form, "")
		if strings.Contains(text, "plan") || !strings.Contains(text, `"files":[`) {
			a.Errorf("completing %q: %s", form, text)
		}
	}
	for _, q := range []string{"harbour", secretPlan, "plan.txt"} {
		if _, text := a.do("GET", "/api/sessions?workspace="+a.p.workspace+"&q="+q,
			""); strings.Contains(text, a.theirs) {
			a.Errorf("searching %q in one workspace finds the other's session: %s", q, text)
		}
	}
	if _, text := a.do("GET", "/api/start?workspace="+a.p.workspace, ""); strings.Contains(text,
		"plan.txt") || !strings.Contains(text, `"looked"`) {
		a.Errorf("the start page: %s", text)
	}
	if _, text := a.do("GET", "/api/permissions?session="+a.mine, ""); strings.Contains(text,
		a.other) {
		a.Errorf("permissions: %s", text)
	}
	if res, _ := a.do("POST", "/mcp/w/"+a.workspaceID+"0", `{}`); res.StatusCode != 404 {
		a.Errorf("an unknown workspace's MCP server: %s", res.Status)
	}
}
