package render

import (
	"cmp"
	"html/template"
	"iter"
	"regexp"
	"strconv"
	"strings"
)

// Diff shows a unified diff: one row a line, the old and the new line number in the gutter, removed and added text as
// <span class="gd"> and <span class="gi">, file heads as gh, hunk heads as gu. Lines the format does not know are plain.
// Lines over [LongLine] characters are cut with a note of what is left out, since a diff here is for reading before a
// decision: the whole text stays with its owner.
//
//	<div class="line gi"><span class="ln">12</span><code class="cl"><span class="gi">+text</span></code></div>
func Diff(unified string) template.HTML {
	var b strings.Builder
	for l := range unifiedLines(unified) {
		number, class := "", ""
		switch l.kind {
		case '-':
			number, class = strconv.Itoa(l.old), "gd"
		case '+':
			number, class = strconv.Itoa(l.new), "gi"
		case '=':
			number = strconv.Itoa(l.new)
		case '@':
			class = "gu"
		case 'h':
			class = "gh"
		}
		diffRow(&b, number, class, l.text)
	}
	return template.HTML(b.String())
}

// TwoColumns shows a unified diff as [DiffRows] do a comparison: instead of a hunk's head stands how
// many lines before it are the same.
func TwoColumns(unified string) template.HTML {
	var rows DiffRows
	next := 1 // the first line of the new text that no row stands for
	for l := range unifiedLines(unified) {
		row := DiffLine{Kind: l.kind, Old: l.old, New: l.new}
		switch l.kind {
		case '@':
			if row.Kind, row.New, row.Fold = '.', next, l.new-next; row.Fold > 0 {
				rows.Add(row)
			}
			next = l.new
			continue
		case '-':
			row.Text, row.New = l.text[1:], 0
		case '+':
			row.Text, row.Old = l.text[1:], 0
			next++
		case '=':
			row.Text = strings.TrimPrefix(l.text, " ")
			next++
		case 'h':
			row = DiffLine{Kind: '=', Text: l.text}
			next = 1
		default:
			row = DiffLine{Kind: '=', Text: l.text}
		}
		rows.Add(row)
	}
	return rows.HTML()
}

// CountDiff counts the added and removed lines of a unified diff.
func CountDiff(unified string) (added, removed int) {
	for l := range unifiedLines(unified) {
		switch l.kind {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}

// unifiedLine is a line of a unified diff.
type unifiedLine struct {
	kind     byte // '=' the same, '-' removed, '+' added, '@' a hunk's head, 'h' a file's, '\\' a remark
	old, new int  // its numbers in both texts; of a hunk's head those it begins with
	text     string
}

// unifiedLines reads a unified diff line by line.
func unifiedLines(unified string) iter.Seq[unifiedLine] {
	return func(yield func(unifiedLine) bool) {
		var before, after, oldLeft, newLeft int
		for line := range strings.Lines(unified) {
			l := unifiedLine{text: strings.TrimRight(line, "\r\n")}
			remark, inHunk := strings.HasPrefix(line, `\`), oldLeft > 0 || newLeft > 0
			if !inHunk && strings.HasPrefix(line, "@@ ") {
				before, oldLeft, after, newLeft = hunk(l.text)
			}
			l.old, l.new = before, after
			switch {
			case remark:
				l.kind = '\\'
			case !inHunk && strings.HasPrefix(line, "@@ "):
				l.kind = '@'
			case !inHunk:
				l.kind = 'h'
			case line[0] == '-':
				l.kind = '-'
				before++
				oldLeft--
			case line[0] == '+':
				l.kind = '+'
				after++
				newLeft--
			default:
				l.kind = '='
				before++
				after++
				oldLeft--
				newLeft--
			}
			if !yield(l) {
				return
			}
		}
	}
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

var hunkHead = regexp.MustCompile(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))?(?: |$)`)

// hunk reads "@@ -1,5 +1,6 @@". One it cannot read is all 0, which makes the lines below plain, never wrong.
func hunk(line string) (before, oldLeft, after, newLeft int) {
	var n [4]int
	for i, digits := range hunkHead.FindStringSubmatch(line) {
		if i > 0 {
			n[i-1], _ = strconv.Atoi(cmp.Or(digits, "1")) // nothing but nine digits
		}
	}
	return n[0], n[1], n[2], n[3]
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
