package grep

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// Expression is what lines are searched for: a regular expression (RE2). Texts that each match must
// hold are looked for first, which is many times faster than trying the expression on every line.
type Expression struct {
	re      *regexp.Regexp
	steps   int         // instructions that re compiles to: what each byte may cost
	stop    func() bool // ends matching; nil: nothing does
	needles []needle    // every match holds one of them; none: not known
	exact   bool        // a line matches if it holds the only needle
	bytes   *byteSet    // without needles: every match holds one of these; nil: not known
}

// byteSet has the bytes that are in it.
type byteSet [256]bool

// mostBytes is how many bytes may be in a set that lines are selected by.
const mostBytes = 96

// MaxLine is how many bytes of a line are searched: a pattern's cost is per byte.
const MaxLine = 256 << 10

// What an expression may cost: bytes and instructions multiply.
const (
	maxSteps  = 2500     // instructions of an expression
	quick     = 32 << 20 // bytes × instructions that are matched without looking whether to stop
	perLook   = 1024     // characters between two looks
	findAhead = 2 << 10  // bytes from the first match of a line in which others are marked
)

var errSteps = errors.New("the expression is too large: give smaller counts in its braces")

// What lines that look like errors, and like warnings, match: few texts, so that a million lines
// are fast.
const (
	ErrorLines   = `\b(?:ERROR|FATAL|CRITICAL|PANIC|FAILED)\b|--- FAIL|\berror: |\bpanic: `
	WarningLines = `\b(WARN|WARNING)\b|\b([Ww]arning):`
)

