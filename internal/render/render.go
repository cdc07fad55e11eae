// Package render turns untrusted text into safe HTML: rows, tables, trees, differences, bytes,
// names. Source code, Markdown and what programs write to terminals have rooms of their own below
// it. Nothing else makes a template.HTML: one that was not made here or below is a bug.
//
// # Guarantees
//
// They hold for this package and for those below it.
//
//   - Whatever the input, the output holds only the elements and attributes each function names,
//     never a style, an event handler, a src, an id, or an address other than http, https and
//     mailto.
//   - Colours are classes of a closed list: chroma's short names for code, a0–a15 and x16–x255 for
//     terminals.
//   - Rows keep their text: the textContent of a row is the line without its line end, invalid
//     UTF-8 as U+FFFD and control characters as their pictures (␛). Bidirectional controls stay but
//     are isolated in a bdi element, so they cannot reorder what stands around them.
//   - Work is bounded: [WorkLimit] for a window of code, five times that for rows of a terminal
//     that are made again, and time that grows with the length of the text, not with its square,
//     for everything else.
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

// WorkLimit is the processor time one request for rows may spend on highlighting; what is left then
// is shown as plain text. With the lexer's last step a request takes less than 100 ms.
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
	// highlighted as the whole document would be; false when the state above was guessed
	Exact bool
}

// OpenRow writes the start of a row with this number up to where its text begins.
func OpenRow(b *strings.Builder, number int) {
	n := strconv.Itoa(number)
	b.WriteString(`<div class="line"><a class="ln" href="#L` + n + `" aria-label="Line ` + n + `">` +
		n + `</a><code class="cl">`)
}

// CloseRow writes the end of a row.
func CloseRow(b *strings.Builder) { b.WriteString("</code></div>\n") }

// CutRow returns a row of at most most bytes, and some more that end it: of a longer one the
// beginning.
func CutRow(row template.HTML, most int) template.HTML {
	if len(row) <= most {
		return row
	}
	head := string(row[:most])
	// none is cut in two
	for _, begin := range []struct{ opens, ends string }{{"<", ">"}, {"&", ";"}} {
		if i := strings.LastIndex(head, begin.opens); i > strings.LastIndex(head, begin.ends) {
			head = head[:i]
		}
	}
	var b strings.Builder
	b.WriteString(strings.ToValidUTF8(head, ""))
	for _, tag := range []string{"span", "a"} {
		for range strings.Count(head, "<"+tag+" ") - strings.Count(head, "</"+tag+">") {
			b.WriteString("</" + tag + ">")
		}
	}
	b.WriteString(`<span class="c"> …</span>`)
	CloseRow(&b)
	return template.HTML(b.String())
}

// LeftOut is the row in place of lines that were not kept.
//
//	<div class="line gap"><span class="ln"></span><code class="cl">… 2.0 kB (32 lines) left out …</code></div>
func LeftOut(bytes, lines int64) template.HTML {
	var b strings.Builder
	b.WriteString(`<div class="line gap"><span class="ln"></span><code class="cl">… ` +
		wording.Size(bytes))
	if lines > 0 {
		b.WriteString(" (" + wording.Count(lines) + " lines)")
	}
	b.WriteString(" left out …")
	CloseRow(&b)
	return template.HTML(b.String())
}
