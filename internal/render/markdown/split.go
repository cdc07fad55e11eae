package markdown

import (
	"strings"
	"unicode/utf8"
)

// blockKind is how a block goes on and how it is shown.
type blockKind uint8

const (
	noBlock   blockKind = iota
	paragraph           // also a heading or a rule
	list
	quote
	table
	fenced
	indented
	listRest // what is too much for one item of a list: plain, until the list or the item is over
)

const (
	blockSize  = 4 << 10  // bytes of a block after which the next place to part it is taken
	blockLimit = 16 << 10 // bytes after which it is parted anyway
	tableSize  = 32 << 10 // bytes of a table after which its head stands again, above a new one,
	rowCost    = 64       // where each row counts as so many more: browsers lay out whole tables
	pieceSize  = 4 << 10  // a longer line is cut at its next space,
	pieceLimit = 8 << 10  // or here
)

// splitter parts a text into blocks. What it does with a line depends on the lines above it and on
// nothing below, so a block that has ended has ended for good.
type splitter struct {
	kind   blockKind
	size   int    // bytes of the open block
	rows   int    // of a table: its lines
	blank  bool   // the last line was blank
	item   int    // of a list: the column the content of its last item begins at
	fence  string // of code: what opened it
	indent int    // and how far in
	info   string
	blanks int    // blank lines held back: at the end of indented code they do not belong to it
	last   string // the last line of a paragraph, which may be the head of a table
	long   bool   // the line at hand began in an earlier piece
}

// decision is what a line does.
type decision struct {
	close bool      // ends the open block
	open  blockKind // begins one
	text  string    // goes to the open block, without its line end
	none  bool      // shows nothing
	end   bool      // ends the block it goes to
	head  bool      // the last line of the open paragraph and this one are the head of a table
}

func (s *splitter) decide(l mdLine) decision {
	if s.kind == noBlock {
		return s.begin(l)
	}
	d := decision{text: l.text}
	ends := false
	switch s.kind {
	case paragraph:
		return s.inParagraph(l)
	case quote:
		ends = l.kind != lineQuote && l.interrupts() || l.kind == lineBlank || s.size > blockSize &&
			l.kind == lineQuote
	case table:
		ends = l.interrupts() || l.kind == lineBlank || l.kind == lineQuote || l.kind == lineUnder
		if !ends && s.size+s.rows*rowCost > tableSize {
			return decision{close: true, open: table, text: l.text}
		}
	case list:
		return s.inList(l)
	case listRest:
		ends = l.indent < s.item && l.kind != lineBlank && (s.blank || l.isItem() || l.interrupts())
		d.text = dedent(l.text, s.item)
	case fenced:
		d.none = l.endsFence(s.fence)
		d.end = d.none
		d.text = dedent(l.text, s.indent)
	case indented:
		ends = l.indent < 4 && l.kind != lineBlank
		d.none = l.kind == lineBlank
		d.text = strings.Repeat("\n", s.blanks) + dedent(l.text, 4)
	}
	if ends {
		d = s.begin(l)
		d.close = true
	}
	return d
}

// interrupts reports whether a line ends what has no mark of its own on each line. A quote
// interrupts all but a quote.
func (l *mdLine) interrupts() bool {
	return l.kind == lineHeading || l.kind == lineRule || l.kind == lineFence || l.kind == lineItem &&
		l.starts || l.kind == lineUnder && len(l.body) > 2 && l.body[0] == '-'
}

func (s *splitter) inParagraph(l mdLine) decision {
	d := decision{text: l.text}
	switch {
	case l.kind == lineUnder:
		d.end = true
	case l.kind == lineDelim && isTable(s.last, l.text):
		d.head = true
	case l.kind == lineBlank, l.kind == lineQuote, l.interrupts(), s.size > blockSize:
		d = s.begin(l)
		d.close = true
	}
	return d
}

func (s *splitter) inList(l mdLine) decision {
	d := decision{text: l.text}
	inside := l.kind == lineBlank || l.indent >= s.item
	item := !inside && l.isItem()
	switch {
	case item && s.size <= blockSize:
	case item, !inside && s.blank, !inside && (l.interrupts() || l.kind == lineQuote):
		d = s.begin(l)
		d.close = true
	case s.size > blockLimit && l.kind != lineBlank:
		d = decision{close: true, open: listRest, text: dedent(l.text, s.item)}
	}
	return d
}

// begin decides about a line when no block is open.
func (s *splitter) begin(l mdLine) decision {
	d := decision{open: paragraph, text: l.text}
	switch l.kind {
	case lineBlank:
		return decision{none: true}
	case lineHeading, lineRule:
		d.end = true
	case lineUnder:
		if l.isItem() {
			d.open = list
			break
		}
		d.end = isRule(strings.TrimRight(l.body, " \t"))
	case lineQuote:
		d.open = quote
	case lineItem:
		d.open = list
	case lineFence:
		d.open, d.none = fenced, true
	case lineCode:
		d.open, d.text = indented, dedent(l.text, 4)
	}
	return d
}

// took notes what a whole line did.
func (s *splitter) took(l mdLine, d decision) {
	if d.close {
		*s = splitter{item: s.item}
	}
	if d.open != noBlock {
		*s = splitter{kind: d.open, item: s.item, fence: l.fence, indent: l.indent, info: l.info}
	}
	if d.head {
		s.kind = table
	}
	if s.kind == list && l.isItem() && (l.indent < s.item || d.open != noBlock) {
		s.item = l.width
	}
	s.size += len(l.text) + 1
	if s.kind == table {
		s.rows++
	}
	s.last, s.blank = l.text, l.kind == lineBlank
	switch {
	case d.end:
		*s = splitter{}
	case s.kind == indented && d.none:
		s.blanks++
	default:
		s.blanks = 0
	}
}

// more decides about the next piece of a line that is too long for one.
func (s *splitter) more(piece string) decision {
	switch {
	case s.kind >= fenced:
		return decision{text: piece}
	case s.kind != noBlock && s.size+len(piece) <= blockSize:
		return decision{text: piece}
	}
	return decision{close: s.kind != noBlock, open: paragraph, text: literalStart(piece)}
}

// literalStart keeps the first character of a piece from being a mark.
func literalStart(piece string) string {
	if piece == "" || piece[0] >= utf8.RuneSelf || isLetter(piece[0]) {
		return piece
	}
	return "&#" + decimal(piece[0]) + ";" + piece[1:]
}

func decimal(c byte) string {
	if c < 10 {
		return string('0' + c)
	}
	return decimal(c/10) + string('0'+c%10)
}

// cutLine returns where the first piece of an unfinished line ends; 0 if it is not long enough to
// be parted.
func cutLine(line []byte) int {
	for i := pieceSize; i < min(len(line), pieceLimit); i++ {
		if line[i] == ' ' {
			return i + 1
		}
	}
	if len(line) <= pieceLimit {
		return 0
	}
	i := pieceLimit
	for i > pieceLimit-utf8.UTFMax && !utf8.RuneStart(line[i]) {
		i--
	}
	return i
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
