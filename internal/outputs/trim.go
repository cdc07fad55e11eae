package outputs

import (
	"bytes"
	"unicode/utf8"
)

// trimReach is how far a cut may move to fall between two lines.
const trimReach = 64 << 10

// trimEnd shortens c, the last chunk before the gap, to end with a line, or at least not inside a
// character. It leaves at least one byte.
func trimEnd(c *chunk) {
	n := len(c.buf)
	near := max(0, n-trimReach)
	if i := bytes.LastIndexByte(c.buf[near:], '\n'); i >= 0 {
		c.buf = c.buf[:near+i+1]
		return
	}
	for i := 1; i < utf8.UTFMax && i < n; i++ {
		if b := c.buf[n-i]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(c.buf[n-i:]) {
				c.buf = c.buf[:n-i]
			}
			return
		}
	}
}

// trimStart shortens c, the first chunk after the gap, to begin with a line, or at least not inside
// a character. It leaves at least one byte.
func trimStart(c *chunk) {
	k := 0
	if i := bytes.IndexByte(c.buf[:min(len(c.buf), trimReach)], '\n'); i >= 0 && i+1 < len(c.buf) {
		k = i + 1
		c.nl++
	} else {
		for k < utf8.UTFMax-1 && k+1 < len(c.buf) && !utf8.RuneStart(c.buf[k]) {
			k++
		}
	}
	c.off += int64(k)
	c.buf = c.buf[k:]
}
