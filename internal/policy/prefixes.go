package policy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// prefix is a way for a command to begin that the user may allow as such, and what may
// follow: options that the table lists, and names inside the workspace. All else is
// allowed command by command.
//
// An option is listed only if it neither writes a file of the caller's choice, nor
// starts a program, nor reads arguments or another project's settings from a file,
// whatever its value is. Tests and builds run the project's own code, as users expect.
type prefix struct {
	words []string // "*": the name of any script
	short string   // permitted options of one letter, which may share a word
	long  []string // permitted options with a name; with one dash too where the program is Go's
	// script: the last word names a script of package.json, which gets what follows. What
	// that means only the script knows: see [Policy.scriptFollows].
	script bool
	// family: the row is granted together with the others of its program only. What it does is an
	// ordinary build, test or query, but by itself nothing that is worth a grant.
	family bool
}

// The comments name what the manuals have and the table leaves out, as far as that
// is more than reports and profiles in files.
//
// Programs without a row run what their arguments say: runners by name (npm exec, npx,
// pnpm dlx, yarn dlx, bunx, cargo run, dotnet run, deno task), builds that take any
// variable or file (make -f --eval and VAR=, gradle -I -D, mvn -f -D, ninja -f, rake -f
// -r, just -f, bazel --run_under, ctest -S, cmake -P), test runners whose options load
// code (jest --globalSetup, vitest --config, mocha -r --file, rspec -r -O, phpunit
// --bootstrap, prove -e, tox -c, nox -f, deno test -A, node --test --require) and
// checkers that do, or rewrite files (eslint --config --fix, tsc -p --outDir @FILE, ruff
// --config --fix, mypy --python-executable @FILE, prettier --plugin --write).
var prefixes = []prefix{

	// -exec, -toolexec, -vettool, -ldflags and its like, -C, -modfile, -mod, -overlay, -pkgdir, -o,
	// -c, -fuzz, -args
	{words: []string{"go", "test"}, long: []string{"v", "run", "skip", "race", "count", "short",
		"bench", "benchtime", "benchmem", "timeout", "cover", "covermode", "failfast",
		"json", "parallel", "p", "shuffle", "tags", "list", "cpu", "fullpath", "vet", "n", "x", "msan",
		"asan", "trimpath", "buildvcs"}},
	// the same, and -fix
	{words: []string{"go", "vet"}, long: []string{"v", "n", "x", "tags", "race", "json", "c"}},
	// the same; what it builds of a main package it writes under the name of its folder
	{
		words:  []string{"go", "build"},
		family: true,
		long: []string{"v", "n", "x", "a", "tags", "race", "msan", "asan", "cover", "covermode",
			"trimpath", "buildvcs", "p", "json"},
	},
	// the same, and -f: a template's functions ask the network for names of the caller's choice
	{
		words:  []string{"go", "list"},
		family: true,
		long: []string{"m", "json", "deps", "test", "e", "find", "tags", "u", "versions", "retracted",
			"compiled", "export"},
	},
	{words: []string{"go", "mod", "graph"}, family: true},
	{words: []string{"go", "mod", "verify"}, family: true},
	{words: []string{"go", "mod", "why"}, family: true, long: []string{"m", "vendor"}},

	// --script-shell, --prefix, --workspace, --userconfig, --globalconfig, --node-options
	{words: []string{"npm", "test"}, script: true, short: "s", long: []string{"silent", "if-present"}},
	{
		words:  []string{"npm", "run", "*"},
		script: true,
		short:  "s",
		long:   []string{"silent", "if-present"},
	},
	// Here options behind a script are the script's.
	{words: []string{"pnpm", "test"}, script: true},
	{words: []string{"pnpm", "run", "*"}, script: true},
	{words: []string{"yarn", "test"}, script: true},
	{words: []string{"yarn", "run", "*"}, script: true},
	// -r, --preload, --import, -c, --cwd, --env-file, --define, --coverage-dir, --reporter-outfile, -u
	{words: []string{"bun", "test"}, short: "t", long: []string{"test-name-pattern", "timeout", "bail",
		"only", "todo"}},

	// --config, --target-dir, --artifact-dir, --manifest-path, --lockfile-path, --target, --profile,
	// -C, -Z
	{words: []string{"cargo", "test"}, short: cargoShort, long: cargoLong},
	{words: []string{"cargo", "check"}, short: cargoShort, long: cargoLong},
	{words: []string{"cargo", "build"}, short: cargoShort, long: cargoLong},
	{words: []string{"cargo", "clippy"}, short: cargoShort, long: cargoLong}, // and --fix

	// -p, -c, -o, --rootdir, --confcutdir, --basetemp (removes the folder), --junitxml, --log-file,
	// --pyargs, --pdbcls, --cov-report, @FILE
	{
		words: []string{"pytest"},
		short: "vqxkmsl",
		long: []string{"lf", "ff", "maxfail", "tb", "durations", "verbose", "quiet", "exitfirst",
			"no-header", "co", "collect-only"},
	},
	// -s, -o, -r, -l, -d, -e, -p and all of MSBuild's, --test-adapter-path, --artifacts-path,
	// --collect, @FILE
	{
		words: []string{"dotnet", "test"},
		short: "vc",
		long: []string{"filter", "no-build", "no-restore", "nologo", "verbosity", "configuration",
			"list-tests"},
	},
	// -r, --formatter, --cover, --export-coverage, --profile-require
	{words: []string{"mix", "test"}, long: []string{"trace", "failed", "stale", "only", "exclude",
		"include", "seed", "max-failures"}},
	// -C, --package-path, --scratch-path, --cache-path, --config-path, --xunit-output, --toolset,
	// --sdk, --disable-sandbox, -Xswiftc and its like
	{
		words: []string{"swift", "test"},
		short: "v",
		long:  []string{"filter", "skip", "parallel", "verbose", "list-tests"},
	},
}

