package markdown

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"webchat/internal/render/code"
	"webchat/internal/render/rendertest"

	"pgregory.net/rapid"
)

const away = ` rel="noopener noreferrer" target="_blank"`

func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "",
		"one\ntwo\n\nthree":               "<p>one\ntwo</p>\n<p>three</p>\n",
		"# One\n#### Four\n###x":          "<h4>One</h4>\n<h6>Four</h6>\n<p>###x</p>\n",
		"Title\n===\nand\n---\nx\n***\ny": "<h4>Title</h4>\n<h5>and</h5>\n<p>x</p>\n<hr>\n<p>y</p>\n",
		"**b** *i* ~~s~~ `c <b>`":         "<p><strong>b</strong> <em>i</em> <del>s</del> <code>c &lt;b&gt;</code></p>\n",
		"a  \nb\\\nc":                     "<p>a<br>\nb<br>\nc</p>\n",
		"text\n- a\n- b\n\ntext":          "<p>text</p>\n<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<p>text</p>\n",
		"3. c\n4. d":                      "<ol start=\"3\">\n<li>c</li>\n<li>d</li>\n</ol>\n",
		"- a\n\n- b":                      "<ul>\n<li><p>a</p>\n</li>\n<li><p>b</p>\n</li>\n</ul>\n",
		"- a\n  - b\n\n    more\n- c":     "<ul>\n<li>a\n<ul>\n<li><p>b</p>\n<p>more</p>\n</li>\n</ul>\n</li>\n<li>c</li>\n</ul>\n",
		"- [x] done\n- [ ] open":          "<ul>\n<li class=\"task\"><span class=\"box\">☑</span> done</li>\n<li class=\"task\"><span class=\"box\">☐</span> open</li>\n</ul>\n",
		"> a\nb\n> > c\n\nd":              "<blockquote>\n<p>a\nb</p>\n<blockquote>\n<p>c</p>\n</blockquote>\n</blockquote>\n<p>d</p>\n",
		"see\n| a | b |\n|:-:|--:|\n| 1 | `2` |\n| 3 |\n\nend": "<p>see</p>\n" + `<div class="table" tabindex="0"><table><thead><tr><th class="center">a</th><th class="right">b</th></tr></thead><tbody>` +
			`<tr><td class="center">1</td><td class="right"><code>2</code></td></tr>` + "\n" + `<tr><td class="center">3</td><td></td></tr>` + "\n</tbody></table></div>\n<p>end</p>\n",
		"```go\nfunc f() {}\n\n```\nend":         `<pre class="chroma" tabindex="0"><code><span class="kd">func</span> <span class="nf">f</span><span class="p">()</span> <span class="p">{}</span>` + "\n\n</code></pre>\n<p>end</p>\n",
		"~~~ none such\n<b>\n":                   `<pre class="chroma" tabindex="0"><code>&lt;b&gt;` + "\n</code></pre>\n",
		"   ```\n   a\n  b\n":                    `<pre class="chroma" tabindex="0"><code>a` + "\nb\n</code></pre>\n",
		"    a\n\n      b\n\nc":                  `<pre class="chroma" tabindex="0"><code>a` + "\n\n  b\n</code></pre>\n<p>c</p>\n",
		"1. do\n   ```sh\n   ls\n   ```\n2. so":  "<ol>\n<li>do\n" + `<pre class="chroma" tabindex="0"><code>ls` + "\n</code></pre>\n</li>\n<li>so</li>\n</ol>\n",
		"a\r\nb\r\n\r\nc\rd":                     "<p>a\nb</p>\n<p>c\nd</p>\n",
		"<b>x</b> <!-- y -->\n<div onclick=z>\n": "<p>&lt;b&gt;x&lt;/b&gt; &lt;!-- y --&gt;\n&lt;div onclick=z&gt;</p>\n",
		"\x00\x1b[1m\u202ea &#8238; \xff":        "<p>\uFFFD␛[1m" + `<bdi class="err" title="U+202E">` + "\u202e</bdi>a " + `<bdi class="err" title="U+202E">` + "\u202e</bdi> \uFFFD</p>\n",
		"`\u202e\x07`":                           "<p><code>" + `<bdi class="err" title="U+202E">` + "\u202e</bdi>␇</code></p>\n",
	} {
		if got := string(HTML(in)); got != want {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
}

// Links show where they go, lead nowhere but to pages and mail, and pictures are their words.
func TestMarkdownLinks(t *testing.T) {
	for in, want := range map[string]string{
		"[docs](https://go.dev/doc)":               `<a href="https://go.dev/doc"` + away + `>docs</a>`,
		"<https://go.dev>":                         `<a href="https://go.dev"` + away + `>https://go.dev</a>`,
		"see https://go.dev/x.":                    `see <a href="https://go.dev/x"` + away + `>https://go.dev/x</a>.`,
		"[go.dev](https://go.dev/)":                `<a href="https://go.dev/"` + away + `>go.dev</a>`,
		"[https://good.test](https://e.test)":      `<a href="https://e.test"` + away + `>https://good.test</a>`,
		"[https://a.test](http://a.test)":          `<a href="http://a.test"` + away + `>https://a.test</a>`,
		"me@x.test":                                `<a href="mailto:me@x.test"` + away + `>me@x.test</a>`,
		"[m](mailto:a@b.test)":                     `<a href="mailto:a@b.test"` + away + `>m</a>`,
		"[x](javascript:alert(1))":                 `x`,
		"[x](JaVaScRiPt:alert)":                    `x`,
		"[x](<java\tscript:a>)":                    `x`,
		"[x](data:text/html,a)":                    `x`,
		"[x](//e.test/y)":                          `x`,
		"[main.go](cmd/main.go)":                   `main.go`,
		"[x](https://a.test/?q=ü\"<)":              `<a href="https://a.test/?q=%C3%BC%22%3C"` + away + `>x</a>`,
		"ftp://a.test www.a.test":                  `ftp://a.test <a href="http://www.a.test"` + away + `>www.a.test</a>`,
		"![logo](https://sink.test/a.png)":         `<span class="pic-ref">logo</span>`,
		"[![i](https://s.test/a)](https://b.test)": `<a href="https://b.test"` + away + `><span class="pic-ref">i</span></a>`,
		"[a][r] [r]\n[r]: https://sink.test":       "[a][r] [r]\n[r]: " + `<a href="https://sink.test"` + away + `>https://sink.test</a>`,
		"<img src=https://sink.test/a>":            "&lt;img src=https://sink.test/a&gt;",
	} {
		if got := string(HTML(in)); got != "<p>"+want+"</p>\n" {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
}

// shownBlock is a block as a page that only ever applied patches has it.
type shownBlock struct {
	whole string
	parts []string
}

// page applies patches.
type shownPage []shownBlock

func (p *shownPage) apply(t testing.TB, s *Stream) {
	t.Helper()
	for _, patch := range s.Patches() {
		b := s.Block(patch.Block)
		switch {
		case patch.Block > len(*p):
			t.Fatalf("block %d of %d", patch.Block, len(*p))
		case patch.Block == len(*p):
			*p = append(*p, shownBlock{})
		}
		mine := &(*p)[patch.Block]
		switch {
		case patch.Part < 0:
			*mine = shownBlock{whole: describe(b)}
			for i := range b.Parts() {
				mine.parts = append(mine.parts, string(b.Part(i).HTML()))
			}
		case patch.Part < len(mine.parts):
			mine.parts[patch.Part] = string(b.Part(patch.Part).HTML())
		case patch.Part == len(mine.parts):
			mine.parts = append(mine.parts, string(b.Part(patch.Part).HTML()))
		default:
			t.Fatalf("part %d of %d", patch.Part, len(mine.parts))
		}
	}
	if s.Len() != len(*p) {
		t.Fatalf("%d blocks, shown are %d", s.Len(), len(*p))
	}
}

func describe(b *Block) string {
	if b.inParts() {
		return fmt.Sprint("parts ", b.Table(), string(b.Head()))
	}
	return string(b.HTML())
}

// apart shows two texts where they differ.
func apart(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from := max(0, i-80)
	return fmt.Sprintf("%.300q\n%.300q", a[from:], b[from:])
}

func (p shownPage) String() string {
	var b strings.Builder
	for _, s := range p {
		fmt.Fprintf(&b, "%q %q\n", s.whole, s.parts)
	}
	return b.String()
}

var markdownPieces = []string{"word ", "word ", "more words ", "\n", "\n", "\n", "\n\n", "\n\n", "\r\n", "\r", "# ", "## x", "- ", "* ", "1. ", "2. ", "12) ", "  ", "    ", "\t", "> ", ">", "```", "```none\n", "~~~", "`", "``", "***", "---", "- - -", "===", "=", "-",
	"|", "| a | b |\n|---|:-:|\n", "| 1 | 2 |\n", "[x](https://a.test)", "![", "](", "[r]: https://b.test\n", "<b>", "**", "_", "~~", "\\", "&amp;", "界", "\u202e", "\x00", "https://c.test/d", "- [x] ", "$", "$$", "$$\n", "$x^2$", "\\frac", "```math\n", "func main() { // x\n", "/* ", " */", "\"s\""}

func markdownText(t *rapid.T) string {
	text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(markdownPieces), 0, 60).Draw(t, "pieces"), "")
	if rapid.IntRange(0, 19).Draw(t, "grow") == 0 && text != "" { // over the sizes at which blocks are parted
		text = strings.Repeat(text, 1+20_000/len(text))
	}
	return text
}

// Expressions give up after a time, so colours are no part of what is compared here: the languages do not exist.
// However a text is cut, at each cut the page has what a page made of the text so far has, and at the end what Markdown gives.
func TestMarkdownStreamAnyCut(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) { checkAnyCut(t, r) })
}

