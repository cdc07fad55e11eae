package render

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"`ls <a>` in `/x`": "<code>ls &lt;a&gt;</code> in <code>/x</code>",
		"one ` alone <b>":  "one ` alone &lt;b&gt;",
		"`a\u202e`":        `<code>a<span class="vis">U+202E</span></code>`,
		"":                 "",
	} {
		if got := string(Quoted(text)); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// A path in an attribute is exact, and no character of it is raw that cannot be seen.
func TestExactAttributes(t *testing.T) {
	const path = "a\x1b\u202e\u200b\n\"<+.go"
	z := html.NewTokenizer(strings.NewReader(string(Places("main.go:7", func(string) (string, bool) {
		return path, true
	}))))
	z.Next()
	if raw := string(z.Raw()); strings.ContainsFunc(raw, func(r rune) bool {
		return r != ' ' && hidden(r)
	}) {
		t.Errorf("a raw character in %q", raw)
	}
	if a := z.Token().Attr; len(a) != 4 || a[2].Key != "data-path" || a[2].Val != path {
		t.Errorf("the path is %q", a)
	}
	if got := Exact("a\x00\u009b\r"); got != "a\uFFFD\uFFFD\uFFFD" {
		t.Errorf("what has no reference: %q", got)
	}
}
