package server_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type oneWorkspace struct {
	ID, Path, Name string
	Available      bool
}

// opened opens a new folder of that name as a workspace.
func (h *house) opened(name string) oneWorkspace {
	h.t.Helper()
	dir := filepath.Join(h.t.TempDir(), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		h.t.Fatal(err)
	}
	body, err := json.Marshal(map[string]string{"path": dir})
	if err != nil {
		h.t.Fatal(err)
	}
	var w oneWorkspace
	if res, answer := h.do("POST", "/api/workspaces", string(body)); res.StatusCode != 201 ||
		json.Unmarshal([]byte(answer), &w) != nil {
		h.t.Fatalf("open %s: %d %s", dir, res.StatusCode, answer)
	}
	return w
}

// beginIn creates a session in a workspace and returns its id.
func (h *house) beginIn(workspace string) string {
	h.t.Helper()
	body, err := json.Marshal(map[string]string{"workspace": workspace})
	if err != nil {
		h.t.Fatal(err)
	}
	res, answer := h.do("POST", "/api/sessions", string(body))
	var s struct{ ID, Workspace string }
	if res.StatusCode != 201 || json.Unmarshal([]byte(answer), &s) != nil {
		h.t.Fatalf("begin in %s: %d %s", workspace, res.StatusCode, answer)
	}
	return s.ID
}

// TestWorkspaces: folders are opened, listed and closed; a session belongs to one, in
// its log, in lists and in answers.
func TestWorkspaces(t *testing.T) {
	h := newHouse(t)
	first := h.beginIn("")
	b := h.opened("beta")
	if !b.Available || b.Name != "beta" {
		t.Errorf("opened: %+v", b)
	}
	second := h.beginIn(b.Path)
	list := func(query string) string {
		var got struct {
			Sessions []struct{ ID, Workspace string }
		}
		res, body := h.do("GET", "/api/sessions"+query, "")
		if res.StatusCode != 200 || json.Unmarshal([]byte(body), &got) != nil {
			t.Fatalf("%s: %d %s", query, res.StatusCode, body)
		}
		names := []string{}
		for _, s := range got.Sessions {
			switch {
			case s.ID == first && s.Workspace == h.workspace:
				names = append(names, "first")
			case s.ID == second && s.Workspace == b.Path:
				names = append(names, "second")
			default:
				t.Errorf("%s: %+v", query, s)
			}
		}
		return strings.Join(names, " ")
	}
	for query, want := range map[string]string{"": "second first", "?workspace=" + b.Path: "second",
		"?workspace=" + h.workspace: "first",
		"?state=idle":               "second first", "?state=active": "", "?state=pinned": "",
		"?state=failed": ""} {
		if got := list(query); got != want {
			t.Errorf("%s lists %q, want %q", query, got, want)
		}
	}
	if _, body := h.do("GET", "/api/sessions/"+second+"/events", ""); !strings.Contains(body,
		`"type":"session.start","data":{"sessionId":"`+second+`","workspace":"`+b.Path+`"`) {
		t.Errorf("the log: %s", body)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"POST", "/api/workspaces", `{"path":"` + b.Path + `"}`, 200, ""},
		{"POST", "/api/workspaces", `{"path":"beta"}`, 400, "not_a_folder"},
		{"POST", "/api/workspaces", `{"path":"/none/at/all"}`, 400, "not_a_folder"},
		{"POST", "/api/sessions", `{"workspace":"/none/at/all"}`, 400, "invalid"},
		{"GET", "/api/sessions?workspace=beta", "", 400, "bad_query"},
		{"GET", "/api/sessions?workspace=/none", "", 404, "not_open"},
		{"GET", "/api/sessions?state=odd", "", 400, "bad_query"},
		{"DELETE", "/api/workspaces/none", "", 404, "not_open"},
		{"DELETE", "/api/workspaces/" + b.ID, "", 204, ""},
		{"GET", "/api/sessions?workspace=" + b.Path, "", 404, "not_open"},
		{"GET", "/api/sessions/" + second, "", 200, ""},
	} {
		if res, body := h.do(c.method, c.path, c.body); res.StatusCode != c.status || c.code != "" &&
			!strings.Contains(body, `"code":"`+c.code+`"`) {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, res.StatusCode, body, c.status, c.code)
		}
	}
	if got := list(""); got != "first" {
		t.Errorf("closed, its sessions are listed: %q", got)
	}
	h.do("POST", "/api/workspaces", `{"path":"`+b.Path+`"}`)
	if got := list(""); got != "second first" {
		t.Errorf("opened again: %q", got)
	}
}