func TestSoakMarkdownStreamAnyCut(t *testing.T) {
	rendertest.SoakSeed(t)
	for range 200 {
		rapid.Check(t, func(r *rapid.T) { checkAnyCut(t, r) })
	}
}

func checkAnyCut(tb *testing.T, t *rapid.T) {
	text := markdownText(t)
	var s Stream
	var live shownPage
	most := rapid.SampledFrom([]int{3, 40, 4000}).Draw(t, "most")
	looks := 0
	for at := 0; at < len(text); {
		n := min(len(text)-at, rapid.IntRange(1, max(most, len(text)/40)).Draw(t, "cut"))
		s.Write(text[at : at+n])
		at += n
		live.apply(tb, &s)
		if looks++; looks%8 != 1 {
			continue
		}
		var again Stream
		again.Write(text[:at])
		var fresh shownPage
		fresh.apply(tb, &again)
		if live.String() != fresh.String() {
			t.Fatalf("after %.200q … (%d bytes), live and fresh:\n%s", text, at, apart(live.String(), fresh.String()))
		}
	}
	s.End()
	live.apply(tb, &s)
	var b strings.Builder
	for _, block := range s.Blocks() {
		b.WriteString(string(block.Whole()))
	}
	whole := string(HTML(text))
	if b.String() != whole {
		t.Fatalf("%.200q … (%d bytes), stream and whole:\n%s", text, len(text), apart(b.String(), whole))
	}
	var again Stream
	again.Write(text)
	again.End()
	var fresh shownPage
	fresh.apply(tb, &again)
	if live.String() != fresh.String() {
		t.Fatalf("at the end of %.200q … (%d bytes), live and fresh:\n%s", text, len(text), apart(live.String(), fresh.String()))
	}
	rendertest.Safe(tb, whole)
}

