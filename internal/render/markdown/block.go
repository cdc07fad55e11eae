package markdown

import (
	"html/template"
	"strings"

	"webchat/internal/render"
	"webchat/internal/render/code"
	"webchat/internal/render/formula"
)

// Block is a block of a text: either whole (HTML), or code or a table in parts.
type Block struct {
	kind  blockKind
	src   []byte // what it holds; of code only as much as is coloured at its end
	extra string // and the unfinished line behind it
	done  bool
	math  *formula.Spent // of the text; nil: formulas in it are source

	head  string // of a table: its first line and the one below it
	info  string // of code: its language
	size  int    // of code: bytes of all of it
	parts []*Part
	ahead *Part // the one the unfinished line begins
	lexer code.Lines
	lexed int               // parts before this one went through lexer
	codes map[string]string // code inside of lists and quotes, coloured

	doc    *Document // what it is a block of; nil: an answer
	anchor string    // of a heading in a document: its id

	shown      string // what the last patch showed
	shownAs    blockKind
	shownParts int // parts shown so far
	html       template.HTML
	htmlFrom   string
}

// Part is a piece of a block that comes in parts.
type Part struct {
	block *Block
	src   []byte
	extra string // the unfinished line
	shown string

	lexed int // bytes of src in out
	out   strings.Builder
}

// begin makes b an empty block of a kind.
func (b *Block) begin(kind blockKind, info string) {
	b.kind, b.info, b.src, b.extra, b.parts, b.lexed = kind, info, nil, "", nil, 0
}

// Code reports whether it is a piece of code in parts, which belong into <pre
// class="chroma"><code>.
func (b *Block) Code() bool { return b.kind >= fenced && !b.small() }

// Table reports whether it is a table, whose parts are rows and belong into a tbody each.
func (b *Block) Table() bool { return b.kind == table }

// small says that it is code that has ended and is short enough to be coloured as a whole.
func (b *Block) small() bool { return b.done && b.size <= code.MaxBlock }

func (b *Block) inParts() bool { return b.Code() || b.Table() }

// add takes a line, or with ends false a piece of one.
func (b *Block) add(text string, ends bool) {
	b.extra = ""
	if ends {
		text += "\n"
	}
	switch {
	case b.kind == table && len(b.parts) == 0 && strings.Count(b.head, "\n") == 1:
		b.head += text
	case b.kind == table:
		b.addPart(text)
	case b.kind >= fenced:
		if b.size += len(text); b.size <= code.MaxBlock {
			b.src = append(b.src, text...)
		}
		b.addPart(text)
	default:
		b.src = append(b.src, text...)
	}
}

// addPart adds to the last part, or begins one if that is full.
func (b *Block) addPart(text string) {
	n := len(b.parts)
	if n == 0 || len(b.parts[n-1].src) >= b.limit() {
		p := b.ahead
		if p == nil {
			p = &Part{block: b}
		}
		p.extra, b.ahead = "", nil
		b.parts = append(b.parts, p)
		n++
	}
	b.parts[n-1].src = append(b.parts[n-1].src, text...)
}

// patches adds what changed to out.
func (b *Block) patches(out []Patch, i int) []Patch {
	key := b.key()
	if b.shownAs != b.asShown() || b.shown != key || b.shownAs == noBlock {
		b.shown, b.shownAs = key, b.asShown()
		b.shownParts = b.Parts()
		for n := range b.shownParts {
			b.Part(n).shown = b.Part(n).key()
		}
		return append(out, Patch{Block: i, Part: -1})
	}
	for n := max(0, b.shownParts-1); n < b.Parts(); n++ {
		if p := b.Part(n); n >= b.shownParts || p.key() != p.shown {
			p.shown = p.key()
			out = append(out, Patch{Block: i, Part: n})
		}
	}
	b.shownParts = b.Parts()
	return out
}

// Size is how many bytes of source it has so far.
func (b *Block) Size() int {
	n := max(len(b.src), b.size) + len(b.head)
	if b.kind == table {
		for _, p := range b.parts {
			n += len(p.src)
		}
	}
	return n
}

