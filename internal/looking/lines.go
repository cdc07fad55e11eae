package looking

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

const (
	// mostOfString is how much of a string in a line is kept, in bytes as they are written.
	mostOfString = 256 << 10
	// longest is how long a line may be once its strings are cut.
	longest = 8 << 20
)

// line is a line of a session file, in which long strings are cut.
type line struct {
	text []byte // until the next one is read; nil: it was too long even so
	cut  int64  // bytes of its strings that were left out
}

// lines reads a file line by line.
type lines struct {
	r    *bufio.Reader
	buf  []byte
	err  error
	in   inString
	over bool // what was read of this line is more than can be kept
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line; false at the end, or at an error, which Err has.
func (l *lines) next() (line, bool) {
	if l.err != nil {
		return line{}, false
	}
	l.buf, l.over, l.in = l.buf[:0], false, inString{}
	some := false
	for {
		part, err := l.r.ReadSlice('\n')
		some = some || len(part) > 0
		if !l.over {
			l.take(bytes.TrimSuffix(part, []byte("\n")))
		}
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			l.err = err
			break
		}
	}
	if l.over {
		return line{cut: l.in.cut}, true
	}
	return line{text: l.buf, cut: l.in.cut}, some
}

// inString is where in a string of JSON what was read ends.
type inString struct {
	inside bool
	need   int // bytes of an escape that are still to come; -1: the next one says how many
	kept   int
	full   bool  // the rest of the string is left out
	cut    int64 // bytes of the line that were left out
}

// take keeps a part of the line, without what is behind the first bytes of each string: what is
// kept is JSON if the line is.
func (l *lines) take(part []byte) {
	s := &l.in
	for len(part) > 0 {
		n := 1
		switch {
		case !s.inside:
			if n = bytes.IndexByte(part, '"') + 1; n == 0 {
				n = len(part)
			} else {
				*s = inString{inside: true, cut: s.cut}
			}
			l.put(part[:n])
		case s.need < 0:
			if s.need = 0; part[0] == 'u' {
				s.need = 4
			}
			l.keep(part[:1])
		case s.need > 0:
			n = min(s.need, len(part))
			s.need -= n
			l.keep(part[:n])
		case part[0] == '"':
			s.inside = false
			l.put(part[:1])
		case part[0] == '\\':
			s.need, s.full = -1, s.full || s.kept >= mostOfString
			l.keep(part[:1])
		default:
			if n = bytes.IndexAny(part, "\"\\"); n < 0 {
				n = len(part)
			}
			fits := 0
			for !s.full && fits < n && (s.kept+fits < mostOfString || !utf8.RuneStart(part[fits])) {
				fits = max(fits+1, min(n, mostOfString-s.kept))
			}
			l.keep(part[:fits])
			s.full = s.full || fits < n
			l.keep(part[fits:n])
		}
		part = part[n:]
	}
}

// keep keeps bytes of a string, unless they are left out.
func (l *lines) keep(b []byte) {
	if l.in.full {
		l.in.cut += int64(len(b))
		return
	}
	l.in.kept += len(b)
	l.put(b)
}

func (l *lines) put(b []byte) {
	if l.over = l.over || len(l.buf)+len(b) > longest; !l.over {
		l.buf = append(l.buf, b...)
	}
}

// Err is why the lines ended; nil at the end of the file.
func (l *lines) Err() error {
	if errors.Is(l.err, io.EOF) {
		return nil
	}
	return l.err
}
