// Package render turns untrusted text into safe HTML: rows, tables, trees, differences, bytes, names. Source code,
// Markdown and what programs write to terminals have rooms of their own below it. Nothing else makes a template.HTML:
// one that was not made here or below is a bug.
//
// # Guarantees
//
// They hold for this package and for those below it.
//
//   - Whatever the input, the output holds only the elements and attributes each function names, never a style, an
//     event handler, a src, an id the caller did not ask for, or an address other than http, https and mailto.
//   - Colours are classes of a closed list: chroma's short names for code, a0–a15 and x16–x255 for terminals.
//   - Rows keep their text: the textContent of a row is the line without its line end, invalid UTF-8 as U+FFFD
//     and control characters as their pictures (␛). Bidirectional controls stay but are isolated in a bdi element, so
//     they cannot reorder what stands around them.
//   - Work is bounded: [WorkLimit] for a window of code, five times that for rows of a terminal that are made again,
//     and time that grows with the length of the text, not with its square, for everything else.
//
// # Concurrency
//
// Functions may be called concurrently. A [Table] and [DiffRows] belong to one goroutine at a time.
package render

import (
	"html/template"
	"strconv"
	"strings"
	"time"

	"webchat/internal/wording"
)

// WorkLimit is the processor time one request for rows may spend on highlighting; what is left then is shown as plain text.
// With the lexer's last step a request takes less than 100 ms.
const WorkLimit = 90 * time.Millisecond

const (
	// LongLine is how many characters a line may have and still be highlighted.
	LongLine = 4000
	// MaxRows is the most lines one window has.
	MaxRows = 5000
)

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

// Clean returns o with its defaults, and nothing in the anchor that may not be there.
func (o RowOptions) Clean() RowOptions {
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

// OpenRow writes the start of line n (from 1) up to where its text begins.
func (o *RowOptions) OpenRow(b *strings.Builder, n int) {
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

// CloseRow writes the end of a row.
func (o *RowOptions) CloseRow(b *strings.Builder) {
	if o.Bare {
		b.WriteByte('\n')
		return
	}
	closeRow(b)
}

func closeRow(b *strings.Builder) { b.WriteString("</code></div>\n") }

// LeftOut is the row that stands for lines that were not kept.
//
//	<div class="line gap"><span class="ln"></span><code class="cl">… 2.0 kB (32 lines) left out …</code></div>
func LeftOut(bytes, lines int64) template.HTML {
	var b strings.Builder
	b.WriteString(`<div class="line gap"><span class="ln"></span><code class="cl">… ` + wording.Size(bytes))
	if lines > 0 {
		b.WriteString(" (" + wording.Count(lines) + " lines)")
	}
	b.WriteString(" left out …")
	closeRow(&b)
	return template.HTML(b.String())
}
