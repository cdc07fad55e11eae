package patch

import (
	"slices"
	"strings"
)

const maxLine = 1 << 40 // no file has so many

// Edits are the places of one text that diffs changed, one diff after the other. What two of them
// changed in one place is one change, and what one takes back that another did is none.
type Edits struct {
	list     []place // by line, with lines between them that no diff names
	unplaced int     // changes of diffs that do not say where they are
	binary   bool    // a diff says no more than that the file differs
}

// place is a run of lines that diffs name.
type place struct {
	at       int      // the first of its lines as they are now, from 0
	was, now []string // as they were before the first diff, and are now
}

func (p place) end() int { return p.at + len(p.now) }

// Add takes on a unified diff of one file.
func (e *Edits) Add(diff string) {
	e.binary = e.binary || Binary(diff)
	for _, p := range patches(diff) {
		at := p.at
		if len(p.now) > 0 {
			at-- // of no lines, the number is that of the line before
		}
		if at < 0 || at > maxLine {
			e.unplaced += changesOf(p.was, p.now)
			continue
		}
		e.add(place{at, p.was, p.now})
	}
}

// add has the lines p.was, which stand at p.at now, become p.now. They are joined with the places that
// they overlap or touch.
func (e *Edits) add(p place) {
	until := p.at + len(p.was)
	first, _ := slices.BinarySearchFunc(e.list, p.at, func(q place, at int) int { return q.end() - at })
	end := first
	sum, to := place{at: p.at}, p.at // before to, sum.was is complete
	for ; end < len(e.list) && e.list[end].at <= until; end++ {
		q := e.list[end]
		if to < q.at {
			sum.was = append(sum.was, p.was[to-p.at:q.at-p.at]...)
		} else if q.at < p.at {
			sum.at, sum.now = q.at, append(sum.now, q.now[:p.at-q.at]...)
		}
		sum.was, to = append(sum.was, q.was...), q.end()
	}
	sum.now = append(sum.now, p.now...)
	if to < until {
		sum.was = append(sum.was, p.was[to-p.at:]...)
	} else if end > first {
		q := e.list[end-1]
		sum.now = append(sum.now, q.now[until-q.at:]...)
	}
	for i := range e.list[end:] {
		e.list[end+i].at += len(p.now) - len(p.was)
	}
	e.list = slices.Replace(e.list, first, end, sum)
}

// Changes counts the runs of lines that differ from what was there before the first diff; of a file
// that is not text, one.
func (e *Edits) Changes() (n int) {
	for _, p := range e.list {
		n += changesOf(p.was, p.now)
	}
	if n += e.unplaced; n == 0 && e.binary {
		n = 1
	}
	return n
}

// Binary reports whether a diff says of a file only that it differs, because it is not text.
func Binary(diff string) bool {
	for line := range strings.Lines(diff) {
		if _, _, ok := BinaryNames(line); ok {
			return true
		}
	}
	return false
}

// BinaryNames returns the two names in the line by which git and diff(1) say that files differ which
// are not text; no line of a hunk begins as it does.
func BinaryNames(line string) (was, now string, ok bool) {
	const and = " and "
	names, begins := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "Binary files ")
	names, ends := strings.CutSuffix(names, " differ")
	if !begins || !ends {
		return "", "", false
	}
	at := (len(names) - len(and)) / 2 // names with prefixes are of one length, whatever they hold
	if strings.HasPrefix(names, "/dev/null"+and) || at < 0 || !strings.HasPrefix(names[at:], and) {
		at = strings.Index(names, and)
	}
	if before, deleted := strings.CutSuffix(names, and+"/dev/null"); deleted {
		at = len(before)
	}
	if at < 0 {
		return "", "", false
	}
	return names[:at], names[at+len(and):], true
}

func changesOf(was, now []string) int {
	text := func(lines []string) []byte {
		var b []byte
		for _, l := range lines {
			b = append(append(b, strings.TrimRight(l, "\r\n")...), '\n')
		}
		return b
	}
	_, _, changes := compare(text(was), text(now))
	return len(changes)
}
