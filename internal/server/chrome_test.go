package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// want looks for parts of a page.
func want(t *testing.T, page string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(page, part) {
			t.Errorf("no %s in %s", part, page[max(0, strings.Index(page, "<body")):])
		}
	}
}

func TestPageOfNoSession(t *testing.T) {
	h := newHouse(t)
	res, body := h.do("GET", "/sessions/nope", "")
	if res.StatusCode != http.StatusNotFound || strings.Contains(body, "nope") {
		t.Errorf("%d, and it repeats the id", res.StatusCode)
	}
	want(t, body, "<h1>No such session</h1><p>It was deleted, or its link was cut.</p>")
}

func TestWhoAnswersAnEmptyPage(t *testing.T) {
	_, body := newHouse(t).do("GET", "/", "")
	want(t, body,
		`<span class="backend" hidden><span id="pick-backend">offline</span> · </span><span id="pick-model">No model</span>`, `data-no-model="offline"`,
		"Connect a model", "npm install -g @github/copilot",
		"Name a file to see it, or start with ! to run a command")
}

func TestLooksMakeNoSessionThatIsListed(t *testing.T) {
	h := newHouse(t)
	_, made := h.do("POST", "/api/sessions", "{}")
	var s struct{ ID string }
	if err := json.Unmarshal([]byte(made), &s); err != nil {
		t.Fatal(err)
	}
	if _, rows := h.do("GET", "/sessions", ""); strings.Contains(rows, s.ID) {
		t.Error("a session in which nothing was said or kept is listed")
	}
	h.do("POST", "/api/sessions/"+s.ID+"/display",
		`{"tool":"run_and_display","arguments":{"command":"echo"}}`)
	_, rows := h.do("GET", "/sessions", "")
	_, page := h.do("GET", "/sessions/"+s.ID, "")
	for _, html := range []string{rows, page} {
		want(t, html, s.ID)
	}
}
