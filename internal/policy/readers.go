package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// reader is a program that, with the options its row lists, only reads what its arguments name
// and prints. What a row does not list asks: an option, an abbreviation of one, a program.
type reader struct {
	flags   string   // options of one letter, which may share a word
	values  string   // options of one letter with a value, in the same or the next word, which is no path
	long    []string // options with a name; "lines=" takes a value, with = or as the next word
	numbers bool     // -20 is an option
	here    bool     // without files it reads the current folder
	follows bool     // below folders it follows links
	folders string   // flags with which it reads all files below the folders it is given
	// takes says what the other words are: files, at most so many; justTexts; or one text and then
	// files. The zero value takes none.
	takes takes
	most  int // of the other words; 0: any number
	check func(j *judgement, a *arguments, in folders) bool
}

type takes int

const (
	nothing takes = iota
	justTexts
	filesToRead
	textThenFiles
)

// arguments are those of one command.
type arguments struct {
	options   []option
	texts     []string
	files     []string
	recursive bool
	undotted  bool     // below folders it leaves out names with a dot before them, as far as is known
	only      []string // patterns: of what is below folders only files of such a name are read; none: all
}

type option struct{ name, value string }

func (a *arguments) has(names ...string) bool {
	return slices.ContainsFunc(a.options, func(o option) bool { return slices.Contains(names, o.name) })
}

