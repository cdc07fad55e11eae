package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"webchat/internal/proc"
)

// git runs git in the workspace, which every machine that tests has.
func (h *house) git(args ...string) string {
	h.t.Helper()
	var out bytes.Buffer
	child, err := proc.Start(proc.Command{Args: append([]string{"git", "-c", "user.name=a", "-c",
		"user.email=a@example.com", "-c", "core.autocrlf=false"}, args...),
		Dir: h.workspace, Env: append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull), Output: &out})
	if err != nil {
		h.t.Fatal(err)
	}
	exit, err := child.Wait()
	if _, stopErr := child.Stop(context.Background()); err != nil || stopErr != nil || exit.Code != 0 {
		h.t.Fatalf("git %v: %v %v %v: %s", args, exit, err, stopErr, out.String())
	}
	return out.String()
}

// changed is a file as the list of changes has it.
type changed struct {
	Path, From, Kind  string
	Added, Removed    int
	Binary, Uncounted bool
}

func (h *house) changes(t *testing.T, session string) (list []changed, note string) {
	t.Helper()
	var l struct {
		Files []changed
		Note  string
	}
	if err := json.Unmarshal([]byte(h.text(t, session+"/changes")), &l); err != nil {
		t.Fatal(err)
	}
	return l.Files, l.Note
}

// What a session changed is listed, opens as a display, and is a diff that git applies.
func TestSessionChanges(t *testing.T) {
	h := newHouse(t)
	text := strings.Repeat("a line of a file\n", 10)
	for name, content := range map[string]string{"main.go": "package main\n\nfunc old() {}\n",
		"gone.txt": "1\n2\n", "old name.txt": text, "bin": "a\x00b", ".env": "A=1\n"} {
		h.file(name, content)
	}
	h.git("init", "-q")
	h.git("add", "-A")
	h.git("commit", "-qm", "x")
	head := strings.TrimSpace(h.git("rev-parse", "HEAD"))
	_, session := h.session(t)
	if list, note := h.changes(t, session); len(list) > 0 || !strings.Contains(note, head[:7]) {
		t.Errorf("before anything changed: %v, %s", list, note)
	}

	h.file("main.go", "package main\n\nfunc now() {}\n\nfunc more() {}\n")
	h.git("commit", "-qam", "committed by the session")
	h.file(".env", "A=2\n")
	h.file("bin", "a\x00c")
	h.file("new name.txt", text+"one more\n")
	h.file("made/new.go", "package made\n")
	for _, name := range []string{"gone.txt", "old name.txt"} {
		if err := os.Remove(filepath.Join(h.workspace, name)); err != nil {
			t.Fatal(err)
		}
	}
	want := []changed{
		{Path: ".env", Kind: "modified", Added: 1, Removed: 1},
		{Path: "bin", Kind: "modified", Binary: true},
		{Path: "gone.txt", Kind: "deleted", Removed: 2},
		{Path: "made/new.go", Kind: "new", Added: 1},
		{Path: "main.go", Kind: "modified", Added: 3, Removed: 1},
		{Path: "new name.txt", From: "old name.txt", Kind: "renamed", Added: 1},
	}
	list, _ := h.changes(t, session)
	if len(list) != len(want) {
		t.Fatalf("changed: %+v", list)
	}
	for i := range want {
		if list[i] != want[i] {
			t.Errorf("changed: %+v, want %+v", list[i], want[i])
		}
	}

	for _, c := range []struct{ args, added, removed, line string }{
		{`{"path":"main.go"}`, "3", "1", "func now() {}"},
		{`{"path":"gone.txt"}`, "0", "2", "2"},
		{`{"path":"made/new.go"}`, "1", "0", "package made"},
		{`{"path":"new name.txt","from":"old name.txt"}`, "1", "0", "one more"},
	} {
		_, body := h.do("POST", session+"/display", `{"tool":"show_change","arguments":`+c.args+`}`)
		m := regexp.MustCompile(`"id":"(out_\w+)"`).FindStringSubmatch(body)
		if m == nil {
			t.Fatalf("%s: %s", c.args, body)
		}
		res, rows := h.do("GET", "/api/outputs/"+m[1]+"?format=html&view=default", "")
		if res.Header.Get("Webchat-View") != "diff" || res.Header.Get("Webchat-Added") != c.added ||
			res.Header.Get("Webchat-Removed") != c.removed {
			t.Errorf("%s: %v", c.args, res.Header)
		}
		if plain := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(rows, ""); !strings.Contains(plain,
			c.line) {
			t.Errorf("%s: %s", c.args, plain)
		}
	}
	if n := strings.Count(h.text(t, session+"/outputs"), `"toolCallId"`); n != 4 {
		t.Errorf("%d outputs are listed, want one for each display", n)
	}
	if events := h.text(t, session+"/events?limit=1000"); strings.Contains(events, `"turn.start"`) ||
		strings.Contains(events, "func now") {
		t.Error("looking at changes began a turn, or is in the log")
	}
	for _, c := range []struct{ args, says string }{
		{`{"path":"no such"}`, "what it was is not known"},
		{`{"path":"made"}`, "is a folder"},
		{`{"path":"../x"}`, "not a path from the top of the workspace"},
		{`{"path":"main.go","from":"../../etc/passwd"}`, "not a path from the top of the workspace"},
	} {
		if res, body := h.do("POST", session+"/display", `{"tool":"show_change","arguments":`+c.args+
			`}`); res.StatusCode != 422 || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d %s", c.args, res.StatusCode, body)
		}
	}
	if _, body := h.do("POST", session+"/display",
		`{"tool":"show_change","arguments":{"path":".env"},"preview":true}`); !strings.Contains(body,
		`"sensitive":true`) {
		t.Errorf("a look at a file that may hold secrets: %s", body)
	}

	diff := filepath.Join(t.TempDir(), "diff")
	text = h.text(t, session+"/changes?format=diff")
	if strings.Contains(text, "A=2") || !strings.Contains(text, "# .env: modified, not compared\n") {
		t.Errorf("the diff of a file that may hold secrets: %s", text)
	}
	// which cannot be applied
	text = regexp.MustCompile(`(?m)^diff --git a/bin [^\n]*\n(?:Binary[^\n]*\n)?`).ReplaceAllString(
		text, "")
	if err := os.WriteFile(diff, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h.git("apply", "--check", "--reverse", diff)
}

