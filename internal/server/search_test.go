package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"webchat/internal/outputs"
)

// found is what a search answers: a line for each file, "path hits [line line…]", and what it came
// to.
func (h *house) found(t *testing.T, query string) (files []string, done string) {
	t.Helper()
	res, body := h.do("GET", "/api/search?"+query, "")
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Fatalf("%s: %d %s", query, res.StatusCode, body)
	}
	for one := range strings.Lines(body) {
		var line struct {
			File *struct {
				Path   string
				Hits   int
				Lines  []struct{ Line int }
				Closed bool
				Output string
			}
			Done *struct {
				Files, Hits, In, Closed int
				More                    bool
			}
		}
		if err := json.Unmarshal([]byte(one), &line); err != nil {
			t.Fatal(err)
		}
		if f := line.File; f != nil {
			text := fmt.Sprint(f.Path, " ", f.Hits)
			for _, l := range f.Lines {
				text += fmt.Sprint(" ", l.Line)
			}
			if f.Closed {
				text += " by name"
			}
			if f.Output != "" {
				text += " shown"
			}
			files = append(files, text)
		}
		if d := line.Done; d != nil {
			done = fmt.Sprintf("%d hits in %d of %d, %d closed, more %v", d.Hits, d.In, d.Files, d.Closed,
				d.More)
		}
	}
	return files, done
}

func (h *house) posted(t *testing.T, path, body string) string {
	t.Helper()
	res, got := h.do("POST", path, body)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", path, res.StatusCode, got)
	}
	return strings.TrimSpace(got)
}

// The text of a workspace is found as git sees it, without what may hold secrets, and no model and
// no log hears of it.
func TestSearchOfAWorkspace(t *testing.T) {
	h := newHouse(t)
	h.file("pump.go",
		"package pump\n\nconst Patience = 3\n\n// of patience\n\n\n\n\n// Patience ends\n")
	h.file("sub/clock.go", "var patience = 1\n")
	h.file("vendor/a.go", "Patience\n")
	h.file("node_modules/a.js", "Patience\n")
	h.file(".env", "PATIENCE=1\n")
	h.file("patience.key", "secret\n")
	h.file("notes", "token=Patience\n")
	if err := os.Symlink("pump.go", filepath.Join(h.workspace, "link")); err != nil {
		t.Log(err)
	}
	if err := os.Link(filepath.Join(h.workspace, ".env"),
		filepath.Join(h.workspace, "twin")); err != nil {
		t.Log(err)
	}
	_, session := h.session(t)
	before := h.text(t, session+"/events")
	for query, want := range map[string]string{
		"q=patience": "notes 1 1|patience.key 0 by name|pump.go 3 1 2 3 4 5 6 7 8 9 10|sub/clock.go 1 " +
			"1|vendor/a.go 1 1 · 6 hits in 4 of 8, 2 closed, more false",
		"q=Patience&case=1&glob=*.go&glob=!vendor/": "pump.go 2 1 2 3 4 5 6 7 8 9 10 · 2 hits in 1 of " +
			"2, 0 closed, more false",
		"q=Patience.%3D&expression=1&glob=*.go": "pump.go 1 1 2 3 4 5 6|sub/clock.go 1 1 · 2 hits in 2 " +
			"of 3, 0 closed, more false",
		"q=ends&word=1&glob=/pump.go": "pump.go 1 7 8 9 10 · 1 hits in 1 of 1, 0 closed, more false",
		"q=nowhere":                   " · 0 hits in 0 of 8, 2 closed, more false",
		// its other name is .env
		"q=twin":       "twin 0 by name · 0 hits in 0 of 8, 3 closed, more false",
		"q=&glob=*.go": " · 0 hits in 0 of 3, 0 closed, more false",
	} {
		files, done := h.found(t, query)
		if got := strings.Join(files, "|") + " · " + done; got != want {
			t.Errorf("%s:\n got %s\nwant %s", query, got, want)
		}
	}
	if after := h.text(t, session+"/events"); after != before {
		t.Errorf("the log has %s", after)
	}
	for query, code := range map[string]string{"q=(&expression=1": "bad_expression",
		"q=a&glob=[": "bad_glob", "q=a&workspace=/nowhere": "not_open", "q=a&session=none": "not_found",
		"q=a&output=o": "no_session", "q=a&output=": "no_session"} {
		if _, body := h.do("GET", "/api/search?"+query, ""); !strings.Contains(body, `"code":"`+code+
			`"`) {
			t.Errorf("%s: %s", query, body)
		}
	}
	if got := h.posted(t, "/api/price",
		`{"text":"one two three"}`); got != `{"tokens":3,"exact":true}` {
		t.Errorf("a price of %s", got)
	}
	if got := h.posted(t, "/api/colours",
		`{"pieces":[{"path":"a.go","text":"var é = 1\n// 𝄞"},{"path":"x.unknown","text":"var"}]}`); got != `{"pieces":[[[{"n":3,"c":"kd"},{"n":3},{"n":1,"c":"p"},{"n":1},{"n":1,"c":"mi"}],[{"n":5,"c":"c1"}]],null]}` {
		t.Errorf("colours: %s", got)
	}
	if got := h.posted(t, "/api/price",
		`{"picture":{"width":1024,"height":1024}}`); got != `{"tokens":765,"exact":false}` {
		t.Errorf("a picture for %s", got)
	}
}

