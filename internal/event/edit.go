package event

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// NoFile is the name of a file before it is created, and after it is deleted.
const NoFile = "/dev/null"

// Edit is what a diff says of one file.
type Edit struct {
	// Old and New are the names that it gives the file, with the a/ or b/ that git puts before them.
	// Both are empty: it gives none.
	Old, New string
	Binary   bool     // it says no more than that the file differs, because it is not text
	Head     []string // the lines before the hunks, with their ends
	Hunks    []Hunk
}

// Hunk is a run of lines that change, with what is the same around them.
type Hunk struct {
	Head     string // its first line; empty: it has none
	Placed   bool   // the numbers are known
	Old, New int    // of the first line in both texts, from 1; of no lines, that of the line before
	Lines    []EditLine
	After    []string // lines behind it that are of no hunk
}

// EditLine is a line of a hunk.
type EditLine struct {
	Op   byte   // ' ' the same, '-' removed, '+' added
	Text string // with its end, if it has one
}

// Counts are how many lines are added and removed.
func (e Edit) Counts() (added, removed int) {
	for _, h := range e.Hunks {
		for _, l := range h.Lines {
			switch l.Op {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	return added, removed
}

// Empty reports whether it says neither which file it is of nor what it changes.
func (e Edit) Empty() bool {
	added, removed := e.Counts()
	return e.New == "" && added+removed == 0
}

// Placed reports whether a hunk says in which lines it is.
func (e Edit) Placed() bool {
	return slices.ContainsFunc(e.Hunks, func(h Hunk) bool { return h.Placed })
}

// Creates reports whether there was no such file, or nothing in it.
func (e Edit) Creates() bool {
	return e.Old == NoFile || len(e.Hunks) > 0 && e.Hunks[0].Placed && e.Hunks[0].Old == 0 &&
		!slices.ContainsFunc(e.Hunks[0].Lines, func(l EditLine) bool { return l.Op != '+' })
}

// Deletes reports whether the file is gone after it.
func (e Edit) Deletes() bool {
	return e.New == NoFile || slices.ContainsFunc(e.Head, func(l string) bool {
		return strings.HasPrefix(l, "deleted file mode")
	})
}

// Lossy reports whether it may lack bytes of what was removed: agents report what is not UTF-8 as
// replacement characters.
func (e Edit) Lossy() bool {
	for _, h := range e.Hunks {
		if slices.ContainsFunc(h.Lines, func(l EditLine) bool {
			return l.Op == '-' && strings.ContainsRune(l.Text, utf8.RuneError)
		}) {
			return true
		}
	}
	return false
}

// Sides are the lines that a hunk takes out and those that it puts in their place.
func (h Hunk) Sides() (was, now []string) {
	for _, l := range h.Lines {
		if l.Op != '+' {
			was = append(was, l.Text)
		}
		if l.Op != '-' {
			now = append(now, l.Text)
		}
	}
	return was, now
}
