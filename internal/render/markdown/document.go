package markdown

import (
	"cmp"
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"webchat/internal/render"
	"webchat/internal/render/code"

	"github.com/yuin/goldmark/ast"
	mdtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Bounds of a document; what is beyond them is shown as it was written.
const (
	maxNotes    = 1000 // footnotes
	maxPictures = 1000 // of other sites
	maxAnchors  = 5000 // headings that links lead to
	maxFolds    = 8    // how deep details nest
	maxFront    = 200  // lines of settings that a text begins with
)

// anchorPrefix begins every id in a document, so that none is one of the page's.
const anchorPrefix = "user-content-"

// A Document is a whole Markdown text as a file: beside what [HTML] shows it has footnotes, alerts,
// details that fold, headings with ids, and links and pictures that name files beside it. It is
// shown in rows: blocks of the text, and each details with all that is in it.
type Document struct {
	rows   []row
	anchor int
	notes  map[string]*footnote // by label
	order  []*footnote
	math   mathematics

	pictures map[string]string // of other sites, by name: those that were drawn
}

// row is a block of a text at a line, or details.
type row struct {
	line  int
	block *Block
	note  *footnote // the footnotes begin here

	details bool
	open    bool
	summary string
	summing bool // its summary goes on
	rows    []row
}

// NewDocument reads a text.
func NewDocument(text string) *Document {
	d := &Document{notes: map[string]*footnote{}}
	lines := strings.SplitAfter(text, "\n")
	asCode(lines)
	lines = d.takeNotes(lines)
	used := map[string]int{}
	d.rows = d.parse(lines, 1)
	d.anchors(d.rows, used)
	if len(d.order) > 0 {
		d.rows = append(d.rows, row{line: len(lines), note: d.order[0]})
	}
	return d
}

var frontMatter = map[string]string{"---": "yaml", "+++": "toml"}

// asCode makes a block of code of the settings of a site generator that a text begins with.
func asCode(lines []string) {
	mark := strings.TrimRight(lines[0], " \t\r\n")
	if frontMatter[mark] == "" || len(lines) < 3 || !strings.ContainsAny(lines[1], ":=") {
		return
	}
	for i, line := range lines[1:min(len(lines), maxFront)] {
		if strings.TrimRight(line, " \t\r\n") == mark {
			lines[0], lines[i+1] = "~~~~~~"+frontMatter[mark]+"\n", "~~~~~~\n"
			return
		}
	}
}

// Code shows a piece of code in a language, as answers do.
func Code(language, text string) template.HTML { return clean(pre(code.Block(language, text))) }

// Len is the number of rows.
func (d *Document) Len() int { return len(d.rows) }

// inDocument is made when the first one is drawn, which no start waits for.
var inDocument = sync.OnceValue(func() (in struct {
	fold, summary, unfold, note, noteRef, alert,
	tag *regexp.Regexp
}) {
	in.fold = regexp.MustCompile(
		`(?i)^ {0,3}<details(\s+open(?:="[^"]*")?)?\s*>\s*(?:<summary>(.*?)</summary>)?\s*$`)
	in.summary = regexp.MustCompile(`(?i)^ {0,3}<summary>(.*?)</summary>\s*$`)
	in.unfold = regexp.MustCompile(`(?i)^ {0,3}</details>\s*$`)
	in.note = regexp.MustCompile(`^ {0,3}\[\^([^\[\]\s]{1,100})\]:[ \t]*(.*)$`)
	in.noteRef = regexp.MustCompile(`\[\^([^\[\]\s]{1,100})\]`)
	in.alert = regexp.MustCompile(`^ {0,3}> ?\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*(?:\n|$)`)
	in.tag = regexp.MustCompile(`</?[A-Za-z][A-Za-z0-9]*(?:\s[^<>]*)?>`)
	return in
})

// parse makes rows of lines, of which the first has a number.
func (d *Document) parse(lines []string, first int) []row {
	p := rowParser{open: []*row{{}}}
	fence := ""
	for i, line := range lines {
		bare := strings.TrimRight(line, "\r\n")
		if fence = inFence(fence, bare); fence == "" && p.takeFold(bare, first+i) {
			continue
		}
		if p.stream == nil {
			p.stream, p.starts = &Stream{doc: d}, nil
		}
		p.stream.Write(line)
		for len(p.starts) < p.stream.Len() {
			p.starts = append(p.starts, first+i)
		}
	}
	p.end()
	for len(p.open) > 1 {
		p.leave()
	}
	return p.open[0].rows
}

// rowParser makes rows of a text.
type rowParser struct {
	open   []*row  // the text, and the details that are open in it
	stream *Stream // the blocks since the last details began or ended; nil: none
	starts []int   // the lines at which they begin
}

// end makes rows of the blocks of the stream.
func (p *rowParser) end() {
	if p.stream == nil {
		return
	}
	p.stream.End()
	for len(p.starts) < p.stream.Len() {
		p.starts = append(p.starts, p.starts[max(0, len(p.starts)-1)])
	}
	in := p.open[len(p.open)-1]
	for i, b := range p.stream.Blocks() {
		in.rows = append(in.rows, row{line: p.starts[i], block: b})
	}
	p.stream = nil
}

// leave ends the innermost details.
func (p *rowParser) leave() {
	in := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	above := p.open[len(p.open)-1]
	above.rows = append(above.rows, *in)
}

// takeFold reads a line that begins or ends details or is about their summary, and reports whether
// it is one.
func (p *rowParser) takeFold(bare string, number int) bool {
	var m []string
	tagged := strings.IndexByte(bare, '<') >= 0 // expressions cost more
	if tagged {
		m = inDocument().fold.FindStringSubmatch(bare)
	}
	switch {
	case m != nil && len(p.open) <= maxFolds:
		p.end()
		p.open = append(p.open, &row{line: number, details: true, open: m[1] != "", summary: m[2]})
		return true
	case tagged && len(p.open) > 1 && inDocument().unfold.MatchString(bare):
		p.end()
		p.leave()
		return true
	}
	in := p.open[len(p.open)-1]
	return in.details && len(in.rows) == 0 && in.takeSummary(bare)
}

// takeSummary reads a line before the content of details, and reports whether it was about their
// summary.
func (r *row) takeSummary(line string) bool {
	text := strings.TrimSpace(line)
	switch m := inDocument().summary.FindStringSubmatch(line); {
	case r.summing && strings.EqualFold(text, "</summary>"):
		r.summing = false
	case r.summing:
		r.summary += " " + text
	case r.summary != "":
		return false
	case m != nil:
		r.summary = m[1]
	case strings.EqualFold(text, "<summary>"):
		r.summing = true
	default:
		return false
	}
	return true
}

// anchors gives each heading that is a block an id of its own.
func (d *Document) anchors(rows []row, used map[string]int) {
	for _, r := range rows {
		if r.details {
			d.anchors(r.rows, used)
		}
		if r.block == nil || r.block.kind != paragraph || d.anchor == maxAnchors {
			continue
		}
		text := headingText(r.block.text())
		if text == "" {
			continue
		}
		name := slug(text)
		n := used[name]
		used[name]++
		if n > 0 {
			name += "-" + strconv.Itoa(n)
			used[name]++
		}
		r.block.anchor = anchorPrefix + name
		d.anchor++
	}
}

// headingText is the text of a block that is a heading; empty if it is none.
func headingText(src string) string {
	last := strings.TrimSpace(src[strings.LastIndexByte(src, '\n')+1:])
	if !strings.HasPrefix(strings.TrimLeft(src, " "), "#") &&
		(last == "" || strings.Trim(last, "=") != "" && strings.Trim(last, "-") != "") {
		return ""
	}
	source := []byte(strings.ToValidUTF8(src, "\uFFFD"))
	doc := commonMark().parser.Parse(mdtext.NewReader(source))
	if h := doc.FirstChild(); h != nil && h.Kind() == ast.KindHeading {
		return cmp.Or(plainText(h, source), "section")
	}
	return ""
}

// slug is a heading as it stands in addresses: letters, digits, hyphens and underscores.
func slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(text)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) ||
			unicode.Is(unicode.Mn, r):
			b.WriteRune(r)
		}
		if b.Len() > 200 {
			break
		}
	}
	return b.String()
}

