package render

import (
	"html/template"
	"strconv"
	"strings"
	"unicode/utf8"
)

// DiffLine is a row of a comparison of two texts.
type DiffLine struct {
	Kind     byte // '=' the same, '-' removed, '+' added, '.' lines that are the same and folded
	Old, New int  // numbers of the line in both texts, 0: none; of folded lines, the first
	Fold     int  // how many are folded
	Change   int  // which change begins here, from 1; 0: none
	HTML     string
	Text     string // shown if HTML is empty
	From, To int    // characters that changed
}

// DiffRows makes the rows of a comparison.
//
//	<div class="line del" data-change="1"><span class="ln">50</span><span class="ln"></span><span class="sg">−</span><code class="cl">…<i>…</i></code></div>
//	<div class="foldline" data-lines="1-45">Lines 1–45 are the same</div>
type DiffRows struct{ b strings.Builder }

// Add adds a row.
func (d *DiffRows) Add(l DiffLine) {
	if l.Kind == '.' {
		from, to := strconv.Itoa(l.New), strconv.Itoa(l.New+l.Fold-1)
		d.b.WriteString(`<div class="foldline" data-lines="` + from + "-" + to + `">Lines ` + from + "–" +
			to + " are the same</div>\n")
		return
	}
	class, sign := "line", " "
	switch l.Kind {
	case '-':
		class, sign = "line del", "−"
	case '+':
		class, sign = "line add", "+"
	}
	d.b.WriteString(`<div class="` + class + `"`)
	if l.Change > 0 {
		d.b.WriteString(` data-change="` + strconv.Itoa(l.Change) + `"`)
	}
	d.b.WriteString(">" + lineNumber(l.Old) + lineNumber(l.New) + `<span class="sg">` + sign +
		`</span><code class="cl">`)
	inner := l.HTML
	if inner == "" {
		var b strings.Builder
		head, left := CutRunes(l.Text, LongLine)
		Escape(&b, head)
		More(&b, left)
		inner = b.String()
	}
	d.b.WriteString(marked(inner, l.From, l.To))
	CloseRow(&d.b)
}

func lineNumber(n int) string {
	if n == 0 {
		return `<span class="ln"></span>`
	}
	return `<span class="ln">` + strconv.Itoa(n) + `</span>`
}

// HTML returns the rows.
func (d *DiffRows) HTML() template.HTML { return template.HTML(d.b.String()) }

// Inner returns what each row of code holds.
func Inner(rows template.HTML) (inner []string) {
	for row := range strings.Lines(string(rows)) {
		_, text, ok := strings.Cut(row, `<code class="cl">`)
		if text, whole := strings.CutSuffix(strings.TrimSuffix(text, "\n"), "</code></div>"); ok &&
			whole {
			inner = append(inner, text)
		}
	}
	return inner
}

// marked puts the characters from to to of what was made here into i elements, which end and begin
// again around others.
func marked(inner string, from, to int) string {
	if from >= to {
		return inner
	}
	var b strings.Builder
	n, open := 0, false
	set := func(on bool) {
		if on != open {
			open = on
			if b.WriteByte('<'); !on {
				b.WriteByte('/')
			}
			b.WriteString("i>")
		}
	}
	for inner != "" {
		size := 1
		switch inner[0] {
		case '<':
			set(false)
			b.WriteString(inner[:strings.IndexByte(inner, '>')+1])
			inner = inner[strings.IndexByte(inner, '>')+1:]
			continue
		case '&':
			size = strings.IndexByte(inner, ';') + 1
		default:
			_, size = utf8.DecodeRuneInString(inner)
		}
		set(from <= n && n < to)
		b.WriteString(inner[:size])
		inner = inner[size:]
		n++
	}
	set(false)
	return b.String()
}
