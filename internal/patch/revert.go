package patch

import (
	"slices"
	"strconv"
	"strings"
)

// hunk is one hunk of a unified diff: the lines it takes out, and those it puts in
// their place, with what is the same around them.
type hunk struct {
	at       int // line of the newer text it begins at, from 1; 0: it is not said
	was, now []string
	last     byte // the sign of the line read last
}

// Revert returns the text that a unified diff of one file changed into now. ok is false
// if the diff does not fit: then what the text was is not known.
func Revert(now []byte, diff string) (was []byte, ok bool) {
	var lines []string
	for l := range strings.Lines(string(now)) {
		lines = append(lines, l)
	}
	list := patches(diff)
	for _, p := range slices.Backward(list) { // the last first, so that the places of the others hold
		at, ok := find(lines, p)
		if !ok {
			return nil, false
		}
		lines = slices.Replace(lines, at, at+len(p.now), p.was...)
	}
	return []byte(strings.Join(lines, "")), len(list) > 0
}

// find returns where the newer lines of a hunk stand: where the hunk says, else at the
// only place that has them.
func find(lines []string, p hunk) (at int, ok bool) {
	fits := func(at int) bool {
		return at >= 0 && at+len(p.now) <= len(lines) && slices.EqualFunc(lines[at:at+len(p.now)], p.now, sameLine)
	}
	if len(p.now) == 0 { // the number is that of the line before
		return p.at, p.at <= len(lines)
	}
	if fits(p.at - 1) {
		return p.at - 1, true
	}
	found := 0
	for i := range lines {
		if fits(i) {
			at, found = i, found+1
		}
	}
	return at, found == 1
}

// sameLine compares lines without their ends, of which a diff may have lost the last.
func sameLine(a, b string) bool {
	end := func(s string) string { return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r") }
	return end(a) == end(b)
}

// patches reads the hunks of a unified diff; lines before a hunk's head are of no hunk.
// Some agents write the names of both files and then, without a head, all that goes and
// all that comes.
func patches(diff string) (list []hunk) {
	if names, body, ok := strings.Cut(diff, "\n+++ "); ok && !strings.Contains(diff, "\n@@ -") && strings.HasPrefix(names, "--- ") {
		_, body, _ = strings.Cut(body, "\n")
		return headless(body)
	}
	var left [2]int // lines of both texts that the hunk has still to come
	for l := range strings.Lines(diff) {
		if at, old, now, ok := hunkHead(l); ok && left[0] <= 0 && left[1] <= 0 {
			list = append(list, hunk{at: at})
			left = [2]int{old, now}
			continue
		}
		if len(list) == 0 {
			continue
		}
		p := &list[len(list)-1]
		if strings.HasPrefix(l, `\`) { // "\ No newline at end of file"
			p.endless()
			continue
		}
		if left[0] <= 0 && left[1] <= 0 {
			continue
		}
		sign, rest := l[0], l[1:]
		switch sign {
		case '-':
			p.was, left[0] = append(p.was, rest), left[0]-1
		case '+':
			p.now, left[1] = append(p.now, rest), left[1]-1
		case ' ', '\n', '\r':
			if sign != ' ' { // a line that is empty, and lost its blank
				rest = l
			}
			p.was, p.now = append(p.was, rest), append(p.now, rest)
			left[0], left[1] = left[0]-1, left[1]-1
		}
		p.last = sign
	}
	return list
}

func headless(body string) []hunk {
	var p hunk
	for l := range strings.Lines(body) {
		switch l[0] {
		case '-':
			p.was = append(p.was, l[1:])
		case '+':
			p.now = append(p.now, l[1:])
		}
	}
	if len(p.was)+len(p.now) == 0 {
		return nil
	}
	return []hunk{p}
}

// endless takes the end off the line read last.
func (p *hunk) endless() {
	cut := func(lines []string) {
		if n := len(lines); n > 0 {
			lines[n-1] = strings.TrimSuffix(lines[n-1], "\n")
		}
	}
	if p.last != '+' {
		cut(p.was)
	}
	if p.last != '-' {
		cut(p.now)
	}
}

// hunkHead reads "@@ -1,2 +3,4 @@": where the newer lines begin, and how many older and
// newer ones there are.
func hunkHead(line string) (at, old, now int, ok bool) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return 0, 0, 0, false
	}
	a, rest, _ := strings.Cut(rest, " +")
	b, _, ok := strings.Cut(rest, " @@")
	_, old, ok1 := span(a)
	at, now, ok2 := span(b)
	return at, old, now, ok && ok1 && ok2
}

// span reads "3,4" or "3", which is one line.
func span(text string) (from, n int, ok bool) {
	first, count, more := strings.Cut(text, ",")
	from, err := strconv.Atoi(first)
	if n = 1; more && err == nil {
		n, err = strconv.Atoi(count)
	}
	return from, n, err == nil && from >= 0 && n >= 0
}
