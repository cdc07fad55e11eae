package render

import "testing"

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
