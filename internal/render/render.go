// Package render turns untrusted text into safe HTML. Nothing else makes a template.HTML: one that was
// not made here is a bug.
//
// # Guarantees
//
//   - Whatever the input, the output holds only the elements and attributes each function names, never a style, an
//     event handler, a src, an id the caller did not ask for, or an address other than http, https and mailto.
//   - Colours are classes of a closed list: chroma's short names for code, a0–a15 and x16–x255 for terminals
//     ([TerminalCSS] gives the latter their colours).
//   - Code rows keep their text: the textContent of a row is the line without its line end, invalid UTF-8 as U+FFFD
//     and control characters as their pictures (␛). Bidirectional controls stay but are isolated in a bdi element, so
//     they cannot reorder what stands around them.
//   - Work is bounded: [WorkLimit] for a window of code, five times that for rows of a terminal that are made again,
//     and time that grows with the length of the text, not with its square, for everything else.
//
// # Concurrency
//
// Functions may be called from anywhere. [Code] and [Terminal] lock themselves; a [MarkdownStream] belongs to one
// goroutine at a time.
//
// # Usage
//
//	lang := render.Language("main.go", head)
//	code := render.NewCode(lang, source, render.RowOptions{})
//	rows, err := code.Rows(ctx, 1, 500)           // later windows cost what they show, not what is above them
//
//	html := render.Markdown(answer)
//
//	var s render.MarkdownStream
//	s.Write(delta)
//	for _, patch := range s.Patches() { ... }     // finished blocks once, the open one again
//	s.End()                                       // the text is whole
package render

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// WorkLimit is the processor time one request for rows may spend on highlighting; what is left then is shown as plain text.
const WorkLimit = 100 * time.Millisecond

// Rows is a window of a document.
type Rows struct {
	HTML     template.HTML // one <div class="line"> for each line from From to To
	From, To int           // line numbers counted from 1; To < From when the window is empty
	Plain    bool          // some of it is plain text because the time ran out or lines were too long
	Exact    bool          // highlighted as the whole document would be; false when the state above was guessed
}

// RowOptions is how rows are numbered and linked.
type RowOptions struct {
	// First is the number shown for the document's first line; 0 means 1.
	First int
	// Anchor, when not empty, gives each row an id Anchor+"L10" and is put before its link: href="#AnchorL10".
	// Only letters, digits, - and _ are kept.
	Anchor string
	// Bare leaves out what stands around each row: a row is its text, and rows are parted by line ends.
	Bare bool
}

func (o RowOptions) clean() RowOptions {
	if o.First <= 0 {
		o.First = 1
	}
	o.Anchor = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return -1
	}, o.Anchor)
	return o
}

// openRow writes the start of line n (from 1) up to where its text begins.
func (o *RowOptions) openRow(b *strings.Builder, n int) {
	o.openRowClass(b, n, "")
}

func (o *RowOptions) openRowClass(b *strings.Builder, n int, class string) {
	if o.Bare {
		return
	}
	num := strconv.Itoa(n - 1 + o.First)
	b.WriteString(`<div class="line`)
	if class != "" {
		b.WriteByte(' ')
		b.WriteString(class)
	}
	b.WriteByte('"')
	if o.Anchor != "" {
		b.WriteString(` id="` + o.Anchor + "L" + num + `"`)
	}
	b.WriteString(`><a class="ln" href="#` + o.Anchor + "L" + num + `" aria-label="Line ` + num + `">` + num + `</a><code class="cl">`)
}

func (o *RowOptions) closeRow(b *strings.Builder) {
	if o.Bare {
		b.WriteByte('\n')
		return
	}
	closeRow(b)
}

func closeRow(b *strings.Builder) { b.WriteString("</code></div>\n") }

// LeftOut is the row that stands for lines that were not kept.
//
//	<div class="line gap"><span class="ln"></span><code class="cl">… 2,048 bytes (32 lines) left out …</code></div>
func LeftOut(bytes, lines int64) template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="line gap"><span class="ln"></span><code class="cl">… %d bytes (%d lines) left out …`, bytes, lines)
	closeRow(&b)
	return template.HTML(b.String())
}

// escape writes s as text: HTML's own characters as entities, invalid UTF-8 as U+FFFD, control characters as pictures, and
// bidirectional controls isolated. Tab and newline stay.
func escape(b *strings.Builder, s string) {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if rep := asciiEscapes[c]; rep != "" {
				b.WriteString(s[start:i])
				b.WriteString(rep)
				start = i + 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1, 0x80 <= r && r < 0xa0:
			b.WriteString(s[start:i])
			b.WriteString("\uFFFD")
			start = i + size
		case isBidi(r):
			b.WriteString(s[start:i])
			b.WriteString(`<bdi class="err" title="` + codePoint(r) + `">` + s[i:i+size] + `</bdi>`)
			start = i + size
		}
		i += size
	}
	b.WriteString(s[start:])
}

var asciiEscapes = func() (t [utf8.RuneSelf]string) {
	for c := range 0x20 {
		t[c] = string(rune(0x2400 + c))
	}
	t['\t'], t['\n'] = "", ""
	t[0x7f] = "\u2421"
	t['<'], t['>'], t['&'], t['"'], t['\''] = "&lt;", "&gt;", "&amp;", "&#34;", "&#39;"
	return t
}()

// isBidi reports the characters that change the direction of what follows them.
func isBidi(r rune) bool {
	return 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}

func codePoint(r rune) string {
	s := strings.ToUpper(strconv.FormatInt(int64(r), 16))
	return "U+" + strings.Repeat("0", max(0, 4-len(s))) + s
}
