package server_test

import (
	"regexp"
	"strings"
	"testing"
)

// A text that is not UTF-8 is shown as its characters and served as its bytes.
func TestWesternTextIsReadable(t *testing.T) {
	h := newHouse(t)
	const text = "Gr\xfc\xdfe\n\x93zwei\x94 <b>\n"
	h.file("alt.txt", text)
	_, session := h.session(t)
	_, body := h.do("POST", session+"/display",
		`{"tool":"render_file_contents","arguments":{"path":"alt.txt"}}`)
	m := regexp.MustCompile(`"id":"(out_\w+)"`).FindStringSubmatch(body)
	if m == nil {
		t.Fatal(body)
	}
	for _, form := range []string{"?format=html", "/html", "/views/source"} {
		if html := h.text(t, "/api/outputs/"+m[1]+form); !strings.Contains(html, ">Grüße<") ||
			!strings.Contains(html, ">“zwei” &lt;b&gt;<") {
			t.Error(form, html)
		}
	}
	if got := h.text(t, "/api/outputs/"+m[1]); got != text {
		t.Errorf("%q", got)
	}
}
