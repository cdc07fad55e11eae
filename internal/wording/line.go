package wording

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible makes one line of text without characters that hide.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, text)
}

// Name makes a file's name safe to show: characters that could be read as something other than a
// name become question marks.
func Name(name string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
			unicode.Co) {
			return '?'
		}
		return r
	}, name)
}

// Line returns text as a title may show it: one line, without control
// characters and without the invisible ones that reorder what follows.
func Line(text string) string {
	return strings.Join(strings.Fields(Visible(strings.ToValidUTF8(text, ""))), " ")
}

// Title makes a title of the first words of a prompt.
func Title(content string) string {
	const longest = 60 // characters
	line := ""
	for l := range strings.Lines(content) {
		if line = Line(l); line != "" {
			break
		}
	}
	if utf8.RuneCountInString(line) <= longest {
		return line
	}
	cut := string([]rune(line)[:longest])
	if i := strings.LastIndexByte(cut, ' '); i > longest/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " .,;:") + "…"
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// CommandLine returns words as one command of a POSIX shell.
func CommandLine(words ...string) string {
	all := make([]string, len(words))
	for i, w := range words {
		if all[i] = w; !plainWord.MatchString(w) {
			all[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(all, " ")
}
