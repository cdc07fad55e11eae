package veil

import (
	"bytes"
	"strings"
)

// What covers a secret without changing the length of a text in bytes: characters of three and of
// two bytes that texts hardly have. [Dotted] makes dots of them, and pages what can be lifted.
const (
	Dot3 = "\u2981" // Z notation spot
	Dot2 = "\u02ff" // modifier letter low left arrow
)

// Dotted returns text that was covered, with dots that people read as such.
func Dotted(text []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(Dot3), []byte("•")), []byte(Dot2),
		[]byte("•"))
}

// Cover covers spans of a text in place. Controls of a terminal within them stay.
func Cover(text []byte, spans []Span) {
	for _, s := range spans {
		part := text[s.From:s.To]
		for len(part) > 0 {
			n := bytes.IndexByte(part, esc)
			if n < 0 {
				n = len(part)
			}
			fill(part[:n])
			if part = part[n:]; len(part) > 0 {
				part = part[Control(part):]
			}
		}
	}
}

// Whole returns a text that is covered as a whole.
func Whole(text string) string {
	b := []byte(text)
	Cover(b, []Span{{0, len(b)}})
	return string(b)
}

func fill(b []byte) {
	n := len(b)
	twos := (3 - n%3) % 3 // so that the rest is threes
	if n < 2*twos {
		copy(b, "**"[:n])
		return
	}
	copy(b, strings.Repeat(Dot2, twos)+strings.Repeat(Dot3, (n-2*twos)/3))
}
