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
	if res, answer := h.do("POST", "/api/workspaces", string(body)); res.StatusCode != 201 || json.Unmarshal([]byte(answer), &w) != nil {
		h.t.Fatalf("open %s: %d %s", dir, res.StatusCode, answer)
	}
	return w
}

// begin creates a session in a workspace and returns its id.
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
	for query, want := range map[string]string{"": "second first", "?workspace=" + b.Path: "second", "?workspace=" + h.workspace: "first",
		"?state=idle": "second first", "?state=active": "", "?state=pinned": "", "?state=failed": ""} {
		if got := list(query); got != want {
			t.Errorf("%s lists %q, want %q", query, got, want)
		}
	}
	if _, body := h.do("GET", "/api/sessions/"+second+"/events", ""); !strings.Contains(body, `"type":"session.start","data":{"sessionId":"`+second+`","workspace":"`+b.Path+`"`) {
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
		if res, body := h.do(c.method, c.path, c.body); res.StatusCode != c.status || c.code != "" && !strings.Contains(body, `"code":"`+c.code+`"`) {
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