// TestMissingFolder: without their folder sessions open, are read, and say what is
// missing; when it is back, they go on.
func TestMissingFolder(t *testing.T) {
	h := newHouse(t)
	b := h.opened("beta")
	if err := os.WriteFile(filepath.Join(b.Path, "notes.txt"), []byte("one\ntwo\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	id := h.beginIn(b.Path)
	one, show, say := "/api/sessions/"+id,
		`{"tool":"render_file_contents","arguments":{"path":"notes.txt"}}`,
		`{"content":"show me notes.txt"}`
	away := b.Path + ".away"
	type want struct {
		method, path, body string
		status             int
		text               string
	}
	check := func(all ...want) {
		t.Helper()
		for _, c := range all {
			if res, body := h.do(c.method, c.path, c.body); res.StatusCode != c.status ||
				!strings.Contains(body, c.text) {
				t.Errorf("%s %s: %d %s\nwant %d and %q", c.method, c.path, res.StatusCode, body, c.status,
					c.text)
			}
		}
	}
	there := []want{
		{"POST", one + "/display", show, 200, `"type":"file"`},
		{"POST", one + "/messages?wait=true", say, 200, "notes.txt"},
		{"GET", "/api/files?q=notes&workspace=" + b.Path, "", 200, "notes.txt"},
		{"GET", "/api/workspaces", "", 200, `"name":"beta","available":true`},
	}
	check(there...)
	if err := os.Rename(b.Path, away); err != nil {
		t.Fatal(err)
	}
	missing := []want{
		{"POST", one + "/display", show, 422, "is not there. Mount or restore it"},
		{"POST", one + "/display", `{"tool":"run_and_display","arguments":{"command":"pwd"}}`, 422,
			"is not there. Mount or restore it"},
		{"POST", one + "/messages", say, 409, "folder_missing"},
		{"POST", one + "/messages", `{"content":"read","attachments":[{"path":"notes.txt"}]}`, 409,
			"folder_missing"},
		{"POST", "/api/sessions", `{"workspace":"` + b.Path + `"}`, 409, "folder_missing"},
		{"GET", "/api/files?q=notes&workspace=" + b.Path, "", 409, "folder_missing"},
		{"GET", "/api/workspaces", "", 200, `"name":"beta","available":false`},
		{"GET", "/api/sessions", "", 200, id},
		{"GET", one, "", 200, `"workspace":"` + b.Path + `"`},
		{"GET", one + "/events", "", 200, "Displayed notes.txt to user"},
		{"GET", "/sessions/" + id, "", 200, "is not there.</b> Mount or restore it"},
	}
	check(missing...)
	if err := os.Symlink(h.workspace, b.Path); err == nil { // another folder by its name
		h.file("notes.txt", "of another workspace")
		check(want{"POST", one + "/display", show, 422, "replaced by a link"},
			want{"POST", one + "/messages", say, 409, "folder_missing"},
			want{"POST", one + "/display", `{"tool":"run_and_display","arguments":{"command":"pwd"}}`, 422,
				"replaced by a link"})
		if err := os.Remove(b.Path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(away, b.Path); err != nil {
		t.Fatal(err)
	}
	check(there...)
	if _, body := h.do("GET", "/sessions/"+id, ""); strings.Contains(body, `id="missing"`) {
		t.Error("the page still says that the folder is missing")
	}
}
