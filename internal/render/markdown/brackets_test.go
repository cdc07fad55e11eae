package markdown

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	mdtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Brackets that are no links cost little more than letters, however many are open: what is kept of them is bounded.
func TestBracketsAreBounded(t *testing.T) {
	for _, piece := range []string{"[", "![", "[a ", "[[a]("} {
		text := strings.Repeat(piece, 1+blockSize/len(piece))
		if n := testing.AllocsPerRun(3, func() { HTML(text) }); n > 1000 {
			t.Errorf("%d bytes of %q take %.0f allocations", len(text), piece, n)
		}
	}
	for text, want := range map[string]string{
		strings.Repeat("[", 100) + "x" + strings.Repeat("]", 100) + "(https://a.test)":           "<p><a ",
		"[x](https://a.test/" + strings.Repeat("(", 20) + strings.Repeat(")", 20) + ")":          "<p><a ",
		"[x](https-a.test/" + strings.Repeat("(", 100) + strings.Repeat(")", 100) + ")":          "<p>[x](https-a.test/(((",
		strings.Repeat("[a](b ", 100) + "[x](https://a.test)":                                    "[a](b <a ",
		strings.Repeat("[", 10) + "[x](https://a.test)" + strings.Repeat("]", 10) + " [y](z.md)": "</a>",
	} {
		if h := string(HTML(text)); !strings.Contains(h, want) {
			t.Errorf("%q is %q, want %q in it", text, h, want)
		}
	}
}

// Within those bounds a text has the links that goldmark finds in it. It also takes a < within the angle brackets of an
// address, which CommonMark does not.
func TestBracketsAreGoldmarks(t *testing.T) {
	shows := func(links parser.InlineParser) func(string) string {
		p := parser.NewParser(parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1)),
			parser.WithInlineParsers(util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(links, 200), util.Prioritized(parser.NewEmphasisParser(), 500)))
		r := renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(html.NewRenderer(), 1)))
		return func(text string) string {
			var out bytes.Buffer
			if err := r.Render(&out, []byte(text), p.Parse(mdtext.NewReader([]byte(text)))); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
	}
	ours, theirs := shows(newBrackets()), shows(parser.NewLinkParser())
	pieces := []string{"[", "[", "]", "]", "](", "](", "![", "!", "(", ")", ")", "a", "b c", " ", "\n", "\n  ", "\t", "\\", ">", "`", "*", "**", "_", "\"t\"", "'", "\"", "[x](y)", "](<z>", "[r][s]", "界"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")
		if got, want := ours(text), theirs(text); got != want {
			t.Fatalf("%q is\n%s\nand not\n%s", text, got, want)
		}
	})
}
