package render

import (
	"strings"
	"unicode/utf8"

	terminal "github.com/buildkite/terminal-to-html/v3"
)

const (
	screenColumns = 512 // commands are told 120; longer lines are wrapped inside and joined again
	screenLines   = 100 // how far up a program may move
	screenBuffer  = 164 // with the room a wrapped line needs before it may leave
)

// termScreen is the terminal library's screen behind our filter. Rows that have scrolled out of reach go to out, final;
// those still in reach are returned by rows.
type termScreen struct {
	filter  termFilter
	screen  *terminal.Screen
	pending []byte // what the library has not been given yet
	out     func(row string)
	gone    int // rows handed to out
	breaks  int // line feeds so far
	probe   probe
}

// probe looks for a place to start from again: a row that is new, at the bottom, written from its first column.
type probe struct {
	state    probeState
	scrolled int
}

type probeState uint8

const (
	probeOff   probeState = iota
	probeArmed            // the next character decides
	probeHit              // it began a new row
)

func newTermScreen(out func(string)) *termScreen {
	t := &termScreen{out: out}
	screen, err := terminal.NewScreen(terminal.WithSize(screenColumns, screenLines), terminal.WithMaxSize(screenColumns, screenBuffer))
	if err != nil {
		panic("render: a screen of a fixed size was refused: " + err.Error())
	}
	screen.Timestamps = false
	screen.ScrollOutFunc = func(line string) {
		t.gone++
		if t.out != nil {
			t.out(strings.TrimSuffix(line, "\n"))
		}
	}
	t.screen = screen
	return t
}

// fill makes the screen look as it does at any place a probe hit: full, the cursor below the last row at the first
// column. The rows above are blank instead of what they were, which nothing below can see.
func (t *termScreen) fill() {
	t.pending = append(t.pending, strings.Repeat(" \n", screenBuffer)+"\x1b7"...)
	t.flush()
	t.gone = 0
}

func (t *termScreen) write(p []byte) {
	t.filter.write(p, t)
}

func (t *termScreen) text(r rune) {
	t.pending = utf8.AppendRune(t.pending, r)
	if t.probe.state == probeArmed {
		t.flush()
		t.probe.state = probeOff
		if t.screen.LinesScrolledOut > t.probe.scrolled {
			t.probe.state = probeHit
		}
	}
	if len(t.pending) > 4<<10 {
		t.flush()
	}
}

func (t *termScreen) control(c byte) {
	if c == '\n' {
		t.breaks++
	}
	t.probe.state = probeOff
	t.pending = append(t.pending, c)
}

func (t *termScreen) sequence(s string) {
	if !strings.HasSuffix(s, "m") {
		t.probe.state = probeOff
	}
	t.pending = append(t.pending, s...)
}

// arm starts a probe just after a line feed. The saved cursor is forgotten there, so that nothing above is needed.
func (t *termScreen) arm() {
	t.sequence("\x1b7")
	t.flush()
	t.probe = probe{probeArmed, t.screen.LinesScrolledOut}
}

func (t *termScreen) flush() {
	t.screen.Write(t.pending) // never fails
	t.pending = t.pending[:0]
}

// rows returns what is still in reach, in the library's HTML.
func (t *termScreen) rows() []string {
	t.flush()
	html := t.screen.AsHTMLWithTimestamps(false)
	if html == "" {
		return nil
	}
	return strings.Split(html, "\n")
}

// height is the number of rows in reach.
func (t *termScreen) height() int {
	t.flush()
	return strings.Count(t.screen.AsPlainText(), "\n") + 1
}

// termRow writes the text of one row: the library's HTML, of which only spans and text are believed.
func termRow(b *strings.Builder, row string) {
	if row == "&nbsp;" {
		return
	}
	open := false
	for row != "" {
		i := strings.IndexByte(row, '<')
		if i < 0 {
			i = len(row)
		}
		escape(b, unescapeTerm.Replace(row[:i]))
		row = row[i:]
		if row == "" {
			break
		}
		tag, rest, _ := strings.Cut(row, ">")
		row = rest
		if open {
			b.WriteString("</span>")
			open = false
		}
		if class, ok := strings.CutPrefix(tag, `<span class="`); ok {
			if class = termClasses(strings.TrimSuffix(class, `"`)); class != "" {
				b.WriteString(`<span class="` + class + `">`)
				open = true
			}
		}
	}
	if open {
		b.WriteString("</span>")
	}
}

// unescapeTerm undoes the library's own escaping, so that there is one way text is escaped here.
var unescapeTerm = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&#47;", "/", "&amp;", "&")
