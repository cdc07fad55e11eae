package web_test

import (
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"webchat/web"
)

// The library that draws diagrams is the published file that its note names, and nothing in it ends
// the element it stands in.
func TestDiagramLibraryIsPinned(t *testing.T) {
	note, err := fs.ReadFile(web.FS, "static/diagram/VERSION")
	if err != nil {
		t.Fatal(err)
	}
	packed, err := web.FS.Open("static/diagram/mermaid.tiny.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	library, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("sha256 %x\n", sha256.Sum256(library)); !strings.HasSuffix(string(note),
		sum) {
		t.Errorf("the library has %s, and its note says\n%s", sum, note)
	}
	if found := regexp.MustCompile(`(?i)</?script`).Find(library); found != nil {
		t.Errorf("the library holds %s", found)
	}
}

// The page of a diagram's frame runs two scripts and loads nothing; a browser that has it gets 304.
func TestDiagramPage(t *testing.T) {
	const policy = `^default-src 'none'; script-src 'sha256-[^']+' 'sha256-[^']+'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts$`
	for _, encoding := range []string{"", "gzip", "zstd"} {
		r := httptest.NewRequest("GET", "/diagram", nil)
		r.Header.Set("Accept-Encoding", encoding)
		first := httptest.NewRecorder()
		web.Diagram(first, r)
		h := first.Header()
		if got := h.Get("Content-Security-Policy"); !regexp.MustCompile(policy).MatchString(got) ||
			h.Get("Content-Encoding") != encoding || encoding != "" && first.Body.Len() > 900_000 {
			t.Errorf("%q: %d bytes, %v", encoding, first.Body.Len(), h)
		}
		r.Header.Set("If-None-Match", h.Get("ETag"))
		again := httptest.NewRecorder()
		web.Diagram(again, r)
		if again.Code != 304 || again.Body.Len() > 0 {
			t.Errorf("%q: again it answers %d with %d bytes", encoding, again.Code, again.Body.Len())
		}
	}
}
