// Package markdown shows Markdown, whole or while it arrives. Its guarantees are those of package
// render.
//
// A [Stream] belongs to one goroutine at a time.
//
//	html := markdown.HTML(answer)
//
//	var s markdown.Stream
//	s.Write(delta)
//	for _, patch := range s.Patches() { ... }     // finished blocks once, the open one again
//	s.End()                                       // the text is whole
package markdown

import (
	"bytes"
	"html/template"
	"regexp"
	"strings"
	"sync"

	"webchat/internal/render"
	"webchat/internal/render/code"
	"webchat/internal/render/formula"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	mdtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// deepest is how far elements of one block may nest; a block that goes deeper is shown as it was
// written.
const deepest = 32

type markdown struct {
	parser   parser.Parser
	renderer renderer.Renderer
	policy   *bluemonday.Policy
	document *bluemonday.Policy // the same of documents
}

var commonMark = sync.OnceValue(func() *markdown {
	return &markdown{
		// What is left out: raw HTML, which is text here, and references.
		parser: parser.NewParser(
			parser.WithBlockParsers(
				util.Prioritized(parser.NewSetextHeadingParser(), 100),
				util.Prioritized(parser.NewThematicBreakParser(), 200),
				util.Prioritized(parser.NewListParser(), 300),
				util.Prioritized(parser.NewListItemParser(), 400),
				util.Prioritized(parser.NewCodeBlockParser(), 500),
				util.Prioritized(parser.NewATXHeadingParser(), 600),
				util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
				util.Prioritized(parser.NewBlockquoteParser(), 800),
				util.Prioritized(parser.NewParagraphParser(), 1000)),
			parser.WithInlineParsers(
				util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
				util.Prioritized(parser.NewCodeSpanParser(), 100),
				util.Prioritized(formulas{}, 110),
				util.Prioritized(noteRefs{}, 150),
				util.Prioritized(newBrackets(), 200),
				util.Prioritized(parser.NewAutoLinkParser(), 300),
				util.Prioritized(parser.NewEmphasisParser(), 500),
				util.Prioritized(extension.NewStrikethroughParser(), 500),
				util.Prioritized(
					extension.NewLinkifyParser(extension.WithLinkifyAllowedProtocols([]string{"http:", "https:"})),
					999)),
			parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(),
				200)),
			parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0))),
		renderer: renderer.NewRenderer(renderer.WithNodeRenderers(
			util.Prioritized(html.NewRenderer(), 1000),
			util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
			util.Prioritized(proseRenderer{}, 100))),
		policy:   prosePolicy(),
		document: documentPolicy(),
	}
})

