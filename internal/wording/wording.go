// Package wording writes what people read in the same way everywhere: sizes in
// powers of 1000, numbers with commas, texts that are cut, and sentences; and reads the ranges of
// lines that they write. Its functions may be called from anywhere.
package wording

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Size is a number of bytes: 1 byte, 6.1 kB, 33 MB.
func Size(n int64) string {
	return sized(n, func(f float64) string {
		if f < 9.95 {
			return strconv.FormatFloat(f, 'f', 1, 64)
		}
		return strconv.FormatFloat(f, 'f', 0, 64)
	})
}

// Limit is a number of bytes that something may have, as it was set: 16 MiB, 2 MB. It is never more
// than n.
func Limit(n int64) string {
	units := []string{"KiB", "MiB", "GiB"}
	for shift := 10 * len(units); shift > 0; shift -= 10 {
		if n >= 1<<shift && n%(1<<shift) == 0 && n%1000 != 0 {
			return strconv.FormatInt(n>>shift, 10) + " " + units[shift/10-1]
		}
	}
	return sized(n, func(f float64) string {
		return strconv.FormatFloat(float64(int64(f*100))/100, 'f', -1, 64)
	})
}

func sized(n int64, number func(float64) string) string {
	if n == 1 {
		return "1 byte"
	}
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	f, units := float64(n)/1000, []string{"kB", "MB", "GB", "TB"}
	for f >= 999.5 && len(units) > 1 {
		f, units = f/1000, units[1:]
	}
	return number(f) + " " + units[0]
}

// Count is a number with commas: 31,412.
func Count[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	negative := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if negative {
		return "−" + s
	}
	return s
}

// Cut is the beginning of s, at most so many characters. The last one says that
// there was more: "…".
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n, end := 0, 0
	for i := range s {
		if n++; n == most {
			end = i
		}
		if n > most {
			return s[:end] + "…"
		}
	}
	return s
}

// Sentence begins s with a capital letter and ends it with a full stop, unless it
// ends as a sentence does. Nothing stays nothing.
func Sentence(s string) string { return Ended(Capital(s)) }

// Capital is s with a capital letter at its beginning.
func Capital(s string) string {
	s = strings.TrimSpace(s)
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// Ended is s with a full stop, unless it ends as a sentence does.
func Ended(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

// Tilde writes a folder as people do, ~/code/relay, if it lies below their home folder.
func Tilde(path, home string) string {
	if home == "" || home == string(filepath.Separator) {
		return path
	}
	if rel, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(rel) {
		return strings.TrimSuffix("~/"+filepath.ToSlash(rel), "/.")
	}
	return path
}