// The reason for what is left out stands behind each row.
var readers = map[string]reader{
	"cat":       {flags: "AbeEnstTuv", long: []string{"number", "number-nonblank", "show-all", "show-ends", "show-tabs", "squeeze-blank"}, takes: filesToRead},
	"head":      {flags: "qvz", values: "nc", long: []string{"lines=", "bytes=", "quiet", "silent", "verbose"}, numbers: true, takes: filesToRead},
	"tail":      {flags: "qvzr", values: "nc", long: []string{"lines=", "bytes=", "quiet", "silent", "verbose"}, numbers: true, takes: filesToRead}, // -f and --follow do not end
	"wc":        {flags: "clmwL", long: []string{"bytes", "chars", "lines", "words", "max-line-length", "total="}, takes: filesToRead},              // --files0-from names files in a file
	"nl":        {values: "bdfhilnsvw", flags: "p", takes: filesToRead},
	"ls":        {here: true, flags: letters, check: staysBelow, long: []string{"all", "almost-all", "color", "directory", "full-time", "group-directories-first", "human-readable", "inode", "recursive", "reverse", "size", "sort=", "time=", "time-style="}, takes: filesToRead},
	"tree":      {here: true, flags: "adfispugDFhrtUCnQ", values: "LPI", long: []string{"dirsfirst", "noreport", "prune", "gitignore", "du", "si", "charset="}, takes: filesToRead},                                  // -o and -R -H write files
	"du":        {here: true, flags: "abcDhHklmPsSx0", values: "dBt", long: []string{"all", "apparent-size", "bytes", "human-readable", "max-depth=", "summarize", "total", "si", "threshold="}, takes: filesToRead}, // -L follows links
	"stat":      {flags: "Lft", values: "c", long: []string{"dereference", "file-system", "format=", "printf=", "terse"}, takes: filesToRead},
	"file":      {flags: "bhikLN0", long: []string{"brief", "mime", "mime-type", "mime-encoding", "dereference", "no-dereference", "keep-going"}, takes: filesToRead}, // -m reads and -C writes a magic file, -f names files in a file, -z starts programs
	"basename":  {flags: "az", values: "s", long: []string{"multiple", "suffix="}, takes: justTexts},
	"dirname":   {flags: "z", takes: justTexts},
	"realpath":  {flags: "eLmPqsz", long: []string{"canonicalize-existing", "canonicalize-missing", "quiet", "strip", "no-symlinks"}, takes: filesToRead},
	"readlink":  {flags: "efmnqsvz", long: []string{"canonicalize", "canonicalize-existing", "canonicalize-missing", "no-newline"}, takes: filesToRead},
	"which":     {flags: "as", takes: justTexts, check: plainNames},
	"pwd":       {flags: "LP"},
	"env":       {}, // with arguments it starts programs
	"true":      {},
	"false":     {},
	"sleep":     {takes: justTexts, most: 1},
	"echo":      {flags: "neE", takes: justTexts},
	"printf":    {takes: justTexts, check: plainFormat},                                                                                             // -v sets a variable
	"date":      {flags: "uRI", values: "d", long: []string{"utc", "iso-8601", "rfc-email", "date="}, takes: justTexts, most: 1, check: plusFormat}, // -s and a bare time set the clock
	"test":      {takes: justTexts, check: condition},
	"[":         {takes: justTexts, check: condition},
	"sort":      {flags: "bcCdfghiMmnRrsuVz", values: "kt", long: []string{"reverse", "unique", "numeric-sort", "human-numeric-sort", "version-sort", "general-numeric-sort", "ignore-case", "key=", "field-separator=", "check", "stable", "zero-terminated"}, takes: filesToRead}, // -o writes, --compress-program starts a program, -T and --files0-from
	"uniq":      {flags: "cdDiuz", values: "fsw", long: []string{"count", "repeated", "unique", "ignore-case", "skip-fields=", "skip-chars=", "check-chars="}, takes: filesToRead, most: 1},                                                                                         // a second file is written
	"cut":       {flags: "sz", values: "bcdf", long: []string{"bytes=", "characters=", "delimiter=", "fields=", "only-delimited", "complement", "output-delimiter="}, takes: filesToRead},
	"tr":        {flags: "cCdst", long: []string{"complement", "delete", "squeeze-repeats", "truncate-set1"}, takes: justTexts},
	"diff":      {flags: "abBcdeEHiNnpqrstTuwyZ", values: "UCWIx", follows: true, check: wholeFolders, long: []string{"brief", "unified=", "context=", "side-by-side", "recursive", "ignore-all-space", "ignore-space-change", "ignore-blank-lines", "ignore-case", "new-file", "color=", "stat", "exclude=", "width=", "minimal", "text"}, takes: filesToRead}, // -l starts pr, -X names patterns in a file, --to-file and --from-file
	"cmp":       {flags: "bls", values: "in", long: []string{"print-bytes", "verbose", "silent", "quiet", "bytes="}, takes: filesToRead, most: 2},
	"sha256sum": {flags: "btz", takes: filesToRead}, // -c names files in a file
	"md5sum":    {flags: "btz", takes: filesToRead},

	// -f reads patterns from a file, -R follows links. What is below a folder may be sensitive.
	"grep": {flags: "abcEFGHhIiLlnoPqrsTUvwxyz", values: "ABCDdem", folders: "r", takes: textThenFiles, check: included,
		long: []string{"after-context=", "before-context=", "context=", "count", "color=", "colour=", "exclude=", "exclude-dir=", "include=", "extended-regexp", "files-with-matches", "files-without-match", "fixed-strings", "ignore-case", "invert-match", "line-number", "line-regexp", "max-count=", "no-filename", "no-messages", "null", "only-matching", "perl-regexp", "quiet", "recursive", "regexp=", "text", "with-filename", "word-regexp"}},
	// --pre and --hostname-bin start programs, -z does too, -f and --ignore-file name files, -L follows links.
	"rg": {here: true, flags: "aciFHhIlNnoPpqSsUuvwx0", values: "ABCdegjmMrtT", takes: textThenFiles, check: ripgrep,
		long: []string{"after-context=", "before-context=", "context=", "count", "count-matches", "color=", "column", "files", "files-with-matches", "files-without-match", "fixed-strings", "glob=", "iglob=", "heading", "no-heading", "hidden", "ignore-case", "invert-match", "json", "line-number", "no-line-number", "line-regexp", "max-count=", "max-depth=", "max-columns=", "multiline", "no-filename", "no-ignore", "no-config", "only-matching", "pcre2", "pretty", "quiet", "regexp=", "replace=", "smart-case", "case-sensitive", "sort=", "sortr=", "stats", "text", "trim", "type=", "type-not=", "vimgrep", "with-filename", "word-regexp"}},
	// -exec, -execdir, -ok, -okdir, -delete, -fprint, -fprint0, -fprintf, -fls, -files0-from
	"find": {here: true, takes: justTexts, check: findExpression},
	// w, W, e, r and R use files and start programs, -i writes, -f reads a script.
	"sed": {flags: "nErsuz", values: "e", long: []string{"quiet", "silent", "expression=", "regexp-extended", "separate"}, takes: textThenFiles, check: printScript},
	// -f reads a filter, -L and import read modules, --slurpfile and --rawfile read files.
	"jq": {flags: "acCeijMnrsS", long: []string{"compact-output", "color-output", "exit-status", "join-output", "monochrome-output", "null-input", "raw-input", "raw-output", "slurp", "sort-keys", "tab"}, takes: textThenFiles, check: filter},

	"gofmt": {flags: "ldse", follows: true, takes: filesToRead, check: formatting}, // -w writes, -cpuprofile writes, -r rewrites
	"go":    {takes: justTexts, check: goCommand},
	"git":   {takes: justTexts, check: gitCommand},
}

