package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOwnSecretsAreRefusedEverywhere: the API token, the sessions and the grants open by no
// door, whatever the workspace: the data folder, one that holds it, one with other names of
// them. What is refused names the file.
func TestOwnSecretsAreRefusedEverywhere(t *testing.T) {
	t.Parallel()
	a := &apart{T: t, p: prepare(t, self(t), []string{"GORACE=atexit_sleep_ms=0"})}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	above, err := filepath.EvalSymlinks(filepath.Dir(a.p.data))
	must(err)
	a.p.data = filepath.Join(above, "data")
	a.p.start(t)
	must(os.MkdirAll(filepath.Join(a.p.data, "outputs"), 0o700))
	must(os.WriteFile(filepath.Join(a.p.data, "outputs", "out_key"), []byte(a.p.token), 0o600))
	must(os.WriteFile(filepath.Join(a.p.data, "grants.json"), []byte(`{"canary":"`+a.p.token+`"}`),
		0o600))
	must(os.WriteFile(filepath.Join(above, "plain.txt"), []byte("nothing\n"), 0o600))
	elsewhere, err := filepath.EvalSymlinks(a.p.workspace)
	must(err)
	other := []string{filepath.Join(a.p.data, "token")}
	if os.Link(filepath.Join(a.p.data, "token"), filepath.Join(elsewhere, "notes.txt")) == nil {
		other = append(other, "notes.txt")
	}
	for folder, names := range map[string][]string{
		a.p.data: {"token", "./token", filepath.Join(a.p.data, "token"), "webchat.db", "grants.json",
			"outputs/out_key", "outputs", "."},
		above:     {"data/token", "data/webchat.db", "data/grants.json", "data/outputs", "data"},
		elsewhere: other,
	} {
		a.post("/api/workspaces", map[string]any{"path": folder},
			map[bool]int{true: 200, false: 201}[folder == elsewhere])
		id := a.found(a.post("/api/sessions", map[string]any{"workspace": folder}, 201), `"id":"([^"]+)"`)
		for _, name := range names {
			a.closed(folder, id, name)
		}
		a.unnamed(folder, id)
	}
	if _, text := a.do("GET", "/api/files/price?workspace="+url.QueryEscape(above)+"&name=plain.txt",
		""); !strings.Contains(text, `"plain.txt":{`) {
		t.Errorf("what is not webchat's is closed, too: %s", text)
	}
}

// closed tries every door that opens one file.
func (a *apart) closed(folder, id, name string) {
	a.Helper()
	one := "/api/sessions/" + id
	check := func(method, path, body string) {
		a.Helper()
		res, text := a.do(method, path, body)
		switch {
		case res.StatusCode < 400 || res.StatusCode >= 500:
			a.Errorf("%s %s %s in %s: %s %s", method, path, body, folder, res.Status, text)
		case strings.Contains(text, a.p.token):
			a.Errorf("%s %s %s tells the token", method, path, body)
		case !filepath.IsAbs(name) && !strings.Contains(text, "webchat's"):
			a.Errorf("%s %s %s does not say what it is: %s", method, path, body, text)
		}
	}
	for _, more := range []string{"", `,"sensitive":true`, `,"mention":true`, `,"lines":"1-1"`} {
		check("POST", one+"/messages", fmt.Sprintf(`{"content":"read","attachments":[{"path":%q%s}]}`,
			name, more))
	}
	for _, tool := range []string{"render_file_contents", "display_image", "show_change"} {
		call := fmt.Sprintf(`{"tool":%q,"arguments":{"path":%q}`, tool, name)
		if tool != "show_change" || !filepath.IsAbs(name) {
			check("POST", one+"/display", call+"}")
			check("POST", one+"/display", call+`,"preview":true}`)
		}
	}
	if name != "notes.txt" { // of what a change was before only git is asked, by the name
		check("POST", one+"/display",
			fmt.Sprintf(`{"tool":"show_change","arguments":{"path":"gone.txt","from":%q}}`, name))
	}
	if res, text := a.do("GET", "/api/files/price?workspace="+url.QueryEscape(folder)+"&name="+
		url.QueryEscape(name), ""); res.StatusCode != 200 || !strings.Contains(text, `"files":{}`) {
		a.Errorf("the price of %s in %s: %s %s", name, folder, res.Status, text)
	}
}

// unnamed asks every door that lists names.
func (a *apart) unnamed(folder, id string) {
	a.Helper()
	for _, q := range []string{"", "token", "data/token", "grants", "webchat.db", "out_key"} {
		path := "/api/files?limit=200&workspace=" + url.QueryEscape(folder) + "&q=" + url.QueryEscape(q)
		if _, text := a.do("GET", path, ""); strings.Contains(text, "token") ||
			strings.Contains(text, "grants") || strings.Contains(text, "webchat.db") ||
			strings.Contains(text, "out_key") {
			a.Errorf("completing %q in %s: %s", q, folder, text)
		}
	}
	for _, name := range []string{"token", "data/token", "grants.json", "data/grants.json"} {
		if _, text := a.do("GET", "/api/sessions/"+id+"/places?name="+url.QueryEscape(name),
			""); !strings.Contains(text, `"places":{}`) {
			a.Errorf("a link to %s in %s: %s", name, folder, text)
		}
	}
}
