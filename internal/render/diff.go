package render

import (
	"cmp"
	"html/template"
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
	var before, after, oldLeft, newLeft int
	for line := range strings.Lines(unified) {
		line = strings.TrimRight(line, "\r\n")
		number, class := "", ""
		inHunk := oldLeft > 0 || newLeft > 0
		switch {
		case inHunk && strings.HasPrefix(line, "-"):
			number, class = strconv.Itoa(before), "gd"
			before++
			oldLeft--
		case inHunk && strings.HasPrefix(line, "+"):
			number, class = strconv.Itoa(after), "gi"
			after++
			newLeft--
		case inHunk && !strings.HasPrefix(line, `\`):
			number = strconv.Itoa(after)
			before++
			after++
			oldLeft--
			newLeft--
		case strings.HasPrefix(line, "@@ "):
			class = "gu"
			before, oldLeft, after, newLeft = hunk(line)
		case !strings.HasPrefix(line, `\`):
			class = "gh"
		}
		diffRow(&b, number, class, line)
	}
	return template.HTML(b.String())
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