// A repository of strangers runs nothing, whatever its settings and its folder of hooks
// name.
func TestSessionChangesRunNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the planted commands are for sh")
	}
	h := newHouse(t)
	h.git("init", "-q")
	h.file("a.txt", "one\n")
	h.git("add", "-A")
	h.git("commit", "-qm", "x")
	_, session := h.session(t)
	ran := filepath.Join(t.TempDir(), "ran")
	for _, name := range []string{"core.fsmonitor", "core.editor", "core.pager", "core.sshCommand",
		"core.askPass", "core.alternateRefsCommand", "filter.x.clean", "filter.x.smudge",
		"filter.x.process",
		"diff.external", "diff.x.textconv", "diff.x.command", "pager.cat-file", "credential.helper",
		"alias.cat-file", "gpg.program"} {
		h.git("config", name, "touch "+ran+"; cat")
	}
	h.git("config", "filter.x.required", "true")
	h.file(".gitattributes", "* filter=x diff=x\n")
	for _, hook := range []string{"fsmonitor-watchman", "post-index-change", "pre-commit",
		"post-checkout"} {
		h.file(".git/hooks/"+hook, "#!/bin/sh\ntouch "+ran+"\n")
		if err := os.Chmod(filepath.Join(h.workspace, ".git/hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	h.file("a.txt", "two\n")
	list, note := h.changes(t, session)
	if len(list) != 2 || list[1].Path != "a.txt" || list[1].Added != 1 {
		t.Errorf("changed: %+v, %q", list, note)
	}
	if res, body := h.do("POST", session+"/display",
		`{"tool":"show_change","arguments":{"path":"a.txt"}}`); res.StatusCode != 200 {
		t.Error(body)
	}
	h.text(t, session+"/changes?format=diff")
	if _, err := os.Stat(ran); err == nil {
		t.Error("looking at what changed ran a command of the repository")
	}
}
