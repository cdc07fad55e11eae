package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"webchat/internal/files"
	"webchat/internal/policy"
)

// Going back to a prompt takes conversation and files together, and so does taking that back. What
// somebody else changed stays. The agent forgets when it goes on, and is given the text of what is
// brought back later than that.
func TestGoBack(t *testing.T) {
	snapshots := files.NewSnapshots(files.SnapshotsConfig{
		Dir:    filepath.Join(t.TempDir(), "snapshots"),
		Env:    os.Environ(),
		Secret: policy.SensitiveFile,
	})
	r := newReviewed(t, false, snapshots)
	if err := snapshots.Warm(t.Context(), r.workspace); err != nil {
		t.Fatal(err)
	}
	r.say(`{"c.txt":"first\n"}`)
	r.say(`by command {"a.txt":"second\n","b.txt":null,"made.txt":"made\n"}`)
	r.file("mine.txt", "mine\n")
	r.say(`{"c.txt":"third\n"}`)
	r.file("c.txt", "mine, too\n")
	prompts := func() (ids []string) {
		_, log := r.do("GET", r.path+"/events?limit=500", "")
		for _, m := range regexp.MustCompile(
			`"type":"user.message","data":\{"messageId":"([^"]*)"|"messageId":"([^"]*)"[^{}]*\},"[^{}]*"type":"user.message"`).FindAllStringSubmatch(log, -1) {
			ids = append(ids, m[1]+m[2])
		}
		return ids
	}()
	if len(prompts) != 3 {
		_, log := r.do("GET", r.path+"/events?limit=500", "")
		t.Fatalf("%q %s", prompts, log)
	}
	rewind := func(query, body string, status int, want string) {
		t.Helper()
		res, got := r.do("POST", r.path+"/rewind"+query, strings.ReplaceAll(body, "SECOND", prompts[1]))
		if res.StatusCode != status || !strings.Contains(got, want) {
			t.Errorf("%s %s: %d %s, want %d %s", query, body, res.StatusCode, got, status, want)
		}
	}
	holds := func(a, b, made, c string) {
		t.Helper()
		r.holds("a.txt", a)
		r.holds("b.txt", b)
		r.holds("made.txt", made)
		r.holds("c.txt", c)
		r.holds("mine.txt", "mine\n")
	}
	was, _ := os.ReadFile(filepath.Join(r.workspace, "a.txt"))
	if string(was) != "second\n" {
		t.Fatalf("%q", was)
	}
	const before = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"
	const done = `"written":["a.txt","b.txt"],"deleted":["made.txt"],"kept":[{"path":"c.txt","why":"changed"},{"path":"mine.txt","why":"changed"}],"notUndone":[]`

	rewind("", `{"messageId":"SECOND","files":"some"}`, 400, "only")
	rewind("?dry=true", `{"messageId":"SECOND","files":true}`, 200, done)
	holds("second\n", "", "made\n", "mine, too\n")
	rewind("/undo", "{}", 404, "not_found")

	rewind("", `{"messageId":"SECOND","files":true}`, 200, done)
	holds(before, "b\n", "", "mine, too\n")
	rewind("", `{"messageId":"SECOND"}`, 404, "not_found") // it was put aside
	rewind("/undo", "{}", 200, `"written":["a.txt","made.txt"],"deleted":["b.txt"]`)
	holds("second\n", "", "made\n", "mine, too\n")
	r.say("{}")
	if len(r.all) > 0 {
		t.Errorf("the agent forgot what was brought back at once: %q", r.all)
	}

	rewind("", `{"messageId":"SECOND","files":"only","also":["c.txt"]}`, 200,
		`"written":["a.txt","b.txt","c.txt"]`)
	holds(before, "b\n", "", "first\n")
	rewind("/undo", "{}", 200, `"written":["a.txt","c.txt","made.txt"]`)
	holds("second\n", "", "made\n", "mine, too\n")

	rewind("", `{"messageId":"SECOND"}`, 200, `"written":[],"deleted":[]`)
	holds("second\n", "", "made\n", "mine, too\n")
	r.say("{}")
	if got := fmt.Sprintf("%.60q", r.all); !strings.Contains(got, "forgot "+prompts[1]) ||
		len(r.all) != 1 {
		t.Errorf("the agent forgot %s", got)
	}
	rewind("/undo", "{}", 200, `"written":[]`)
	r.say("{}")
	r.say("{}")
	if len(r.all) != 2 || !strings.Contains(r.all[1], `by command {"a.txt"`) ||
		strings.Contains(r.all[1], "first") {
		t.Errorf("the agent was given %q", r.all)
	}
	rewind("", `{"messageId":"SECOND"}`, 409, "unsupported") // it knows the text alone
}
