package policy

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// Bounds of what is looked at of one command.
const (
	maxWords  = 5000
	maxWord   = 4096  // bytes of a word
	maxBraces = 12    // "{" and "," of a word, which stand for up to as many words multiplied
	maxGlobs  = 20    // patterns of file names that are looked up
	maxLooked = 200   // files that are looked into
	maxListed = 20000 // names in the command's folder
)

// wariness is what the words of a command name, as far as they can be read without running it. It
// serves to ask more, never less: only running a command shows what a shell makes of it.
type wariness struct {
	asks    bool // it names a file that is sensitive or run later by itself, or may do so
	outside bool // it names what is outside the workspace, or may do so
	unread  bool // its syntax tree is not known
	// it is asked about each time, also where modes and rules allow it; empty: it need not be
	why   string
	holds *event.Secret // the first sensitive file
}

// wary reads the words of a command. One that cannot be parsed is read as plain words, and so is
// one with a here-document, which may end in another place.
func (p *Policy) wary(act agent.Permission) wariness {
	names := p.Names(act.Cwd)
	w := &wordReader{
		p:     p,
		dir:   names[len(names)-1],
		left:  maxWords,
		globs: maxGlobs,
		looks: maxLooked,
		seen:  map[string]bool{},
	}
	w.later = p.runsLater(names)
	file, err := parse(act.Resource)
	if w.unread = err != nil; w.unread || strings.Contains(act.Resource, "<<") {
		w.split(act.Resource)
	}
	if w.unread {
		return w.wariness
	}
	texts := map[*syntax.Word]bool{} // of here-documents, which name nothing by themselves
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			if n.Hdoc != nil {
				texts[n.Hdoc] = true
			}
		case *syntax.Word:
			if len(texts) == 0 || !texts[n] {
				w.word(n)
			}
		case *syntax.Stmt:
			w.scripts(n)
		}
		return w.left >= 0 && w.holds == nil
	})
	return w.wariness
}

// interpreters run what one of their words says.
var interpreters = map[string]bool{"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true,
	"fish": true, "csh": true, "tcsh": true,
	"eval": true, "python": true, "perl": true, "ruby": true, "node": true, "deno": true, "bun": true,
	"php": true, "lua": true,
	"osascript": true, "awk": true, "gawk": true, "sed": true}

// interprets reports whether a word names an interpreter, of any version: /usr/bin/python3.12.
func interprets(w *syntax.Word) bool {
	name := strings.TrimRight(readable(w.Parts), "/")
	name = name[strings.LastIndexByte(name, '/')+1:]
	end := len(name)
	for end > 0 && (name[end-1] == '.' || '0' <= name[end-1] && name[end-1] <= '9') {
		end--
	}
	return interpreters[name[:end]]
}

// scripts reads what an interpreter is given to run.
func (w *wordReader) scripts(s *syntax.Stmt) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || !slices.ContainsFunc(call.Args, interprets) {
		return
	}
	words := slices.Clone(call.Args)
	for _, r := range s.Redirs {
		if r.Hdoc != nil {
			words = append(words, r.Hdoc)
		}
		words = append(words, r.Word)
	}
	for _, word := range words {
		if text := readable(word.Parts); strings.ContainsFunc(text, apart) {
			w.split(text)
		}
	}
}

// apart reports a character that stands between words.
func apart(r rune) bool { return !plainRune(r) && r <= 0x7f }

func (w *wordReader) split(text string) {
	for _, word := range strings.FieldsFunc(text, apart) {
		if w.left--; w.left < 0 {
			w.beyond()
			return
		}
		w.text(word, "")
	}
}

// written is a word as the command has it, for people.
func written(w *syntax.Word, text string) string {
	var b strings.Builder
	if syntax.NewPrinter().Print(&b, w) != nil || b.Len() > maxShown {
		return text
	}
	return b.String()
}

// wordReader reads the words of one command.
type wordReader struct {
	wariness
	p           *Policy
	dir         string // where the command runs, with links followed
	later       bool   // what is in dir is run later by itself
	left, globs int
	looks       int             // files that may still be looked into
	listed      map[string]bool // names in dir; nil: not known
	// words that were looked at as they are; to do so again finds nothing new
	seen  map[string]bool
	words int // without a slash, so far
}

// beyond notes what is too much to look at.
func (w *wordReader) beyond() { w.left, w.asks, w.why = -1, true, whyMany }

