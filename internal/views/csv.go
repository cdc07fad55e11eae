package views

import (
	"bufio"
	"bytes"
	csvlib "encoding/csv"
	"errors"
	"io"
	"iter"
)

// record is a row of a table. Its cells are valid until the next one is read.
type record struct {
	begins, next int // where its text begins, and where the next record may begin
	cells        []string
	broken       bool // it cannot be parsed: its only cell is its text
}

// maxRecord is how many bytes a record of CSV may have: a quote that is still open by then is an
// error, and no line has so many fields that they would fill the memory.
const maxRecord = 256 << 10

var errLong = errors.New("the record is too long")

// stretch reads a text up to the end that a record may have.
type stretch struct {
	text    []byte
	at, end int
}

// Read implements [io.Reader].
func (s *stretch) Read(p []byte) (int, error) {
	switch {
	case s.at == len(s.text):
		return 0, io.EOF
	case s.at >= s.end:
		return 0, errLong
	}
	n := copy(p, s.text[s.at:min(s.end, len(s.text))])
	s.at += n
	return n, nil
}

// csvRecords are the records of CSV. The line of one that cannot be parsed is a record of its own,
// and the next one begins behind it. That reads no byte more than three times: a line opens a quote
// if it has an odd number of them, and the next such line closes it or is where it fails.
func csvRecords(text []byte, comma byte) iter.Seq[record] {
	return func(yield func(record) bool) {
		src := &stretch{text: text}
		buf := bufio.NewReader(src)
		r := csvlib.NewReader(buf)
		r.Comma, r.FieldsPerRecord, r.ReuseRecord = rune(comma), -1, true
		moved := 0 // from the reader's offsets to those in text
		for at := 0; ; {
			for rest := text[at:]; len(rest) > 0; rest = text[at:] { // empty lines
				if n := lineEnd(rest); len(bytes.TrimRight(rest[:n], "\r\n")) > 0 {
					break
				} else {
					at += n
				}
			}
			if at == len(text) {
				return
			}
			src.end = at + maxRecord
			cells, err := r.Read()
			x := record{begins: at, next: moved + int(r.InputOffset()), cells: cells}
			if err != nil {
				x.next, x.broken = at+lineEnd(text[at:]), true
				x.cells = []string{string(bytes.TrimRight(text[at:x.next], "\r\n"))}
				src.at = x.next
				buf.Reset(src)
				moved = x.next - int(r.InputOffset())
			}
			if !yield(x) {
				return
			}
			at = x.next
		}
	}
}

// lineEnd returns where the line ends that b begins with.
func lineEnd(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	return len(b)
}
