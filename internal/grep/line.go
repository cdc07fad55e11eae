package grep

import (
	"unicode/utf16"
	"unicode/utf8"
)

// MaxRanges is how many matches are marked in one line.
const MaxRanges = 100

// Line is a line of a text.
type Line struct {
	Line   int      `json:"line"`
	Text   string   `json:"text"`
	Column int      `json:"column,omitempty"` // where text begins in its line, in bytes
	More   bool     `json:"more,omitempty"`   // the line goes on behind text
	Ranges [][2]int `json:"ranges"`           // of the matches in text, in UTF-16 units
}

// Excerpt is at most most bytes of a line, about the first place at which it matches.
func Excerpt(line int, text []byte, at [][]int, most int) Line {
	from, to := 0, len(text)
	if to > most {
		if len(at) > 0 && at[0][1] > most {
			from = runeStart(text, max(0, at[0][0]-most/10))
		}
		to = runeStart(text, min(to, from+most))
	}
	m := Line{
		Line:   line,
		Text:   string([]rune(string(text[from:to]))),
		Column: from,
		More:   to < len(text),
		Ranges: [][2]int{},
	}
	units, done := 0, from
	pos := func(i int) int {
		units += utf16Len(text[done:i])
		done = i
		return units
	}
	for _, a := range at {
		if a[1] = min(a[1], to); a[0] < a[1] {
			start := pos(a[0])
			m.Ranges = append(m.Ranges, [2]int{start, pos(a[1])})
		}
	}
	return m
}

func runeStart(b []byte, i int) int {
	for k := 0; k < utf8.UTFMax && i > 0 && i < len(b) && !utf8.RuneStart(b[i]); k++ {
		i--
	}
	return i
}

// utf16Len counts the UTF-16 units of b, each byte that is not UTF-8 being the one replacement
// character it becomes.
func utf16Len(b []byte) (n int) {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		n, b = n+utf16.RuneLen(r), b[size:]
	}
	return n
}
