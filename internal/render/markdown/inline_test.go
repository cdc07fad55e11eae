package markdown

import (
	"strings"
	"testing"
)

// What documents are written with beside Markdown's own becomes that; code, what is
// defined nowhere and what could hide something stay, and so do the numbers of lines.
func TestDocumentsInline(t *testing.T) {
	for in, want := range map[string]string{
		"# <img alt=\"chi\" src=\"https://x.example/chi.svg\" width=\"220\" />\n":             "# ![chi](https://x.example/chi.svg)\n",
		"[![GoDoc Widget]][GoDoc]\n\n[GoDoc]: https://g.example\n[GoDoc Widget]: w.svg\n":     "[![GoDoc Widget](w.svg)](https://g.example)\n\n\n\n",
		"see [it][a], [A][] and [a]\n\n[a]: <b.md> \"Title\"\n":                               "see [it](b.md), [A](b.md) and [a](b.md)\n\n\n",
		"[x](y) and [z] stay, `[a]` too\n\n[a]: b\n":                                          "[x](y) and [z] stay, `[a]` too\n\n\n",
		"<p align=\"center\"><a href='docs/'>Docs</a> &amp; <b>more</b></p>\n":                "[Docs](docs/) &amp; <b>more</b>\n",
		"<h2 align=center>Title</h2>\n":                                                       "## Title\n",
		"```\n<p>[a]</p>\n```\n    <p>\n\n[a]: b\n":                                           "```\n<p>[a]</p>\n```\n    <p>\n\n\n",
		"<!-- hidden --> <script>x</script> <img src=\"a b\"> <a href=\"javascript:x\">y</a>": "<!-- hidden --> <script>x</script> <img src=\"a b\"> [y](javascript:x)",
	} {
		got := Inline(in)
		if got != want {
			t.Errorf("%q became\n%q, want\n%q", in, got, want)
		}
		if strings.Count(got, "\n") != strings.Count(in, "\n") {
			t.Errorf("%q has other lines: %q", in, got)
		}
	}
	if html := string(HTML(Inline("<a href=\"javascript:alert(1)\">y</a> [z]\n\n[z]: javascript:alert`1`\n"))); strings.Contains(html, "href=\"javascript") {
		t.Errorf("a script is a link: %s", html)
	}
}
