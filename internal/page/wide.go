package page

import (
	"html/template"
	"strings"
)

// wideColumns is the longest line a card shows at its normal width.
const wideColumns = 92

// tabColumns is how wide a card shows a tab at most.
const tabColumns = 4

// wide reports whether one of the rows is longer than a card is at its normal
// width. It reads no more than the rows the page holds anyway.
func wide(rows template.HTML) bool {
	for row := range strings.SplitSeq(string(rows), "</code>") {
		_, text, ok := strings.Cut(row, `<code class="cl">`)
		if ok && longer(text, wideColumns) {
			return true
		}
	}
	return false
}

// longer reports whether HTML shows more than limit columns: what is in tags does
// not count, and a character reference is one.
func longer(html string, limit int) bool {
	tag, reference, n := false, false, 0
	for _, r := range html {
		switch {
		case tag:
			tag = r != '>'
		case r == '<':
			tag = true
		case reference:
			reference = r != ';'
		default:
			reference = r == '&'
			if n++; r == '\t' {
				n += tabColumns - 1 - (n-1)%tabColumns
			}
		}
		if n > limit {
			return true
		}
	}
	return false
}
