package files_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"webchat/internal/calls"
	"webchat/internal/event"
	"webchat/internal/files"
)

// session is a log that a test writes, in a folder without git.
type session struct {
	t   *testing.T
	dir string
	log []event.Entry
}

func newSession(t *testing.T, in event.Context) *session {
	t.Helper()
	s := &session{t: t, dir: t.TempDir()}
	in.Cwd = s.dir
	s.say(event.SessionStart{SessionID: "s", Context: in})
	return s
}

// At implements [files.ChangeLog].
func (s *session) At(_ context.Context, seq int64) (event.Entry, error) { return s.log[seq-1], nil }

// Index implements [files.ChangeLog].
func (s *session) Index(_ context.Context, f func(*calls.Index)) error {
	var x calls.Index
	for _, e := range s.log {
		x.Add(e)
	}
	f(&x)
	return nil
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
	s.say(event.ToolExecutionStart{
		ToolCallID: id,
		ToolName:   "edit",
		Arguments:  raw,
		By:         event.ByAgent,
	})
	s.say(event.ToolExecutionComplete{
		ToolCallID: id,
		Success:    true,
		Result:     &event.ToolResult{Content: "done", DetailedContent: diff},
	})
}

func (s *session) source() files.ChangeSource {
	s.t.Helper()
	x, err := files.New(files.Config{Root: s.dir, Env: os.Environ()})
	if err != nil {
		s.t.Fatal(err)
	}
	return files.ChangeSource{Log: s, Files: x, Workspace: s.dir}
}

// list is what is listed.
func (s *session) list() (list []files.Change, note string) {
	s.t.Helper()
	l, err := s.source().List(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return l.Files, l.Note
}

// Without git nothing is listed, and the agent's edits tell what a file was.
func TestWithoutARepository(t *testing.T) {
	s := newSession(t, event.Context{})
	abs := func(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }
	s.write("edited.go", "one\n2\nthree\nfour\n")
	s.edit(map[string]any{"path": abs("edited.go")}, "diff --git a/edited.go b/edited.go\n--- a"+
		abs("edited.go")+"\n+++ b"+abs("edited.go")+"\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n")
	s.edit(map[string]any{"path": abs("edited.go")}, "@@ -3 +3,2 @@\n three\n+four\n")
	s.write("sub/made.go", "a\nb\n")
	s.edit(map[string]any{"path": abs("sub/made.go")},
		"--- /dev/null\n+++ b/sub/made.go\n@@ -0,0 +1,2 @@\n+a\n+b\n")
	s.write("patched.go", "x\n")
	s.edit(map[string]any{"patch": "…"},
		"--- patched.go\n+++ patched.go\n-y\n+x\n--- /etc/passwd\n+++ /etc/passwd\n-a\n+b\n--- ../up\n"+
			"+++ ../up\n-a\n+b\n")
	s.write("since.go", "nothing of it\n")
	s.edit(map[string]any{"path": abs("since.go")}, "@@ -1 +1,2 @@\n-a\n+b\n+c\n")
	s.edit(map[string]any{"path": "away.go"}, "@@ -1 +1 @@\n-a\n+b\n")
	s.edit(map[string]any{"command": "git diff"},
		"--- a/other.go\n+++ b/other.go\n@@ -1 +1 @@\n-a\n+b\n")
	s.write("other.go", "b\n")

	if list, note := s.list(); len(list) > 0 || !strings.Contains(note, "needs git") {
		t.Errorf("listed: %+v, %s", list, note)
	}
	for name, is := range map[string]files.Was{
		"edited.go":   {Data: []byte("one\ntwo\nthree\n"), Found: true, Known: true},
		"sub/made.go": {Data: []byte(""), Known: true},
		"patched.go":  {Data: []byte("y\n"), Found: true, Known: true},
		"since.go":    {Found: true},
		"away.go":     {Found: true},
		"other.go":    {},
		"../up":       {},
	} {
		was, err := s.source().Was(t.Context(), name)
		if err != nil || string(was.Data) != string(is.Data) || was.Found != is.Found ||
			was.Known != is.Known {
			t.Errorf("%s was %q, found %v, known %v: %v", name, was.Data, was.Found, was.Known, err)
		}
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
