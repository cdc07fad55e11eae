package outputs

import (
	"strings"
	"testing"
)

func TestTextOfOtherCharsets(t *testing.T) {
	s := newStore(t, 64<<20)
	h := newHandler(s, testViews{})
	const text = "grün\nĊ öl\nß"
	wide := func(first, second int) string {
		var b []byte
		for _, r := range "\ufeff" + text {
			pair := []byte{byte(r), byte(r >> 8)}
			b = append(b, pair[first], pair[second])
		}
		return string(b)
	}
	for charset, data := range map[string]string{
		"utf-16le": wide(0, 1), "utf-16be": wide(1, 0), "windows-1252": "gr\xfcn\n\xc4 \xf6l\n\xdf",
	} {
		o := put(t, s, Meta{Type: File, MimeType: "text/plain; charset=" + charset}, data)
		used := s.Stats().Used
		if got := ask(h, "GET", string(o.ID())).Body.String(); got != data {
			t.Errorf("%s: the bytes are %q", charset, got)
		}
		for query, want := range map[string]string{
			"lines=3": "ß", "grep=%C3%B6": "2:", "count=gr%C3%BCn": `{"total":1,"complete":true}`,
			"tokens&lines=1": `{"tokens":6,"exact":true}`,
		} {
			if got := ask(h, "GET", string(o.ID())+"?"+query).Body.String(); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s: %q", charset, query, got)
			}
		}
		if text := o.Text(); text.TotalLines() != 3 || o.Text() != text {
			t.Errorf("%s: %d lines", charset, o.Text().TotalLines())
		}
		if now := s.Stats().Used; now <= used {
			t.Errorf("%s: what was decoded costs %d", charset, now-used)
		}
	}
}
