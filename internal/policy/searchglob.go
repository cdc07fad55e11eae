package policy

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// searchGlob is the glob of a search in the words of ripgrep's --glob: those of a
// .gitignore file with {a,b} in addition, and "!" before what is left out.
type searchGlob struct {
	only   *regexp.Regexp // nil: all files
	except *regexp.Regexp // nil: no files
}

func newSearchGlob(glob string) (g searchGlob) {
	glob = strings.TrimRight(glob, " \t\r\n")
	if except, ok := strings.CutPrefix(glob, "!"); ok {
		g.except = (&globParser{glob: except}).regexp()
	} else if glob != "" && glob[0] != '#' { // a comment
		g.only = (&globParser{glob: glob, widen: true}).regexp()
	}
	return g
}

// reaches reports whether a file may be among the hits.
func (g searchGlob) reaches(name string) bool {
	return (g.only == nil || g.only.MatchString(name)) && !g.excludes(name)
}

// excludes reports whether a file or folder is left out for certain.
func (g searchGlob) excludes(name string) bool {
	return g.except != nil && g.except.MatchString(name)
}

// Globs reads what a person narrows a search by, in the words of ripgrep's --glob. It returns which
// paths, relative and with slashes, are searched, or the glob that is not understood.
func Globs(globs []string) (reaches func(name string) bool, bad string) {
	var only, except []*regexp.Regexp
	for _, glob := range globs {
		text, not := strings.CutPrefix(glob, "!")
		re := (&globParser{glob: text}).regexp()
		switch {
		case re == nil || strings.Trim(text, "/") == "":
			return nil, glob
		case not:
			except = append(except, re)
		default:
			only = append(only, re)
		}
	}
	matches := func(name string) func(*regexp.Regexp) bool {
		return func(re *regexp.Regexp) bool { return re.MatchString(name) }
	}
	return func(name string) bool {
		return (len(only) == 0 || slices.ContainsFunc(only, matches(name))) &&
			!slices.ContainsFunc(except, matches(name))
	}, ""
}

// globParser makes a regular expression of a glob. Where widen is set it matches
// at least what the glob does, else at most. What is not understood is nil: then
// everything is reached, or nothing excluded.
type globParser struct {
	glob  string
	widen bool
	out   strings.Builder
	depth int // of braces
}

func (g *globParser) regexp() *regexp.Regexp {
	glob, folder := strings.CutSuffix(g.glob, "/")
	anchored := strings.Contains(glob, "/")
	glob = strings.TrimPrefix(glob, "/")
	flags, begin, end := "(?s)^", "", "(?:/.*)?$" // what is below a folder goes with it
	// upper and lower case may be the same, and the search begin elsewhere
	if g.widen {
		flags = "(?si)^"
	}
	if g.widen || !anchored {
		begin = "(?:.*/)?"
	}
	if folder && !g.widen {
		end = "/.*$"
	}
	g.out.WriteString(flags + begin + "(?:")
	understood := true
	for i, n := 0, 0; i < len(glob) && understood; i += n {
		n, understood = g.next(glob[i:], i == 0 || strings.IndexByte("/{,", glob[i-1]) >= 0)
	}
	g.out.WriteString(")" + end)
	if understood && g.depth == 0 {
		if re, err := regexp.Compile(g.out.String()); err == nil {
			return re
		}
	}
	return nil
}

// next takes the first n bytes of rest; start says that an element of the path
// begins there. It is not ok for what has no certain meaning.
func (g *globParser) next(rest string, start bool) (n int, ok bool) {
	write := func(n int, expression string) (int, bool) {
		g.out.WriteString(expression)
		return n, true
	}
	switch c := rest[0]; {
	case start && strings.HasPrefix(rest, "**/"):
		return write(3, "(?:.*/)?")
	case strings.HasPrefix(rest, "**") && (g.widen || start && len(rest) == 2):
		return write(2, ".*")
	case c == '*':
		return write(1, "[^/]*")
	case c == '?':
		return write(1, "[^/]")
	case c == '{':
		g.depth++
		return write(1, "(?:")
	case c == '}' && g.depth > 0:
		g.depth--
		return write(1, ")")
	case c == ',' && g.depth > 0:
		return write(1, "|")
	case c == '[', c == '}', rest == `\`: // classes of characters are beyond what is needed
		return len(rest), false
	}
	escape := len(rest) - len(strings.TrimPrefix(rest, `\`))
	_, size := utf8.DecodeRuneInString(rest[escape:])
	return write(escape+size, regexp.QuoteMeta(rest[escape:escape+size]))
}

// maxWithout is how long a glob may get, in bytes.
const maxWithout = 8 << 10

// Without returns the glob that leaves these files out of a search, by their paths
// relative to the workspace. It may leave out files of similar names, too. It is not
// ok for what no glob says: absolute paths, names that are not UTF-8, or too many.
func Without(names []string) (glob string, ok bool) {
	var all []string
	for _, n := range names {
		if n == "" || n[0] == '/' || filepath.IsAbs(n) || !utf8.ValidString(n) {
			return "", false
		}
		// Another folder's file of the same path is left out with it.
		all = append(all, "**/"+strings.Map(func(r rune) rune {
			if strings.ContainsRune(`\*?[]{},!`, r) {
				return '?'
			}
			return r
		}, n))
	}
	glob = "!{" + strings.Join(all, ",") + "}"
	if len(all) == 1 {
		glob = "!" + all[0]
	}
	return glob, len(all) > 0 && len(glob) <= maxWithout
}
