package files_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"webchat/internal/event"
	"webchat/internal/files"
	"webchat/internal/outputs"
)

// session is a log that a test writes, in a folder without git.
type session struct {
	t    *testing.T
	dir  string
	log  []event.Entry
	outs *outputs.Store
}

func newSession(t *testing.T, in event.Context) *session {
	t.Helper()
	store, err := outputs.New(outputs.Config{TTL: time.Hour, Budget: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, dir: t.TempDir(), outs: store}
	in.Cwd = s.dir
	s.say(event.SessionStart{SessionID: "s", Context: in})
	return s
}

// Events implements [files.ChangeLog].
func (s *session) Events(_ context.Context, after int64, limit int) ([]event.Entry, error) {
	rest := s.log[min(int(after), len(s.log)):]
	if limit > 0 {
		rest = rest[:min(len(rest), limit)]
	}
	return rest, nil
}

func (s *session) say(d event.Data) {
	s.log = append(s.log, event.Entry{Seq: int64(len(s.log) + 1), Event: event.New(d, "", time.Now())})
}

func (s *session) write(name, text string) {
	s.t.Helper()
	p := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// edit has the agent edit a file, with the diff that its tool shows the user.
func (s *session) edit(args map[string]any, diff string) {
	s.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		s.t.Fatal(err)
	}
	id := string(event.NewID())
	s.say(event.ToolExecutionStart{ToolCallID: id, ToolName: "edit", Arguments: raw, By: event.ByAgent})
	s.say(event.ToolExecutionComplete{ToolCallID: id, Success: true, Result: &event.ToolResult{Content: "done", DetailedContent: diff}})
}

// show has somebody see a whole file.
func (s *session) show(name, text string) {
	s.t.Helper()
	n := strings.Count(text, "\n")
	id, err := s.outs.Put(outputs.Meta{Type: outputs.File, SessionID: "s", Path: name, StartLine: 1, EndLine: n, TotalLines: n}, []byte(text))
	if err != nil {
		s.t.Fatal(err)
	}
	call := string(event.NewID())
	s.say(event.ToolExecutionStart{ToolCallID: call, ToolName: "render_file_contents", Arguments: json.RawMessage(`{}`), By: event.ByUser})
	s.say(event.ToolExecutionComplete{ToolCallID: call, Success: true, Result: &event.ToolResult{}, OutputID: string(id)})
}

func (s *session) source() files.ChangeSource {
	return files.ChangeSource{Log: s, Outputs: s.outs, Workspace: s.dir}
}

// list is what is listed, without the times of copies.
func (s *session) list() (list []files.ChangedFile, note string) {
	s.t.Helper()
	l, err := s.source().List(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range l.Files {
		if (f.At != nil) != (f.Known == files.Copy) {
			s.t.Errorf("%s is known by %s, at %v", f.Path, f.Known, f.At)
		}
		f.At = nil
		list = append(list, f)
	}
	return list, l.Note
}

// Without git, what the agent edited and what was shown tells what changed.
func TestChangesWithoutGit(t *testing.T) {
	s := newSession(t, event.Context{})
	abs := func(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }
	s.write("edited.go", "one\n2\nthree\nfour\n")
	s.edit(map[string]any{"path": abs("edited.go")}, "diff --git a/edited.go b/edited.go\n--- a"+abs("edited.go")+"\n+++ b"+abs("edited.go")+"\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n")
	s.edit(map[string]any{"path": abs("edited.go")}, "@@ -3 +3,2 @@\n three\n+four\n")
	s.write("sub/made.go", "a\nb\n")
	s.edit(map[string]any{"path": abs("sub/made.go")}, "--- /dev/null\n+++ b/sub/made.go\n@@ -0,0 +1,2 @@\n+a\n+b\n")
	s.write("patched.go", "x\n")
	s.edit(map[string]any{"patch": "…"}, "--- patched.go\n+++ patched.go\n-y\n+x\n--- /etc/passwd\n+++ /etc/passwd\n-a\n+b\n--- ../up\n+++ ../up\n-a\n+b\n")
	s.write("since.go", "nothing of it\n")
	s.edit(map[string]any{"path": abs("since.go")}, "@@ -1 +1,2 @@\n-a\n+b\n+c\n")
	s.edit(map[string]any{"command": "git diff"}, "--- a/other.go\n+++ b/other.go\n@@ -1 +1 @@\n-a\n+b\n")
	s.write("shown.txt", "new\n")
	s.show("shown.txt", "old\n")
	s.show("shown.txt", "later\n")
	s.write("same.txt", "same\n")
	s.show("same.txt", "same\n")
	s.show("gone.txt", "1\n2\n")

	want := []files.ChangedFile{
		{Path: "edited.go", Kind: files.Modified, Added: 2, Removed: 1, Known: files.Edits},
		{Path: "gone.txt", Kind: files.Deleted, Removed: 2, Known: files.Copy},
		{Path: "patched.go", Kind: files.Modified, Added: 1, Removed: 1, Known: files.Edits},
		{Path: "shown.txt", Kind: files.Modified, Added: 1, Removed: 1, Known: files.Copy},
		{Path: "since.go", Kind: files.Modified, Added: 2, Removed: 1, Known: files.Nothing},
		{Path: "sub/made.go", Kind: files.Created, Added: 2, Known: files.Edits},
	}
	list, note := s.list()
	if !reflect.DeepEqual(list, want) {
		t.Errorf("listed:\n%+v\nwant\n%+v", list, want)
	}
	if !strings.Contains(note, "no git repository") || !strings.Contains(note, "What commands changed may be missing.") {
		t.Errorf("the note: %s", note)
	}
	for name, is := range map[string]files.ContentBefore{
		"edited.go":   {Data: []byte("one\ntwo\nthree\n"), Found: true, Known: true},
		"sub/made.go": {Data: []byte(""), Known: true},
		"shown.txt":   {Data: []byte("old\n"), Found: true, Known: true},
		"since.go":    {Found: true},
		"other.go":    {},
	} {
		was, err := s.source().Was(t.Context(), name)
		if err != nil || string(was.Data) != string(is.Data) || was.Found != is.Found || was.Known != is.Known {
			t.Errorf("%s was %q, found %v, known %v: %v", name, was.Data, was.Found, was.Known, err)
		}
	}
}

// A diff of all has what both sides are known of, and names the rest.
func TestDiffWithoutGit(t *testing.T) {
	s := newSession(t, event.Context{})
	s.write("a b.txt", "new\n")
	s.show("a b.txt", "old\n")
	s.write("x", "1\n")
	s.edit(map[string]any{"path": "x"}, "@@ -1 +1 @@\n-a\n+b\n")
	l, err := s.source().List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const want = "diff --git a/a b.txt b/a b.txt\n--- a/a b.txt\t\n+++ b/a b.txt\t\n@@ -1,1 +1,1 @@\n-old\n+new\n# x: modified, not compared\n"
	if got := string(l.Diff()); got != want {
		t.Errorf("the diff:\n%s", got)
	}
}

// Where git is asked and does not know the commit, that is said.
func TestLostCommit(t *testing.T) {
	s := newSession(t, event.Context{GitRoot: "/w", Commit: strings.Repeat("a1", 20), Branch: "main"})
	if list, note := s.list(); len(list) > 0 || !strings.Contains(note, "does not have the commit") {
		t.Errorf("%v, %s", list, note)
	}
}

// A session that did not begin changed nothing.
func TestNotBegun(t *testing.T) {
	s := newSession(t, event.Context{})
	s.log = nil
	if list, note := s.list(); len(list) > 0 || note == "" {
		t.Errorf("%v, %q", list, note)
	}
}