// What was shown in a session is searched, or some of it.
func TestSearchOfASession(t *testing.T) {
	h := newHouse(t)
	h.file("a.txt", strings.Repeat("x\n", 9)+"needle\n"+strings.Repeat("y\n", 9))
	h.file("b.txt", "needle\n")
	id, session := h.session(t)
	var shown struct{ Output struct{ ID string } }
	for _, name := range []string{"a.txt", "b.txt"} {
		if err := json.Unmarshal([]byte(h.posted(t, session+"/display",
			`{"tool":"render_file_contents","arguments":{"path":"`+name+`"}}`)), &shown); err != nil {
			t.Fatal(err)
		}
	}
	h.posted(t, session+"/display",
		`{"tool":"run_and_display","arguments":{"command":"printf 'a\\n\\033[1mnee\\033[0mdle\\n'"}}`)
	files, done := h.found(t, "q=needle&session="+id)
	if got := strings.Join(files, "|") + " · " +
		done; got != `a.txt 1 7 8 9 10 11 12 13 shown|b.txt 1 1 shown|printf 'a\n\033[1mnee\033[0mdle\n' 1 1 2 shown · 3 hits in 3 of 3, 0 closed, more false` {
		t.Errorf("found %s", got)
	}
	if files, _ = h.found(t, "q=needle&session="+id+"&output="+shown.Output.ID); len(files) != 1 ||
		files[0] != "b.txt 1 1 shown" {
		t.Errorf("found %q", files)
	}
}

