package code

import (
	"strings"
	"time"
	"unicode/utf16"

	"webchat/internal/render"
)

const (
	// MaxBlock is how many bytes of a piece of code are coloured.
	MaxBlock = 16 << 10

	fenceTime = 250 * time.Millisecond // that colouring a piece of code may take when it has ended
	linesTime = time.Second            // and, all in all, while it arrives
)

// Block colours a piece of code in the language its fence names, or leaves it plain: when it is
// large, when the language is not known, and when it would take longer than fenceTime.
func Block(info, code string) string {
	g := fenceGrammar(info)
	if g == nil || len(code) > MaxBlock {
		return render.EscapeText(code)
	}
	work := render.BeginWork(fenceTime)
	defer work.End()
	var out strings.Builder
	if _, ok := lexInto(&out, g, code, rootState, work); !ok {
		return render.EscapeText(code)
	}
	return out.String()
}

// fenceGrammar returns the grammar for the first word behind a fence; nil means plain text.
func fenceGrammar(info string) *grammar {
	name, _, _ := strings.Cut(strings.TrimLeft(info, "{."), " ")
	name, _, _ = strings.Cut(name, ",")
	name, _, _ = strings.Cut(name, "{")
	g := grammars()[LanguageNamed(strings.Trim(name, "{}."))]
	if g == nil || g.err() != nil {
		return nil
	}
	return g
}

// lexInto writes code as spans and returns the state at its end; false if it took too long, or the
// grammar failed.
func lexInto(out *strings.Builder, g *grammar, code string, state *lexState,
	work *render.Work) (*lexState, bool) {
	class := ""
	write := func(c, text string) {
		if c != class {
			if class != "" {
				out.WriteString("</span>")
			}
			if c != "" {
				out.WriteString(`<span class="` + c + `">`)
			}
			class = c
		}
		out.WriteString(render.EscapeText(text))
	}
	state, ok := lexed(g, code, state, work, write)
	if ok && class != "" {
		out.WriteString("</span>")
	}
	return state, ok
}

// lexed calls write with the parts of code in order, none of them empty, and the class of each.
func lexed(g *grammar, code string, state *lexState, work *render.Work,
	write func(class, text string)) (*lexState, bool) {
	for line := range strings.Lines(code) {
		if len(line) > render.LongLine {
			return nil, false
		}
	}
	code = strings.ToValidUTF8(code, "\uFFFD")
	l, err := g.start(code, 0, state)
	if err != nil {
		return nil, false
	}
	some := func(class, text string) {
		if text != "" {
			write(class, text)
		}
	}
	for n := 1; ; n++ {
		gap, t, ok, err := l.token()
		if err != nil || n%8 == 0 && work.Over() {
			return nil, false
		}
		if !ok {
			break
		}
		some("", gap)
		some(tokenClass(t.Type), t.Value)
	}
	some("", code[l.pos:])
	return l.at(), true
}

// Span is a part of a line in one colour.
type Span struct {
	Length int    `json:"n"`           // in UTF-16 units
	Class  string `json:"c,omitempty"` // as in rows; empty: the colour of the text around it
}

// Spans colours pieces of files, each of some lines, as the rows of a document are coloured: for
// each line its spans. A piece has none if its language is not known by the file's name, and where
// the pieces before it were more than [MaxBlock] bytes or took longer than a piece of code may.
func Spans(pieces []Piece) [][][]Span {
	all := make([][][]Span, len(pieces))
	work := render.BeginWork(fenceTime)
	defer work.End()
	size := 0
	for i, p := range pieces {
		if size += len(p.Text); size > MaxBlock || work.Over() {
			break
		}
		g := grammars()[Language(p.Path, nil)]
		if g == nil || g.err() != nil {
			continue
		}
		lines := [][]Span{nil}
		_, ok := lexed(g, p.Text, rootState, work, func(class, text string) {
			for k, part := range strings.Split(text, "\n") {
				if k > 0 {
					lines = append(lines, nil)
				}
				line := &lines[len(lines)-1]
				n := 0
				for _, r := range part {
					n += utf16.RuneLen(r)
				}
				if k := len(*line); k > 0 && (*line)[k-1].Class == class {
					(*line)[k-1].Length += n
				} else if n > 0 {
					*line = append(*line, Span{n, class})
				}
			}
		})
		if ok {
			all[i] = lines
		}
	}
	return all
}

// Piece is some lines of a file.
type Piece struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// Lines colours code line by line while it arrives: what spans lines and is not a state of the
// grammar is coloured as it should be when the code has ended, and is coloured as a whole.
type Lines struct {
	grammar *grammar
	begun   bool
	state   *lexState
	size    int
	spent   time.Duration
}

// Write writes whole lines to out; info is what stands behind the fence, the same each time.
func (l *Lines) Write(out *strings.Builder, info, lines string) {
	if !l.begun {
		l.begun, l.grammar, l.state = true, fenceGrammar(info), rootState
	}
	for line := range strings.Lines(lines) {
		if l.size += len(line); l.grammar == nil || l.size > MaxBlock || l.spent > linesTime {
			out.WriteString(render.EscapeText(line))
			continue
		}
		var b strings.Builder
		work := render.BeginWork(fenceTime)
		state, ok := lexInto(&b, l.grammar, line, l.state, work)
		l.spent += work.Spent()
		work.End()
		if !ok {
			out.WriteString(render.EscapeText(line))
			continue
		}
		if state != nil {
			l.state = state
		}
		out.WriteString(b.String())
	}
}
