package terminal

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"webchat/internal/render"

	tty "github.com/buildkite/terminal-to-html/v3"
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
	screen  *tty.Screen
	pending []byte                     // what the library has not been given yet
	out     func(line int, row string) // line counts the screen's own, of which a long row takes several
	gone    int                        // rows handed to out
	lines   int                        // line feeds in the bytes so far
	feeds   int                        // line feeds since text was written; many if the cursor was moved otherwise
	wrote   bool                       // text since the last line feed or absolute position
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

func newTermScreen(out func(int, string)) *termScreen {
	t := &termScreen{out: out}
	screen, err := tty.NewScreen(tty.WithSize(screenColumns, screenLines), tty.WithMaxSize(screenColumns, screenBuffer))
	if err != nil {
		panic("render: a screen of a fixed size was refused: " + err.Error())
	}
	screen.Timestamps = false
	screen.ScrollOutFunc = func(line string) {
		t.gone++
		if t.out != nil {
			t.out(t.screen.LinesScrolledOut, strings.TrimSuffix(line, "\n"))
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

// write takes bytes. After each forgetEvery lines the saved cursor is forgotten, so that rows can be made again from there
// without knowing anything of what was above.
func (t *termScreen) write(p []byte) {
	for len(p) > 0 {
		line := p
		if i := bytes.IndexByte(p, '\n'); i >= 0 {
			line = p[:i+1]
		}
		p = p[len(line):]
		t.filter.write(line, t)
		if line[len(line)-1] != '\n' {
			return
		}
		if t.lines++; t.lines%forgetEvery == 0 {
			t.probe.state = probeOff
			t.pending = append(t.pending, "\x1b7"...)
		}
	}
}

func (t *termScreen) text(r rune) {
	t.pending = utf8.AppendRune(t.pending, r)
	t.feeds, t.wrote = 0, true
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
		t.feeds++
		t.wrote = false
	}
	t.probe.state = probeOff
	t.pending = append(t.pending, c)
}

func (t *termScreen) sequence(s string) {
	if !strings.HasSuffix(s, "m") {
		t.probe.state = probeOff
		t.feeds = 2
	}
	t.pending = append(t.pending, s...)
}

// newest is the number of the line that began when the probe hit: the screen was full, or nothing had scrolled out.
func (p *probe) newest() int { return p.scrolled + screenBuffer }

// arm starts a probe just after the saved cursor was forgotten, if the cursor is right below text: below blank lines that
// do not exist yet it would be elsewhere when it is restored.
func (t *termScreen) arm() {
	if t.feeds != 1 {
		return
	}
	t.flush()
	t.probe = probe{probeArmed, t.screen.LinesScrolledOut}
}

// position obeys an absolute position. Which row is meant is not known, since the size of the window the program
// assumes is not known; the library takes the next one unless the present one is empty. What is empty here depends on what
// was written last and not on what stands there, so that it is the same wherever one starts from.
func (t *termScreen) position(column int) {
	if t.wrote {
		t.control('\n')
	}
	t.sequence("\x1b[" + strconv.Itoa(column) + "G")
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

// termRow writes the text of one row: the library's HTML, of which only spans and text are believed.
func termRow(b *strings.Builder, row string) {
	if row == "&nbsp;" {
		return
	}
	if strings.IndexByte(row, '<') < 0 {
		colourVerdicts(b, unescapeTerm.Replace(row))
		return
	}
	open := false
	for row != "" {
		i := strings.IndexByte(row, '<')
		if i < 0 {
			i = len(row)
		}
		render.Escape(b, unescapeTerm.Replace(row[:i]))
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