// Code keeps its text while it arrives and afterwards, whatever colours it has by then.
func TestMarkdownStreamCode(t *testing.T) {
	src, err := os.ReadFile("../code/testdata/sample.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(src), strings.Repeat(string(src), 1+3*code.MaxBlock/len(src))} {
		var s Stream
		s.Write("```go\n")
		for at := 0; at < len(text); at += 997 {
			s.Write(text[at:min(len(text), at+997)])
			if at%5 == 0 {
				whole := string(s.Block(0).Whole())
				rendertest.Safe(t, whole)
				if got := rendertest.Text(t, whole); got != strings.TrimRight(text[:min(len(text), at+997)], " ")+"\n" && got != text[:min(len(text), at+997)]+"\n" {
					t.Fatalf("after %d bytes:\n%s", at+997, apart(got, text))
				}
			}
		}
		s.Write("```\n")
		whole := string(s.Block(0).Whole())
		if got := rendertest.Text(t, whole); got != text+"\n" || !strings.Contains(whole, `<span class="kd">func</span>`) {
			t.Fatalf("at the end:\n%s", apart(got, text))
		}
		if one := len(text) <= code.MaxBlock; one == s.Block(0).inParts() {
			t.Errorf("%d bytes of code, in parts: %v", len(text), !one)
		}
	}
}

// A browser lays out whole tables, so a long one goes on in another below its head, with all rows in
// their order; one that people write stays one.
func TestLongTablesAreParted(t *testing.T) {
	const head = "| n | file |\n|--:|---|\n"
	for rows, tables := range map[int]int{300: 1, 11_000: 29} {
		var text, want strings.Builder
		text.WriteString(head)
		for i := range rows {
			fmt.Fprintf(&text, "| %d | pump.go:3 |\n", i)
			fmt.Fprintf(&want, "%dpump.go:3\n", i)
		}
		var s Stream
		var live shownPage
		for at := 0; at < text.Len(); at += 4999 {
			s.Write(text.String()[at:min(text.Len(), at+4999)])
			live.apply(t, &s)
		}
		s.End()
		live.apply(t, &s)
		var again Stream
		var fresh shownPage
		again.Write(text.String())
		again.End()
		fresh.apply(t, &again)
		if live.String() != fresh.String() {
			t.Errorf("%d rows, live and fresh:\n%s", rows, apart(live.String(), fresh.String()))
		}
		var got strings.Builder
		for i := range live {
			if !strings.Contains(live[i].whole, `<th class="right">n</th>`) {
				t.Errorf("table %d of %d rows has no head: %s", i, rows, live[i].whole)
			}
			got.WriteString(strings.Join(live[i].parts, ""))
		}
		if got := rendertest.Text(t, "<table>"+got.String()+"</table>"); got != want.String() {
			t.Errorf("%d rows:\n%s", rows, apart(got, want.String()))
		}
		if len(live) != tables {
			t.Errorf("%d rows are %d tables, want %d", rows, len(live), tables)
		}
	}
}

