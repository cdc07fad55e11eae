package server_test

import (
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
	want(t, body, `<span id="pick-backend">offline</span> · </span><span id="pick-model">no model</span>`, `data-no-model="offline"`,
		"No model is connected. Showing and running work without one", `title="New sessions use it">In use`)
	if strings.Contains(body, `data-act="use" data-backend="offline"`) {
		t.Error("the backend in use is offered")
	}
}