// The search over all sessions finds text in outputs that are alive, as it is seen, and leads to
// the line.
func TestSearchFindsOutputs(t *testing.T) {
	h := newHouse(t)
	h.file("a.txt", strings.Repeat("x\n", 9)+"<b>Needle</b> token=Needle9Needle9\n"+
		strings.Repeat("y\n", 90_000)+"needle\n")
	h.file("keys.txt", "token=Hidden9Hidden9\n")
	h.file("large.txt", strings.Repeat("nothing here\n", 1<<17)+"needle\n")
	id, session := h.session(t)
	show := func(session, tool, arguments string) string {
		t.Helper()
		var shown struct{ Output struct{ ID string } }
		if err := json.Unmarshal([]byte(h.posted(t, session+"/display", `{"tool":"`+tool+`","arguments":`+
			arguments+`}`)), &shown); err != nil {
			t.Fatal(err)
		}
		return shown.Output.ID
	}
	other, second := h.session(t)
	a := show(session, "render_file_contents", `{"path":"a.txt"}`)
	show(session, "render_file_contents", `{"path":"keys.txt"}`)
	if _, err := h.outputs.Put(outputs.Meta{Type: outputs.File, SessionID: other, Path: "needle.pem"},
		[]byte("needle\n")); err != nil {
		t.Fatal(err)
	}
	show(second, "run_and_display", `{"command":"printf 'a\\n\\033[1mnee\\033[0mdle\\n'"}`)
	last := show(second, "render_file_contents", `{"path":"large.txt"}`)
	h.posted(t, second+"/display",
		`{"tool":"render_file_contents","arguments":{"path":"a.txt"},"preview":true}`)
	before := h.text(t, session+"/events")
	found := func(query string) (hits []string, urls string) {
		t.Helper()
		var list struct {
			Outputs []struct {
				Session, Name, URL string
				Line               *struct {
					Line   int
					Text   string
					Ranges [][2]int
				}
			}
		}
		if err := json.Unmarshal([]byte(h.text(t, "/api/sessions?"+query)), &list); err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Outputs {
			text := o.Name + " by name"
			if l := o.Line; l != nil {
				text = fmt.Sprint(o.Name, ":", l.Line, " ", l.Text, " ", l.Ranges)
			}
			hits, urls = append(hits, text), urls+o.URL+" "
		}
		return hits, urls
	}
	hits, urls := found("q=needle")
	// what it may take is bounded
	for end := time.Now().Add(time.Minute); len(hits) < 4 && time.Now().Before(end); {
		hits, urls = found("q=needle")
	}
	want := []string{"large.txt:131073 needle [[0 6]]",
		`printf 'a\n\033[1mnee\033[0mdle\n':2 needle [[0 6]]`, "needle.pem by name",
		"a.txt:10 <b>Needle</b> token=•••••• [[3 9]]"}
	if len(hits) != 4 || hits[0] != want[0] || !strings.HasPrefix(hits[1], "printf") ||
		hits[2] != want[2] || !strings.HasPrefix(hits[3], "a.txt:10 <b>Needle</b> token=••") {
		t.Errorf("found %q, not %q", hits, want)
	}
	for _, url := range []string{"/sessions/" + id + "#out/" + a + ":10 ", "/sessions/" + other +
		"#out/" + last + ":131073 "} {
		if !strings.Contains(urls, url) {
			t.Errorf("%s leads not to %s", urls, url)
		}
	}
	for _, query := range []string{"q=hidden9", "q=n", "q=needle&state=failed", "q=", "limit=1"} {
		if hits, _ := found(query); len(hits) > 0 {
			t.Errorf("%s finds %q", query, hits)
		}
	}
	if after := h.text(t, session+"/events"); after != before {
		t.Errorf("the log has %s", after)
	}
	h.do("DELETE", session, "")
	hits, _ = found("q=needle")
	for end := time.Now().Add(time.Minute); len(hits) != 3 && time.Now().Before(end); {
		hits, _ = found("q=needle")
	}
	if len(hits) != 3 {
		t.Errorf("of a deleted session there is %q", hits)
	}
	if files, done := h.found(t, "q=needle&session="+other); len(files) != 3 ||
		files[0] != "needle.pem 0 by name shown" || !strings.Contains(done, "1 closed") {
		t.Errorf("the session has %q, %s", files, done)
	}
}

// A search ends with its request, and leaves room for the next one.
func TestSearchEndsWithItsReader(t *testing.T) {
	h := newHouse(t)
	for i := range 500 {
		h.file(fmt.Sprintf("%d/a.txt", i), strings.Repeat("a line without it\n", 2000))
	}
	for range 10 {
		req := h.request("GET", "/api/search?q=(x*)*z&expression=1", "")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if res, err := h.client.Do(req.WithContext(ctx)); err == nil {
				res.Body.Close()
			}
		}()
		cancel()
		<-ended
	}
	h.file("b.txt", "z\n")
	if files, done := h.found(t, "q=z&glob=b.txt"); len(files) > 1 ||
		!strings.Contains(done, "closed") {
		t.Errorf("found %q, %s", files, done)
	}
}
