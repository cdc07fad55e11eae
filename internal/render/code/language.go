package code

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// headLimit is how much of a file content detection looks at, in bytes.
const headLimit = 4 << 10

// Language says what a file is written in: by its name, else by its first bytes. The answer is a
// name that [New] knows, or "" for plain text. It is deterministic and costs no more than looking
// at 4 KiB.
func Language(name string, head []byte) string {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	if lang, ok := byName[strings.ToLower(base)]; ok {
		return lang
	}
	if lang, ok := byExtension[strings.ToLower(path.Ext(base))]; ok {
		return lang
	}
	if l := lexers.Match(base); l != nil {
		return known(l.Config().Name)
	}
	if len(head) > headLimit {
		head = head[:headLimit]
	}
	if lang := shebang(head); lang != "" {
		return lang
	}
	return analyse(string(head))
}

// LanguageNamed returns the language a person or a Markdown fence calls by that name, alias or file
// extension, in the spelling of [New]; "" if there is none.
func LanguageNamed(name string) string {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 40 || strings.ContainsAny(name, `/\*?[`) {
		return ""
	}
	return aliases()[strings.ToLower(name)]
}

// Label is what a person reads for a language: "Go module", "Plain text" for "".
func Label(language string) string {
	if language == "" {
		return "Plain text"
	}
	if label, ok := labels[language]; ok {
		return label
	}
	return language
}

// byName and byExtension correct chroma where several languages claim a name and the rarer one
// wins.
var (
	byName = map[string]string{
		"go.mod": goModule.Config().Name, "go.sum": goModule.Config().Name,
		"go.work": goModule.Config().Name, "go.work.sum": goModule.Config().Name,
		".gitignore": "", "license": "", "package-lock.json": "JSON", "composer.lock": "JSON",
		"cargo.lock": "TOML", "poetry.lock": "TOML", "uv.lock": "TOML",
		".bashrc": "Bash", ".profile": "Bash", ".zshrc": "Bash", ".bash_profile": "Bash",
	}
	byExtension = map[string]string{
		".m": "Objective-C", ".sql": "SQL", ".h": "C", ".txt": "", ".log": "", ".cfg": "INI",
		".inc": "PHP", ".s": "GAS", ".cls": "TeX", ".pl": "Perl", ".pro": "Prolog",
		".mdx": "markdown", ".jsonc": "JSON", ".json5": "JSON", ".ipynb": "JSON", ".webmanifest": "JSON",
		".map": "JSON", ".jsonl": "JSON", ".ndjson": "JSON",
		".mjs": "JavaScript", ".cjs": "JavaScript", ".mts": "TypeScript", ".cts": "TypeScript",
		".php": "PHP", ".phtml": "PHP", ".gohtml": "HTML", ".svelte": "HTML", ".erb": "HTML",
		".el": "Scheme", ".lisp": "Scheme",
	}
	labels = map[string]string{
		"markdown": "Markdown", "react": "JSX", "vue": "Vue", "plaintext": "Plain text",
		"Docker": "Dockerfile", "Base Makefile": "Makefile",
		"Protocol Buffer": "Protocol Buffers", "GAS": "Assembly", "verilog": "Verilog",
		"systemverilog": "SystemVerilog", "reg": "Windows registry", "Bash": "Shell",
		"BashSession": "Shell session",
	}
	interpreters = map[string]string{
		"sh": "Bash", "bash": "Bash", "dash": "Bash", "zsh": "Bash", "ksh": "Bash", "python": "Python",
		"node": "JavaScript", "deno": "TypeScript", "bun": "TypeScript",
		"ruby": "Ruby", "perl": "Perl", "php": "PHP", "lua": "Lua", "awk": "Awk", "gawk": "Awk",
		"make": "Makefile", "fish": "Fish", "tclsh": "Tcl", "rscript": "R",
	}
)

// known returns name if it is in the closed list.
func known(name string) string {
	if grammars()[name] != nil {
		return name
	}
	return ""
}

