// Package linediff compares texts by their lines.
//
// Lines that end in CR LF equal those that end in LF, as git stores them. All functions
// may be called concurrently; the texts are not changed.
//
//	added, removed := linediff.Count(was, now)
//	was, ok := linediff.Revert(now, "@@ -1 +1 @@\n-old\n+new\n")
package linediff

import (
	"bytes"
	"fmt"
	"strings"
)

// around is how many lines that are the same a hunk shows before and behind a change.
const around = 3

// numbered is texts as numbers of their lines.
type numbered map[string]int32

// lines returns the lines of a text with their ends, and their numbers.
func (n numbered) lines(text []byte) (lines []string, numbers []int32) {
	for line := range bytes.Lines(text) {
		l := string(line)
		key := strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r")
		number, ok := n[key]
		if !ok {
			number = int32(len(n))
			n[key] = number
		}
		lines, numbers = append(lines, l), append(numbers, number)
	}
	return lines, numbers
}

// Count returns how many lines one text has that the other does not have there.
func Count(was, now []byte) (added, removed int) {
	n := numbered{}
	_, a := n.lines(was)
	_, b := n.lines(now)
	for _, c := range Compare(a, b) {
		added, removed = added+c.BEnd-c.B, removed+c.AEnd-c.A
	}
	return added, removed
}

// Unified returns what differs as the hunks of a unified diff, without file names;
// nothing if there is no difference.
func Unified(was, now []byte) string {
	n := numbered{}
	old, a := n.lines(was)
	fresh, b := n.lines(now)
	var out strings.Builder
	changes := Compare(a, b)
	for i := 0; i < len(changes); {
		end := i + 1
		for end < len(changes) && changes[end].A-changes[end-1].AEnd <= 2*around {
			end++
		}
		hunk(&out, old, fresh, changes[i:end])
		i = end
	}
	return out.String()
}

// hunk writes changes that stand close to one another.
func hunk(out *strings.Builder, old, fresh []string, changes []Change) {
	first, last := changes[0], changes[len(changes)-1]
	head := min(around, first.A, first.B)
	tail := min(around, len(old)-last.AEnd, len(fresh)-last.BEnd)
	place := func(from, n int) string {
		if n == 0 {
			return fmt.Sprintf("%d,0", from)
		}
		return fmt.Sprintf("%d,%d", from+1, n)
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", place(first.A-head, last.AEnd+tail-first.A+head), place(first.B-head, last.BEnd+tail-first.B+head))
	write := func(sign byte, lines []string) {
		for _, l := range lines {
			out.WriteByte(sign)
			out.WriteString(l)
			if !strings.HasSuffix(l, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	at := first.B - head
	for _, c := range changes {
		write(' ', fresh[at:c.B])
		write('-', old[c.A:c.AEnd])
		write('+', fresh[c.B:c.BEnd])
		at = c.BEnd
	}
	write(' ', fresh[at:at+tail])
}
