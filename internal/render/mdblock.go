package render

import (
	"html/template"
	"strings"
)

// MarkdownBlock is a block of a text: either whole (HTML), or code or a table in parts.
type MarkdownBlock struct {
	kind  blockKind
	src   []byte // what it holds; of code only as much as is coloured at its end
	extra string // and the unfinished line behind it
	done  bool

	head  string // of a table: its first line and the one below it
	info  string // of code: its language
	size  int    // of code: bytes of all of it
	parts []*MarkdownPart
	lexer lineLexer
	lexed int               // parts before this one went through lexer
	codes map[string]string // code inside of lists and quotes, coloured

	shown    string // what the last patch told of
	shownAs  blockKind
	told     int // parts told of
	html     template.HTML
	htmlFrom string
}

// MarkdownPart is a piece of a block that comes in parts.
type MarkdownPart struct {
	block *MarkdownBlock
	src   []byte
	extra string // the unfinished line
	shown string

	lexed int // bytes of src in out
	out   strings.Builder
}

// begin makes b an empty block of a kind.
func (b *MarkdownBlock) begin(kind blockKind, info string) {
	b.kind, b.info, b.src, b.extra, b.parts, b.told, b.lexed = kind, info, nil, "", nil, 0, 0
}

// Code reports whether it is a piece of code in parts, which belong into <pre class="chroma"><code>.
func (b *MarkdownBlock) Code() bool { return b.kind >= fenced && !b.small() }

// Table reports whether it is a table, whose parts are rows and belong into a tbody each.
func (b *MarkdownBlock) Table() bool { return b.kind == table }

// small says that it is code that has ended and is short enough to be coloured as a whole.
func (b *MarkdownBlock) small() bool { return b.done && b.size <= fenceMemory }

func (b *MarkdownBlock) inParts() bool { return b.Code() || b.Table() }

// add takes a line, or with ends false a piece of one.
func (b *MarkdownBlock) add(text string, ends bool) {
	b.extra = ""
	if ends {
		text += "\n"
	}
	switch {
	case b.kind == table && len(b.parts) == 0 && strings.Count(b.head, "\n") == 1:
		b.head += text
	case b.kind == table:
		b.addPart(text, 2<<10)
	case b.kind >= fenced:
		if b.size += len(text); b.size <= fenceMemory {
			b.src = append(b.src, text...)
		}
		b.addPart(text, 1<<10)
	default:
		b.src = append(b.src, text...)
	}
}

// addPart adds to the last part, or begins one if that is large and ends with its line.
func (b *MarkdownBlock) addPart(text string, limit int) {
	n := len(b.parts)
	if n > 0 {
		b.parts[n-1].extra = ""
	}
	if n == 0 || len(b.parts[n-1].src) >= limit {
		b.parts = append(b.parts, &MarkdownPart{block: b})
		n++
	}
	b.parts[n-1].src = append(b.parts[n-1].src, text...)
}

// patches adds what changed to out.
func (b *MarkdownBlock) patches(out []MarkdownPatch, i int) []MarkdownPatch {
	key := b.key()
	if b.shownAs != b.asShown() || b.shown != key || b.shownAs == noBlock {
		b.shown, b.shownAs = key, b.asShown()
		out = append(out, MarkdownPatch{i, -1})
		b.told = 0
		for _, p := range b.Parts() {
			p.shown = p.key()
			b.told++
		}
		return out
	}
	if !b.inParts() {
		return out
	}
	parts := b.Parts()
	for n := max(0, b.told-1); n < len(parts); n++ {
		if k := parts[n].key(); k != parts[n].shown || n >= b.told {
			parts[n].shown = k
			out = append(out, MarkdownPatch{i, n})
		}
	}
	b.told = len(parts)
	return out
}

// key is what decides how the block looks, parts aside.
func (b *MarkdownBlock) key() string {
	switch {
	case b.Table():
		return b.head
	case b.Code():
		return b.info
	}
	text := strings.TrimRight(string(b.src)+b.extra, " \t\n")
	if b.done && (b.kind == list || b.kind == quote) && (strings.Contains(text, "```") || strings.Contains(text, "~~~")) {
		return text + "\n" // code at its end has its colours now
	}
	return text
}

// asShown tells the shapes of a block apart.
func (b *MarkdownBlock) asShown() blockKind {
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

// Parts returns the parts there are.
func (b *MarkdownBlock) Parts() []*MarkdownPart {
	if !b.inParts() {
		return nil
	}
	if b.extra == "" {
		if n := len(b.parts); n > 0 {
			b.parts[n-1].extra = ""
		}
		return b.parts
	}
	limit := 2 << 10
	if b.Code() {
		limit = 1 << 10
	}
	if n := len(b.parts); n > 0 && len(b.parts[n-1].src) < limit {
		b.parts[n-1].extra = b.extra
		return b.parts
	}
	return append(b.parts[:len(b.parts):len(b.parts)], &MarkdownPart{block: b, extra: b.extra})
}

func (p *MarkdownPart) key() string { return string(p.src) + p.extra }

// Head is the head of a table, to be put before its parts.
func (b *MarkdownBlock) Head() template.HTML { return tableHead(b.head) }

// HTML is a block that does not come in parts.
func (b *MarkdownBlock) HTML() template.HTML {
	key := b.key()
	if b.html == "" || b.htmlFrom != key {
		if b.kind >= fenced {
			b.html = clean(pre(codeBlock(b.info, string(b.src))))
		} else {
			b.html = b.prose()
		}
		b.htmlFrom = key
	}
	return b.html
}

// HTML is what the part shows.
func (p *MarkdownPart) HTML() template.HTML {
	if p.block.Table() {
		return tableRows(p.block.head, p.key())
	}
	p.lex()
	return clean(p.out.String() + escapeText(p.extra))
}

// lex colours the lines that are whole, after those of the parts before.
func (p *MarkdownPart) lex() {
	for b := p.block; b.lexed < len(b.parts); b.lexed++ {
		b.parts[b.lexed].lexSelf()
		if b.parts[b.lexed] == p {
			return
		}
	}
	p.lexSelf()
}

func (p *MarkdownPart) lexSelf() {
	if p.lexed < len(p.src) {
		p.block.lexer.write(&p.out, p.block.info, string(p.src[p.lexed:]))
		p.lexed = len(p.src)
	}
}

// Whole is the block with what its parts belong into.
func (b *MarkdownBlock) Whole() template.HTML {
	if !b.inParts() {
		return b.HTML()
	}
	var out strings.Builder
	before, after, tag := `<pre class="chroma" tabindex="0"><code>`, "</code></pre>\n", "span"
	if b.Table() {
		before, after, tag = `<div class="table" tabindex="0"><table>`+string(b.Head()), "</table></div>\n", "tbody"
	}
	out.WriteString(before)
	for _, p := range b.Parts() {
		out.WriteString("<" + tag + ">" + string(p.HTML()) + "</" + tag + ">")
	}
	return template.HTML(out.String() + after)
}
