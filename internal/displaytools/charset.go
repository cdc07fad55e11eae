package displaytools

import (
	"encoding/binary"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// charset guesses from the first bytes of a text how it is encoded: UTF-16 by its mark,
// or if half of its bytes being zero say so; windows-1252, which contains Latin-1, if
// more of it is wrong as UTF-8 than is right beyond ASCII; else utf-8.
func charset(head []byte) string {
	if utf8.Valid(head) && !hasZero(head) {
		return "utf-8"
	}
	for _, w := range wideCharsets {
		if w.begins(head) {
			return w.name
		}
	}
	right, wrong := 0, 0
	for len(head) > 0 {
		r, size := utf8.DecodeRune(head)
		switch {
		case r == utf8.RuneError && size == 1 && utf8.FullRune(head): // else it goes on beyond the head
			wrong++
		case size > 1:
			right++
		}
		head = head[size:]
	}
	if wrong > right {
		return "windows-1252"
	}
	return "utf-8"
}

func hasZero(b []byte) bool {
	for _, c := range b {
		if c == 0 {
			return true
		}
	}
	return false
}

// wide is an encoding of two bytes a unit.
type wide struct {
	name  string
	order binary.ByteOrder
	low   int // index of the lower byte of a unit
}

var wideCharsets = []wide{{"utf-16le", binary.LittleEndian, 0}, {"utf-16be", binary.BigEndian, 1}}

// sniffWide is how many bytes tell UTF-16 from binary data.
// Without a mark, fewer than leastWide tell nothing.
const (
	sniffWide = 4 << 10
	leastWide = 8
)

// begins reports whether head is the beginning of a text in this encoding.
func (w wide) begins(head []byte) bool {
	head = head[:min(len(head), sniffWide)]
	head = head[:len(head)&^1]
	if len(head) == 0 {
		return false
	}
	marked := w.order.Uint16(head) == 0xfeff
	plain, zeros := 0, 0
	for i := 0; i < len(head); i += 2 {
		switch u := w.order.Uint16(head[i:]); {
		case u < 0x20 && u != '\t' && u != '\n' && u != '\r' && u != '\f', u >= 0xfffe:
			return false // not in a text; so is UTF-32, whose units are half zero
		case u < 0x80:
			plain++
		}
		if head[i+w.low] == 0 {
			zeros++
		}
	}
	return marked || len(head) >= leastWide && plain*10 >= len(head)/2*7 && zeros == 0
}

// wideDecoder makes UTF-8 of UTF-16 that comes in parts.
type wideDecoder struct {
	wide
	rest []byte // of what goes on in the next part
}

// newWide returns the decoder of a charset, or nil.
func newWide(charset string) *wideDecoder {
	for _, w := range wideCharsets {
		if w.name == charset {
			return &wideDecoder{wide: w}
		}
	}
	return nil
}

// decode returns what b adds. The mark is left out.
func (d *wideDecoder) decode(b []byte) []byte {
	b = append(d.rest, b...)
	out := make([]byte, 0, len(b))
	i := 0
	for ; i+2 <= len(b); i += 2 {
		r := rune(d.order.Uint16(b[i:]))
		if utf16.IsSurrogate(r) {
			if i+4 > len(b) {
				break
			}
			if both := utf16.DecodeRune(r, rune(d.order.Uint16(b[i+2:]))); both != unicode.ReplacementChar {
				i, r = i+2, both
			}
		}
		if r != 0xfeff {
			out = utf8.AppendRune(out, r)
		}
	}
	d.rest = append([]byte(nil), b[i:]...)
	return out
}
