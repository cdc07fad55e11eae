package policy

import (
	"regexp"
	"slices"
	"strings"
)

// prefix is a way for a command to begin that the user may allow as such.
//
// A program is in the table only if none of its permitted flags writes a file of the
// caller's choice, starts a program or reads another project's settings. Programs
// that exist to do so (git, find, tar, env, xargs, ssh, sh, make, interpreters) are
// not: they can be allowed command by command. Test runners and builds run the
// project's own code, as anyone expects of them.
type prefix struct {
	words []string // "*": any one name, which then belongs to the prefix
	flags []string // permitted, without leading dashes; nil: all
	// reader: it prints what its arguments name, and changes nothing.
	reader bool
}

// testFlags of "go test" are those that neither name a program nor a file nor another
// folder: no -exec, -toolexec, -o, -C, -modfile, -overlay and profiles.
var testFlags = []string{"v", "run", "skip", "race", "count", "short", "bench", "benchtime", "benchmem", "timeout", "cover", "covermode", "failfast",
	"json", "parallel", "p", "shuffle", "tags", "list", "cpu", "fullpath", "vet", "n", "x", "msan", "asan", "trimpath", "buildvcs"}

var prefixes = []prefix{
	{words: []string{"ls"}, reader: true},
	{words: []string{"pwd"}, reader: true},
	{words: []string{"cat"}, reader: true},
	{words: []string{"head"}, reader: true},
	{words: []string{"tail"}, reader: true},
	{words: []string{"wc"}, reader: true},
	{words: []string{"nl"}, reader: true},
	{words: []string{"stat"}, reader: true},
	{words: []string{"du"}, reader: true},
	{words: []string{"echo"}, reader: true},
	{words: []string{"which"}, reader: true},
	{words: []string{"basename"}, reader: true},
	{words: []string{"dirname"}, reader: true},
	{words: []string{"realpath"}, reader: true},
	{words: []string{"readlink"}, reader: true},
	{words: []string{"sha256sum"}, reader: true},

	{words: []string{"go", "test"}, flags: testFlags},
	{words: []string{"go", "vet"}, flags: []string{"v", "n", "x", "tags", "race", "json", "c"}},
	{words: []string{"go", "list"}, flags: []string{"m", "f", "json", "deps", "test", "e", "find", "u", "versions", "tags"}},
	{words: []string{"go", "doc"}, flags: []string{"all", "c", "cmd", "short", "src", "u"}},
	{words: []string{"npm", "test"}, flags: []string{"s", "silent", "if-present"}},
	{words: []string{"npm", "run", "*"}, flags: []string{"s", "silent", "if-present"}},
	{words: []string{"pnpm", "test"}, flags: []string{"s", "silent"}},
	{words: []string{"pnpm", "run", "*"}, flags: []string{"s", "silent", "if-present"}},
	{words: []string{"yarn", "test"}, flags: []string{"s", "silent"}},
	{words: []string{"yarn", "run", "*"}, flags: []string{"s", "silent"}},
	{words: []string{"bun", "test"}, flags: []string{"t", "test-name-pattern", "timeout", "bail", "only", "todo"}},
	{words: []string{"cargo", "test"}, flags: cargoFlags},
	{words: []string{"cargo", "check"}, flags: cargoFlags},
	{words: []string{"cargo", "build"}, flags: cargoFlags},
	{words: []string{"cargo", "clippy"}, flags: cargoFlags},
	{words: []string{"pytest"}, flags: []string{"v", "vv", "q", "x", "k", "m", "s", "l", "lf", "ff", "maxfail", "tb", "durations", "verbose", "quiet", "exitfirst", "no-header", "co", "collect-only"}},
	{words: []string{"dotnet", "test"}, flags: []string{"filter", "no-build", "no-restore", "nologo", "v", "verbosity", "c", "configuration", "t", "list-tests"}},
	{words: []string{"mix", "test"}, flags: []string{"trace", "failed", "stale", "only", "exclude", "include", "seed", "max-failures"}},
	{words: []string{"swift", "test"}, flags: []string{"filter", "skip", "parallel", "v", "verbose", "list-tests"}},
}

var cargoFlags = []string{"p", "package", "workspace", "all", "lib", "bin", "bins", "test", "tests", "example", "examples", "all-targets", "all-features",
	"features", "F", "no-default-features", "release", "r", "v", "vv", "verbose", "q", "quiet", "no-fail-fast", "no-run", "locked", "offline", "frozen", "doc", "j", "jobs"}

// scriptName is what "*" stands for.
var scriptName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9:_.-]*$`)

// prefixOf returns the beginning of a command that may be granted as such and covers
// it; empty if there is none.
func (p *Policy) prefixOf(command, cwd string) string {
	words, ok := simpleCommand(command)
	if !ok {
		return ""
	}
	for _, x := range prefixes {
		if begin, ok := x.begin(words); ok {
			if rest := words[len(begin):]; x.permits(rest) && !p.reaches(rest, cwd, x.reader) {
				return strings.Join(begin, " ")
			}
			return ""
		}
	}
	return ""
}

func (x prefix) begin(words []string) ([]string, bool) {
	if len(words) < len(x.words) {
		return nil, false
	}
	begin := words[:len(x.words)]
	for i, w := range x.words {
		if w != begin[i] && (w != "*" || !scriptName.MatchString(begin[i])) {
			return nil, false
		}
	}
	return begin, true
}

// permits reports whether all flags are among the permitted ones. What follows "--"
// goes to the project's own program.
func (x prefix) permits(words []string) bool {
	if x.reader {
		return true
	}
	oneDash := x.words[0] == "go" // -run and --run are one flag; elsewhere -run is -r -u -n
	for _, w := range words {
		if w == "--" {
			return !oneDash
		}
		if !strings.HasPrefix(w, "-") || w == "-" {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
		long := strings.Trim(name, "v") != "" && len(name) > 1 // -vv is short
		if !slices.Contains(x.flags, name) || !oneDash && long != strings.HasPrefix(w, "--") {
			return false
		}
	}
	return true
}

// reaches reports whether a word of a command names something that is outside the
// workspace, sensitive, or run later by itself. What a reader names it only prints.
func (p *Policy) reaches(words []string, cwd string, reader bool) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.ContainsFunc(paths(word), func(name string) bool {
			f := p.place(name, cwd)
			return f.outside || f.alone != "" || !reader && p.runsLater(f.names)
		})
	})
}

// paths are what may be a path in a word: all of it, and the parts of "--file=a:b".
func paths(word string) []string {
	parts := strings.FieldsFunc(word, func(r rune) bool { return r == '=' || r == ':' || r == ',' })
	if len(parts) == 1 && parts[0] == word {
		return parts
	}
	return append(parts, word)
}
