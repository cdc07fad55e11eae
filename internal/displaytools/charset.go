package displaytools

import "unicode/utf8"

// charset guesses from the first bytes of a text how it is encoded: windows-1252,
// which contains Latin-1, if more of it is wrong as UTF-8 than is right beyond
// ASCII; else utf-8.
func charset(head []byte) string {
	if utf8.Valid(head) {
		return "utf-8"
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
