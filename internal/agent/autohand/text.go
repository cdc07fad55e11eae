package autohand

import (
	"fmt"
	"regexp"
	"strings"
)

// escapes are what terminals take for commands: the CLI colours what it returns.
var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b.")

// clean is a text of the CLI without commands for terminals, valid UTF-8.
func clean(text string) string {
	return strings.ToValidUTF8(escapes.ReplaceAllString(text, ""), "\uFFFD")
}

// plain is a text for a sentence: one line.
func plain(text string) string {
	return strings.TrimRight(strings.Join(strings.Fields(clean(text)), " "), ".")
}

// around is how many unchanged lines a diff shows on either side.
const around = 3

// diff is what changes in a file from one text to another: one hunk, between the first
// and the last line that differ.
func diff(name, from, to string) string {
	if from == to {
		return ""
	}
	a, b := lines(from), lines(to)
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out strings.Builder
	first := max(0, head-around)
	same := min(tail, around) // lines shown behind
	fmt.Fprintf(&out, "--- %s\n+++ %s\n@@ -%d,%d +%d,%d @@\n", name, name, first+1, len(a)-tail+same-first, first+1, len(b)-tail+same-first)
	write := func(sign string, some []string) {
		for _, line := range some {
			out.WriteString(sign + clean(strings.TrimSuffix(line, "\n")) + "\n")
		}
	}
	write(" ", a[first:head])
	write("-", a[head:len(a)-tail])
	write("+", b[head:len(b)-tail])
	write(" ", a[len(a)-tail:len(a)-tail+same])
	return out.String()
}

func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		all = append(all, line)
	}
	return all
}
