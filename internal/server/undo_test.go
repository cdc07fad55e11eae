package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// One change of a file is taken back on disk if the file is still as it is shown, and can be
// brought back in the same way. Lines keep their ends, and the file its mode.
func TestUndoOfAChange(t *testing.T) {
	h := newHouse(t)
	name := filepath.Join(h.workspace, "list.txt")
	id, path := h.session(t)
	shown := regexp.MustCompile(`"output":\{"id":"(out_\w+)"`)
	call := func(status int, path, body string) string {
		t.Helper()
		res, got := h.do("POST", path, body)
		if res.StatusCode != status {
			t.Fatalf("%s %s: %d %s, want %d", path, body, res.StatusCode, got, status)
		}
		if m := shown.FindStringSubmatch(got); m != nil {
			return m[1]
		}
		return got
	}
	show := func(text string) string {
		t.Helper()
		h.file("list.txt", text)
		return call(200, path+"/display",
			`{"tool":"render_file_contents","arguments":{"path":"list.txt"}}`)
	}
	undo := func(status int, of, with string, n int) string {
		t.Helper()
		return call(status, path+"/outputs/"+of+"/undo",
			fmt.Sprintf(`{"with":%q,"undone":[%d]}`, with, n))
	}
	holds := func(want string) {
		t.Helper()
		if b, err := os.ReadFile(name); err != nil || string(b) != want {
			t.Errorf("the file holds %q, want %q (%v)", b, want, err)
		}
	}
	const before = "one\r\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten"
	const after = "zero\none\r\n2\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\n"
	was, now := show(before), show(after)
	if err := os.Chmod(name, 0o751); err != nil {
		t.Fatal(err)
	}

	next := undo(200, now, was, 2)
	holds(strings.Replace(after, "2\n", "two\n", 1))
	if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o751 {
		t.Errorf("its mode is %v (%v)", st.Mode(), err)
	}
	if _, log := h.do("GET", path+"/events?limit=500", ""); !strings.Contains(log, `"newOutputId":"`+
		next+`"`) {
		t.Error("the log does not have what is shown now")
	}
	next = undo(200, next, now, 1) // it is back
	holds(after)
	next = undo(200, next, was, 1)
	next = undo(200, next, was, 2)
	// another end of line does not change a line
	holds("one\r\n2\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n")
	if got := undo(400, next, was, 2); !strings.Contains(got, "no such change") {
		t.Error(got)
	}

	h.file("list.txt", "somebody else's\n")
	if got := undo(409, next, was, 1); !strings.Contains(got, "no longer what is shown") {
		t.Error(got)
	}
	holds("somebody else's\n")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	undo(409, next, was, 1)
	part := func() string {
		h.file("list.txt", after)
		return call(200, path+"/display",
			`{"tool":"render_file_contents","arguments":{"path":"list.txt","startLine":2,"endLine":3}}`)
	}()
	if got := undo(400, part, was, 1); !strings.Contains(got, "shown whole") {
		t.Error(got)
	}
	other, otherPath := h.session(t)
	if other == id {
		t.Fatal("one session")
	}
	call(404, otherPath+"/outputs/"+next+"/undo", fmt.Sprintf(`{"with":%q,"undone":[1]}`, was))
	if left, _ := filepath.Glob(filepath.Join(h.workspace, ".webchat-*")); left != nil {
		t.Errorf("left behind: %q", left)
	}
}
