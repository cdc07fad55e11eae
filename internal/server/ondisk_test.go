package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A request that knows the state of its files is answered when one changes, with those that cannot
// be watched.
func TestFilesAreFollowed(t *testing.T) {
	h := newHouse(t)
	h.file("a.txt", "one\n")
	h.file("gone/b.txt", "one\n")
	_, path := h.session(t)
	show := func(name string) string {
		t.Helper()
		var shown struct{ Output struct{ ID string } }
		if err := json.Unmarshal([]byte(h.posted(t, path+"/display", `{"tool":"render_file_contents","arguments":{"path":"`+name+`"}}`)), &shown); err != nil {
			t.Fatal(err)
		}
		return shown.Output.ID
	}
	a, b := show("a.txt"), show("gone/b.txt")
	if err := os.RemoveAll(filepath.Join(h.workspace, "gone")); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		Changed, Agent, Gone, Polled []string
		Seen                         string
	}
	ask := func(seen string) (got answer) {
		t.Helper()
		q := url.Values{"output": {a, b, "unknown"}}
		if seen != "" {
			q.Set("seen", seen)
		}
		res, body := h.do("GET", path+"/disk?"+q.Encode(), "")
		if err := json.Unmarshal([]byte(body), &got); err != nil || res.StatusCode != 200 {
			t.Fatalf("%d %s", res.StatusCode, body)
		}
		return got
	}
	want := func(got answer, changed, gone string) {
		t.Helper()
		if c, g := strings.Join(got.Changed, " "), strings.Join(got.Gone, " "); c != changed || g != gone || len(got.Agent) != 0 {
			t.Errorf("answered %+v, want %q changed and %q gone", got, changed, gone)
		}
	}
	first := ask("")
	want(first, "", b)
	if len(first.Polled) != 1 || first.Polled[0] != b {
		t.Errorf("%v cannot be watched, want %s: its folder is not there", first.Polled, b)
	}
	if again := ask("another"); again.Seen != first.Seen {
		t.Errorf("what was not seen is answered %+v, want %+v", again, first)
	}
	changes := []struct {
		do            func() error
		changed, gone string
	}{
		{func() error {
			h.file("a.new", "two lines\n")
			return os.Rename(filepath.Join(h.workspace, "a.new"), filepath.Join(h.workspace, "a.txt"))
		}, a, b},
		{func() error { return os.Remove(filepath.Join(h.workspace, "a.txt")) }, "", a + " " + b},
		{func() error { h.file("gone/b.txt", "somebody's\n"); return nil }, b, a}, // in a folder that was not there to be watched
	}
	seen := first.Seen
	for _, c := range changes {
		waiting := make(chan answer)
		go func() {
			req := h.request("GET", path+"/disk?"+url.Values{"output": {a, b, "unknown"}, "seen": {seen}}.Encode(), "")
			var got answer
			if res, err := http.DefaultClient.Do(req); err != nil {
				t.Error(err)
			} else {
				defer res.Body.Close()
				if err := json.NewDecoder(res.Body).Decode(&got); err != nil {
					t.Error(err)
				}
			}
			waiting <- got
		}()
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		got := <-waiting
		want(got, c.changed, c.gone)
		seen = got.Seen
	}
}