// HTML shows the rows from to to (from 1, both included) and returns the number of the last one it
// made: fewer than asked for if they are large.
//
//	<div class="block" data-line="12">…</div>
//	<div class="block" data-line="16"><button data-diagram="">…</button><pre>…</pre></div>, a Mermaid diagram
//	<details class="fold" data-line="20"><summary>…</summary>…</details>
func (d *Document) HTML(from, to int) (template.HTML, int) {
	var b strings.Builder
	n := from - 1
	for n < min(to, len(d.rows)) && b.Len() < blockSpace {
		n++
		d.show(&b, d.rows[n-1:n])
	}
	return template.HTML(b.String()), n
}

func (d *Document) show(b *strings.Builder, rows []row) {
	for _, r := range rows {
		at := ` data-line="` + strconv.Itoa(r.line) + `">`
		switch {
		case r.note != nil:
			b.WriteString(`<div class="notes"` + at + "<ol>")
			for _, n := range d.order {
				number := strconv.Itoa(n.number)
				b.WriteString(`<li id="` + anchorPrefix + "fn:" + number + `">`)
				d.show(b, n.rows)
				b.WriteString(`<a href="#fnref:` + number + `" aria-label="Back to the text">↩</a></li>`)
			}
			b.WriteString("</ol></div>\n")
		case r.details:
			b.WriteString(`<details class="fold"`)
			if r.open {
				b.WriteString(` open=""`)
			}
			b.WriteString(at + "<summary>" + string(d.line(cmp.Or(r.summary, "Details"))) + "</summary>")
			d.show(b, r.rows)
			b.WriteString("</details>\n")
		default:
			if r.block.kind >= fenced && strings.EqualFold(r.block.info, "mermaid") {
				at += `<button type="button" class="btn" data-diagram="">Draw the diagram</button>`
			}
			b.WriteString(`<div class="block"` + at + string(r.block.Whole()) + "</div>\n")
		}
	}
}