// aliases are the names of languages by what people call them: chroma's aliases, else the
// extensions that its lexers claim. Its own search tries every pattern of every lexer, which takes
// a millisecond.
var aliases = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for name, g := range grammars() {
		for _, alias := range g.lexer.Config().Aliases {
			if a := strings.ToLower(alias); m[a] == "" || m[a] > name {
				m[a] = name
			}
		}
	}
	for name := range grammars() {
		m[strings.ToLower(name)] = name
	}
	claims := map[string]float32{}
	for _, l := range lexers.GlobalLexerRegistry.Lexers { // sorted by name
		c := l.Config()
		for i, pattern := range slices.Concat(c.Filenames, c.AliasFilenames) {
			ext, ok := strings.CutPrefix(pattern, "*.")
			claim := 1 + cmp.Or(c.Priority, 1)
			if i >= len(c.Filenames) {
				claim--
			}
			if low := strings.ToLower(ext); low != ext { // *.C is not *.c
				ext, claim = low, 0.5
			}
			if ok && known(c.Name) != "" && (m[ext] == "" || claim > claims[ext] && claims[ext] > 0) {
				m[ext], claims[ext] = c.Name, claim
			}
		}
	}
	for ext, name := range byExtension {
		if ext = ext[1:]; m[ext] == "" || claims[ext] > 0 {
			m[ext] = known(name)
		}
	}
	for alias, name := range map[string]string{"shell": "Bash", "console": "Bash", "jsonc": "JSON",
		"json5": "JSON", "html": "HTML", "svelte": "HTML", "php": "PHP", "sql": "SQL", "text": "",
		"plain": "", "txt": "", "mermaid": ""} {
		m[alias] = known(name)
	}
	return m
})

var shebangRE = regexp.MustCompile(
	`^#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*(?:\S*/)?)?([a-zA-Z]+)`)

func shebang(head []byte) string {
	m := shebangRE.FindSubmatch(head)
	if m == nil {
		return ""
	}
	return known(interpreters[strings.ToLower(string(m[1]))])
}

// analyse asks chroma's content detectors, which are sure of themselves more often than they are
// right: only an answer above one half counts, and JSON is recognised by its first characters.
func analyse(head string) string {
	if s := strings.TrimLeft(head, " \t\r\n"); strings.HasPrefix(s, "{\"") ||
		strings.HasPrefix(s, "[{") || strings.HasPrefix(s, "{\n") && strings.Contains(s, "\":") {
		return "JSON"
	}
	best, score := "", float32(0.5)
	for _, l := range lexers.GlobalLexerRegistry.Lexers {
		a, ok := l.(chroma.Analyser)
		if !ok || known(l.Config().Name) == "" {
			continue
		}
		if s := a.AnalyseText(head); s > score || s == score && best != "" && l.Config().Name < best {
			best, score = l.Config().Name, s
		}
	}
	return best
}

// goModule is go.mod, go.work and go.sum, which chroma lacks.
var goModule = chroma.MustNewLexer(&chroma.Config{
	Name:      "Go module",
	Aliases:   []string{"gomod", "go.mod", "go-mod", "gosum", "gowork"},
	Filenames: []string{"go.mod", "go.sum", "go.work"},
}, func() chroma.Rules {
	return chroma.Rules{"root": {
		{Pattern: `//[^\n]*`, Type: chroma.CommentSingle},
		{
			Pattern: `^\s*(module|go|toolchain|godebug|require|exclude|replace|retract|use|tool|ignore)\b`,
			Type:    chroma.KeywordNamespace,
		},
		{Pattern: `v\d+\.\d+\.\d+[^\s,\])]*`, Type: chroma.LiteralNumber},
		{Pattern: `h1:[A-Za-z0-9+/=]+`, Type: chroma.LiteralString},
		{Pattern: `\b\d+(\.\d+)*(rc\d+|beta\d+)?(?=\s|$)`, Type: chroma.LiteralNumber},
		{Pattern: "\"[^\"\\n]*\"|`[^`\\n]*`", Type: chroma.LiteralString},
		{Pattern: `=>|[=]`, Type: chroma.Operator},
		{Pattern: `[()\[\],]`, Type: chroma.Punctuation},
		{Pattern: `[^\s()\[\],"]+`, Type: chroma.Name},
		{Pattern: `\s+|.`, Type: chroma.Text},
	}}
})