// prosePolicy is all that may come out of Markdown, whatever the parts before it made.
func prosePolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "em", "strong",
		"del", "pre", "code",
		"table", "thead", "tbody", "tr", "th", "td", "div", "span", "bdi", "a")
	p.AllowNoAttrs().OnElements("span", "a", "pre", "div", "bdi")
	p.AllowAttrs("start").Matching(regexp.MustCompile(`^\d{1,9}$`)).OnElements("ol")
	p.AllowAttrs("class").Matching(
		regexp.MustCompile(
			`^(chroma|table|task|box|href|pic-ref|right|center|err|math|unread)$`)).OnElements("pre", "div", "li", "span", "th", "td", "bdi", "p")
	// of code
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^[a-z][a-z0-9]{0,2}$`)).OnElements("span")
	p.AllowAttrs("title").Matching(regexp.MustCompile(`^U\+[0-9A-F]{4,6}$`)).OnElements("bdi")
	p.AllowAttrs("tabindex").Matching(regexp.MustCompile(`^0$`)).OnElements("pre", "div")
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("rel").Matching(regexp.MustCompile(`^noopener noreferrer$`)).OnElements("a")
	p.AllowAttrs("target").Matching(regexp.MustCompile(`^_blank$`)).OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	allowFormulas(p)
	return p
}

// documentPolicy is what may come out of a document: addresses are also those of places in it, and
// files beside it are named.
func documentPolicy() *bluemonday.Policy {
	p := prosePolicy()
	p.AllowElements("sup")
	p.AllowRelativeURLs(true) // autolinks and links are checked before; what is left is a place
	p.AllowAttrs("id").Matching(regexp.MustCompile(`^`+anchorPrefix+
		`[\p{L}\p{Mn}\p{Nd}:_-]*$`)).OnElements("h4", "h5", "h6", "sup")
	p.AllowAttrs("class").Matching(
		regexp.MustCompile(
			`^(alert (note|tip|important|warning|caution)|alert-head|note-ref)$`)).OnElements("div", "p", "sup")
	p.AllowAttrs("data-to").OnElements("a", "span")
	p.AllowAttrs("data-far", "data-host").OnElements("span")
	return p
}

// prose shows a block other than top-level code and tables.
func (b *Block) prose() template.HTML {
	src := strings.ToValidUTF8(b.text(), "\uFFFD")
	m := commonMark()
	alert := ""
	if b.doc != nil && b.kind == quote {
		alert, src = alertOf(src)
	}
	source := []byte(src)
	pc := formulaContext(b.math)
	pc.Set(docKey, b.doc)
	doc := m.parser.Parse(mdtext.NewReader(source), parser.WithContext(pc))
	if !b.prepare(doc, source) {
		return clean("<p>" + render.EscapeText(src) + "</p>\n")
	}
	var out bytes.Buffer
	if err := m.renderer.Render(&out, source, doc); err != nil {
		return clean("<p>" + render.EscapeText(src) + "</p>\n")
	}
	if alert != "" {
		return b.clean(`<div class="alert ` + alert + `"><p class="alert-head">` + alerts[alert] +
			"</p>" + out.String() + "</div>\n")
	}
	return b.clean(out.String())
}

// prepare colours the code in a document, and reports whether its elements nest as deep as they
// may.
func (b *Block) prepare(doc ast.Node, source []byte) bool {
	depth := 0
	var codes []ast.Node
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			depth--
			return ast.WalkContinue, nil
		}
		if depth++; depth > deepest {
			return ast.WalkStop, errDeep
		}
		if n.Kind() == ast.KindFencedCodeBlock || n.Kind() == ast.KindCodeBlock {
			codes = append(codes, n)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return false
	}
	if b.doc != nil {
		b.mark(doc)
	}
	for _, n := range codes {
		shown := &codeNode{html: b.code(n, source)}
		n.Parent().ReplaceChild(n.Parent(), n, shown)
	}
	return true
}

// code colours a piece of code inside of the block, once; what still grows stays plain.
func (b *Block) code(n ast.Node, source []byte) string {
	var src strings.Builder
	lines := n.Lines()
	for i := range lines.Len() {
		segment := lines.At(i)
		src.Write(segment.Value(source))
	}
	info := ""
	if f, ok := n.(*ast.FencedCodeBlock); ok && f.Info != nil {
		info = string(f.Info.Segment.Value(source))
	}
	if !b.done && grows(n) {
		return pre(render.EscapeText(src.String()))
	}
	if isMath(info) && b.math != nil {
		return mathBlock(src.String(), b.math)
	}
	key := info + "\x00" + src.String()
	if done, ok := b.codes[key]; ok {
		return done
	}
	if b.codes == nil {
		b.codes = map[string]string{}
	}
	b.codes[key] = pre(code.Block(info, src.String()))
	return b.codes[key]
}

// grows reports whether nothing stands behind n in its document.
func grows(n ast.Node) bool {
	for ; n != nil; n = n.Parent() {
		if n.NextSibling() != nil {
			return false
		}
	}
	return true
}

// isTable reports whether two lines are the head of a table.
func isTable(head, delimiters string) bool {
	_, t := parseTable(head+"\n"+delimiters+"\n", nil)
	return t != nil
}

func parseTable(src string, math *formula.Spent) (source []byte, t ast.Node) {
	source = []byte(strings.ToValidUTF8(src, "\uFFFD"))
	doc := commonMark().parser.Parse(mdtext.NewReader(source),
		parser.WithContext(formulaContext(math)))
	if first := doc.FirstChild(); first != nil && first.Kind() == east.KindTable &&
		first.NextSibling() == nil {
		return source, first
	}
	return source, nil
}

// tableHead shows the head of a table.
func tableHead(head string, math *formula.Spent) template.HTML {
	source, t := parseTable(head, math)
	if t == nil {
		return ""
	}
	return "<thead>" + tableRow(source, t.FirstChild()) + "</thead>"
}

// tableRows shows rows of a table with that head.
func tableRows(head, rows string, math *formula.Spent) template.HTML {
	source, t := parseTable(head+rows, math)
	if t == nil { // a row that is something else to the parser
		return clean("<tr><td>" + render.EscapeText(rows) + "</td></tr>")
	}
	var out template.HTML
	for n := t.FirstChild().NextSibling(); n != nil; n = n.NextSibling() {
		out += tableRow(source, n) + "\n"
	}
	return out
}

func tableRow(source []byte, row ast.Node) template.HTML {
	var out bytes.Buffer
	for n := row.FirstChild(); n != nil; n = n.NextSibling() {
		if err := commonMark().renderer.Render(&out, source, n); err != nil {
			return ""
		}
	}
	return clean("<tr>" + out.String() + "</tr>")
}

// clean is the last step of all Markdown: characters that hide or reorder are made harmless, and
// what is not on the policy's list is dropped.
func clean(h string) template.HTML {
	return template.HTML(commonMark().policy.Sanitize(render.Isolate(h)))
}

// clean is the last step of a block.
func (b *Block) clean(h string) template.HTML {
	if b.doc == nil {
		return clean(h)
	}
	return template.HTML(commonMark().document.Sanitize(render.Isolate(h)))
}

// pre is a piece of code as answers show it; inner is HTML.
func pre(inner string) string {
	return `<pre class="chroma" tabindex="0"><code>` + inner + "</code></pre>\n"
}
