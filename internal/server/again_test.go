package server_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Showing the same again says what changed since, from the log alone: the first
// content may be gone by then.
func TestShownAgainSaysWhatChanged(t *testing.T) {
	h := newHouse(t)
	h.file("list.txt", "one\ntwo\nthree\n")
	id, path := h.session(t)
	show := func() string {
		t.Helper()
		if res, body := h.do("POST", path+"/display",
			`{"tool":"render_file_contents","arguments":{"path":"list.txt"}}`); res.StatusCode != 200 {
			t.Fatalf("%d %s", res.StatusCode, body)
		}
		_, page := h.do("GET", "/sessions/"+id, "")
		return page
	}
	if page := show(); strings.Contains(page, "since it was shown") {
		t.Error("the first showing is compared")
	}
	if page := show(); !strings.Contains(page, "<b>Unchanged</b> since it was shown at ") {
		t.Error("the same is not called unchanged")
	}
	h.file("list.txt", "one\n2\nthree\nfour\nfive\n")
	h.outputs.DeleteSession(id)
	page := show()
	for _, want := range []string{"<b>Changed</b> since it was shown at ",
		"3 lines new or different, 1 line gone.", `data-changed="2 4-5"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
}

// A page asked for after an answer has what was answered, however much the others
// who are looked at keep their pages' source busy.
func TestPageHasWhatWasAnswered(t *testing.T) {
	h := newHouse(t)
	var all sync.WaitGroup
	for s := range 4 {
		id, path := h.session(t)
		h.do("GET", "/sessions/"+id, "") // from now on its page is kept up to date
		all.Go(func() {
			for i := range 5 {
				name := fmt.Sprintf("shown-%d-%d.txt", s, i)
				h.file(name, "one\n")
				if res, body := h.do("POST", path+"/display",
					`{"tool":"render_file_contents","arguments":{"path":"`+name+`"}}`); res.StatusCode != 200 {
					t.Errorf("%d %s", res.StatusCode, body)
				}
				if res, page := h.do("GET", "/sessions/"+id, ""); res.StatusCode != 200 ||
					!strings.Contains(page, name) {
					t.Errorf("%d: the page lacks %s, which was shown before it", res.StatusCode, name)
				}
			}
		})
	}
	all.Wait()
}
