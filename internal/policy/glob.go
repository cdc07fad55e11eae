package policy

import (
	"regexp"
	"runtime"
	"strings"
)

// pattern is a glob, ready to match paths.
type pattern struct {
	re   *regexp.Regexp
	tree bool // it ends with **: the folder itself is part of its tree
}

func newPattern(p string) *pattern { return &pattern{glob(p), strings.HasSuffix(p, "**")} }

func (p *pattern) match(name string) bool {
	return p.re.MatchString(name) || p.tree && p.re.MatchString(name+"/")
}

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
