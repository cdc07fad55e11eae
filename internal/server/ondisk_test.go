package server_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The stream of a page has which files that the session shows are no longer as they were read, and
// which of them cannot be watched; a page that joins has it at once. A session that was deleted and
// brought back goes on to say it.
func TestFilesAreFollowed(t *testing.T) {
	h := newHouse(t)
	h.file("a.txt", "one\n")
	h.file("gone/b.txt", "one\n")
	id, path := h.session(t)
	show := func(name string) string {
		t.Helper()
		var shown struct{ Output struct{ ID string } }
		if err := json.Unmarshal([]byte(h.posted(t, path+"/display",
			`{"tool":"render_file_contents","arguments":{"path":"`+name+`"}}`)), &shown); err != nil {
			t.Fatal(err)
		}
		return shown.Output.ID
	}
	a, b := show("a.txt"), show("gone/b.txt")
	if err := os.RemoveAll(filepath.Join(h.workspace, "gone")); err != nil {
		t.Fatal(err)
	}
	type news struct{ Changed, Agent, Gone, Polled []string }
	last := map[*reader]string{}
	next := func(r *reader) news {
		t.Helper()
		for {
			f, ok := r.next()
			if !ok {
				t.Fatal("the stream ended")
			}
			var got struct{ Disk *news }
			if err := json.Unmarshal([]byte(f.data), &got); err != nil {
				t.Fatal(err)
			}
			if got.Disk != nil && f.data != last[r] { // a reader that joins may get the same twice
				last[r] = f.data
				if f.id != "" {
					t.Errorf("the news moves the place to %s", f.id)
				}
				return *got.Disk
			}
		}
	}
	want := func(got news, changed, gone string) {
		t.Helper()
		if c, g := strings.Join(got.Changed, " "), strings.Join(got.Gone, " "); c != changed ||
			g != gone || len(got.Agent) != 0 {
			t.Errorf("it says %+v, want %q changed and %q gone", got, changed, gone)
		}
	}
	r := h.open(t, "GET", "/sessions/"+id+"/stream?after=0", "")
	first := next(r)
	want(first, "", b)
	if len(first.Polled) != 1 || first.Polled[0] != b {
		t.Errorf("%v cannot be watched, want %s: its folder is not there", first.Polled, b)
	}
	want(next(h.open(t, "GET", "/api/stream?view=page&sessions="+id, "")), "", b)
	for _, c := range []struct {
		do            func() error
		changed, gone string
	}{
		{func() error {
			h.file("a.new", "two lines\n")
			return os.Rename(filepath.Join(h.workspace, "a.new"), filepath.Join(h.workspace, "a.txt"))
		}, a, b},
		{func() error { return os.Remove(filepath.Join(h.workspace, "a.txt")) }, "", a + " " + b},
		// in a folder that was not there to be watched
		{func() error { h.file("gone/b.txt", "somebody's\n"); return nil }, b, a},
		{func() error {
			if res, got := h.do("DELETE", path, ""); res.StatusCode != http.StatusNoContent {
				t.Fatalf("delete: %d %s", res.StatusCode, got)
			}
			h.posted(t, path+"/restore", "")
			h.file("a.txt", "back\n")
			return nil
		}, a + " " + b, ""},
	} {
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		want(next(r), c.changed, c.gone)
	}
}