// line is a text that stands in one line, without its links.
func (d *Document) line(text string) template.HTML {
	source := []byte(strings.ToValidUTF8(inDocument().tag.ReplaceAllString(text, ""), "\uFFFD"))
	return clean(render.EscapeText(plainText(commonMark().parser.Parse(mdtext.NewReader(source)),
		source)))
}

// alertOf takes the mark of an alert from a quote.
func alertOf(src string) (name, rest string) {
	m := inDocument().alert.FindStringSubmatchIndex(src)
	if m == nil {
		return "", src
	}
	return strings.ToLower(src[m[2]:m[3]]), src[m[1]:]
}

// alerts are their names as people read them.
var alerts = map[string]string{"note": "Note", "tip": "Tip", "important": "Important",
	"warning": "Warning", "caution": "Caution"}

// beside returns an address in plain ASCII if it leads to a place in the text or to a file beside
// it: it has no scheme and no host.
func beside(address string) (string, bool) {
	address = string(util.URLEscape([]byte(address), true))
	if address == "" || strings.HasPrefix(address, "//") || strings.Contains(address, `\`) {
		return "", false
	}
	for i := range len(address) {
		if c := address[i]; c <= ' ' || c >= 0x7f {
			return "", false
		}
	}
	i := strings.IndexAny(address, ":/?#")
	return address, i < 0 || address[i] != ':'
}
