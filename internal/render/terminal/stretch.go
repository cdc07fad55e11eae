package terminal

import (
	"bytes"
	"math"
)

// A stretch is many plain lines, of which each becomes one row whatever stood above: most
// of what large outputs hold. Only its beginning and its end go through the screen. The
// lines at its beginning move everything that was in reach out of it, and those at its end
// fill the screen; what is between them is counted.
const (
	stretchHead  = screenLines + screenBuffer + 36 // the cursor may have been moved up before
	stretchTail  = screenBuffer + 6
	stretchGain  = 200 // lines in between that make it pay
	stretchWidth = 480 // bytes of a line that is not wrapped inside
)

// stretch takes in the plain lines that p begins with, if they are many, and returns their
// bytes. p begins where a line does.
func (t *Document) stretch(p []byte) int {
	if t.read < t.broken || !t.screen.filter.plain() || t.screen.probe.state != probeOff {
		return 0
	}
	ends := plainLines(p)
	head := stretchHead
	for head < len(ends) && ends[head-1]-ends[head-2] == 1 {
		head++ // blank rows at the end are not counted as rows yet
	}
	if len(ends) < head+stretchTail+stretchGain {
		t.broken = t.read + 1 // no byte before its end begins a longer one
		if n := len(ends); n > 0 {
			t.broken = t.read + int64(ends[n-1]) + 1
		}
		return 0
	}
	next := t.next
	t.next = math.MaxInt // the marks in between come first
	at := t.lines(p, 0, ends[:head])
	t.screen.flush()
	row, line, off := t.screen.gone+len(t.screen.rows()), t.screen.lines, t.read
	between := ends[head : len(ends)-stretchTail]
	for i, end := range between {
		above := line + i + 1
		blank := end-1 == at || p[end-2] == '\n'
		if above >= next && above%forgetEvery == 0 && !blank {
			t.mark(mark{off: off + int64(end-at), row: row + i + 1, lines: above, style: t.screen.filter.sgr})
			next = above + t.every
		}
	}
	t.screen.gone += len(between)
	t.screen.lines += len(between)
	last := between[len(between)-1]
	t.read += int64(last - at)
	t.next = next
	return t.lines(p, last, ends[len(ends)-stretchTail:])
}

// lines takes in the lines of p from at on that end at the given places, and returns the last one.
func (t *Document) lines(p []byte, at int, ends []int) int {
	for _, end := range ends {
		t.take(p[at:end])
		at = end
	}
	return at
}

// plainLines returns where the lines end that p begins with and that hold only ASCII that
// can be printed.
func plainLines(p []byte) (ends []int) {
	for at := 0; ; {
		n := bytes.IndexByte(p[at:], '\n')
		if n < 0 || n > stretchWidth || !printable(p[at:at+n]) {
			return ends
		}
		at += n + 1
		ends = append(ends, at)
	}
}

func printable(line []byte) bool {
	for _, c := range line {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