// parse reads the arguments of a program; false means one is not listed.
func (x *reader) parse(words []string, a *arguments) bool {
	if x.check != nil && x.takes == justTexts && x.flags == "" && x.long == nil { // it reads its own
		a.texts = words
		return true
	}
	if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") }) {
		return x.share(words, a)
	}
	rest := make([]string, 0, len(words))
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--":
			rest = append(rest, words[i+1:]...)
			i = len(words)
		case !strings.HasPrefix(w, "-") || w == "-":
			rest = append(rest, w)
		case strings.HasPrefix(w, "--"):
			name, value, has := strings.Cut(w[2:], "=")
			switch {
			case slices.Contains(x.long, name+"="):
				if !has {
					if i++; i == len(words) {
						return false
					}
					value = words[i]
				}
			case !slices.Contains(x.long, name) || has:
				return false
			}
			a.options = append(a.options, option{name, value})
			a.recursive = a.recursive || name == "recursive" && x.folders != ""
		case x.numbers && strings.Trim(w[1:], "0123456789") == "":
		default:
			used, ok := x.letters(w[1:], words[i+1:], a)
			if !ok {
				return false
			}
			i += used
		}
	}
	return x.share(rest, a)
}

// letters reads options of one letter, and returns how many words behind them are their values.
func (x *reader) letters(w string, next []string, a *arguments) (used int, ok bool) {
	for i := range len(w) {
		name := w[i : i+1]
		switch {
		case strings.Contains(x.values, name):
			value := w[i+1:]
			if value == "" {
				if len(next) == 0 {
					return 0, false
				}
				value, used = next[0], 1
			}
			a.options = append(a.options, option{name, value})
			return used, true
		case !strings.Contains(x.flags, name):
			return 0, false
		}
		a.options = append(a.options, option{name: name})
		a.recursive = a.recursive || strings.Contains(x.folders, name)
	}
	return 0, true
}

// share says what the words are that are no options; false if they are too many.
func (x *reader) share(rest []string, a *arguments) bool {
	switch x.takes {
	case nothing:
		return len(rest) == 0
	case justTexts:
		a.texts = rest
	case filesToRead:
		a.files = rest
	case textThenFiles:
		if !a.has("e", "regexp", "expression", "files") && len(rest) > 0 {
			a.texts, a.files = rest[:1:1], rest[1:]
		} else {
			a.files = rest
		}
	}
	return x.most == 0 || len(rest) <= x.most
}

// staysBelow refuses to follow links of folders below those that are named.
func staysBelow(_ *judgement, a *arguments, _ folders) bool {
	return !a.has("R", "recursive") || !a.has("L")
}

