package wording

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Plural is a count with its noun: 1 line, 10 lines.
func Plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}

// Short is a count for a small place: 14.2k.
func Short(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 100_000 && n%1000 != 0:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + "k"
	case n < 1_000_000:
		return strconv.FormatInt(n/1000, 10) + "k"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
}

// Took writes how long something ran: 38 ms, 4.1 s, 0:31, 1:02:03.
func Took(d time.Duration) string {
	switch {
	case d < 100*time.Millisecond:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	}
	return Clock(d)
}

// Clock writes a running time: 0:14.
func Clock(d time.Duration) string {
	s := int64(d.Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Span writes a configured time: 30 minutes.
func Span(d time.Duration) string {
	switch {
	case d >= 2*time.Hour:
		return Plural(int64(d.Round(time.Hour)/time.Hour), "hour")
	case d >= 50*time.Second:
		return Plural(int64(d.Round(time.Minute)/time.Minute), "minute")
	}
	return Plural(int64(d.Round(time.Second)/time.Second), "second")
}

// Plain shows a short text in one line in which nothing can hide or turn others
// around: ⟨U+202E⟩. For places that are not template.HTML.
func Plain(s string) string {
	return Revealed(strings.NewReplacer("\n", " ↵ ", "\t", " ").Replace(s))
}

// Revealed is the same for a text of several lines.
func Revealed(s string) string {
	return reveal(s, func(r rune) bool { return Hides(r) || r == '\u200c' || r == '\u200d' })
}

// reveal writes hidden characters by their numbers, and invalid UTF-8 as U+FFFD.
func reveal(s string, hides func(rune) bool) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, hides) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hides(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Shown is s with what hides in it revealed, for places that show any text of others. Unlike
// [Revealed] it keeps the joiners that scripts and emoji are written with.
func Shown(s string) string { return reveal(strings.ReplaceAll(s, "\r\n", "\n"), Hides) }

// Hides reports the characters that [Shown] reveals.
func Hides(r rune) bool {
	if ' ' <= r && r < 0x7f { // most are
		return false
	}
	switch r {
	case '\n', '\t', '\u200c', '\u200d':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// FirstLine is the start of s, for places with one line.
func FirstLine(s string, limit int) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return Cut(s, limit)
}
