package code

import (
	"regexp"
	"sync"
	"unicode/utf8"
)

// levelReach is how far into a line its time and its level are looked for, in bytes.
const levelReach = 120

// levels finds when a line of a log was written, at its beginning, and how bad it is.
var levels = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\s\]]*\]?)(?:\s|$)` +
		`|\b(?:(ERROR|FATAL|CRITICAL|PANIC)|(WARN|WARNING)|(DEBUG|TRACE))\b`)
})

// levelClasses are the colours of the groups of levels, those of a terminal.
var levelClasses = [...]string{"f", "a1", "a3", "f"}

// level writes a line of plain text up to its level, as a log is read; what is left of it
// [rowWriter] writes by itself.
func (r *rowWriter) level(n int, line []byte) {
	if isLong(line) || !utf8.Valid(line) {
		return
	}
	done := 0
	for _, m := range levels().FindAllSubmatchIndex(line[:min(len(line), levelReach)], 2) {
		for i, class := range levelClasses {
			if from, to := m[2*i+2], m[2*i+3]; from >= done {
				r.text(n, "", string(line[done:from]))
				r.text(n, class, string(line[from:to]))
				done = to
			}
		}
	}
}