// Attacks end as text: no element outside of the list, no address that is not followed by a click, nothing loaded.
func TestMarkdownAttacks(t *testing.T) {
	for _, attack := range []string{
		"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "<iframe src=//sink.test>", "<math><mi xlink:href=javascript:a>", "<style>@import '//sink.test'</style>",
		"<a href=javascript:alert(1)>x</a>", "<base href=//sink.test>", "<meta http-equiv=refresh content=0;//sink.test>", "<link rel=stylesheet href=//sink.test>", "<video poster=//sink.test><source srcset=//sink.test>",
		"[a](javascript:alert(1))", "[a](&#106;avascript:alert(1))", "[a](java\nscript:alert(1))", "[a](\u0001javascript:alert(1))", "[a](vbscript:x)", "[a](data:text/html;base64,PHN2Zz4=)", "[a](file:///etc/passwd)", "[a](blob:x)",
		"[a](https://x.test\"onmouseover=alert(1))", "[a](<https://x.test\" onmouseover=\"alert(1)>)", "[a](https://x.test 't\" onclick=\"alert(1)')", "<https://x.test/\"onclick=a>", "<javascript:alert(1)>", "<data:text/html,x>",
		"![a](https://sink.test/a.png)", "![a][r]\n\n[r]: https://sink.test/a.png", "![a\" onerror=\"alert(1)](x)", "[![a](//sink.test/a)](//sink.test/b)", "![](javascript:a)", "[r]: javascript:alert(1)\n\n[r]",
		"```html\n<script>alert(1)</script>\n```", "```\"><img src=x>\nx\n```", "```<img/src=x>\n```", "    <script>alert(1)</script>", "| <img src=x> | b |\n|---|---|\n| <script> | `<b>` |", "- <b onclick=a>\n> <i>", "`<img src=x>`",
		"# <img src=x> {#id .class onclick=a}", "&lt;script&gt;alert(1)&lt;/script&gt;", "<!--><img src=x>-->", "<![CDATA[<img src=x>]]>", "<?php x ?>", "</p></div><img src=x>", "\\<img src=x>", "**<img src=x onerror=a>**", "~~<svg>~~",
	} {
		for _, text := range []string{attack, "- " + attack, "> " + attack, "a " + attack + " b", strings.ToUpper(attack)} {
			h := string(HTML(text))
			rendertest.Safe(t, h)
			if lower := strings.ToLower(h); strings.Contains(lower, "<img") || strings.Contains(lower, `="javascript`) {
				t.Errorf("%q: %s", text, h)
			}
		}
	}
}

// Nothing of what a model can write gets out of the list, or takes more than its length.
func TestMarkdownHostile(t *testing.T) {
	for name, text := range hostileMarkdown(20_000) {
		t.Run(name, func(t *testing.T) {
			h := string(HTML(text))
			rendertest.Safe(t, h)
			if at := rendertest.Unwanted.FindStringIndex(h); at != nil {
				t.Errorf("a control character in %.200q", h[at[0]:])
			}
		})
	}
}

// What an open block may cost is bounded: an endless one is parted, or grows at its end only.
func TestMarkdownStreamBounded(t *testing.T) {
	for name, text := range hostileMarkdown(100_000) {
		var s Stream
		s.Write(text[:50_000])
		s.Patches()
		for at := 50_000; at < 51_000; at += 20 {
			s.Write(text[at : at+20])
			size := 0
			for _, p := range s.Patches() {
				if b := s.Block(p.Block); p.Part < 0 {
					size += len(b.src) + len(b.extra)
				} else {
					size += len(b.Part(p.Part).key())
				}
			}
			if size > 2*blockLimit {
				t.Fatalf("%s: a delta of 20 bytes shows %d again", name, size)
			}
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, text := range hostileMarkdown(300) {
		f.Add(text, 7)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if len(text) > 1<<14 {
			return
		}
		cut = min(max(cut, 0), len(text))
		var s Stream
		s.Write(text[:cut])
		s.Patches()
		s.Write(text[cut:])
		s.End()
		h := ""
		for _, b := range s.Blocks() {
			h += string(b.Whole())
		}
		rendertest.Safe(t, h)
		if rendertest.Text(t, h) != rendertest.Text(t, string(HTML(text))) {
			t.Fatalf("cut at %d of %q", cut, text)
		}
	})
}
