package markdown

import "strings"

// lineKind is what a line of Markdown may begin.
type lineKind uint8

const (
	lineText lineKind = iota
	lineBlank
	lineHeading
	lineRule
	lineUnder // makes a heading of the paragraph above: === or ---
	lineDelim // may be the line below the head of a table
	lineQuote
	lineItem
	lineFence // of code, or of a formula: $$
	lineCode  // four columns in
)

// maxMarker is how long a line of nothing but marks may be, and what stands behind a fence.
const (
	maxMarker = 1000
	maxInfo   = 100
)

// mathFence opens and closes a formula that is a block.
const mathFence = "$$"

// mdLine is a line as the splitter sees it.
type mdLine struct {
	kind   lineKind
	indent int    // columns before the first character
	text   string // the whole line, without its end
	body   string // from its first character on

	width  int    // of an item: the column its content begins at
	starts bool   // of an item: it may follow a paragraph without a blank line
	fence  string // the opening ``` or ~~~
	info   string // what stands behind it
}

func newLine(text string) mdLine {
	l := mdLine{text: text}
	i := 0
	for ; i < len(text) && (text[i] == ' ' || text[i] == '\t'); i++ {
		if text[i] == '\t' {
			l.indent += 4 - l.indent%4
		} else {
			l.indent++
		}
	}
	l.body = text[i:]
	l.kind = l.classify()
	return l
}

func (l *mdLine) classify() lineKind {
	body := strings.TrimRight(l.body, " \t")
	switch {
	case body == "":
		return lineBlank
	case l.indent >= 4:
		return lineCode
	case body[0] == '>':
		return lineQuote
	case body[0] == '#':
		if rest := strings.TrimLeft(body, "#"); len(body)-len(rest) <= 6 &&
			(rest == "" || rest[0] == ' ' || rest[0] == '\t') {
			return lineHeading
		}
		return lineText
	case body[0] == '`' || body[0] == '~':
		return l.classifyFence(body)
	case body == mathFence:
		l.fence, l.info = mathFence, "math"
		return lineFence
	case len(body) <= maxMarker && (strings.Trim(body, "=") == "" || strings.Trim(body, "-") == ""):
		if body == "-" {
			l.item()
		}
		return lineUnder
	case isRule(body):
		return lineRule
	case l.item():
		return lineItem
	case len(body) <= maxMarker && strings.Trim(body, "|:- \t") == "" && strings.Contains(body, "-"):
		return lineDelim
	}
	return lineText
}

func isRule(body string) bool {
	c := body[0]
	return (c == '-' || c == '*' || c == '_') && len(body) <= maxMarker &&
		strings.Trim(body, string(c)+" \t") == "" && strings.Count(body, string(c)) >= 3
}

func (l *mdLine) classifyFence(body string) lineKind {
	info := strings.TrimLeft(body, body[:1])
	n := len(body) - len(info)
	if n < 3 || len(info) > maxInfo || body[0] == '`' && strings.Contains(info, "`") {
		return lineText
	}
	l.fence, l.info = body[:n], strings.TrimSpace(info)
	return lineFence
}

// item reads a list's mark: a bullet, or up to nine digits with a point or a parenthesis.
func (l *mdLine) item() bool {
	body := l.body
	mark, one := 0, true
	switch c := body[0]; {
	case c == '-' || c == '*' || c == '+':
		mark = 1
	case '0' <= c && c <= '9':
		for mark < len(body) && '0' <= body[mark] && body[mark] <= '9' {
			mark++
		}
		if mark > 9 || mark == len(body) || body[mark] != '.' && body[mark] != ')' {
			return false
		}
		one = body[:mark] == "1"
		mark++
	default:
		return false
	}
	rest := body[mark:]
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return false
	}
	content := strings.TrimLeft(rest, " \t")
	gap := len(rest) - len(content)
	if content == "" || gap > 4 || strings.HasPrefix(rest, "\t") {
		gap = 1
	}
	l.width = l.indent + mark + gap
	l.starts = one && content != ""
	return true
}

// isItem reports whether the line is an item of a list where no paragraph is open.
func (l *mdLine) isItem() bool { return l.kind == lineItem || l.kind == lineUnder && l.width > 0 }

// endsFence reports whether the line closes a fence.
func (l *mdLine) endsFence(fence string) bool {
	return l.kind == lineFence && (l.info == "" || l.fence == mathFence) && l.fence[0] == fence[0] &&
		len(l.fence) >= len(fence)
}

// settled reports whether a line that is still being written is what it will be when it is whole,
// inside of a fence or outside.
func (l *mdLine) settled(fence string) bool {
	body := strings.TrimRight(l.body, " \t")
	switch {
	case fence != "":
		return l.indent >= 4 || body == "" || strings.Trim(body, fence[:1]) != ""
	case body == "", l.kind == lineFence:
		return false
	}
	return len(body) > maxMarker || strings.Trim(body, "-*_+=#`~$|:.)0123456789 \t") != ""
}

// dedent removes up to n columns of white space from the start of a line.
func dedent(line string, n int) string {
	for column := 0; column < n && line != ""; line = line[1:] {
		switch line[0] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		default:
			return line
		}
		if column > n {
			return strings.Repeat(" ", column-n) + line[1:]
		}
	}
	return line
}
