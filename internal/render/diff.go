package render

import (
	"html/template"
	"strconv"
	"strings"
)

// Diff shows the rows of a diff, of which a Kind may also be '@', the head of a hunk, or 'h',
// outside of hunks: the old or the new line number in the gutter, removed and added text as <span
// class="gd"> and <span class="gi">, file heads as gh, hunk heads as gu. What is of none of these
// is plain. Lines over [LongLine] characters are cut with a note of what is left out, since a diff
// here is for reading before a decision: the whole text stays with its owner.
//
//	<div class="line gi"><span class="ln">12</span><code class="cl"><span class="gi">+text</span></code></div>
func Diff(rows []DiffLine) template.HTML {
	var b strings.Builder
	for _, l := range rows {
		number, class := "", ""
		switch l.Kind {
		case '-':
			number, class = strconv.Itoa(l.Old), "gd"
		case '+':
			number, class = strconv.Itoa(l.New), "gi"
		case '=':
			number = strconv.Itoa(l.New)
		case '@':
			class = "gu"
		case 'h':
			class = "gh"
		}
		diffRow(&b, number, class, l.Text)
	}
	return template.HTML(b.String())
}

// TwoColumns shows the rows of a diff as [DiffRows] do a comparison: instead of a hunk's head
// stands how many lines before it are the same.
func TwoColumns(diff []DiffLine) template.HTML {
	var rows DiffRows
	next := 1 // the first line of the new text that no row stands for
	for _, l := range diff {
		row := DiffLine{Kind: l.Kind, Old: l.Old, New: l.New}
		switch l.Kind {
		case '@':
			if row.Kind, row.New, row.Fold = '.', next, l.New-next; row.Fold > 0 {
				rows.Add(row)
			}
			next = l.New
			continue
		case '-':
			row.Text, row.New = l.Text[1:], 0
		case '+':
			row.Text, row.Old = l.Text[1:], 0
			next++
		case '=':
			row.Text = strings.TrimPrefix(l.Text, " ")
			next++
		case 'h':
			row = DiffLine{Kind: '=', Text: l.Text}
			next = 1
		default:
			row = DiffLine{Kind: '=', Text: l.Text}
		}
		rows.Add(row)
	}
	return rows.HTML()
}

func diffRow(b *strings.Builder, number, class, line string) {
	b.WriteString(`<div class="line"><span class="ln">` + number + `</span><code class="cl">`)
	if class != "" {
		b.WriteString(`<span class="` + class + `">`)
	}
	head, left := CutRunes(line, LongLine)
	Escape(b, head)
	if class != "" {
		b.WriteString(`</span>`)
	}
	More(b, left)
	CloseRow(b)
}

// CutRunes returns at most n characters of s and how many bytes were left out.
func CutRunes(s string, n int) (head string, left int) {
	if len(s) <= n {
		return s, 0
	}
	for i := range s {
		if n == 0 {
			return s[:i], len(s) - i
		}
		n--
	}
	return s, 0
}
