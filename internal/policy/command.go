package policy

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// simpleCommand returns the words of command if it is a single simple command that
// every shell reads alike: no operator, redirection, assignment, substitution,
// pattern, escape, comment or second line. A shell that the parser does not know may
// be the user's, so that unquoted words are limited to characters that mean nothing
// to any of them, and quoted ones to those that no shell treats specially.
func simpleCommand(command string) (words []string, ok bool) {
	if runtime.GOOS == "windows" || strings.ContainsFunc(command, special) {
		return nil, false
	}
	file, err := parse(command)
	if err != nil || len(file.Stmts) != 1 || len(file.Last) > 0 {
		return nil, false
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || stmt.Negated || stmt.Background || stmt.Coprocess || stmt.Disown ||
		stmt.Semicolon.IsValid() ||
		len(stmt.Redirs) > 0 || len(stmt.Comments) > 0 || len(call.Assigns) > 0 {
		return nil, false
	}
	for _, w := range call.Args {
		text, ok := plainWord(w)
		if !ok {
			return nil, false
		}
		words = append(words, text)
	}
	return words, len(words) > 0
}

// maxCommand is how many bytes of a command are read word by word.
const maxCommand = 16 << 10

// maxParsed is how many bytes of a command are parsed. The parser calls itself for each part within
// another, and no program survives the end of its stack.
const maxParsed = 2 * maxCommand

var errLong = errors.New("it is too long to be parsed")

// parse reads a command as bash would, and keeps its comments. Without the sign of one it is spared
// the search for them.
func parse(command string) (*syntax.File, error) {
	if len(command) > maxParsed {
		return nil, errLong
	}
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash),
		syntax.KeepComments(strings.Contains(command, "#")))
	return parser.Parse(strings.NewReader(command), "")
}

func isSimple(command string) bool {
	_, ok := simpleCommand(command)
	return ok
}

// special reports a character that has a meaning in some shell even within quotes.
func special(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune("\\`$!", r) }

// plainWord returns the text of a word that a shell does not change.
func plainWord(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsFunc(p.Value, func(r rune) bool {
				return !plainRune(r)
			}) || b.Len() == 0 && strings.HasPrefix(p.Value, "=") {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar || strings.ContainsRune(p.Value, '"') {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return "", false
			}
			for _, in := range p.Parts {
				lit, ok := in.(*syntax.Lit)
				if !ok || strings.ContainsRune(lit.Value, '\'') {
					return "", false
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", false
		}
	}
	// Two quoted parts that touch are one quoted part with a quote in it to some shells.
	for i := 1; i < len(w.Parts); i++ {
		_, a := w.Parts[i-1].(*syntax.Lit)
		_, b := w.Parts[i].(*syntax.Lit)
		if !a && !b {
			return "", false
		}
	}
	return b.String(), true
}

// plainBytes are the characters that mean nothing to any shell, unquoted.
var plainBytes = func() (plain [256]bool) {
	for _, c := range []byte(
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:=@%+-") {
		plain[c] = true
	}
	return plain
}()

func plainRune(r rune) bool { return 0 <= r && r < utf8.RuneSelf && plainBytes[r] }

// beginsWith reports whether command is one simple command that begins with the words of prefix, or
// one whose output is shortened. Any words may follow, but for those behind which a file of further
// words may stand: a rule covers what its command shows.
func beginsWith(command, prefix string) bool {
	given, ok := begin(command)
	first, fine := simpleCommand(prefix)
	return ok && fine && len(given) >= len(first) && slices.Equal(given[:len(first)], first) &&
		!slices.ContainsFunc(given[len(first):], argumentFile)
}

// contains reports whether some simple command within command begins with the words
// of prefix, as far as its words can be read without running it.
func contains(command, prefix string) bool {
	begin, _ := simpleCommand(prefix)
	file, err := parse(command)
	if err != nil || len(begin) == 0 {
		return beginsWith(command, prefix)
	}
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) >= len(begin) {
			var words []string
			for _, w := range call.Args[:len(begin)] {
				words = append(words, readable(w.Parts))
			}
			found = found || slices.Equal(words, begin)
		}
		return !found
	})
	return found
}

// understood reports whether every shell finds the same simple commands in a text: words without
// expansions and escapes, joined by operators, with files that they read and write. A here-document
// ends in other places for other shells, a comment is none to some, and what a compound command or
// an expansion makes of its parts only running it shows.
func understood(command string) bool {
	if strings.ContainsFunc(command, func(r rune) bool {
		return special(r) && r != '\n' && r != '\t'
	}) {
		return false
	}
	file, err := parse(command)
	if err != nil || len(file.Last) > 0 {
		return false
	}
	plain := func(w *syntax.Word) bool { _, ok := plainWord(w); return ok }
	sure := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			sure = sure && n.Hdoc == nil && n.Op != syntax.Hdoc && n.Op != syntax.DashHdoc && plain(n.Word)
		case *syntax.CallExpr:
			sure = sure && len(n.Assigns) == 0 && !slices.ContainsFunc(n.Args, func(w *syntax.Word) bool {
				return !plain(w)
			})
		case *syntax.Stmt:
			sure = sure && len(n.Comments) == 0 && !n.Coprocess && !n.Disown
		case *syntax.File, *syntax.BinaryCmd, *syntax.Word, *syntax.Lit, *syntax.SglQuoted,
			*syntax.DblQuoted, nil:
		default:
			sure = false
		}
		return sure
	})
	return sure
}

// literal reports whether a shell takes the parts of a word as they are.
func literal(parts []syntax.WordPart) bool {
	return !slices.ContainsFunc(parts, func(part syntax.WordPart) bool {
		switch p := part.(type) {
		case *syntax.Lit:
			return strings.ContainsAny(p.Value, "*?[{")
		case *syntax.SglQuoted:
			return false
		case *syntax.DblQuoted:
			return !literal(p.Parts)
		}
		return true
	})
}

// readable is the text of a word as far as it can be read.
func readable(parts []syntax.WordPart) string {
	if len(parts) == 1 {
		switch p := parts[0].(type) {
		case *syntax.Lit:
			return unescaped(p.Value)
		case *syntax.SglQuoted:
			return p.Value
		case *syntax.DblQuoted:
			return readable(p.Parts)
		}
	}
	var b strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescaped(p.Value))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			b.WriteString(readable(p.Parts))
		}
	}
	return b.String()
}

// unescaped is a text without its escapes: one before the end of a line joins it with the next.
func unescaped(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\\\n", ""), "\\", "")
}
