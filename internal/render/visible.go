package render

import (
	"html"
	"html/template"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible shows a short text in which nothing can hide: a path in a card's head, the command in a
// permission card. Control, format (bidirectional and zero-width) and other characters without a
// shape become <span class="vis">U+202E</span>; a line break becomes <span class="nl">↵</span> and
// the break itself; a byte that is not UTF-8 becomes <span class="vis">0xFF</span>. A tab is a
// control character and is shown as one. The only element is span, the only attribute class.
func Visible(s string) template.HTML {
	var b strings.Builder
	visible(&b, s)
	return template.HTML(b.String())
}

// Quoted is [Visible] for a sentence in which what stands between backquotes becomes a code
// element. A backquote without a partner leaves all of them as they are.
func Quoted(s string) template.HTML {
	parts := strings.Split(s, "`")
	if len(parts)%2 == 0 {
		return Visible(s)
	}
	var b strings.Builder
	for i, p := range parts {
		if i%2 == 0 {
			visible(&b, p)
			continue
		}
		b.WriteString("<code>")
		visible(&b, p)
		b.WriteString("</code>")
	}
	return template.HTML(b.String())
}

// Exact is s for an attribute that is sent back as it is: what a reader could not see is a
// character reference there, and U+FFFD where HTML has none for it, NUL and the control characters
// from U+0080 on.
func Exact(s string) template.HTML {
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteString(html.EscapeString(string(r)))
		case r == 0 || 0x80 <= r && r < 0xa0 || r == '\r':
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		}
	}
	return template.HTML(b.String())
}

func visible(b *strings.Builder, s string) {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`<span class="vis">0x` + strings.ToUpper(hexByte(s[i])) + `</span>`)
		case r == '\n':
			b.WriteString(`<span class="nl">↵</span>` + "\n")
		case hidden(r):
			b.WriteString(`<span class="vis">` + codePoint(r) + `</span>`)
		default:
			Escape(b, s[i:i+size])
		}
		i += size
	}
}

// hidden reports characters a reader could not see or would take for another: all of Cc and Cf,
// line and paragraph separators, spaces other than the plain one, and the fillers and selectors
// that Unicode lists as letters or marks.
func hidden(r rune) bool {
	switch {
	case r == ' ':
		return false
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs, unicode.Co,
		unicode.Cs):
		return true
	case unicode.In(r, unicode.Variation_Selector, unicode.Noncharacter_Code_Point,
		unicode.Other_Default_Ignorable_Code_Point):
		return true
	}
	return r == 0x2800 // braille blank
}