func plainNames(_ *judgement, a *arguments, _ folders) bool {
	return !slices.ContainsFunc(a.texts, func(s string) bool { return strings.Contains(s, "/") })
}

func plusFormat(_ *judgement, a *arguments, _ folders) bool {
	return len(a.texts) == 0 || strings.HasPrefix(a.texts[0], "+")
}

// wholeFolders is for a program that reads the files of folders by itself.
func wholeFolders(_ *judgement, a *arguments, _ folders) bool {
	a.recursive = true
	return true
}

func formatting(_ *judgement, a *arguments, _ folders) bool {
	a.recursive = len(a.files) > 0
	return a.has("l", "d")
}

// included notes the names that grep is kept to. With --exclude beside them the last that fits
// decides, so then they count for nothing.
func included(_ *judgement, a *arguments, _ folders) bool {
	for _, o := range a.options {
		switch o.name {
		case "include":
			a.only = append(a.only, o.value)
		case "exclude":
			a.only = append(a.only, "*")
		}
	}
	return !slices.ContainsFunc(a.options, func(o option) bool {
		return (o.name == "d" || o.name == "D") && o.value != "skip" // -d recurse
	})
}

// ripgrep reads all below the folders it is given, but nothing whose name begins with a dot and
// nothing git ignores, unless an option or a file says so: neither makes it one that only reads. That
// it shows a name with a dot is said only if an option says so.
func ripgrep(_ *judgement, a *arguments, _ folders) bool {
	a.recursive, a.undotted = !a.has("files"), !a.has("hidden", "u", "g", "glob", "iglob")
	return true
}

// verbs are what printf may be asked to write: %n of bash sets a variable.
var verbs = regexp.MustCompile(`%(?:%|[-+ #0]*[0-9]*(?:\.[0-9]+)?([A-Za-z]))`)

// uncounted matches what sets and runs nothing where it is counted.
var uncounted = regexp.MustCompile(`^[A-Za-z0-9_./: -]*$`)

// plainFormat judges a format and what it formats: zsh counts what stands for a number.
func plainFormat(_ *judgement, a *arguments, _ folders) bool {
	if len(a.texts) == 0 || strings.HasPrefix(a.texts[0], "-") || strings.Contains(verbs.ReplaceAllString(a.texts[0], ""), "%") {
		return false
	}
	counts := false
	for _, verb := range verbs.FindAllStringSubmatch(a.texts[0], -1) {
		if !strings.Contains("sbqcdiuoxXeEfgG", verb[1]) {
			return false
		}
		counts = counts || verb[1] != "" && !strings.Contains("sbqc", verb[1])
	}
	return !counts || !slices.ContainsFunc(a.texts[1:], func(s string) bool { return strings.Contains(s, "--") || !uncounted.MatchString(s) })
}

var number = regexp.MustCompile(`^-?[0-9]+$`)

// condition judges what test compares: -v reads and runs what stands in an index, and zsh counts
// what stands beside -eq.
func condition(j *judgement, a *arguments, in folders) bool {
	for i := 0; i < len(a.texts); i++ {
		w := a.texts[i]
		next := ""
		if i+1 < len(a.texts) {
			next = a.texts[i+1]
		}
		switch {
		case slices.Contains([]string{"-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h"}, w):
			if !j.file(next, in) {
				return false
			}
			i++
		case slices.Contains([]string{"-eq", "-ne", "-lt", "-le", "-gt", "-ge"}, next):
			if i+2 >= len(a.texts) || !number.MatchString(w) || !number.MatchString(a.texts[i+2]) {
				return false
			}
			i += 2
		case strings.HasPrefix(w, "-") && !slices.Contains([]string{"-z", "-n", "-a", "-o"}, w):
			return false
		}
	}
	return true
}

