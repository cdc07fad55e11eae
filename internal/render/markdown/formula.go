package markdown

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"unicode"

	"webchat/internal/render"
	"webchat/internal/render/formula"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	mdtext "github.com/yuin/goldmark/text"
)

// Bounds of formulas; those beyond them are text.
const (
	maxFormulas = 200      // in one block
	maxMath     = 64 << 10 // bytes of lines that may hold formulas, in a text before a block
)

// formulas finds mathematics in a line, as GitHub has it: $…$, $`…`$, and $$…$$, which may go over
// lines and stands in one of its own. A dollar before a space, a letter or a digit ends nothing, so
// that prices and variables of a shell stay text.
type formulas struct{}

// formulaNode is a formula.
type formulaNode struct {
	ast.BaseInline
	source string // with its dollars
	tex    string
	block  bool
	spent  *formula.Spent
}

var (
	kindFormula = ast.NewNodeKind("Formula")
	formulasKey = parser.NewContextKey()
	spentKey    = parser.NewContextKey()
)

// mathematics is that of a text so far.
type mathematics struct {
	bytes int // of lines that may hold formulas
	spent formula.Spent
}

// left is what formulas in the next block are counted by; nil means they are shown as source.
func (m *mathematics) left() *formula.Spent {
	if m.bytes > maxMath {
		return nil
	}
	return &m.spent
}

// formulaContext is one of a text whose formulas are shown, or are text.
func formulaContext(math *formula.Spent) parser.Context {
	pc := parser.NewContext()
	pc.Set(spentKey, math)
	if math == nil {
		pc.Set(formulasKey, maxFormulas)
	}
	return pc
}

// Kind implements ast.Node.
func (*formulaNode) Kind() ast.NodeKind { return kindFormula }

// Dump implements ast.Node.
func (n *formulaNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// Trigger implements parser.InlineParser.
func (formulas) Trigger() []byte { return []byte{'$'} }

// Parse implements parser.InlineParser.
func (formulas) Parse(_ ast.Node, block mdtext.Reader, pc parser.Context) ast.Node {
	found, _ := pc.Get(formulasKey).(int)
	if before := block.PrecendingCharacter(); found == maxFormulas || before == '$' || wordy(before) {
		return nil
	}
	line, _ := block.PeekLine()
	before, after := "$", "$"
	switch {
	case bytes.HasPrefix(line, []byte("$$")):
		before, after = "$$", "$$"
	case bytes.HasPrefix(line, []byte("$`")):
		before, after = "$`", "`$"
	}
	at, segment := block.Position()
	block.Advance(len(before))
	var tex []byte
	for len(tex) <= formula.MaxSource {
		line, _ := block.PeekLine()
		if end := formulaEnd(line, after); end >= 0 {
			tex = append(tex, line[:end]...)
			block.Advance(end + len(after))
			if len(bytes.TrimSpace(tex)) == 0 {
				break
			}
			pc.Set(formulasKey, found+1)
			spent, _ := pc.Get(spentKey).(*formula.Spent)
			if spent == nil { // only its text is asked for
				spent = &formula.Spent{}
			}
			return &formulaNode{
				source: before + string(tex) + after,
				tex:    string(tex),
				block:  after == "$$",
				spent:  spent,
			}
		}
		if line == nil || after != "$$" {
			break
		}
		tex = append(tex, line...)
		block.AdvanceLine()
	}
	block.SetPosition(at, segment)
	return nil
}

// formulaEnd is where in a line a formula ends; -1: it does not.
func formulaEnd(line []byte, mark string) int {
	if mark == "$" && (len(line) == 0 || line[0] == ' ' || line[0] == '\t') {
		return -1
	}
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\':
			i++
		case mark == "$" && line[i] == '`': // of a span of code
			return -1
		case mark == "$" && line[i] == '$':
			if c := line[i-1]; c == ' ' || c == '\t' {
				return -1
			}
			if rest := line[i+1:]; len(rest) > 0 && (wordy(rune(rest[0])) ||
				bytes.IndexByte([]byte("${([<"), rest[0]) >= 0) {
				return -1
			}
			return i
		case mark != "$" && bytes.HasPrefix(line[i:], []byte(mark)):
			return i
		}
	}
	return -1
}

func wordy(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// html shows the formula, or what it was written as.
func (n *formulaNode) html() string {
	shown, err := mathML(n.tex, n.block, n.spent)
	switch {
	case errors.Is(err, formula.ErrSpent):
		shown = "<code>" + render.EscapeText(n.source) +
			`</code> <span class="unread">(drawing this text's formulas takes too long)</span>`
	case err != nil:
		shown = "<code>" + render.EscapeText(n.source) +
			`</code> <span class="unread">(this formula cannot be read)</span>`
	}
	return shown
}

// mathBlock shows a formula that is a block, or its source.
func mathBlock(tex string, spent *formula.Spent) string {
	shown, err := mathML(tex, true, spent)
	switch {
	case errors.Is(err, formula.ErrSpent):
		return `<p class="unread">Drawing this text's formulas takes too long: the source is shown.</p>` +
			"\n" + pre(render.EscapeText(tex))
	case err != nil:
		return `<p class="unread">This formula cannot be read: its source is shown.</p>` + "\n" +
			pre(render.EscapeText(tex))
	}
	return `<div class="math" tabindex="0">` + shown + "</div>\n"
}

// mathML is a formula, not yet clean. Errors are those of [formula.MathML].
func mathML(tex string, block bool, spent *formula.Spent) (string, error) {
	if render.Isolate(tex) != tex {
		return "", formula.ErrUnreadable // its source shows what hides in it
	}
	return formula.MathML(formula.Source{TeX: tex, Block: block}, spent)
}

// isMath reports whether a block of code in a language is mathematics.
func isMath(info string) bool {
	language, _, _ := strings.Cut(info, " ")
	return strings.EqualFold(language, "math")
}

// mathElements are those of formulas.
var mathElements = []string{"math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "mfrac",
	"msqrt", "mroot", "msub", "msup",
	"msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts", "none", "mtable",
	"mtr", "mtd", "mstyle", "mpadded",
	"mphantom"}

// allowFormulas adds what formulas may have: names, lengths and classes, but no address, style or
// action.
func allowFormulas(p *bluemonday.Policy) {
	p.AllowNoAttrs().OnElements(mathElements...)
	p.AllowAttrs("display", "displaystyle", "scriptlevel", "mathvariant", "stretchy", "fence",
		"separator", "symmetric",
		"largeop", "movablelimits", "accent", "accentunder", "form", "lspace", "rspace", "minsize",
		"maxsize", "width", "height",
		"depth", "voffset", "linethickness", "columnspan", "rowspan", "class").
		Matching(regexp.MustCompile(`^[a-z0-9.%+ -]*$`)).OnElements(mathElements...)
}
