package strictjson

import (
	"bytes"
	"math"
	"strconv"
)

// Whole returns JSON in which each number that is whole is written as one: 3.0 and
// 3e0 become 3. To JSON they are the same value; a decoder of integers takes one of
// them only. Numbers that a float64 does not hold exactly stay as they are.
func Whole(b []byte) []byte {
	if !bytes.ContainsAny(b, ".eE") {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		n := 1
		switch {
		case b[i] == '"':
			n = text(b[i:])
		case b[i] == '-' || b[i] >= '0' && b[i] <= '9':
			for i+n < len(b) && bytes.IndexByte([]byte("+-.0123456789eE"), b[i+n]) >= 0 {
				n++
			}
			out = append(out, whole(b[i:i+n])...)
			i += n
			continue
		}
		out = append(out, b[i:i+n]...)
		i += n
	}
	return out
}

// text returns how many bytes the string has that b begins with.
func text(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

func whole(number []byte) []byte {
	if !bytes.ContainsAny(number, ".eE") {
		return number
	}
	v, err := strconv.ParseFloat(string(number), 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return number
	}
	return strconv.AppendInt(nil, int64(v), 10)
}
