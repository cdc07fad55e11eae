package markdown

import (
	"strings"
	"testing"
)

func documentHTML(text string) string {
	d := NewDocument(Inline(text))
	h, _ := d.HTML(1, d.Len())
	return string(h)
}

// What documents have beside answers: each is what people know from elsewhere, and what is none of it stays text.
func TestDocument(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []string
		not  []string
	}{
		"headings": {"# A Title!\n\n## Over\n\n## Over\n\nUnder\n---\n\n```\n# code\n```\n", []string{`<h4 id="user-content-a-title">`, `id="user-content-over"`, `id="user-content-over-1"`, `id="user-content-under"`}, []string{"user-content-code"}},
		"places":   {"[up](#a-title) [ü](#ü)", []string{`<a href="#a-title">up</a>`, `href="#%C3%BC"`}, []string{"class=\"href\""}},
		"files":    {"[x](docs/a.md#b) [y](javascript:alert) [z](//host/x) [w](https://a.test)", []string{`<a href="#src" data-to="docs/a.md#b">x</a>`, `href="https://a.test"`}, []string{"data-to=\"javascript", "data-to=\"//host", `href="javascript`}},
		"pictures": {"![a cat](img/cat.png) ![far](https://a.test/x.png)", []string{`<span class="pic-ref" data-to="img/cat.png">a cat</span>`, ` data-host="a.test">far</span>`}, []string{"<img", "https:", "src="}},
		"details":  {"before\n<details>\n<summary>More <b>here</b></summary>\n\n- a\n\n<details open><summary>In</summary>\nx\n</details>\n</details>\nafter\n", []string{`<details class="fold" data-line="2"><summary>More here</summary>`, `<details class="fold" open="" data-line="7"><summary>In</summary>`, "</details>\n</details>\n<div class=\"block\" data-line=\"11\"><p>after"}, []string{"&lt;details"}},
		"open":     {"<details>\n<summary>\nTitle\n</summary>\nx", []string{"<summary>Title</summary>", "</details>"}, nil},
		"shut":     {"</details>\nx", []string{"x"}, []string{"</details>"}},
		"notes":    {"See[^b] and[^a], not [^c] nor `[^a]`.\n\n[^a]: word\n[^b]: Text *two*\n\n    more\n\nend\n", []string{`<sup class="note-ref" id="user-content-fnref:1"><a href="#fn:1">1</a></sup>`, `<li id="user-content-fn:1">`, "Text <em>two</em>", "more", "[^c]", `<a href="#fn:2">2</a>`}, []string{"[^b]"}},
		"settings": {"---\ntitle: \"A\"\nx: [^a]\n---\n\n# B\n", []string{`data-line="1">`, "title", "</pre>", `data-line="6"><h`}, []string{"<hr", "title: &#34;A&#34;</h"}},
		"no front": {"---\nno settings\n---\n", []string{"<hr", "no settings"}, []string{"<pre"}},
		"toml":     {"+++\ndate = 2026\n+++\nx\n", []string{"<pre", "date"}, []string{"+++"}},
		"alerts":   {"> [!WARNING]\n> Hot *stuff*\n\n> [!OTHER]\n> x\n", []string{`<div class="alert warning"><p class="alert-head">Warning</p><blockquote>`, "<em>stuff</em>", "[!OTHER]"}, []string{"[!WARNING]"}},
		"tasks":    {"- [x] done\n- [ ] open\n", []string{"☑", "☐"}, nil},
		"math":     {"$$\n= *x*\n$$\n", []string{`<div class="math"`, "<mo>=</mo>"}, []string{"<em>", "<pre"}},
	} {
		got := documentHTML(c.in)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", name, want, got)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %q in\n%s", name, not, got)
			}
		}
	}
	if got := string(HTML("# A\n\n> [!NOTE]\n> x\n\n[x](y.md) [^1]\n\n[^1]: z\n")); strings.Contains(got, "id=") || strings.Contains(got, "alert") || strings.Contains(got, "data-to") {
		t.Errorf("an answer is shown as a document: %s", got)
	}
}

// A hostile document costs what its length costs, and its ids, classes and addresses are of documents only.
func TestDocumentIsBounded(t *testing.T) {
	for name, piece := range map[string]string{
		"details": "<details>\n", "notes": "[^a]: x\n", "refs": "[^a]", "headings": "# a\n", "alerts": "> [!NOTE]\n", "math": "$$\n", "ends": "</details>\n", "nested": "<details>\n> - [^1]: <summary>\n",
	} {
		d := NewDocument(strings.Repeat(piece, 200_000/len(piece)))
		total := 0
		for from := 1; from <= d.Len(); {
			h, to := d.HTML(from, d.Len())
			if total += len(h); to < from {
				t.Fatalf("%s: row %d makes nothing", name, from)
			}
			from = to + 1
		}
		if total > 40<<20 {
			t.Errorf("%s: 200 kB became %d bytes", name, total)
		}
	}
	got := documentHTML("[a](\u202e#x) [b](x\" onclick=\"y) ![c](<a\u2028b>) # \u202e\n\n# \u202eabc\n\n<details><summary>\u202e<script>x</script></summary>\n</details>\n")
	for _, not := range []string{"\u202e#", `onclick="`, "<script", "\u2028"} {
		if strings.Contains(got, not) {
			t.Errorf("%q in %s", not, got)
		}
	}
}
