package files_test

import (
	"fmt"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/files"
)

// turn has the agent work on a prompt; it returns the event the turn begins with.
func (s *session) turn(prompt string, work func()) int64 {
	id := string(event.NewID())
	s.say(event.UserMessage{MessageID: id, Content: prompt})
	from := int64(len(s.log))
	s.say(event.TurnStart{TurnID: id, MessageID: id})
	work()
	s.say(event.TurnEnd{TurnID: id, MessageID: id, Outcome: event.Completed})
	return from
}

// review is what is reviewed, in short: "path: was -> now" or why it is not.
func (s *session) review(of files.ReviewOf, closed ...string) (list []string) {
	s.t.Helper()
	source := s.source()
	source.Closed = func(path string) bool { return len(closed) > 0 && path == closed[0] }
	r, err := source.Review(s.t.Context(), of)
	if err != nil {
		s.t.Fatal(err)
	}
	text := func(b []byte) string {
		if b == nil {
			return "none"
		}
		return fmt.Sprintf("%q", b)
	}
	for _, f := range r.Files {
		if f.Why != "" {
			list = append(list, fmt.Sprintf("%s: %s +%d -%d", f.Path, f.Why, f.Added, f.Removed))
			continue
		}
		list = append(list, fmt.Sprintf("%s: %s -> %s", f.Path, text(f.Was), text(f.Now)))
	}
	return list
}

// Without git the edits that agents reported tell what a turn changed, and what came after it is
// not taken for its own.
func TestReviewWithoutGit(t *testing.T) {
	s := newSession(t, event.Context{})
	s.write("a.txt", "one\n2\nthree\nfour\n")
	s.write("made.txt", "x\ny\n")
	s.write("since.txt", "other\n")
	s.write("bare.txt", "x\n")
	s.write(".env", "KEY=2\n")
	first := s.turn("first", func() {
		s.edit(map[string]any{"path": "a.txt"}, "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n")
		s.edit(map[string]any{"path": "made.txt"}, "--- /dev/null\n+++ b/made.txt\n@@ -0,0 +1 @@\n+x\n")
		s.edit(map[string]any{"path": "since.txt"}, "@@ -1 +1,2 @@\n-a\n+b\n+c\n")
		s.edit(map[string]any{"path": ".env"}, "@@ -1 +1 @@\n-KEY=1\n+KEY=2\n")
		s.edit(map[string]any{"path": "bare.txt"}, "--- a/bare.txt\n+++ b/bare.txt\n")
		s.edit(map[string]any{"path": "../out.txt"}, "@@ -1 +1 @@\n-a\n+b\n")
		s.edit(map[string]any{"path": "gone.txt"},
			"diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n"+
				"@@ -1 +0,0 @@\n-bye\n")
	})
	second := s.turn("second", func() {
		s.edit(map[string]any{"path": "a.txt"}, "@@ -3 +3,2 @@\n three\n+four\n")
		s.edit(map[string]any{"path": "made.txt"}, "@@ -1 +1,2 @@\n x\n+y\n")
	})
	for _, c := range []struct {
		name string
		of   files.ReviewOf
		want []string
	}{
		{"the first turn", files.ReviewOf{From: first},
			[]string{".env: closed +1 -1", `a.txt: "one\ntwo\nthree\n" -> "one\n2\nthree\n"`,
				"bare.txt: untold +0 -0",
				`gone.txt: "bye\n" -> none`, `made.txt: none -> "x\n"`, "since.txt: changed +2 -1"}},
		{"since the first", files.ReviewOf{From: first, On: true},
			[]string{".env: closed +1 -1", `a.txt: "one\ntwo\nthree\n" -> "one\n2\nthree\nfour\n"`,
				"bare.txt: untold +0 -0",
				`gone.txt: "bye\n" -> none`, `made.txt: none -> "x\ny\n"`, "since.txt: changed +2 -1"}},
		{"the second turn", files.ReviewOf{From: second},
			[]string{`a.txt: "one\n2\nthree\n" -> "one\n2\nthree\nfour\n"`, `made.txt: "x\n" -> "x\ny\n"`}},
		{"the last turn", files.ReviewOf{},
			[]string{`a.txt: "one\n2\nthree\n" -> "one\n2\nthree\nfour\n"`, `made.txt: "x\n" -> "x\ny\n"`}},
		{"no turn", files.ReviewOf{From: 9999}, nil},
		{"no commit", files.ReviewOf{Commit: true}, nil},
	} {
		if got := s.review(c.of, ".env"); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// What a tool that reads, or a command, returns may look like a diff. It is no edit, or undoing it
// would write what somebody's file says.
func TestReviewTakesNoTextForAnEdit(t *testing.T) {
	s := newSession(t, event.Context{})
	s.write("Makefile", "all:\n")
	diff := "--- a/Makefile\n+++ b/Makefile\n@@ -1,2 +1 @@\n all:\n-\tevil\n--- a/x\n+++ b/x\n@@ -1 " +
		"+1 @@\n-a\n+b\n"
	s.turn("read", func() {
		for i, call := range []event.ToolExecutionStart{
			{ToolName: "view", Arguments: []byte(`{"path":"fix.patch"}`)},
			{ToolName: "fetch", Arguments: []byte(`{"url":"http://x/"}`)},
			{ToolName: "bash", Arguments: []byte(`{"command":"cat fix.patch"}`)},
			{ToolName: "Read patch.txt", Arguments: []byte(`{}`)},
			{ToolName: "edit", Arguments: []byte(`{"path":"Makefile"}`), By: event.ByUser},
		} {
			call.ToolCallID = fmt.Sprint("c", i)
			if call.By == "" {
				call.By = event.ByAgent
			}
			s.say(call)
			s.say(event.ToolExecutionComplete{
				ToolCallID: call.ToolCallID,
				Success:    true,
				Result:     &event.ToolResult{Content: "x", DetailedContent: diff},
			})
		}
	})
	if got := s.review(files.ReviewOf{}); got != nil {
		t.Errorf("%q", got)
	}
}
