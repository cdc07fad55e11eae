package terminal

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// filter reads what a program wrote to a terminal and hands on the part the terminal library should
// see: text, line feeds, carriage returns, backspaces, tabs, and complete control sequences of a
// closed list with small numbers. Everything else is dropped whole: operating system commands
// (titles, clipboard, links, images), device control, application commands, character sets,
// queries, unknown sequences and lone control characters.
//
// It holds at most a few dozen bytes, whatever comes, so the result does not depend on how the
// input was cut.
type filter struct {
	mode   termMode
	params []byte // of the control sequence being read
	bad    bool   // it is too long or holds what we do not know
	utf8   []byte // the start of a character
}

type termMode uint8

const (
	modeText    termMode = iota
	modeEscape           // after ESC
	modeCharset          // after ESC and an intermediate byte: one more byte
	modeCSI              // inside a control sequence
	modeString           // inside an OSC, DCS, APC, PM or SOS
	modeStringEscape
)

const maxParams = 64

func (f *filter) write(p []byte, out *screen) {
	for len(p) > 0 {
		if len(f.utf8) == 0 && p[0] < utf8.RuneSelf {
			f.rune(rune(p[0]), out)
			p = p[1:]
			continue
		}
		if len(f.utf8) == 0 && utf8.FullRune(p) {
			r, size := utf8.DecodeRune(p)
			f.rune(r, out)
			p = p[size:]
			continue
		}
		f.utf8 = append(f.utf8, p[0])
		p = p[1:]
		for len(f.utf8) > 0 && utf8.FullRune(f.utf8) {
			r, size := utf8.DecodeRune(f.utf8)
			f.utf8 = f.utf8[:copy(f.utf8, f.utf8[size:])]
			f.rune(r, out)
		}
	}
}

func (f *filter) rune(r rune, out *screen) {
	switch f.mode {
	case modeText:
		f.plainRune(r, out)
	case modeEscape:
		f.escape(r, out)
	case modeCharset:
		f.mode = modeText
	case modeCSI:
		f.csi(r, out)
	case modeString:
		f.inString(r)
	case modeStringEscape:
		f.mode = modeString
		if r == '\\' {
			f.mode = modeText
		} else {
			f.inString(r)
		}
	}
}

func (f *filter) plainRune(r rune, out *screen) {
	switch {
	case r == '\n', r == '\r', r == '\b':
		out.control(byte(r))
	case r == '\t':
		out.text(r)
	case r == 0x1b:
		f.mode = modeEscape
	case r == 0x9b:
		f.openCSI()
	case r == 0x9d, r == 0x90, r == 0x9e, r == 0x9f, r == 0x98:
		f.mode = modeString
	case r == '\v', r == '\f':
		out.control('\n')
	case r < ' ', 0x7f <= r && r < 0xa0:
	default:
		out.text(r)
	}
}

func (f *filter) openCSI() {
	f.mode, f.params, f.bad = modeCSI, f.params[:0], false
}

func (f *filter) escape(r rune, out *screen) {
	f.mode = modeText
	switch {
	case r == '[':
		f.openCSI()
	case r == ']', r == 'P', r == '_', r == '^', r == 'X':
		f.mode = modeString
	case r == 0x1b:
		f.mode = modeEscape
	case ' ' <= r && r <= '/':
		f.mode = modeCharset
	case r == 'M', r == '7', r == '8':
		out.sequence("\x1b" + string(r))
	case r == 'D', r == 'E':
		out.control('\n')
	case r == 'c':
		out.sequence("\x1b[0m")
	case r < ' ', r >= 0x80:
		f.plainRune(r, out)
	}
}

func (f *filter) inString(r rune) {
	switch r {
	case 0x07, 0x9c, 0x18, 0x1a:
		f.mode = modeText
	case 0x1b:
		f.mode = modeStringEscape
	}
}

func (f *filter) csi(r rune, out *screen) {
	switch {
	case '0' <= r && r <= '9' || r == ';' || r == ':':
		if len(f.params) < maxParams {
			f.params = append(f.params, byte(r))
		} else {
			f.bad = true
		}
	case ' ' <= r && r < '@':
		f.bad = true // private and intermediate bytes: modes, queries, keyboards
	case '@' <= r && r <= '~':
		f.mode = modeText
		if !f.bad {
			f.final(byte(r), out)
		}
	case r == 0x1b:
		f.mode = modeEscape
	case r == 0x18, r == 0x1a:
		f.mode = modeText
	case r == '\n', r == '\r', r == '\b':
		out.control(byte(r)) // terminals obey these in the middle of a sequence
	case r < ' ', r == 0x7f:
	default:
		f.mode = modeText
		f.plainRune(r, out)
	}
}

// final ends a control sequence.
func (f *filter) final(c byte, out *screen) {
	params := string(f.params)
	switch c {
	case 'm':
		if codes := graphics(params); codes != "" {
			out.sequence("\x1b[" + codes + "m")
		}
	case 'A', 'B', 'C', 'D', 'E', 'F', 'G':
		out.sequence("\x1b[" + strconv.Itoa(param(params, 0, 1)) + string(c))
	case 'e', 'a', '`':
		out.sequence("\x1b[" + strconv.Itoa(param(params, 0, 1)) +
			string("BCG"[strings.IndexByte("ea`", c)]))
	case 'H', 'f':
		out.position(param(params, 1, 1))
	case 'J', 'K':
		// 3J would also clear what has scrolled away, which was handed out already.
		if n := param(params, 0, 0); n <= 2 {
			out.sequence("\x1b[" + strconv.Itoa(n) + string(c))
		}
	case 's':
		out.sequence("\x1b7")
	case 'u':
		out.sequence("\x1b8")
	}
}

// param returns the i-th number, kept small: no screen here is larger.
func param(params string, i, otherwise int) int {
	for ; i > 0; i-- {
		_, rest, ok := strings.Cut(params, ";")
		if !ok {
			return otherwise
		}
		params = rest
	}
	params, _, _ = strings.Cut(params, ";")
	n, err := strconv.Atoi(params)
	if err != nil || n < 0 || n == 0 && otherwise == 1 {
		return otherwise
	}
	return min(n, 9999)
}
