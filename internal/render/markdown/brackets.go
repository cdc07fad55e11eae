package markdown

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// brackets is goldmark's parser of links, with a bound on what one text may cost it: as it is,
// every open bracket is kept until the block ends, and behind every pair of brackets it looks for
// an address up to the end of the line. Here brackets that nest too deep are text, and it looks for
// an address only where one can end.
type brackets struct {
	parser.InlineParser
	parser.CloseBlocker
}

func newBrackets() brackets {
	p := parser.NewLinkParser()
	return brackets{p, p.(parser.CloseBlocker)}
}

// openBrackets are those of a block that wait for their ends.
type openBrackets struct {
	kept, left int // those that goldmark knows, and those inside of them that are text
}

var openKey = parser.NewContextKey()

// Parse implements parser.InlineParser.
func (b brackets) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	open, _ := pc.ComputeIfAbsent(openKey, func() any { return &openBrackets{} }).(*openBrackets)
	line, _ := block.PeekLine()
	switch {
	case line[0] == '!' && (len(line) == 1 || line[1] != '[' || open.kept == deepest):
		return nil
	case line[0] != ']' && open.kept == deepest:
		open.left++
		return nil
	case line[0] != ']':
		open.kept++
	case open.left > 0:
		open.left--
		return nil
	case open.kept == 0:
		return nil
	default:
		if open.kept--; !mayBeLink(line[1:]) {
			block = noLink{block}
		}
	}
	return b.InlineParser.Parse(parent, block, pc)
}

// CloseBlock implements parser.CloseBlocker.
func (b brackets) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	pc.Set(openKey, nil)
	b.CloseBlocker.CloseBlock(parent, block, pc)
}

// mayBeLink reports whether what stands behind a pair of brackets begins like the address of a
// link: one that ends in the same line, with parentheses in it that nest no deeper than elements
// may.
func mayBeLink(line []byte) bool {
	if len(line) == 0 || line[0] != '(' {
		return false
	}
	line = util.TrimLeftSpace(line[1:])
	if len(line) == 0 {
		return true // it may stand in the next one
	}
	angle, depth := line[0] == '<', 0
	if angle {
		line = line[1:]
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line) && util.IsPunct(line[i+1]):
			i++
		case angle && (c == '<' || c == '>'):
			return c == '>'
		case angle:
		case util.IsSpace(c):
			return true // a title may follow
		case c == '(':
			if depth++; depth > deepest {
				return false
			}
		case c == ')':
			if depth--; depth < 0 {
				return true
			}
		}
	}
	return false
}

// noLink hides what stands behind a pair of brackets, so that they are not a link. There are no
// references to look for.
type noLink struct{ text.Reader }

// Peek implements text.Reader.
func (noLink) Peek() byte { return ' ' }

// Value implements text.Reader.
func (noLink) Value(text.Segment) []byte { return nil }
