package veil

import "bytes"

var (
	privateKey = []byte("PRIVATE KEY")
	keyBegin   = []byte("-----BEGIN ")
	keyEnd     = []byte("-----END ")
)

// puttyLines precede the private part of a key of PuTTY.
var puttyLines = []byte("Private-Lines: ")

// After returns what is known of a text, for the one that follows it: whether a private key has
// begun and has not ended, so that what follows is part of it.
func After(text []byte) Before { return Before{key: endsInKey(text)} }

func endsInKey(text []byte) bool {
	if !mayHaveKey(text) {
		return false
	}
	if i := bytes.LastIndex(text, keyBegin); i >= 0 && bytes.Contains(lineFrom(text, i), privateKey) {
		return !bytes.Contains(text[i:], keyEnd)
	}
	i := bytes.LastIndex(text, puttyLines)
	return i >= 0 && !bytes.Contains(text[i:], []byte("Private-MAC"))
}

// mayHaveKey reports whether a private key may begin in a text.
func mayHaveKey(text []byte) bool {
	return bytes.Contains(text, privateKey) || bytes.Contains(text, puttyLines)
}

func lineFrom(text []byte, i int) []byte {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return text[i : i+n]
	}
	return text[i:]
}

// keyBlocks returns the lines of private keys. open says that the text begins within one.
func keyBlocks(text []byte, open bool) (spans []Span) {
	if !open && !mayHaveKey(text) {
		return nil
	}
	for at := 0; at < len(text); {
		line := lineFrom(text, at)
		from := at
		at += len(line) + 1
		if i := bytes.Index(line, keyBegin); i >= 0 && bytes.Contains(line[i:], privateKey) {
			head := i + bytes.Index(line[i:], privateKey) + len(privateKey)
			for head < len(line) && (line[head] == '-' || line[head] == ' ' || 'A' <= line[head] &&
				line[head] <= 'Z' && bytes.HasPrefix(line[head:], []byte("BLOCK"))) {
				if line[head] == 'B' {
					head += len("BLOCK")
				} else {
					head++
				}
			}
			rest, _, ended := bytes.Cut(line[head:], keyEnd)
			if rest = bytes.TrimRight(rest, " \r"); keyText(rest, 16) { // all in one line, as in JSON
				spans = append(spans, Span{from + head, from + head + len(rest)})
			}
			open = !ended && len(bytes.Trim(rest, "\"',;)`\\n")) == 0 || !ended && keyText(rest, 16)
			continue
		}
		if bytes.Contains(line, puttyLines) {
			open = true
			continue
		}
		if !open {
			continue
		}
		if bytes.Contains(line, keyEnd) || bytes.HasPrefix(line, []byte("Private-MAC")) {
			open = false
			continue
		}
		body := bytes.Trim(line, " \t\r+>|\"',")
		switch {
		case len(body) == 0, bytes.Contains(body, []byte(": ")):
		case keyText(body, 1):
			i := bytes.Index(line, body)
			spans = append(spans, Span{from + i, from + i + len(body)})
		default:
			open = false
		}
	}
	return spans
}

// keyText reports whether a text of at least so many bytes is a part of a key, line breaks written
// as \n among it.
func keyText(b []byte, least int) bool {
	if len(b) < least {
		return false
	}
	for _, c := range b {
		if !nameByte(c) && c != '+' && c != '/' && c != '=' && c != '\\' {
			return false
		}
	}
	return true
}
