package outputs

// Plain returns text without terminal escape sequences and other control characters.
func Plain(text []byte) []byte { return stripControls(nil, text) }

// stripControls appends text without terminal escape sequences and other control characters
// (ECMA-48 §5.4 and §5.6), tabs excepted.
func stripControls(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == 0x1b:
			i += escapeLen(text[i:])
			continue
		case c >= 0x20 && c != 0x7f || c == '\t':
			dst = append(dst, c)
		}
		i++
	}
	return dst
}

func escapeLen(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case '[': // parameters and intermediates, then one final byte
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
		}
		return len(b)
	case ']', 'P', 'X', '^', '_': // a string up to BEL or ESC \
		for i := 2; i < len(b); i++ {
			if b[i] == 7 {
				return i + 1
			}
			if b[i] == 0x1b {
				return min(i+2, len(b))
			}
		}
		return len(b)
	default:
		i := 1
		for i < len(b) && b[i] >= 0x20 && b[i] <= 0x2f {
			i++
		}
		return min(i+1, len(b))
	}
}

// hasControls reports whether stripControls would change one of the lines of b.
func hasControls(b []byte) bool {
	for _, c := range b {
		if c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return true
		}
	}
	return false
}
