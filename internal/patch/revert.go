package patch

import (
	"slices"
	"strings"

	"webchat/internal/event"
)

// Revert returns the text that an edit changed into now. ok is false if the edit does not fit: then
// what the text was is not known.
func Revert(now []byte, e event.Edit) (was []byte, ok bool) {
	lines := slices.Collect(strings.Lines(string(now)))
	// the last first, so that the places of the others hold
	for _, h := range slices.Backward(e.Hunks) {
		before, after := h.Sides()
		at, ok := find(lines, h.New, after)
		if !ok {
			return nil, false
		}
		lines = slices.Replace(lines, at, at+len(after), before...)
	}
	return []byte(strings.Join(lines, "")), len(e.Hunks) > 0
}

// find returns where the newer lines of a hunk stand: where the hunk says, else at the
// only place that has them.
func find(lines []string, place int, now []string) (at int, ok bool) {
	fits := func(at int) bool {
		return at >= 0 && at+len(now) <= len(lines) &&
			slices.EqualFunc(lines[at:at+len(now)], now, sameLine)
	}
	if len(now) == 0 { // the number is that of the line before
		return place, place <= len(lines)
	}
	if fits(place - 1) {
		return place - 1, true
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
