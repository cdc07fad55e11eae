package policy

import (
	"regexp"
	"runtime"
	"strings"
)

// glob knows ? and * within an element of a path, and ** across them. Where file
// systems do not tell upper from lower case, it does not either.
func glob(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`^(?s:`)
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		b.WriteString(`(?i)`)
	}
	for i := 0; i < len(pattern); i++ {
		switch {
		case strings.HasPrefix(pattern[i:], "/**/"):
			b.WriteString(`/(?:.*/)?`)
			i += 3
		case strings.HasPrefix(pattern[i:], "**"):
			b.WriteString(`.*`)
			i++
		case pattern[i] == '*':
			b.WriteString(`[^/]*`)
		case pattern[i] == '?':
			b.WriteString(`[^/]`)
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	b.WriteString(`)$`)
	return regexp.MustCompile(b.String())
}
