package render

import (
	"html"
	"strings"
	"time"
)

const (
	fenceTime = 250 * time.Millisecond // that colouring a piece of code may take when it has ended
	linesTime = time.Second            // and, all in all, while it arrives
)

// pre is a piece of code as answers show it; inner is HTML.
func pre(inner string) string {
	return `<pre class="chroma" tabindex="0"><code>` + inner + "</code></pre>\n"
}

// codeBlock colours a piece of code in the language its fence names, or leaves it plain: when it is large, when the
// language is not known, and when it would take longer than fenceTime.
func codeBlock(info, code string) string {
	g := fenceGrammar(info)
	if g == nil || len(code) > fenceMemory {
		return escapeText(code)
	}
	work := beginWork(fenceTime)
	defer work.end()
	var out strings.Builder
	if _, ok := lexInto(&out, g, code, rootState, work); !ok {
		return escapeText(code)
	}
	return out.String()
}

// fenceGrammar returns the grammar for the first word behind a fence; nil: plain text.
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

// lexInto writes code as spans and returns the state at its end; false: it took too long, or the grammar failed.
func lexInto(out *strings.Builder, g *grammar, code string, state *lexState, work *work) (*lexState, bool) {
	for line := range strings.Lines(code) {
		if len(line) > LongLine {
			return nil, false
		}
	}
	code = strings.ToValidUTF8(code, "\uFFFD")
	l, err := g.start(code, 0, state)
	if err != nil {
		return nil, false
	}
	class := ""
	write := func(c, text string) {
		if text == "" {
			return
		}
		if c != class {
			if class != "" {
				out.WriteString("</span>")
			}
			if c != "" {
				out.WriteString(`<span class="` + c + `">`)
			}
			class = c
		}
		out.WriteString(escapeText(text))
	}
	for n := 1; ; n++ {
		gap, t, ok, err := l.token()
		if err != nil || n%8 == 0 && work.over() {
			return nil, false
		}
		if !ok {
			break
		}
		write("", gap)
		write(tokenClass(t.Type), t.Value)
	}
	write("", code[l.pos:])
	write("", "")
	if class != "" {
		out.WriteString("</span>")
	}
	return l.at(), true
}

// lineLexer colours code line by line while it arrives: what spans lines and is no state of the grammar is coloured as it
// should be when the code has ended, and is coloured as a whole.
type lineLexer struct {
	grammar *grammar
	begun   bool
	state   *lexState
	size    int
	spent   time.Duration
}

func (l *lineLexer) write(out *strings.Builder, info, lines string) {
	if !l.begun {
		l.begun, l.grammar, l.state = true, fenceGrammar(info), rootState
	}
	for line := range strings.Lines(lines) {
		if l.size += len(line); l.grammar == nil || l.size > fenceMemory || l.spent > linesTime {
			out.WriteString(escapeText(line))
			continue
		}
		var b strings.Builder
		work := beginWork(fenceTime)
		state, ok := lexInto(&b, l.grammar, line, l.state, work)
		l.spent += work.spent()
		work.end()
		if !ok {
			out.WriteString(escapeText(line))
			continue
		}
		if state != nil {
			l.state = state
		}
		out.WriteString(b.String())
	}
}

// escapeText writes HTML's own characters as entities. What else must not be seen as it is, [clean] replaces.
func escapeText(s string) string { return html.EscapeString(s) }
