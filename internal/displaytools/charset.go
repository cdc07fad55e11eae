package displaytools

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// charset guesses from the first bytes of a text how it is encoded: UTF-16 by its mark;
// windows-1252, which contains Latin-1, if more of it is wrong as UTF-8 than is right beyond ASCII;
// else utf-8.
func charset(head []byte) string {
	switch {
	case utf8.Valid(head) && bytes.IndexByte(head, 0) < 0:
		return "utf-8"
	case bytes.HasPrefix(head, []byte("\xff\xfe")) && !bytes.HasPrefix(head[2:], []byte("\x00\x00")):
		// not UTF-32
		return "utf-16le"
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "utf-16be"
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

// wideDecoder makes UTF-8 of UTF-16 that comes in parts.
type wideDecoder struct {
	transform.Transformer
	rest []byte // of what goes on in the next part
}

// newWide returns the decoder of a charset, or nil.
func newWide(charset string) *wideDecoder {
	endian, ok := map[string]unicode.Endianness{"utf-16le": unicode.LittleEndian,
		"utf-16be": unicode.BigEndian}[charset]
	if !ok {
		return nil
	}
	return &wideDecoder{Transformer: unicode.UTF16(endian, unicode.UseBOM).NewDecoder()}
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
