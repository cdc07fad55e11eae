package patch

import (
	"slices"
	"strings"

	"webchat/internal/event"
)

const maxLine = 1 << 40 // no file has so many

// Places are those of one text that edits changed, one edit after the other. What two of them
// changed in one place is one change, and what one takes back that another did is none.
type Places struct {
	list     []place // by line, with lines between them that no edit names
	unplaced int     // changes of edits that do not say where they are
	binary   bool    // an edit says no more than that the file differs
}

// place is a run of lines that edits name.
type place struct {
	at       int      // the first of its lines as they are now, from 0
	was, now []string // as they were before the first edit, and are now
}

func (p place) end() int { return p.at + len(p.now) }

// Add takes on an edit of the text.
func (e *Places) Add(edit event.Edit) {
	e.binary = e.binary || edit.Binary
	for _, h := range edit.Hunks {
		was, now := h.Sides()
		at := h.New
		if len(now) > 0 {
			at-- // of no lines, the number is that of the line before
		}
		if at < 0 || at > maxLine {
			e.unplaced += changesOf(was, now)
			continue
		}
		e.add(place{at, was, now})
	}
}

// add has the lines p.was, which stand at p.at now, become p.now. They are joined with the places
// that they overlap or touch.
func (e *Places) add(p place) {
	until := p.at + len(p.was)
	first, _ := slices.BinarySearchFunc(e.list, p.at, func(q place, at int) int {
		return q.end() - at
	})
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

// Changes counts the runs of lines that differ from what was there before the first edit; of a file
// that is not text, one.
func (e *Places) Changes() (n int) {
	for _, p := range e.list {
		n += changesOf(p.was, p.now)
	}
	if n += e.unplaced; n == 0 && e.binary {
		n = 1
	}
	return n
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
