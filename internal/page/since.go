package page

import (
	"encoding/binary"
	"strconv"
	"strings"

	"webchat/internal/wording"
)

// showings are the last displays of each thing, as far as the log tells of them.
type showings map[string]*Call

// next remembers c, which is complete, beside the display before it of the same thing.
func (s showings) next(c *Call) {
	if c.Kind == "" || c.Fingerprint == nil {
		return
	}
	if before := s[c.subject()]; before != nil {
		c.before, before.later = before, c
	}
	s[c.subject()] = c
}

// forget drops c, and returns the display that was compared with it, if there is one.
func (s showings) forget(c *Call) (later *Call) {
	if s[c.subject()] == c {
		delete(s, c.subject())
	}
	later, c.before, c.later = c.later, nil, nil
	if later != nil {
		later.before = nil
	}
	return later
}

// subject is the same for displays of the same thing.
func (c *Call) subject() string { return c.Tool + " " + string(c.Args) }

// compareWithLast says what is different from the last time the same was shown.
func (v *card) compareWithLast() {
	was, now := v.before, v.Fingerprint
	if was == nil || v.Say != nil {
		return
	}
	when := was.ShownAt.In(v.In.Location).Format("15:04")
	if was.Fingerprint.Sum == now.Sum && was.Telemetry.Bytes == v.Telemetry.Bytes {
		v.Say = &say{Bold: "Unchanged", Text: "since it was shown at " + when + "."}
		return
	}
	v.Say = &say{Bold: "Changed", Text: "since it was shown at " + when + ": " + v.difference(was)}
}

// difference is in lines where both are known by line, else in sizes.
func (v *card) difference(was *Call) string {
	old, fresh := lineMarks(was.Fingerprint.Lines), lineMarks(v.Fingerprint.Lines)
	if len(old) == 0 || len(fresh) == 0 {
		return wording.Size(was.Telemetry.Bytes) + " then, " + wording.Size(v.Telemetry.Bytes) + " now."
	}
	changed, gone := diffLines(old, fresh)
	v.Changed = ranges(changed, v.First)
	var parts []string
	if n := int64(len(changed)); n > 0 {
		parts = append(parts, wording.Plural(n, "line")+" new or different")
	}
	if gone > 0 {
		parts = append(parts, wording.Plural(gone, "line")+" gone")
	}
	return strings.Join(parts, ", ") + "."
}

func lineMarks(b []byte) []uint16 {
	marks := make([]uint16, len(b)/2)
	for i := range marks {
		marks[i] = binary.BigEndian.Uint16(b[2*i:])
	}
	return marks
}

// diffLines returns the places of fresh's lines that are not among a longest common
// sequence with old, and how many of old's are not.
func diffLines(old, fresh []uint16) (changed []int, gone int) {
	a, b, skip := old, fresh, 0
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b, skip = a[1:], b[1:], skip+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	// longest[i][j] is how long the sequence of a[i:] and b[j:] is; at most 1,000
	// lines of each, so two megabytes for a moment.
	width := len(b) + 1
	longest := make([]uint16, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			i, j = i+1, j+1
		case longest[(i+1)*width+j] >= longest[i*width+j+1]:
			i, gone = i+1, gone+1
		default:
			changed = append(changed, skip+j)
			j++
		}
	}
	for ; j < len(b); j++ {
		changed = append(changed, skip+j)
	}
	return changed, gone + len(a) - i
}

// ranges writes places as the numbers of lines, of which the first is first.
func ranges(places []int, first int) string {
	var out []string
	for i := 0; i < len(places); {
		j := i
		for j+1 < len(places) && places[j+1] == places[j]+1 {
			j++
		}
		text := strconv.Itoa(places[i] + first)
		if j > i {
			text += "-" + strconv.Itoa(places[j]+first)
		}
		out = append(out, text)
		i = j + 1
	}
	return strings.Join(out, " ")
}
