package terminal

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"webchat/internal/render"

	tty "github.com/buildkite/terminal-to-html/v3"
)

const (
	screenColumns = 512 // commands are given 120; longer lines are wrapped inside and joined again
	screenLines   = 100 // how far up a program may move
	screenBuffer  = 164 // with the room a wrapped line needs before it may scroll out
)

// screen is the terminal library's screen behind our filter. Rows that have scrolled out of reach
// go to out, final; those still in reach are returned by rows.
type screen struct {
	filter  filter
	screen  *tty.Screen
	pending []byte // what the library has not been given yet
	out     func(row string)
	wrote   bool // text since the last line feed or absolute position
}

func newScreen(out func(row string)) *screen {
	t := &screen{out: out}
	s, err := tty.NewScreen(tty.WithSize(screenColumns, screenLines),
		tty.WithMaxSize(screenColumns, screenBuffer))
	if err != nil {
		panic("render: a screen of a fixed size was refused: " + err.Error())
	}
	s.Timestamps = false
	s.ScrollOutFunc = func(row string) { t.out(strings.TrimSuffix(row, "\n")) }
	t.screen = s
	return t
}

func (t *screen) write(p []byte) { t.filter.write(p, t) }

func (t *screen) text(r rune) {
	t.pending = utf8.AppendRune(t.pending, r)
	t.wrote = true
	if len(t.pending) > 4<<10 {
		t.flush()
	}
}

func (t *screen) control(c byte) {
	t.wrote = t.wrote && c != '\n'
	t.pending = append(t.pending, c)
}

func (t *screen) sequence(s string) { t.pending = append(t.pending, s...) }

// position obeys an absolute position. Which row is meant is not known, since the size of the
// window the program assumes is not known; it is the next one unless nothing was written to the
// present one.
func (t *screen) position(column int) {
	if t.wrote {
		t.control('\n')
	}
	t.sequence("\x1b[" + strconv.Itoa(column) + "G")
}

func (t *screen) flush() {
	t.screen.Write(t.pending) // never fails
	t.pending = t.pending[:0]
}

// rows returns what is still in reach, in the library's HTML.
func (t *screen) rows() []string {
	t.flush()
	html := t.screen.AsHTMLWithTimestamps(false)
	if html == "" {
		return nil
	}
	return strings.Split(html, "\n")
}

// termRow writes the text of one row: it keeps only spans and text of the library's HTML.
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
			if class = classes(strings.TrimSuffix(class, `"`)); class != "" {
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
var unescapeTerm = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'",
	"&#47;", "/", "&amp;", "&")
