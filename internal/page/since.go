package page

import (
	"encoding/binary"
	"strconv"
	"strings"

	"webchat/internal/wording"

	"github.com/aymanbagabas/go-udiff/lcs"
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
	places, added, gone := differ(old, fresh, v.First)
	v.Changed = places
	var parts []string
	if added > 0 {
		parts = append(parts, wording.Plural(added, "line")+" new or different")
	}
	if gone > 0 {
		parts = append(parts, wording.Plural(gone, "line")+" gone")
	}
	return strings.Join(parts, ", ") + "."
}

// lineMarks is one number for each line.
func lineMarks(b []byte) []rune {
	marks := make([]rune, len(b)/2)
	for i := range marks {
		marks[i] = rune(binary.BigEndian.Uint16(b[2*i:]))
	}
	return marks
}

// differ returns which lines of fresh, the first of which has the number first, are not in old, how
// many these are, and how many of old's are not in fresh.
func differ(old, fresh []rune, first int) (places string, added, gone int) {
	var list []string
	for _, c := range lcs.DiffRunes(old, fresh) {
		gone += c.End - c.Start
		n := c.ReplEnd - c.ReplStart
		added += n
		place := strconv.Itoa(first + c.ReplStart)
		switch {
		case n > 1:
			list = append(list, place+"-"+strconv.Itoa(first+c.ReplEnd-1))
		case n == 1:
			list = append(list, place)
		}
	}
	return strings.Join(list, " "), added, gone
}
