// Package veil finds what looks like a secret in a text that is shown: values of settings whose
// names are those of credentials, private keys, tokens by what services put in front of them,
// headers that sign in, passwords in addresses and hashes of them. It also judges names and values
// of variables, for package policy.
//
// What it finds is a guess: a password that looks like any word stays, and a harmless text may be
// found. It protects from eyes, copies and slips, not from somebody who wants to hide something
// from it.
//
// Work grows with the length of a text: 0.3 ms for a window of 500 lines of a log, 0.05 s for one
// of 11 MB (BenchmarkSpans), and 0.4 s for 1 MB made to cost most. Functions may be called
// concurrently.
//
//	for _, s := range veil.Spans(line) { … line[s.From:s.To] … }
//	safe := veil.Hide(text)
package veil

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Span is a part of a text, in bytes: from From up to, and without, To. It never crosses a line
// end.
type Span struct{ From, To int }

// Dots are what stands for a secret in text that leaves the page, whatever its length.
const Dots = "••••••••"

// Spans returns what looks like a secret in a text of one or more lines, in ascending order and
// without overlap. Terminal colours and controls may stand within what it finds.
func Spans(text []byte) []Span { return Before{}.Spans(text) }

// Before is what is known of a text that stands before another, as [After] returns it; the zero
// value is that of a text that holds no key.
type Before struct{ key bool }

// Spans is [Spans] of the text that follows.
func (b Before) Spans(text []byte) []Span {
	if bytes.IndexByte(text, esc) >= 0 {
		plain, at := withoutControls(text)
		spans := find(plain, b.key)
		for i, s := range spans {
			spans[i] = Span{at[s.From], at[s.To-1] + 1}
		}
		return spans
	}
	return find(text, b.key)
}

func find(text []byte, open bool) []Span {
	return Joined(tables(recognised(keyBlocks(text, open), text, &assignments{text: text}), text))
}

// Joined sorts spans and makes one of those that overlap or touch.
func Joined(spans []Span) []Span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortFunc(spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To))
	})
	out := spans[:1]
	for _, s := range spans[1:] {
		if last := &out[len(out)-1]; s.From <= last.To {
			last.To = max(last.To, s.To)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// Hide returns text with [Dots] in place of what looks like a secret.
func Hide(text string) string {
	spans := Spans([]byte(text))
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.From])
		b.WriteString(Dots)
		at = s.To
	}
	b.WriteString(text[at:])
	return b.String()
}

const esc = 0x1b

// withoutControls returns a text without the control sequences of terminals, and where each of its
// bytes stood.
func withoutControls(text []byte) (plain []byte, at []int) {
	plain, at = make([]byte, 0, len(text)), make([]int, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == esc {
			i += Control(text[i:]) - 1
			continue
		}
		plain, at = append(plain, text[i]), append(at, i)
	}
	return plain, at
}

// Control returns the length of the control sequence that a text begins with, whose first byte is
// ESC: of a colour and its like, of a title, or of two bytes. It never holds a line end.
func Control(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case '\n':
		return 1
	case '[':
		for i := 2; i < len(b); i++ {
			if c := b[i]; c < ' ' || c > '?' {
				return i + min(1, int(c/'@')) // a byte that cannot be in one is text
			}
		}
		return len(b)
	case ']', 'P', '_', '^':
		for i := 2; i < len(b); i++ {
			switch {
			case b[i] == '\a':
				return i + 1
			case b[i] == esc && i+1 < len(b) && b[i+1] == '\\':
				return i + 2
			case b[i] == '\n':
				return i
			}
		}
		return len(b)
	}
	return 2
}
