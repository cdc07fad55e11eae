package server_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
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
		"No model is connected. You can show files and run commands without one", `title="New sessions use it">In use`)
	if strings.Contains(body, `data-act="use" data-backend="offline"`) {
		t.Error("the backend in use is offered")
	}
}

func TestTokensKeptOutToday(t *testing.T) {
	h := newHouse(t)
	if err := os.WriteFile(filepath.Join(h.workspace, "long.txt"), []byte(strings.Repeat("one line of many\n", 900)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, before := h.do("GET", "/sessions", "")
	want(t, before, "<template data-today><span><b>0</b> tokens kept out so far</span><span>Show something to start counting</span>")
	_, made := h.do("POST", "/api/sessions", "{}")
	var s struct{ ID string }
	if err := json.Unmarshal([]byte(made), &s); err != nil {
		t.Fatal(err)
	}
	h.do("POST", "/api/sessions/"+s.ID+"/display", `{"tool":"render_file_contents","arguments":{"path":"long.txt"}}`)
	_, rows := h.do("GET", "/sessions", "")
	_, page := h.do("GET", "/sessions/"+s.ID, "")
	for _, html := range []string{rows, page} {
		want(t, html, "tokens kept out today", "1 output shown")
		if strings.Contains(html, "<b>0</b> tokens") {
			t.Error("nothing is counted")
		}
	}
}

func TestSampleOfAnEmptyPage(t *testing.T) {
	h := newHouse(t)
	if err := os.WriteFile(filepath.Join(h.workspace, "README.md"), []byte("# <b>\n\n"+strings.Repeat("one word after another ", 20)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, body := h.do("GET", "/", "")
	want(t, body, "Displayed README.md to user (3 lines)", "&lt;b&gt;", "tokens, on your screen only", `data-text="show me README.md"`)
}