// Parse fails on text that is not a regular expression, and on one that would take minutes for a
// line.
func Parse(text string) (*Expression, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	tree = tree.Simplify()
	steps, err := syntax.Compile(tree)
	if err != nil {
		return nil, err
	}
	if len(steps.Inst) > maxSteps {
		return nil, errSteps
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	e := &Expression{re: re, steps: len(steps.Inst)}
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
	if len(e.needles) == 0 {
		if set, size := bytesOf(tree); size <= mostBytes {
			e.bytes = set
		}
	}
	return e, nil
}

// bytesOf returns the smallest set known of bytes of which each match of r holds one, and its size.
// Bytes beyond ASCII are all in it or none.
func bytesOf(r *syntax.Regexp) (best *byteSet, size int) {
	size = len(byteSet{}) + 1
	switch r.Op {
	case syntax.OpCharClass, syntax.OpLiteral:
		ranges := r.Rune
		if r.Op == syntax.OpLiteral {
			if r.Flags&syntax.FoldCase != 0 || len(ranges) == 0 {
				return nil, size
			}
			ranges = []rune{ranges[0], ranges[0]}
		}
		best, size = &byteSet{}, 0
		for c := range best {
			for i := 0; i < len(ranges) && !best[c]; i += 2 {
				best[c] = rune(c) >= ranges[i] && rune(c) <= ranges[i+1] || c >= utf8.RuneSelf &&
					ranges[i+1] >= utf8.RuneSelf
			}
			if best[c] {
				size++
			}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return bytesOf(r.Sub[0])
	case syntax.OpConcat:
		for _, sub := range r.Sub {
			if set, n := bytesOf(sub); n < size {
				best, size = set, n
			}
		}
	}
	return best, size
}

// Find returns where e matches in a line, at most most times; of a long line only what is searched,
// and after its first match only what stands near it.
func (e *Expression) Find(line []byte, most int) (at [][]int) {
	if !e.Match(line) {
		return nil
	}
	line = Searched(line)
	if len(line) <= findAhead && e.quick(line) {
		return e.re.FindAllIndex(line, most)
	}
	first := e.first(line)
	if first == nil {
		return nil
	}
	at = append(at, first)
	line = line[:min(len(line), first[0]+findAhead)]
	for _, next := range e.re.FindAllIndex(line, max(1, min(most, quick/(findAhead*e.steps)))) {
		if next[0] > first[0] && next[0] >= first[1] && len(at) < most {
			at = append(at, next)
		}
	}
	return at
}

// Until is e for another goroutine, which finds nothing more once stop says so.
func (e *Expression) Until(stop func() bool) *Expression {
	e = e.Clone()
	e.stop = stop
	return e
}

func (e *Expression) quick(line []byte) bool { return len(line)*e.steps <= quick }

// matches is whether e matches what is searched of a line; false once stop says so.
func (e *Expression) matches(line []byte, stop func() bool) bool {
	if e.quick(line) {
		return e.re.Match(line)
	}
	return e.re.MatchReader(e.reader(line, stop)) && (stop == nil || !stop())
}

// first is where e first matches in a line; nil once e is to stop.
func (e *Expression) first(line []byte) []int {
	if e.quick(line) {
		return e.re.FindIndex(line)
	}
	at := e.re.FindReaderIndex(e.reader(line, e.stop))
	if e.stop != nil && e.stop() {
		return nil
	}
	return at
}

// reader reads a line until it ends, or stop says so.
func (e *Expression) reader(line []byte, stop func() bool) io.RuneReader {
	return &stoppable{line: line, stop: stop}
}

type stoppable struct {
	line []byte
	stop func() bool // nil: never
	read int         // characters
}

func (s *stoppable) ReadRune() (r rune, size int, err error) {
	if s.read++; len(s.line) == 0 || s.read%perLook == 0 && s.stop != nil && s.stop() {
		return 0, 0, io.EOF
	}
	r, size = utf8.DecodeRune(s.line)
	s.line = s.line[size:]
	return r, size, nil
}

// String is the text of e.
func (e *Expression) String() string { return e.re.String() }

// Tune makes e fast in text like a sample. It must not be called while e is used; see
// [Expression.Clone].
func (e *Expression) Tune(sample []byte) {
	for i := range e.needles {
		e.needles[i].tune(sample)
	}
}

// Clone is e for another goroutine, tuned by itself.
func (e *Expression) Clone() *Expression {
	own := *e
	own.needles = slices.Clone(e.needles)
	return &own
}

// Match reports whether e matches a line.
func (e *Expression) Match(line []byte) bool {
	line = Searched(line)
	if e.exact && !e.needles[0].fold {
		return bytes.Contains(line, e.needles[0].text)
	}
	return e.matches(line, e.stop)
}

// MayMatch reports whether a line of b may match, also once parts of b are covered by other
// characters: stars and what is beyond ASCII. It looks for texts that a match must hold, and tries
// nothing.
func (e *Expression) MayMatch(b []byte) bool {
	covers := func(r rune) bool { return r == '*' || r >= utf8.RuneSelf }
	for i := range e.needles {
		n := &e.needles[i]
		if bytes.ContainsFunc(n.text, covers) || n.index(b, 0, &rarest{}) < len(b) {
			return true
		}
	}
	return len(e.needles) == 0
}

// Lines appends the numbers of the lines of b that match, the first one being n. stop is asked now
// and then.
func (e *Expression) Lines(b []byte, n int, hits []int, stop func() bool) []int {
	var ahead [maxNeedles]int
	var rare [maxNeedles]rarest
	for i := range e.needles {
		ahead[i] = e.needles[i].index(b, 0, &rare[i])
	}
	for pos, tried := 0, 0; pos < len(b); tried++ {
		hit := pos // what may be in a line that matches
		if len(e.needles) > 0 {
			hit = len(b)
		}
		for i := range e.needles {
			if ahead[i] < pos {
				ahead[i] = e.needles[i].index(b, pos, &rare[i])
			}
			hit = min(hit, ahead[i])
		}
		for e.bytes != nil && hit < len(b) && !e.bytes[b[hit]] {
			hit++
		}
		if hit == len(b) || tried%64 == 63 && stop() {
			return hits
		}
		n += bytes.Count(b[pos:hit], []byte{'\n'})
		start := max(pos, bytes.LastIndexByte(b[pos:hit], '\n')+1+pos)
		end := next(b, hit, '\n')
		if e.exact && hit+len(e.needles[0].text) <= start+MaxLine || !e.exact &&
			e.matches(Searched(b[start:end]), stop) {
			hits = append(hits, n)
		}
		pos = end + 1
		n++
	}
	return hits
}

// Searched is what of a line is searched.
func Searched(line []byte) []byte {
	return bytes.TrimSuffix(line[:min(len(line), MaxLine)], []byte{'\r'})
}
