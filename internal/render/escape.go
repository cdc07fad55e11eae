package render

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Escape writes s as text: HTML's own characters as entities, invalid UTF-8 as U+FFFD, control
// characters as pictures, and bidirectional controls isolated. Tab and newline stay.
func Escape(b *strings.Builder, s string) {
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

// EscapeText writes HTML's own characters as entities. What else must not be seen as it is, stays.
func EscapeText(s string) string { return html.EscapeString(s) }

// Isolate replaces control characters by their pictures and parts bidirectional ones from what they
// would turn around. In HTML made here both occur in text only.
func Isolate(h string) string {
	var b strings.Builder
	start := 0
	for i, r := range h {
		var by string
		switch {
		case r == '\t' || r == '\n':
			continue
		case r < ' ':
			by = string(0x2400 + r)
		case r == 0x7f:
			by = "\u2421"
		case 0x80 <= r && r < 0xa0:
			by = "\uFFFD"
		case isBidi(r):
			by = `<bdi class="err" title="` + codePoint(r) + `">` + string(r) + `</bdi>`
		default:
			continue
		}
		b.WriteString(h[start:i])
		b.WriteString(by)
		start = i + utf8.RuneLen(r)
	}
	if start == 0 {
		return h
	}
	return b.String() + h[start:]
}
