package outputs

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Expression is what lines are searched for: a regular expression (RE2). Texts that each match must
// hold are looked for first, which is many times faster than trying the expression on every line.
type Expression struct {
	re      *regexp.Regexp
	needles []needle // every match holds one of them; none: not known
	exact   bool     // a line matches if it holds the only needle
}

// maxSearch is how many bytes of a line are searched: a pattern's cost is per byte.
const maxSearch = 256 << 10

// maxNeedles is how many texts are looked for side by side.
const maxNeedles = 12

// What lines that look like errors, and like warnings, match: few texts, so that a million lines
// are fast.
const (
	ErrorLines   = `\b(?:ERROR|FATAL|CRITICAL|PANIC|FAILED)\b|--- FAIL|\berror: |\bpanic: `
	WarningLines = `\b(WARN|WARNING)\b|\b([Ww]arning):`
)

// ParseExpression fails on text that is not a regular expression.
func ParseExpression(text string) (*Expression, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	e := &Expression{re: re}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	tree = tree.Simplify()
	for _, r := range needed(tree) {
		if n, ok := newNeedle(r); ok {
			e.needles = append(e.needles, n)
			continue
		}
		e.needles = nil
		break
	}
	if len(e.needles) == 1 && tree.Op == syntax.OpLiteral {
		e.exact = len(e.needles[0].text) == len(string(tree.Rune))
	}
	return e, nil
}

// needed returns literals of which each match of r holds at least one, or nothing.
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
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r >= 0x80 || r == 'k' || r == 's' }) {
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

// index returns where n is in b from an index on, or len(b).
func (n *needle) index(b []byte, from int) int {
	low, up := -1, -1 // where the rarest byte is next, in each case
	for at := from + n.at; at < len(b); at++ {
		if low < at {
			low = next(b, at, n.lower)
		}
		if up < at {
			if up = low; n.upper != n.lower {
				up = next(b, at, n.upper)
			}
		}
		if at = min(low, up); at == len(b) {
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

// In returns what of a line is searched, and where the expression matches in it, at most most
// times; at is empty: it does not. Of what a terminal was given, controls are not searched.
func (e *Expression) In(line []byte, terminal bool, most int) (text []byte, at [][]int) {
	if text = lineText(line); terminal {
		text = stripControls(nil, text)
	}
	if !e.match(text) {
		return text, nil
	}
	return text, e.re.FindAllIndex(text, most)
}

// match reports whether the expression matches a line without its end.
func (e *Expression) match(line []byte) bool {
	if e.exact && !e.needles[0].fold {
		return bytes.Contains(line, e.needles[0].text)
	}
	return e.re.Match(line)
}

// lines appends the numbers of the lines of b that match, the first one being n. stop is asked now
// and then.
func (e *Expression) lines(b []byte, n int, hits []int, stop func() bool) []int {
	if len(e.needles) == 0 {
		return e.all(b, n, hits, stop)
	}
	var ahead [maxNeedles]int
	for i := range e.needles {
		ahead[i] = e.needles[i].index(b, 0)
	}
	for pos, tried := 0, 0; ; tried++ {
		hit := len(b)
		for i := range e.needles {
			if ahead[i] < pos {
				ahead[i] = e.needles[i].index(b, pos)
			}
			hit = min(hit, ahead[i])
		}
		if hit == len(b) || tried%64 == 63 && stop() {
			return hits
		}
		n += bytes.Count(b[pos:hit], []byte{'\n'})
		start := max(pos, bytes.LastIndexByte(b[pos:hit], '\n')+1+pos)
		end := next(b, hit, '\n')
		if e.exact || e.re.Match(lineText(b[start:end])) {
			hits = append(hits, n)
		}
		if pos = end + 1; pos >= len(b) {
			return hits
		}
		n++
	}
}

// all tries the expression on each line.
func (e *Expression) all(b []byte, n int, hits []int, stop func() bool) []int {
	for tried := 1; len(b) > 0 && (tried%64 != 0 || !stop()); tried++ {
		line, rest, _ := bytes.Cut(b, []byte{'\n'})
		if e.re.Match(lineText(line)) {
			hits = append(hits, n)
		}
		n, b = n+1, rest
	}
	return hits
}

// lineText is what of a line is searched.
func lineText(line []byte) []byte {
	return bytes.TrimSuffix(line[:min(len(line), maxSearch)], []byte{'\r'})
}

// hasControls reports whether stripControls would change one of the lines of b.
func hasControls(b []byte) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		del := x ^ 0x7f*ones
		if ((x-0x20*ones)&^x|(del-ones)&^del)&highs != 0 && slowControls(b[:8]) {
			return true
		}
	}
	return slowControls(b)
}

func slowControls(b []byte) bool {
	for _, c := range b {
		if c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return true
		}
	}
	return false
}
