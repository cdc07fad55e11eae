package policy

import (
	"context"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"webchat/internal/agent"
)

// A command is not judged by imitating the shell that runs it: shells disagree about what a text
// means, and each disagreement lets something run that was not seen. So a command runs unasked only
// if a person can tell from this page what it does: it is one of the readers with options of its
// row, and literal paths.

// reader is a program that may run unasked.
type reader struct {
	flags  string // options of one letter, which may share a word
	counts string // options of one letter that take a number
	lines  bool   // -5 is a number of lines
	text   bool   // the first word that is not an option is a text, not a path
	walks  string // options with which it reads all files below a folder
}

// readers lists them. What is left out follows links (ls -L and -H, grep -R), reads names or
// patterns from files (wc --files0-from, grep -f), or does not end (tail -f).
var readers = map[string]reader{
	"ls":   {flags: "1AaCdFghlmnopRrSstUXx"},
	"cat":  {flags: "AbEensTtuv"},
	"head": {flags: "qv", counts: "nc", lines: true},
	"tail": {flags: "qv", counts: "nc", lines: true},
	"wc":   {flags: "cLlmw"},
	"grep": {flags: "EFGHhIiLlnoPqrsvwxc", counts: "ABCm", text: true, walks: "r"},
	"pwd":  {flags: "LP"},
}

// readWord matches a word whose text every shell takes as it stands: plain characters, or one pair
// of single quotes around all of it. A first "=" is a path to zsh; a backslash within quotes is an
// escape to fish.
var readWord = regexp.MustCompile(
	`^(?:[A-Za-z0-9_./,:@%+-][A-Za-z0-9_./,:@%+=-]*|'[^'\\\x00-\x1f\x7f]*')$`)

// wordsOf returns the words of a command that is nothing but such words with spaces between them.
func wordsOf(command string) (words []string, ok bool) {
	if runtime.GOOS == "windows" || len(command) > maxCommand || hides(command) {
		return nil, false
	}
	for rest := strings.Trim(command, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		n := strings.IndexByte(rest, ' ')
		if rest[0] == '\'' {
			if n = strings.IndexByte(rest[1:], '\''); n >= 0 {
				n += 2
			}
		}
		if n < 0 {
			n = len(rest)
		}
		if !readWord.MatchString(rest[:n]) || n < len(rest) && rest[n] != ' ' {
			return nil, false
		}
		words, rest = append(words, strings.Trim(rest[:n], "'")), rest[n:]
	}
	return words, len(words) > 0
}

// judged is what is known of a command by reading it.
type judged struct {
	reads bool     // it is one of the readers, and shows nothing sensitive
	shows []string // sensitive files that its search can show, in no order
	wariness
}

// judge reads the command of an act. A program of the workspace might stand behind any name where
// the workspace is among the folders that programs are found in.
func (p *Policy) judge(ctx context.Context, act agent.Permission) (j judged) {
	words, ok := wordsOf(act.Resource)
	if ok && !p.shadowed {
		j.reads, j.shows = p.onlyReads(ctx, words, act)
	}
	if !j.reads {
		j.wariness = p.wary(act)
	}
	return j
}

// onlyReads reports whether a command is one of the readers that stays inside the workspace, with
// the sensitive files that it would show.
func (p *Policy) onlyReads(ctx context.Context, words []string,
	act agent.Permission) (ok bool, shows []string) {
	x, ok := readers[words[0]]
	if !ok {
		return false, nil
	}
	files, walks, ok := x.parse(words[1:])
	if !ok {
		return false, nil
	}
	if len(files) == 0 && (walks || words[0] == "ls") {
		files = []string{"."}
	}
	for _, name := range files {
		if (act.CwdUnknown || act.Cwd == "") && !path.IsAbs(name) || name == "" {
			return false, nil
		}
		if fileAddress.MatchString(name) { // to these programs it is a path like any other
			return false, nil
		}
		f := p.place(name, act.Cwd)
		p.look(&f)
		if f.outside || f.alone != "" || f.secret != "" {
			return false, nil
		}
		if walks {
			real := filepath.FromSlash(f.names[len(f.names)-1])
			hits, complete := p.SearchHits(ctx, agent.Search{Path: real})
			if shows = append(shows, hits...); len(hits) > 0 || !complete {
				return false, shows
			}
		}
	}
	return true, nil
}

var (
	count = regexp.MustCompile(`^[+-]?[0-9]{1,9}$`)
	lines = regexp.MustCompile(`^-[0-9]{1,9}$`)
)

// parse returns the paths among the words behind the name of a reader, and whether it reads what is
// below them. It is not ok if a word is not in the reader's row.
func (x reader) parse(words []string) (files []string, walks, ok bool) {
	text := x.text
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case x.lines && lines.MatchString(w):
		case w == "-" || w == "--":
			return nil, false, false
		case strings.HasPrefix(w, "-"):
			flags := strings.TrimLeft(w[1:], x.flags)
			walks = walks || strings.ContainsAny(w[1:len(w)-len(flags)], x.walks)
			if flags == "" {
				continue
			}
			value := flags[1:]
			if value == "" && i+1 < len(words) {
				i++
				value = words[i]
			}
			if !strings.Contains(x.counts, flags[:1]) || !count.MatchString(value) {
				return nil, false, false
			}
		case text:
			text = false
		default:
			files = append(files, w)
		}
	}
	return files, walks, !text
}

// readsAlike matches what may stand behind a command that is allowed by how it begins: its output
// as one, and only the begin, the end or the count of it.
var readsAlike = regexp.MustCompile(
	`^(.*?[^ ])( 2>&1)?( \| (?:(?:head|tail)(?: -[0-9]+| -n ?[0-9]+)?|wc(?: -[clmw])?))?$`)

// begin returns the words of a command that may be allowed by how it begins, without what shortens
// its output.
func begin(command string) (words []string, ok bool) {
	parts := readsAlike.FindStringSubmatch(strings.TrimSpace(command))
	if parts == nil || hides(command) {
		return nil, false
	}
	return simpleCommand(parts[1])
}

// Stays reports whether a command is known to leave its shell in the folder where it was: a program
// of ours to read or to allow by its beginning, which is not part of the shell.
func Stays(command string) bool {
	words, ok := begin(command)
	if !ok || words[0] == "pwd" {
		return ok
	}
	_, reads := readers[words[0]]
	return reads || slices.ContainsFunc(prefixes, func(x prefix) bool {
		return x.words[0] == words[0]
	})
}

// hides reports an invisible character, except those that end lines and stand between words.
func hides(command string) bool {
	return strings.ContainsFunc(command, func(r rune) bool {
		return unseen(r) && r != '\n' && r != '\t'
	})
}
