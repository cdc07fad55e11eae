package page

import (
	"encoding/binary"
	"strconv"
	"strings"

	"webchat/internal/wording"
)

// showings are the last displays of each thing, as far as the log has them.
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
	since := "since it was shown at " + v.In.clock(was.ShownAt)
	if was.Fingerprint.Sum == now.Sum && was.Telemetry.Bytes == v.Telemetry.Bytes {
		v.Say = &say{Bold: "Unchanged", Text: since + "."}
		return
	}
	v.Say = &say{Bold: "Changed", Text: since + ": " + v.difference(was)}
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
	if n := len(changed); n > 0 {
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
// sequence with old, and how many of old's are not. Each has up to 1,000 lines.
func diffLines(old, fresh []uint16) (changed []int, gone int) {
	skip := 0
	for len(old) > 0 && len(fresh) > 0 && old[0] == fresh[0] {
		old, fresh, skip = old[1:], fresh[1:], skip+1
	}
	for len(old) > 0 && len(fresh) > 0 && old[len(old)-1] == fresh[len(fresh)-1] {
		old, fresh = old[:len(old)-1], fresh[:len(fresh)-1]
	}
	width := len(fresh) + 1
	longest := make([]uint16, (len(old)+1)*width) // at i, j: of old[i:] and fresh[j:]
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(fresh) - 1; j >= 0; j-- {
			if old[i] == fresh[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(old) || j < len(fresh); {
		switch {
		case i < len(old) && j < len(fresh) && old[i] == fresh[j]:
			i, j = i+1, j+1
		case j == len(fresh) || i < len(old) && longest[(i+1)*width+j] >= longest[i*width+j+1]:
			i, gone = i+1, gone+1
		default:
			changed = append(changed, skip+j)
			j++
		}
	}
	return changed, gone
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
