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
