package render

import (
	"html/template"
	"strconv"
	"strings"
)

// Entries shows the names in a folder, one row each, numbered from first. A name that ends in a slash is a folder, one that
// ends in " (link)" a link.
//
//	<div class="line entry dir"><span class="ln">1</span><code class="cl">internal/</code></div>
func Entries(names []string, first int) template.HTML {
	var b strings.Builder
	for i, name := range names {
		class := "entry"
		if strings.HasSuffix(name, "/") {
			class += " dir"
		}
		shown, link := strings.CutSuffix(name, " (link)")
		if link {
			class += " link"
		}
		b.WriteString(`<div class="line ` + class + `"><span class="ln">` + strconv.Itoa(first+i) + `</span><code class="cl">`)
		visible(&b, shown)
		closeRow(&b)
	}
	return template.HTML(b.String())
}

// blockSpace is how much HTML of blocks one call makes before it ends early, in bytes.
const blockSpace = 1 << 20

// Blocks shows blocks from to to of a text (from 1, both included), each in a div that says at which line it begins, and
// returns the number of the last one it made: fewer than asked for if they are large.
//
//	<div class="block" data-line="12">…</div>
func Blocks(s *MarkdownStream, lines []int, from, to int) (template.HTML, int) {
	var b strings.Builder
	n := from - 1
	for n < to && b.Len() < blockSpace {
		n++
		b.WriteString(`<div class="block" data-line="` + strconv.Itoa(lines[n-1]) + `">`)
		b.WriteString(string(s.Block(n - 1).Whole()))
		b.WriteString("</div>\n")
	}
	return template.HTML(b.String()), n
}