// key is what decides how the block looks, parts aside.
func (b *Block) key() string {
	switch {
	case b.Table():
		return b.head
	case b.Code():
		return b.info
	}
	text := b.text()
	if b.done && (b.kind == list || b.kind == quote) &&
		(strings.Contains(text, "```") || strings.Contains(text, "~~~")) {
		return text + "\n" // code at its end has its colours now
	}
	return text
}

// text is what the block holds, without the white space at its end, which shows nothing.
func (b *Block) text() string { return strings.TrimRight(string(b.src)+b.extra, " \t\n") }

// asShown is the shape in which a block is shown.
func (b *Block) asShown() blockKind {
	switch {
	case b.Code():
		return fenced
	case b.kind >= fenced:
		return indented
	case b.kind == table:
		return table
	}
	return paragraph
}

// Parts is the number of parts.
func (b *Block) Parts() int {
	switch {
	case !b.inParts():
		return 0
	case b.begins():
		return len(b.parts) + 1
	}
	return len(b.parts)
}

// Part returns part i.
func (b *Block) Part(i int) *Part {
	if i == len(b.parts) {
		if b.ahead == nil {
			b.ahead = &Part{block: b}
		}
		b.ahead.extra = b.extra
		return b.ahead
	}
	p := b.parts[i]
	p.extra = ""
	if i == len(b.parts)-1 && !b.begins() {
		p.extra = b.extra
	}
	return p
}

// begins reports whether the unfinished line is the first one of a part to come.
func (b *Block) begins() bool {
	n := len(b.parts)
	return b.extra != "" && (n == 0 || len(b.parts[n-1].src) >= b.limit())
}

// limit is how many bytes a part has that is full.
func (b *Block) limit() int {
	if b.kind == table {
		return 2 << 10
	}
	return 1 << 10
}

func (p *Part) key() string { return string(p.src) + p.extra }

// Head is the head of a table, to be put before its parts.
func (b *Block) Head() template.HTML { return tableHead(b.head, b.math) }

// HTML is a block that does not come in parts.
func (b *Block) HTML() template.HTML {
	key := b.key()
	if b.html == "" || b.htmlFrom != key {
		switch {
		case b.kind == fenced && isMath(b.info) && b.math != nil:
			b.html = clean(mathBlock(string(b.src), b.math))
		case b.kind >= fenced:
			b.html = clean(pre(code.Block(b.info, string(b.src))))
		default:
			b.html = b.prose()
		}
		b.htmlFrom = key
		if b.done { // nothing will be asked of it but this
			b.codes, b.parts, b.ahead = nil, nil, nil
		}
	}
	return b.html
}

// HTML is what the part shows.
func (p *Part) HTML() template.HTML {
	if p.block.Table() {
		return tableRows(p.block.head, p.key(), p.block.math)
	}
	p.lex()
	return clean(p.out.String() + render.EscapeText(p.extra))
}

// lex colours the lines that are whole, after those of the parts before.
func (p *Part) lex() {
	for b := p.block; b.lexed < len(b.parts); b.lexed++ {
		b.parts[b.lexed].lexSelf()
		if b.parts[b.lexed] == p {
			return
		}
	}
	p.lexSelf()
}

func (p *Part) lexSelf() {
	if p.lexed < len(p.src) {
		p.block.lexer.Write(&p.out, p.block.info, string(p.src[p.lexed:]))
		p.lexed = len(p.src)
	}
}

// Whole is the block with what its parts belong into.
func (b *Block) Whole() template.HTML {
	if !b.inParts() {
		return b.HTML()
	}
	var out strings.Builder
	before, after, tag := `<pre class="chroma" tabindex="0"><code>`, "</code></pre>\n", "span"
	if b.Table() {
		before, after, tag = `<div class="table" tabindex="0"><table>`+string(b.Head()),
			"</table></div>\n", "tbody"
	}
	out.WriteString(before)
	for i := range b.Parts() {
		out.WriteString("<" + tag + ">" + string(b.Part(i).HTML()) + "</" + tag + ">")
	}
	return template.HTML(out.String() + after)
}