// programs are those of which all rows may be granted at once, with an example: no row of theirs
// does more than build, test or query, and what does (run, install, get, generate, env -w, tool,
// fix, publish) has none. npm, pnpm, yarn and bun run what the repository says by any name, as make
// and its like do: each of their scripts is granted by itself.
var programs = map[string]string{
	"go":    "`go build ./...`, `go vet ./...`, `go test -race ./...`",
	"cargo": "`cargo build --release`, `cargo test --workspace`, `cargo clippy`",
}

const (
	digits     = "0123456789" // values: -n5, -j4
	letters    = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + digits
	cargoShort = "pFrvqj" + digits
)

var (
	cargoLong = []string{"package", "workspace", "all", "lib", "bin", "bins", "test", "tests",
		"example", "examples", "all-targets", "all-features",
		"features", "no-default-features", "release", "verbose", "quiet", "no-fail-fast", "no-run",
		"locked", "offline", "frozen", "doc", "jobs"}
)

// scriptName is what "*" stands for.
var scriptName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9:_.-]*$`)

// prefixOf returns the beginning of a command, by its words, that may be granted as such and covers
// it, with its row of the table; empty if there is none.
func (p *Policy) prefixOf(words []string, cwd string) (begin string, x prefix) {
	i := slices.IndexFunc(prefixes, func(x prefix) bool { return x.begins(words) })
	if i < 0 {
		return "", x
	}
	x = prefixes[i]
	first, rest := words[:len(x.words)], words[len(x.words):]
	if x.script && !p.hasScript(cwd, first[len(first)-1]) || p.reaches(rest, cwd) {
		return "", x
	}
	for _, w := range rest {
		if !x.permits(w) || x.script && !strings.HasPrefix(w, "-") && !p.scriptFollows(x, w, cwd) {
			return "", x
		}
	}
	return strings.Join(first, " "), x
}

// begins reports whether a command begins with the words of the prefix.
func (x prefix) begins(words []string) bool {
	if len(words) < len(x.words) {
		return false
	}
	for i, w := range x.words {
		if w != words[i] && (w != "*" || !scriptName.MatchString(words[i])) {
			return false
		}
	}
	return true
}

// covers says what a grant of the prefix covers; in names the folder.
func (x prefix) covers(begin, in string) string {
	switch {
	case x.script && x.words[len(x.words)-1] == "*":
		return "the script " + quote(begin) + in + ", without arguments"
	case x.script:
		return "the script " + quote(begin) + in + ", alone or with paths inside this workspace"
	}
	return "commands that begin with " + quote(begin) + in +
		", with harmless options, inside this workspace"
}

// examples are what may follow a prefix.
var examples = map[string]string{"go test": "-race ./...", "go vet": "./...",
	"go build": "-v ./...", "go list": "-m all", "go mod why": "-m all", "cargo test": "--workspace",
	"cargo check": "--all-targets",
	"cargo build": "--release", "cargo clippy": "--all-features", "pytest": "-q --lf",
	"bun test": "--bail", "dotnet test": "--no-build", "mix test": "--failed",
	"swift test": "--parallel"}

// example says what else a grant of the prefix covers.
func (x prefix) example(begin string) string {
	if x.script {
		return quote(begin) + ", whatever package.json makes of it by then"
	}
	return quote(strings.TrimSpace(begin + " " + examples[begin]))
}

// permits reports whether a word may follow the prefix, but for where it leads. "--" may
// not: behind it stand options of another program.
func (x prefix) permits(word string) bool {
	if argumentFile(word) {
		return false
	}
	if !strings.HasPrefix(word, "-") {
		switch x.words[0] {
		case "go": // a version of a module, fetched from a server of the caller's choice
			return !strings.Contains(word, "@")
		case "dotnet": // options, properties, and parts of a folder's name
			return !strings.HasPrefix(word, "/") && !strings.Contains(word, "..") &&
				!strings.ContainsAny(word, ";%")
		}
		return true
	}
	name, value, _ := strings.Cut(word, "=")
	name, two := strings.CutPrefix(name, "--")
	switch {
	case !x.permits(value):
		return false
	case two:
		return slices.Contains(x.long, name)
	case x.words[0] == "go":
		return slices.Contains(x.long, name[1:])
	}
	return len(name) > 1 && strings.Trim(name[1:], x.short) == ""
}

// argumentFile reports whether programs may read a file of further arguments for word.
func argumentFile(word string) bool {
	return slices.ContainsFunc(paths(word), func(part string) bool {
		return strings.HasPrefix(part, "@")
	})
}

// scriptFollows reports whether a word may follow a script. The script can be anything,
// also one that runs what follows as a command, so only those called test get words:
// paths that exist, and that name no program of the system.
func (p *Policy) scriptFollows(x prefix, word, cwd string) bool {
	if x.words[len(x.words)-1] == "*" || !strings.Contains(word, "/") {
		return false
	}
	names := p.place(word, cwd).names
	_, err := os.Stat(filepath.FromSlash(names[len(names)-1]))
	return err == nil
}

// reaches reports whether a word of a command names something that is outside the
// workspace, sensitive, or run later by itself.
func (p *Policy) reaches(words []string, cwd string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.ContainsFunc(paths(word), func(name string) bool {
			f := p.place(name, cwd)
			return f.outside || f.alone != "" || p.runsLater(f.names)
		})
	})
}

// paths are what may be a path in a word: all of it, the parts of "--file=a:b", of "f=@a;type=b"
// and of "f=<a", and what follows an option of one letter, as in "-fa". To a program that knows no
// addresses "file:///a" is below a folder of that name.
func paths(word string) []string {
	all := []string{word}
	if strings.ContainsAny(word, "=:,") {
		parts := strings.FieldsFunc(word, func(r rune) bool { return r == '=' || r == ':' || r == ',' })
		all = append(parts, word)
	}
	if strings.HasPrefix(word, "file:") {
		all = append(all, "./"+word)
	}
	for _, part := range slices.Clone(all) {
		if strings.ContainsAny(part, "@<;") {
			all = append(all, strings.FieldsFunc(part, func(r rune) bool {
				return r == '@' || r == '<' || r == ';'
			})...)
		}
	}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		all = append(all, word[2:])
	}
	return all
}
