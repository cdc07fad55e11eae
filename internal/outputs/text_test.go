package outputs

import (
	"fmt"
	"strings"
	"testing"
)

func TestTextOfOtherCharsets(t *testing.T) {
	s := newStore(t, 64<<20)
	h := NewHandler(s, testViews{})
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
			"lines=3": "ß", "grep=%C3%B6": "2:", "count=gr%C3%BCn": `{"total":1,"complete":true}`, "tokens&lines=1": `{"tokens":6,"exact":true}`,
		} {
			if got := ask(h, "GET", string(o.ID())+"?"+query).Body.String(); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s: %q", charset, query, got)
			}
		}
		if text := o.Text(); text.TotalLines() != 3 || o.Text() != text || !text.Held() {
			t.Errorf("%s: %d lines", charset, o.Text().TotalLines())
		}
		if now := s.Stats().Used; now <= used {
			t.Errorf("%s: what was decoded costs %d", charset, now-used)
		}
	}
}

// Around a gap the lines of other charsets keep their numbers.
func TestTextAroundTheGap(t *testing.T) {
	s := newStore(t, 64<<20)
	for _, charset := range []string{"utf-16le", "utf-16be", "windows-1252"} {
		w := create(t, s, Meta{Type: File, MimeType: "text/plain; charset=" + charset}, Limits{Head: 8 << 10, Tail: 16 << 10})
		for i := 1; i <= 20_000; i++ {
			for _, c := range []byte(fmt.Sprintf("line %d\n", i)) {
				switch charset {
				case "utf-16le":
					w.Write([]byte{c, 0})
				case "utf-16be":
					w.Write([]byte{0, c})
				default:
					w.Write([]byte{c})
				}
			}
		}
		w.Complete(nil)
		o := w.Output().Text()
		g := o.Meta().Gap
		seen := 0
		for l, err := range o.Lines(t.Context(), 0, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if l.Gap == nil && l.Number != g.AfterLine && l.Number != g.AfterLine+int(g.Lines)+1 {
				if seen++; string(l.Text) != fmt.Sprintf("line %d", l.Number) {
					t.Fatalf("%s: line %d is %q", charset, l.Number, l.Text)
				}
			}
		}
		if seen < 500 || o.TotalLines() != 20_000 {
			t.Errorf("%s: %d of %d lines", charset, seen, o.TotalLines())
		}
	}
}
