package kind

import (
	"bytes"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// charsets are those that [Charset] returns besides UTF-8. Windows-1252 contains Latin-1.
var charsets = map[string]encoding.Encoding{
	"windows-1252": charmap.Windows1252,
	"utf-16le":     unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	"utf-16be":     unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
}

// Charset guesses from the first bytes of a text how it is encoded: UTF-16 by its mark;
// windows-1252, which contains Latin-1, if more of it is wrong as UTF-8 than is right beyond ASCII;
// else utf-8.
func Charset(head []byte) string {
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

// Encoding returns how a charset is decoded; nil for UTF-8 and for unknown ones.
func Encoding(charset string) encoding.Encoding { return charsets[charset] }

// IsWide reports whether the characters of a charset are not single bytes where ASCII has them, so
// that its lines are found only once it is decoded.
func IsWide(charset string) bool { return charset == "utf-16le" || charset == "utf-16be" }

// Decoded reads a text of a charset as UTF-8, without a mark at its beginning. What is wrong in it
// becomes U+FFFD, but in a text that is in UTF-8 already, which is returned as it is.
func Decoded(charset string, r io.Reader) io.Reader {
	if e := charsets[charset]; e != nil {
		return transform.NewReader(r, e.NewDecoder())
	}
	return r
}

// Decoder makes UTF-8 of a wide text that comes in parts.
type Decoder struct {
	transform.Transformer
	rest []byte // of what goes on in the next part
}

// Wide returns the decoder of a wide charset, or nil.
func Wide(charset string) *Decoder {
	if !IsWide(charset) {
		return nil
	}
	return &Decoder{Transformer: charsets[charset].NewDecoder()}
}

// Decode returns what b adds. The mark at the beginning is left out, and what is wrong becomes
// U+FFFD.
func (d *Decoder) Decode(b []byte) []byte {
	b = append(d.rest, b...)
	out := make([]byte, len(b)/2*utf8.UTFMax)
	n, read, _ := d.Transform(out, b, false) // its only error is that b ends within a character
	d.rest = bytes.Clone(b[read:])
	return out[:n]
}
