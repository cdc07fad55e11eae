package views

import "bytes"

// maxRecord is how many bytes a record may have. A quote that is still open by then is
// no quote: from there on records are lines.
const maxRecord = 256 << 10

// csvParser reads records as RFC 4180 has them, and takes what it does not allow as it
// is: a quote inside of a field, fields behind a quoted one, fewer or more of them.
type csvParser struct {
	comma   byte
	lenient bool // quotes do not span lines
}

// record reads the record b begins with and returns its fields and how many bytes it
// has. Without whole, b may end before the record does: then ok is false.
func (p *csvParser) record(b []byte, whole bool) (fields [][]byte, n int, ok bool) {
	for at := 0; ; {
		field, end := p.field(b[at:])
		if end < 0 { // a quote is open
			if !whole && len(b) < maxRecord {
				return nil, 0, false
			}
			p.lenient = true
			return p.record(b, whole)
		}
		end += at
		fields = append(fields, field)
		switch {
		case end == len(b) && !whole && len(b) < maxRecord:
			return nil, 0, false
		case end == len(b):
			return fields, end, true
		case b[end] == p.comma:
			at = end + 1
		default:
			return fields, end + 1, true
		}
	}
}

// field reads one field and returns where it ends; -1: it has no end.
func (p *csvParser) field(b []byte) (field []byte, end int) {
	if len(b) > 0 && b[0] == '"' {
		if field, end, ok := p.quoted(b); ok {
			return field, end
		}
		if !p.lenient {
			return nil, -1
		}
	}
	end = p.fieldEnd(b)
	return bytes.TrimSuffix(b[:end], []byte{'\r'}), end
}

// fieldEnd returns the index of the next comma or line end.
func (p *csvParser) fieldEnd(b []byte) int {
	for i, c := range b {
		if c == p.comma || c == '\n' {
			return i
		}
	}
	return len(b)
}

// quoted reads a field in quotes.
func (p *csvParser) quoted(b []byte) (field []byte, end int, ok bool) {
	for i := 1; i < len(b); i++ {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 || p.lenient && bytes.IndexByte(b[i:i+j], '\n') >= 0 {
			return nil, 0, false
		}
		field = append(field, b[i:i+j]...)
		if i += j; i+1 < len(b) && b[i+1] == '"' {
			field = append(field, '"')
			i++
			continue
		}
		rest := b[i+1:]
		end := p.fieldEnd(rest) // what stands behind the quote belongs to it
		return append(field, bytes.TrimSuffix(rest[:end], []byte{'\r'})...), i + 1 + end, true
	}
	return nil, 0, false
}
