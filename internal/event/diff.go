package event

import (
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// mark begins the first line of a hunk.
const mark = "@@ -"

// binaryBegin begins the line that names files which are not text.
const binaryBegin = "Binary files "

// mostTries is how often the end of a hunk is looked for: what looks like the names of the next
// file may be lines of it.
const mostTries = 32

// looksLikeDiff reports whether a text may hold a diff, so that [ParseDiff] finds more than lines.
func looksLikeDiff(text string) bool {
	return strings.Contains(text, mark) || strings.Contains(text, "+++ ") ||
		strings.Contains(text, binaryBegin)
}

// ParseDiff reads a diff of any number of files. What is none is the Head of an edit that has no
// name.
func ParseDiff(text string) []Edit {
	r := reader{}
	lines := slices.Collect(strings.Lines(text))
	for len(lines) > 0 {
		lines = lines[r.take(lines):]
	}
	r.end()
	return r.edits
}

// reader is what was read of a diff.
type reader struct {
	edits []Edit
	e     Edit // the one that is read
	begun bool // e has a line that begins a file
	names int  // lines of e.Head up to its names
}

// take takes what is next, and returns how many lines that is.
func (r *reader) take(lines []string) int {
	was, now, binary := binaryNames(lines[0])
	switch {
	case strings.HasPrefix(lines[0], mark):
		h, n := readHunk(lines)
		r.e.Hunks = append(r.e.Hunks, h)
		return n
	case beginsGit(lines):
		if r.begun || len(r.e.Hunks) > 0 {
			r.end()
		}
		r.begun = true
	case beginsNames(lines):
		if r.names > 0 || len(r.e.Hunks) > 0 {
			r.end()
		}
		r.begun, r.e.Old, r.e.New = true, nameIn(lines[0]), nameIn(lines[1])
		r.e.Head = append(r.e.Head, lines[:2]...)
		r.names = len(r.e.Head)
		return 2
	case binary:
		if r.names > 0 || len(r.e.Hunks) > 0 {
			r.end()
		}
		r.begun, r.e.Old, r.e.New, r.e.Binary = true, was, now, true
		r.e.Head = append(r.e.Head, lines[0])
		r.names = len(r.e.Head)
		return 1
	}
	if n := len(r.e.Hunks); n > 0 {
		r.e.Hunks[n-1].After = append(r.e.Hunks[n-1].After, lines[0])
	} else {
		r.e.Head = append(r.e.Head, lines[0])
	}
	return 1
}

// end ends the edit that is read.
func (r *reader) end() {
	if len(r.e.Hunks) == 0 && r.names > 0 && !r.e.Binary { // all that goes and all that comes
		signed := func(l string) bool { return l[0] == '-' || l[0] == '+' }
		from := r.names
		for from < len(r.e.Head) && !signed(r.e.Head[from]) {
			from++
		}
		var h Hunk
		to := from
		for ; to < len(r.e.Head) && signed(r.e.Head[to]); to++ {
			h.Lines = append(h.Lines, lineOf(r.e.Head[to]))
		}
		if to > from {
			h.After = r.e.Head[to:]
			r.e.Head, r.e.Hunks = r.e.Head[:from], []Hunk{h}
		}
	}
	if len(r.e.Head)+len(r.e.Hunks) > 0 {
		r.edits = append(r.edits, r.e)
	}
	*r = reader{edits: r.edits}
}

func beginsGit(lines []string) bool { return strings.HasPrefix(lines[0], "diff --git ") }

func beginsNames(lines []string) bool {
	return strings.HasPrefix(lines[0], "--- ") && len(lines) > 1 && strings.HasPrefix(lines[1], "+++ ")
}

// nameIn is the name behind the sign of a line; what follows a tab is a time.
func nameIn(line string) string {
	name, _, _ := strings.Cut(strings.TrimRight(line[4:], "\r\n"), "\t")
	return name
}

// readHunk reads the hunk that the lines begin with, and returns how many lines it has.
func readHunk(lines []string) (Hunk, int) {
	end, first := 1, 0
	for range mostTries {
		for end < len(lines) && !strings.HasPrefix(lines[end], mark) && !beginsGit(lines[end:]) &&
			!beginsNames(lines[end:]) {
			end++
		}
		if first == 0 {
			first = end
		}
		if h, n, ok := wholeHunk(lines[:end]); ok {
			return h, n
		}
		if end == len(lines) || strings.HasPrefix(lines[end], mark) {
			break
		}
		end++
	}
	h := Hunk{Head: lines[0]} // of which only the signs are believed
	n := 1
	for ; n < first && strings.ContainsRune("-+ \n\r", rune(lines[n][0])); n++ {
		h.Lines = append(h.Lines, lineOf(lines[n]))
	}
	return h, n
}

func lineOf(l string) EditLine {
	if l[0] == '-' || l[0] == '+' || l[0] == ' ' {
		return EditLine{l[0], l[1:]}
	}
	return EditLine{' ', l} // it is empty, and lost its blank
}

// wholeHunk reads a hunk that holds what its head says.
func wholeHunk(lines []string) (h Hunk, n int, ok bool) {
	var text strings.Builder
	text.WriteString("--- a\n+++ a\n")
	for _, l := range lines {
		if l[0] == '\r' {
			text.WriteByte(' ')
		}
		text.WriteString(l)
	}
	if !strings.HasSuffix(lines[len(lines)-1], "\n") {
		text.WriteByte('\n')
	}
	// an error is of what follows the hunk, or there is none
	files, _, _ := gitdiff.Parse(strings.NewReader(text.String()))
	if len(files) == 0 || len(files[0].TextFragments) == 0 {
		return h, 0, false
	}
	f := files[0].TextFragments[0]
	if f.OldPosition < 0 || f.NewPosition < 0 {
		return h, 0, false
	}
	h = Hunk{Head: lines[0], Placed: true, Old: int(f.OldPosition), New: int(f.NewPosition)}
	for _, l := range f.Lines {
		h.Lines = append(h.Lines, EditLine{l.Op.String()[0], l.Line})
	}
	n = 1
	for taken := 0; n < len(lines) && (taken < len(f.Lines) || lines[n][0] == '\\' &&
		len(lines[n]) > 12); n++ {
		if lines[n][0] != '\\' {
			taken++
		}
	}
	return h, n, true
}

// binaryNames returns the two names in the line by which git and diff(1) say that files differ
// which are not text; no line of a hunk begins as it does.
func binaryNames(line string) (was, now string, ok bool) {
	const and = " and "
	names, begins := strings.CutPrefix(strings.TrimRight(line, "\r\n"), binaryBegin)
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
