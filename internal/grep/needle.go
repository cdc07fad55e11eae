package grep

import (
	"bytes"
	"regexp/syntax"
	"strings"
)

// maxNeedles is how many texts are looked for side by side.
const maxNeedles = 12

// needed returns literals of which every match of r has at least one; it may find none.
func needed(r *syntax.Regexp) (best []*syntax.Regexp) {
	switch r.Op {
	case syntax.OpLiteral:
		return []*syntax.Regexp{r}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(r.Sub[0])
	case syntax.OpRepeat:
		if r.Min > 0 {
			return needed(r.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range r.Sub {
			if set := needed(sub); shortest(set) > shortest(best) {
				best = set
			}
		}
	case syntax.OpAlternate:
		for _, sub := range r.Sub {
			set := needed(sub)
			if best = append(best, set...); len(set) == 0 || len(best) > maxNeedles {
				return nil
			}
		}
	}
	return best
}

func shortest(set []*syntax.Regexp) int {
	n := 0
	for i, r := range set {
		if i == 0 || len(r.Rune) < n {
			n = len(r.Rune)
		}
	}
	return n
}

// needle is a text that is looked for, perhaps in either case.
type needle struct {
	text  []byte // in lower case if fold
	fold  bool
	at    int  // index of its rarest byte
	lower byte // which is this, and if fold
	upper byte // also this
}

// newNeedle makes a needle of a literal, or of a part of it: two letters have a third form beyond
// ASCII (ſ and K), which only the expression itself knows.
func newNeedle(r *syntax.Regexp) (n needle, ok bool) {
	text := string(r.Rune)
	if n.fold = r.Flags&syntax.FoldCase != 0; n.fold {
		text = longestPlain(strings.ToLower(text))
	}
	if text == "" || strings.ContainsAny(text, "\r\n\ufffd") {
		return n, false
	}
	n.text = []byte(text)
	n.tune(nil)
	return n, true
}

func longestPlain(text string) (best string) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool {
		return r >= 0x80 || r == 'k' || r == 's'
	}) {
		if len(part) > len(best) {
			best = part
		}
	}
	return best
}

// tune looks for the byte of n that is rarest in a piece of the text.
func (n *needle) tune(sample []byte) {
	var seen [256]int
	for _, c := range sample {
		seen[c]++
	}
	best := len(sample) + 1
	for i, c := range n.text {
		upper := c
		if n.fold && 'a' <= c && c <= 'z' {
			upper -= 'a' - 'A'
		}
		if k := seen[c] + seen[upper]; k < best {
			best, n.at, n.lower, n.upper = k, i, c, upper
		}
	}
}

// rarest is where the rarest byte of a needle is next in a text, in each case; zero at its
// beginning. It is kept between searches, since a byte that never comes again is looked for to the
// end of the text.
type rarest struct{ low, up int }

// index returns where n is in b from an index on, or len(b). With the same is, b is the same and
// from never less than before.
func (n *needle) index(b []byte, from int, is *rarest) int {
	for at := from + n.at; at < len(b); at++ {
		if is.low < at || at == n.at {
			is.low = next(b, at, n.lower)
		}
		if is.up < at || at == n.at {
			if is.up = is.low; n.upper != n.lower {
				is.up = next(b, at, n.upper)
			}
		}
		if at = min(is.low, is.up); at == len(b) {
			break
		}
		if start := at - n.at; start+len(n.text) <= len(b) && n.is(b[start:start+len(n.text)]) {
			return start
		}
	}
	return len(b)
}

func next(b []byte, from int, c byte) int {
	if i := bytes.IndexByte(b[from:], c); i >= 0 {
		return from + i
	}
	return len(b)
}

func (n *needle) is(b []byte) bool {
	if !n.fold {
		return string(b) == string(n.text)
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != n.text[i] {
			return false
		}
	}
	return true
}