// findTests are what find may be asked, with how many words follow.
var findTests = map[string]int{"-name": 1, "-iname": 1, "-path": 1, "-ipath": 1, "-wholename": 1, "-regex": 1, "-iregex": 1, "-regextype": 1, "-type": 1,
	"-maxdepth": 1, "-mindepth": 1, "-size": 1, "-mtime": 1, "-mmin": 1, "-ctime": 1, "-cmin": 1, "-atime": 1, "-amin": 1, "-perm": 1, "-user": 1, "-group": 1, "-links": 1, "-inum": 1, "-printf": 1,
	"-not": 0, "!": 0, "(": 0, ")": 0, "-o": 0, "-or": 0, "-a": 0, "-and": 0, "-print": 0, "-print0": 0, "-ls": 0, "-prune": 0, "-quit": 0, "-empty": 0, "-readable": 0,
	"-writable": 0, "-executable": 0, "-true": 0, "-false": 0, "-depth": 0, "-xdev": 0, "-mount": 0, "-daystart": 0}

func findExpression(j *judgement, a *arguments, in folders) bool {
	words := a.texts
	for len(words) > 0 && slices.Contains([]string{"-H", "-P"}, words[0]) { // -L would leave the workspace by links
		words = words[1:]
	}
	for len(words) > 0 && !strings.HasPrefix(words[0], "-") && words[0] != "!" && words[0] != "(" {
		a.files, words = append(a.files, words[0]), words[1:]
	}
	for len(words) > 0 {
		n, ok := findTests[words[0]]
		if !ok || n >= len(words) && n > 0 {
			return false
		}
		words = words[n+1:]
	}
	return true
}

// printScript matches scripts of sed that only choose lines: numbers, $ and expressions before
// p, d, q and =.
var printed = regexp.MustCompile(`^\s*(?:(?:[0-9]+|\$|/[^/\\\n]+/)(?:,(?:\+?[0-9]+|\$|/[^/\\\n]+/))?)?\s*!?\s*[pdq=](?:\s*[;\n]\s*(?:(?:[0-9]+|\$|/[^/\\\n]+/)(?:,(?:\+?[0-9]+|\$|/[^/\\\n]+/))?)?\s*!?\s*[pdq=])*\s*;?\s*$`)

func printScript(_ *judgement, a *arguments, _ folders) bool {
	scripts := a.texts
	for _, o := range a.options {
		if o.name == "e" || o.name == "expression" {
			scripts = append(scripts, o.value)
		}
	}
	return len(scripts) > 0 && !slices.ContainsFunc(scripts, func(s string) bool { return !printed.MatchString(s) })
}

func filter(_ *judgement, a *arguments, _ folders) bool {
	return len(a.texts) == 1 && !strings.Contains(a.texts[0], "import") && !strings.Contains(a.texts[0], "include")
}

// goCommands are what go may be asked, with its options: env -w and -u write, list -export and
// -compiled build, -C and -modfile are other projects.
var goCommands = map[string][]string{
	"env":     {"json", "changed"},
	"version": {"m", "v"},
	"list":    {"m", "f", "json", "deps", "test", "e", "find", "tags"},
	"doc":     {"all", "c", "cmd", "short", "src", "u"},
}

func goCommand(j *judgement, a *arguments, in folders) bool {
	if len(a.texts) == 0 {
		return false
	}
	options, ok := goCommands[a.texts[0]]
	if a.texts[0] != "env" && a.texts[0] != "version" {
		ok = ok && j.file(".", in)
	}
	if a.texts[0] == "list" { // it has the repository's state read by git, as a build has
		ok = ok && !slices.ContainsFunc(in, func(dir string) bool { return !j.p.plainVersions(dir) })
	}
	for _, w := range a.texts[1:] {
		name, isOption := strings.CutPrefix(w, "-")
		name, _, _ = strings.Cut(strings.TrimPrefix(name, "-"), "=")
		switch {
		case isOption && !slices.Contains(options, name), strings.Contains(w, "@"):
			return false
		case !isOption && (path.IsAbs(w) || strings.HasPrefix(w, ".") || a.texts[0] == "version"):
			ok = ok && j.file(strings.TrimSuffix(w, "..."), in)
		}
	}
	return ok
}
