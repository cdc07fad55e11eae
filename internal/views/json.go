package views

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// sniffJSON reads the beginning of a text and returns how many values stand one behind
// the other, and whether the only one is a list of objects. ok is false for text that is not
// JSON; whole says that there is no more of it.
func sniffJSON(head []byte, whole bool) (values int, lists, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(head))
	depth, objects := 0, 0
	for {
		t, err := dec.Token()
		if err != nil {
			cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
			return values, lists, values > 0 && cut && (!whole || depth == 0 && errors.Is(err, io.EOF)) && (values == 1 || objects == values)
		}
		d, _ := t.(json.Delim)
		if depth == 0 {
			values++
			if d == '{' {
				objects++
			}
		}
		lists = lists || depth == 1 && values == 1 && objects == 0 && d == '{'
		switch d {
		case '{', '[':
			if depth++; depth > maxDepth {
				return 0, false, false
			}
		case '}', ']':
			depth--
		}
	}
}

// skipValue returns where the value that begins at i ends; -1: not in b.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch c := b[i]; c {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
			continue
		default:
			for i < len(b) && bytes.IndexByte([]byte(" \t\r\n,:]}"), b[i]) < 0 {
				i++
			}
			if i == len(b) && depth == 0 {
				return i // a number at the end of all
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return -1
}

// skipString returns where the string that begins at i ends; -1: not in b.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return -1
		}
		slashes := 0
		for k := i + j - 1; k >= i && b[k] == '\\'; k-- {
			slashes++
		}
		if i += j; slashes%2 == 0 {
			return i + 1
		}
	}
	return -1
}

// eachMember hands out the keys and values of the object that begins at i.
func eachMember(b []byte, i int, f func(key, value []byte) bool) {
	for i++; ; {
		for i < len(b) && b[i] != '"' && b[i] != '}' {
			i++
		}
		if i >= len(b) || b[i] == '}' {
			return
		}
		end := skipString(b, i)
		if end < 0 {
			return
		}
		key := b[i:end]
		for i = end; i < len(b) && bytes.IndexByte([]byte(" \t\r\n:"), b[i]) >= 0; {
			i++
		}
		end = skipValue(b, i)
		if end < 0 || end <= i || !f(key, b[i:end]) {
			return
		}
		i = end
	}
}

// jsonText is a string without its quotes, and any other value as it is written.
func jsonText(v []byte) []byte {
	if len(v) == 0 || v[0] != '"' {
		if string(v) == "null" {
			return nil
		}
		return v
	}
	if bytes.IndexByte(v, '\\') < 0 && len(v) > 1 {
		return v[1 : len(v)-1]
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return v
	}
	return []byte(s)
}

// maxDepth is how deep values may nest.
const maxDepth = 500
