package markdown

import (
	"html/template"
	"slices"
	"strings"
)

// Stream shows a Markdown text while it arrives, block by block. A block that has ended never
// changes again, and what an open one costs is bounded, so a text costs what its length costs,
// however it is cut: code and tables, which may grow for megabytes, come in parts of which only the
// last one changes; other blocks are parted when they are very long. What is shown is a function of
// the text so far. The zero value is ready.
//
// Writing parses nothing but lines: a block becomes HTML when somebody asks for it.
type Stream struct {
	splitter splitter
	line     []byte // the unfinished line, or what is left of it
	cr       bool   // the last byte was \r
	blocks   []*Block
	ahead    *Block // the block the unfinished line will begin
	dirty    int    // blocks before this one were shown as they are
	doc      *Document
	math     mathematics
}

// Patch says what to show again: a block, or if Part is not negative one of its parts. Blocks and
// parts that are new come in order, behind all there are.
type Patch struct {
	Block, Part int
}

// Write adds text to the end.
func (s *Stream) Write(text string) {
	if text == "" {
		return
	}
	s.forget()
	for text != "" {
		if s.cr && text[0] == '\n' {
			s.cr = false
			text = text[1:]
			continue
		}
		i := strings.IndexAny(text, "\r\n")
		if i < 0 {
			s.cr = false
			s.add(text)
			break
		}
		s.add(text[:i])
		s.cr = text[i] == '\r'
		text = text[i+1:]
		s.endLine()
	}
	s.look()
}

// add takes text without a line end.
func (s *Stream) add(text string) {
	s.line = append(s.line, text...)
	for {
		i := cutLine(s.line)
		if i == 0 {
			return
		}
		s.take(string(s.line[:i]), false)
		s.line = append(s.line[:0], s.line[i:]...)
	}
}

func (s *Stream) endLine() {
	s.take(string(s.line), true)
	s.line = s.line[:0]
}

// take gives a piece of a line to the blocks; ends says that it is the line's last.
func (s *Stream) take(piece string, ends bool) {
	if s.splitter.long {
		s.more(piece, ends)
		return
	}
	l := newLine(piece)
	d := s.splitter.decide(l)
	before := s.splitter.kind
	s.splitter.took(l, d)
	s.apply(before, d, ends)
	s.splitter.long = !ends
}

func (s *Stream) more(piece string, ends bool) {
	d := s.splitter.more(piece)
	before := s.splitter.kind
	if d.open != noBlock {
		s.splitter = splitter{kind: d.open}
	}
	s.splitter.size += len(piece)
	s.apply(before, d, ends)
	s.splitter.last, s.splitter.long = "", !ends
}

func (s *Stream) apply(before blockKind, d decision, ends bool) {
	if d.close && before != noBlock {
		s.last().done = true
	}
	if d.head {
		s.toTable()
	}
	if d.open != noBlock {
		b := s.ahead
		if b == nil {
			b = &Block{doc: s.doc}
		}
		s.ahead = nil
		s.begin(b, d.open, s.splitter.info)
		b.math = s.mathematics().left()
		s.blocks = append(s.blocks, b)
	}
	if len(s.blocks) == 0 {
		return
	}
	if b := s.last(); !d.none && !b.done {
		b.add(d.text, ends)
		if isMath(b.info) || strings.IndexByte(d.text, '$') >= 0 {
			s.mathematics().bytes += len(d.text)
		}
	}
	if d.end {
		s.last().done = true
	}
}

// begin begins a block of a kind. A table that is begun by a row goes on with the one before.
func (s *Stream) begin(b *Block, kind blockKind, info string) {
	b.begin(kind, info)
	b.head = ""
	if kind == table {
		b.head = s.last().head
	}
}

// toTable makes a table of the end of the open paragraph: its last line is the head.
func (s *Stream) toTable() {
	b := s.last()
	src := strings.TrimSuffix(string(b.src), "\n")
	i := strings.LastIndexByte(src, '\n') + 1
	head := src[i:]
	if i > 0 {
		b.src, b.done = []byte(src[:i]), true
		b = &Block{doc: s.doc, math: b.math}
		s.blocks = append(s.blocks, b)
	}
	b.begin(table, "")
	b.head = head + "\n"
}

// mathematics is that of the whole text.
func (s *Stream) mathematics() *mathematics {
	if s.doc != nil {
		return &s.doc.math
	}
	return &s.math
}

func (s *Stream) last() *Block { return s.blocks[len(s.blocks)-1] }

// forget takes back what the unfinished line shows.
func (s *Stream) forget() {
	if len(s.blocks) > 0 {
		s.last().extra = ""
	}
}

// look shows the unfinished line, as soon as it is sure what it is.
func (s *Stream) look() {
	if len(s.line) == 0 {
		return
	}
	piece := string(s.line)
	var d decision
	if s.splitter.long {
		d = s.splitter.more(piece)
	} else {
		l := newLine(piece)
		if !l.settled(s.splitter.fence) {
			return
		}
		d = s.splitter.decide(l)
	}
	switch {
	case d.none:
	case d.open == noBlock && len(s.blocks) > 0:
		s.last().extra = d.text
	case d.open != noBlock:
		if s.ahead == nil {
			s.ahead = &Block{doc: s.doc}
		}
		s.ahead.math = s.mathematics().left()
		s.begin(s.ahead, d.open, "")
		s.ahead.extra = d.text
	}
}

// End says that the text is whole: what is open ends. Nothing is written after it.
func (s *Stream) End() {
	if len(s.line) > 0 {
		s.forget()
		s.endLine()
	}
	if s.splitter.kind != noBlock {
		s.last().done = true
		s.splitter = splitter{}
	}
}

// Blocks returns all blocks. The slice is the caller's, the blocks are not.
func (s *Stream) Blocks() []*Block {
	all := slices.Clone(s.blocks)
	if s.ahead != nil {
		all = append(all, s.ahead)
	}
	return all
}

// Block returns block i.
func (s *Stream) Block(i int) *Block {
	if i == len(s.blocks) {
		return s.ahead
	}
	return s.blocks[i]
}

// Len is the number of blocks.
func (s *Stream) Len() int {
	if s.ahead != nil {
		return len(s.blocks) + 1
	}
	return len(s.blocks)
}

// Patches returns what changed since the last call.
func (s *Stream) Patches() []Patch {
	var out []Patch
	i := s.dirty
	for ; i < s.Len(); i++ {
		b := s.Block(i)
		out = b.patches(out, i)
		if b.done && i == s.dirty {
			s.dirty++
		}
	}
	return out
}

// HTML shows a whole text, as a Stream does.
//
// It is CommonMark with tables, task lists, struck text and addresses that become links, but for
// three things. HTML is text. Pictures are never loaded: their description and address are shown.
// Links by reference do not exist, since a definition that comes later would change what was shown:
// both ends of one stay readable.
//
// Mathematics, as GitHub has it, is MathML.
//
// Links lead to http, https and mailto only, in a window of their own, and the whole address stands
// behind the text of each whose text is not the address. Headings are h4 to h6. No element has an
// id.
func HTML(text string) template.HTML {
	var s Stream
	s.Write(text)
	s.End()
	var b strings.Builder
	for _, block := range s.Blocks() {
		b.WriteString(string(block.Whole()))
	}
	return template.HTML(b.String())
}

// blockSpace is how much HTML of blocks one call makes before it ends early, in bytes.
const blockSpace = 128 << 10
