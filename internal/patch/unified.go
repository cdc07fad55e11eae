package patch

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// contextLines is how many equal lines a hunk shows before and behind a change.
const contextLines = 3

// Changed returns how many lines one text has that the other does not have there. Lines that
// end in CR LF equal those that end in LF, as git stores them.
func Changed(was, now []byte) (added, removed int) {
	_, _, changes := compare(was, now)
	for _, c := range changes {
		added, removed = added+c.ReplEnd-c.ReplStart, removed+c.End-c.Start
	}
	return added, removed
}

// Unified returns what differs as the hunks of a unified diff, without file names; nothing
// if there is no difference. Its work grows with the length of the texts, whatever they hold:
// beyond a hundred changes the library takes what is between them for one.
func Unified(was, now []byte) string {
	old, fresh, changes := compare(was, now)
	var out strings.Builder
	for i := 0; i < len(changes); {
		end := i + 1
		for end < len(changes) && changes[end].Start-changes[end-1].End <= 2*contextLines {
			end++
		}
		writeHunk(&out, old, fresh, changes[i:end])
		i = end
	}
	return out.String()
}

// writeHunk writes changes that stand close to one another. The library's own writer miscounts
// the newer lines of later hunks.
func writeHunk(out *strings.Builder, old, fresh []string, changes []lcs.Diff) {
	first, last := changes[0], changes[len(changes)-1]
	head := min(contextLines, first.Start, first.ReplStart)
	tail := min(contextLines, len(old)-last.End, len(fresh)-last.ReplEnd)
	place := func(from, to int) string {
		if from == to { // of no lines, the one before is named
			return fmt.Sprintf("%d,0", from)
		}
		return fmt.Sprintf("%d,%d", from+1, to-from)
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", place(first.Start-head, last.End+tail),
		place(first.ReplStart-head, last.ReplEnd+tail))
	write := func(sign byte, lines []string) {
		for _, l := range lines {
			out.WriteByte(sign)
			out.WriteString(l)
			if !strings.HasSuffix(l, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	at := first.Start - head
	for _, c := range changes {
		write(' ', old[at:c.Start])
		write('-', old[c.Start:c.End])
		write('+', fresh[c.ReplStart:c.ReplEnd])
		at = c.End
	}
	write(' ', old[at:at+tail])
}

// compare returns the lines of two texts, with their ends, and what differs.
func compare(was, now []byte) (old, fresh []string, changes []lcs.Diff) {
	numbers := map[string]rune{}
	number := func(text []byte) (lines []string, numbered []rune) {
		for line := range bytes.Lines(text) {
			l := string(line)
			key := l
			if text, crlf := strings.CutSuffix(l, "\r\n"); crlf {
				key = text + "\n"
			}
			n, ok := numbers[key]
			if !ok {
				n = rune(len(numbers))
				numbers[key] = n
			}
			lines, numbered = append(lines, l), append(numbered, n)
		}
		return lines, numbered
	}
	old, a := number(was)
	fresh, b := number(now)
	return old, fresh, lcs.DiffRunes(a, b)
}
