package displaytools

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	xunicode "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// charset guesses from the first bytes of a text how it is encoded: UTF-16 by its mark,
// or if half of its bytes being zero say so; windows-1252, which contains Latin-1, if
// more of it is wrong as UTF-8 than is right beyond ASCII; else utf-8.
func charset(head []byte) string {
	if utf8.Valid(head) && bytes.IndexByte(head, 0) < 0 {
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

// wide is an encoding of two bytes a unit.
type wide struct {
	name   string
	endian xunicode.Endianness
	order  binary.ByteOrder
	low    int // index of the lower byte of a unit
}

var wideCharsets = []wide{
	{"utf-16le", xunicode.LittleEndian, binary.LittleEndian, 0},
	{"utf-16be", xunicode.BigEndian, binary.BigEndian, 1},
}

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
	transform.Transformer
	rest []byte // of what goes on in the next part
}

// newWide returns the decoder of a charset, or nil.
func newWide(charset string) *wideDecoder {
	for _, w := range wideCharsets {
		if w.name == charset {
			return &wideDecoder{Transformer: xunicode.UTF16(w.endian, xunicode.UseBOM).NewDecoder()}
		}
	}
	return nil
}

// decode returns what b adds. The mark at the beginning is left out, and what is wrong becomes
// U+FFFD.
func (d *wideDecoder) decode(b []byte) []byte {
	b = append(d.rest, b...)
	out := make([]byte, len(b)/2*utf8.UTFMax)
	n, read, _ := d.Transform(out, b, false) // its only error is that b ends within a character
	d.rest = bytes.Clone(b[read:])
	return out[:n]
}