func (w *wordReader) word(word *syntax.Word) {
	if w.left--; w.left < 0 {
		w.beyond()
		return
	}
	text := readable(word.Parts)
	if len(text) > maxWord {
		w.asks = true
		return
	}
	if literal(word.Parts) {
		if !w.seen[text] {
			w.seen[text] = true
			w.text(text, "")
		}
		return
	}
	all := []*syntax.Word{word}
	if strings.Contains(text, "{") && !strings.Contains(text, "..") && strings.Count(text, "{")+
		strings.Count(text, ",") <= maxBraces {
		word = &syntax.Word{Parts: slices.Clone(word.Parts)} // it would be changed
		syntax.SplitBraces(word)
		all = nil
		for expanded, err := range expand.BracesSeq(&expand.Config{}, word) {
			if err != nil {
				w.beyond()
				return
			}
			all = append(all, expanded)
		}
	}
	for _, expanded := range all {
		text := readable(expanded.Parts)
		w.pattern(text)
		w.text(text, written(expanded, text))
	}
}

// pattern looks at the files that a word stands for if it is a pattern.
func (w *wordReader) pattern(text string) {
	if !strings.ContainsAny(text, "*?[") {
		return
	}
	for _, name := range paths(text) {
		if w.globs--; w.globs < 0 || strings.Count(name, "*") > maxGlobs {
			w.beyond()
			return
		}
		all, ok := expanded(name, w.dir)
		if !ok {
			w.beyond()
			return
		}
		slices.Sort(all)
		for _, word := range all {
			f := w.p.place(word, w.dir)
			if w.looks--; w.looks < 0 {
				w.beyond()
				return
			}
			if w.p.look(&f); f.alone != "" {
				w.note(f, "")
			}
		}
	}
}

// text looks at what a word may name; as is how it is written where a shell does not take it as it
// is. A word with a variable in it may name any folder's file.
func (w *wordReader) text(text, as string) {
	for _, name := range paths(text) {
		if as == "" && !w.there(name) {
			w.asks = w.asks || w.later || strings.ContainsAny(name, "./~:") &&
				w.p.runsLater([]string{w.rooted(name)})
			continue
		}
		f := w.p.place(name, w.dir)
		if w.looks--; w.looks < 0 {
			w.beyond()
			return
		}
		w.p.look(&f)
		w.asks = w.asks || w.p.runsLater(f.names)
		w.outside = w.outside || f.outside && leadsOut(name, f, as)
		switch {
		case f.alone == "":
		case exists(f.names):
			w.note(f, "")
		case as != "":
			w.note(f, as)
		}
	}
}

// idleDevices are files outside that hold nothing and keep nothing.
var idleDevices = []string{"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/zero"}

// leadsOut reports whether a word that can be read as a path outside is meant as one: it exists, or
// its folder does, or a shell makes something else of it. An expression such as /x/ has neither.
func leadsOut(name string, f file, as string) bool {
	if as != "" {
		return true
	}
	full := f.names[len(f.names)-1]
	return !slices.Contains(idleDevices, name) &&
		(found(full) || path.Dir(full) != "/" && found(path.Dir(full)))
}

func (w *wordReader) rooted(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(w.dir, name)
}

// note takes a file for named by the command; as says how it was written where it is not known.
func (w *wordReader) note(f file, as string) {
	w.asks = true
	switch {
	case w.holds != nil:
	case f.holds != nil:
		secret := *f.holds
		if as != "" {
			secret.File = as
		}
		w.why, w.holds = whyNamed, &secret
	case f.alone == whyOwn:
		w.why = whyOwn
	}
}

// there reports whether a name may be one of something that exists, or is in a folder that does.
func (w *wordReader) there(name string) bool {
	if strings.Contains(name, "/") {
		if at := strings.TrimPrefix(name, "file://"); at == name && !strings.HasPrefix(name, "~") {
			full := w.rooted(name)
			return found(full) || found(path.Dir(full)) || strings.Contains(name, "..")
		}
		return true
	}
	if w.words++; w.words > 50 && w.listed == nil {
		w.listed = listing(w.dir)
	}
	if w.listed != nil {
		return w.listed[strings.ToLower(name)]
	}
	return found(w.dir + "/" + name)
}

func found(name string) bool {
	_, err := os.Lstat(filepath.FromSlash(name))
	return err == nil
}

// listing returns the names in a folder; nil if there are too many, or it cannot be read.
func listing(dir string) map[string]bool {
	f, err := os.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxListed)
	if len(names) == maxListed {
		return nil
	}
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[strings.ToLower(name)] = true // not every file system tells them apart
	}
	return all
}

// exists reports whether one of the names is one of a file that is not a folder.
func exists(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		st, err := os.Lstat(filepath.FromSlash(name))
		return err == nil && !st.IsDir()
	})
}
