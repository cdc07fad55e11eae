package policy

import (
	"context"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"webchat/internal/agent"
)

// Bounds of what is judged of one command.
const (
	maxParts   = 200      // simple commands, each as often as its loops run it
	maxRounds  = 1000     // of all loops together, those among them that run none
	maxFolders = 4        // in which a simple command may run
	maxMatches = 1000     // of one pattern
	maxCommand = 16 << 10 // bytes
)

// judged is what a command does, as far as its syntax tree and the table of readers tell.
// Whatever is not understood makes it unknown.
type judged struct {
	parsed bool     // its syntax tree is known
	wary   bool     // it names what is asked about each time; see [Policy.wary]
	shows  []string // sensitive files it may show, without naming them, in no order
	stops  string   // the first part that neither only reads nor may be granted by how it begins
	known  bool
	begins []begun  // of the parts that do more than read, and may be granted by how they begin
	writes []string // absolute paths that literal text is written to
}

// begun is how a part of a command begins, and where it runs.
type begun struct {
	words, dir string
	row        prefix
}

func (j judged) onlyReads() bool { return j.known && len(j.begins) == 0 && len(j.writes) == 0 }

// judge judges the command of an act. The agent's shell is taken for one of sh, bash, zsh, dash
// and fish: words are limited to what all of them read alike.
// An invisible character makes it unknown.
func (p *Policy) judge(ctx context.Context, act agent.Permission, file *syntax.File) judged {
	none := judged{parsed: file != nil}
	if runtime.GOOS == "windows" || p.shadowed || len(act.Resource) > maxCommand || file == nil || len(file.Stmts) > maxParts ||
		strings.Contains(act.Resource, "#") && commented(file) ||
		hides(act.Resource) {
		return none
	}
	j := &judgement{p: p, ctx: ctx, left: maxParts, rounds: maxRounds, vars: map[string]string{}, judged: judged{parsed: true, known: true}}
	in := folders{""} // not known
	if act.Cwd != "" && !act.CwdUnknown {
		in = p.Names(act.Cwd)
	}
	if _, _, ok := j.list(file.Stmts, in); !ok || j.patterns && len(j.writes) > 0 { // what is written may fit a pattern
		none.shows, none.stops = j.shows, j.stops
		return none
	}
	return j.judged
}

// hides reports an invisible character, except those that end lines and stand between words.
func hides(command string) bool {
	for i := range len(command) {
		if c := command[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f { // else no rune need be decoded
			return strings.ContainsFunc(command[i:], func(r rune) bool { return unseen(r) && r != '\n' && r != '\t' })
		}
	}
	return false
}

// commented reports a comment, which an interactive zsh reads as words.
func commented(file *syntax.File) (found bool) {
	syntax.Walk(file, func(n syntax.Node) bool {
		_, is := n.(*syntax.Comment)
		found = found || is
		return !found
	})
	return found
}

var errLinked = errors.New("a link leads elsewhere")

// folders are the absolute paths of those in which a command may run; "" is not known.
type folders []string

func (f folders) and(g folders) folders {
	if len(f) == 1 && slices.Equal(f, g) {
		return f
	}
	all := append(slices.Clone(f), g...)
	slices.Sort(all)
	return slices.Compact(all)
}

// judgement walks the syntax tree of one command. Each of its methods reports false for what
// is not known to be harmless.
type judgement struct {
	judged
	p      *Policy
	ctx    context.Context
	left   int               // simple commands that may still be judged
	rounds int               // of loops that may
	vars   map[string]string // of loops

	patterns bool      // it has patterns of file names
	args     arguments // of the simple command that is judged; reads alone sets them
	spare    []string  // see room
}

// room returns an empty slice with room for n texts, which shares no element with another.
func (j *judgement) room(n int) []string {
	if len(j.spare) < n {
		j.spare = make([]string, max(n, 64))
	}
	room := j.spare[:0:n]
	j.spare = j.spare[n:]
	return room
}

// list judges statements one after the other. A statement runs in the folders of in, and the
// next one in those of success or failure.
func (j *judgement) list(all []*syntax.Stmt, in folders) (success, failure folders, ok bool) {
	success, failure = in, in
	for i, s := range all {
		if i > 0 {
			in = success.and(failure)
		}
		if success, failure, ok = j.stmt(s, in); !ok {
			return nil, nil, false
		}
	}
	return success, failure, len(all) > 0
}

func (j *judgement) stmt(s *syntax.Stmt, in folders) (success, failure folders, ok bool) {
	if success, failure, ok = j.statement(s, in); !ok && j.stops == "" {
		var b strings.Builder
		if syntax.NewPrinter().Print(&b, s) == nil {
			j.stops = b.String()
		}
	}
	return success, failure, ok
}

func (j *judgement) statement(s *syntax.Stmt, in folders) (success, failure folders, ok bool) {
	if s.Background || s.Coprocess || s.Disown || len(in) > maxFolders {
		return nil, nil, false
	}
	for _, r := range s.Redirs {
		if !j.redirect(r, s.Cmd, in) {
			return nil, nil, false
		}
	}
	success, failure, ok = j.command(s.Cmd, in)
	if s.Negated {
		success, failure = failure, success
	}
	return success, failure, ok
}

func (j *judgement) command(c syntax.Command, in folders) (success, failure folders, ok bool) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		return j.call(c, in)
	case *syntax.Block:
		return j.list(c.Stmts, in)
	case *syntax.Subshell:
		_, _, ok = j.list(c.Stmts, in)
		return in, in, ok
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return in, in, true
		}
		return j.stmt(c.Stmt, in)
	case *syntax.BinaryCmd:
		return j.binary(c, in)
	case *syntax.IfClause:
		return j.branch(c, in)
	case *syntax.WhileClause:
		return j.loop(in, func() (folders, bool) {
			success, failure, ok := j.list(c.Cond, in)
			if !ok {
				return nil, false
			}
			done, undone, ok := j.list(c.Do, success.and(failure))
			return done.and(undone), ok
		})
	case *syntax.ForClause:
		return j.each(c, in)
	}
	return nil, nil, false
}

func (j *judgement) binary(c *syntax.BinaryCmd, in folders) (success, failure folders, ok bool) {
	success, failure, ok = j.stmt(c.X, in)
	if !ok {
		return nil, nil, false
	}
	switch c.Op {
	case syntax.AndStmt:
		done, undone, ok := j.stmt(c.Y, success)
		return done, failure.and(undone), ok
	case syntax.OrStmt:
		done, undone, ok := j.stmt(c.Y, failure)
		return success.and(done), undone, ok
	}
	// Some shells run the last part of a pipe themselves, so its cd may count.
	done, undone, ok := j.stmt(c.Y, in)
	return in.and(done), in.and(undone), ok
}

func (j *judgement) branch(c *syntax.IfClause, in folders) (success, failure folders, ok bool) {
	success, failure = in, in
	if len(c.Cond) > 0 { // else it is an else
		if success, failure, ok = j.list(c.Cond, in); !ok {
			return nil, nil, false
		}
	}
	done, undone, ok := j.list(c.Then, success)
	if !ok || c.Else == nil {
		return done.and(undone).and(failure), done.and(undone).and(failure), ok
	}
	other, not, ok := j.branch(c.Else, failure)
	all := done.and(undone).and(other).and(not)
	return all, all, ok
}

// loop judges what runs any number of times, and so must not leave its folder.
func (j *judgement) loop(in folders, body func() (folders, bool)) (success, failure folders, ok bool) {
	out, ok := body()
	return in, in, ok && slices.Equal(in.and(out), in.and(nil))
}

// loopName matches variables that no shell obeys: PATH and IFS are, and in zsh path and others.
var loopName = regexp.MustCompile(`^(?:[a-z]|file|dir|folder|name|item|word|pkg|ext)$`)

// each judges the body of a loop over words for every word.
func (j *judgement) each(c *syntax.ForClause, in folders) (success, failure folders, ok bool) {
	words, isWords := c.Loop.(*syntax.WordIter)
	if !isWords || c.Select || !words.InPos.IsValid() {
		return nil, nil, false
	}
	if _, taken := j.vars[words.Name.Value]; taken || !loopName.MatchString(words.Name.Value) {
		return nil, nil, false
	}
	values, ok := j.words(words.Items, in)
	if !ok {
		return nil, nil, false
	}
	defer delete(j.vars, words.Name.Value)
	for _, v := range values {
		if strings.ContainsFunc(v, func(r rune) bool { return !plainRune(r) }) {
			return nil, nil, false // unquoted it would be split
		}
		if j.rounds--; j.rounds < 0 {
			return nil, nil, false
		}
		j.vars[words.Name.Value] = v
		if _, _, ok := j.loop(in, func() (folders, bool) {
			done, undone, ok := j.list(c.Do, in)
			return done.and(undone), ok
		}); !ok {
			return nil, nil, false
		}
	}
	return in, in, true
}

// redirect judges where a command reads from or writes to.
func (j *judgement) redirect(r *syntax.Redirect, c syntax.Command, in folders) bool {
	if r.N != nil && !slices.Contains([]string{"0", "1", "2"}, r.N.Value) {
		return false
	}
	target, pattern, ok := j.word(r.Word)
	ok = ok && !pattern
	switch r.Op {
	case syntax.DplOut:
		return ok && (target == "1" || target == "2")
	case syntax.RdrIn:
		return ok && j.file(target, in)
	case syntax.WordHdoc:
		return ok
	case syntax.Hdoc, syntax.DashHdoc:
		return r.Hdoc == nil || !slices.ContainsFunc(r.Hdoc.Parts, func(p syntax.WordPart) bool { _, lit := p.(*syntax.Lit); return !lit })
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll:
		if !ok || target == "/dev/null" {
			return ok
		}
		return (r.Op == syntax.RdrOut || r.Op == syntax.AppOut) && (r.N == nil || r.N.Value == "1") && j.writer(c) && j.write(target, in)
	}
	return false
}

// writer reports whether a command only passes on text that stands in it.
func (j *judgement) writer(c syntax.Command) bool {
	call, ok := c.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	name, _, _ := j.word(call.Args[0])
	return name == "echo" || name == "printf" || name == "cat" && len(call.Args) == 1
}

// write notes the one file that text is written to.
func (j *judgement) write(name string, in folders) bool {
	for _, dir := range in {
		f, ok := j.place(name, dir)
		if !ok || j.p.runsLater(f.names) {
			return false
		}
		if full := f.names[len(f.names)-1]; !slices.Contains(j.writes, full) {
			j.writes = append(j.writes, full)
		}
	}
	return len(j.writes) == 1
}

// call judges a simple command.
func (j *judgement) call(c *syntax.CallExpr, in folders) (success, failure folders, ok bool) {
	j.left--
	if j.left < 0 || len(c.Assigns) > 0 || len(c.Args) == 0 {
		return nil, nil, false
	}
	words, ok := j.words(c.Args, in)
	switch {
	case !ok || strings.Contains(words[0], "/"):
		return nil, nil, false
	case words[0] == "cd":
		to, ok := j.change(words[1:], in)
		return to, in, ok
	case j.reads(words, in):
		return in, in, true
	}
	return in, in, j.begin(c, words, in)
}

// begin notes a simple command that may be granted by how it begins.
func (j *judgement) begin(c *syntax.CallExpr, words []string, in folders) bool {
	for _, w := range c.Args {
		if text, plain := plainWord(w); !plain || strings.ContainsFunc(text, special) {
			return false
		}
	}
	for _, dir := range in {
		if dir == "" {
			return false
		}
		names := j.p.Names(dir)
		real := names[len(names)-1]
		begin, x := j.p.prefixOf(words, real)
		if begin == "" {
			return false
		}
		if b := (begun{begin, real, x}); !slices.ContainsFunc(j.begins, func(o begun) bool { return o.words == b.words && o.dir == b.dir }) {
			j.begins = append(j.begins, b)
		}
	}
	return true
}

// change judges cd, and returns where it leads. A name that begins with neither a dot nor a
// slash is looked up in CDPATH, which is not known.
func (j *judgement) change(words []string, in folders) (to folders, ok bool) {
	if len(words) != 1 || !path.IsAbs(words[0]) && !strings.HasPrefix(words[0], "./") && !strings.HasPrefix(words[0], "../") && words[0] != "." && words[0] != ".." {
		return nil, false
	}
	for _, dir := range in {
		f, ok := j.place(words[0], dir)
		if !ok {
			return nil, false
		}
		to = to.and(f.names)
	}
	return to, !slices.ContainsFunc(to, func(dir string) bool { info, err := os.Stat(dir); return err != nil || !info.IsDir() })
}

// reads reports whether a simple command is one of the table that only reads.
func (j *judgement) reads(words []string, in folders) bool {
	x, ok := readers[words[0]]
	if !ok {
		return false
	}
	a := &j.args
	if *a = (arguments{options: a.options[:0]}); !x.parse(words[1:], a) || x.check != nil && !x.check(j, a, in) {
		return false
	}
	if x.here && len(a.files) == 0 {
		a.files = []string{"."}
	}
	if a.recursive && !j.tree(a, in, x.follows) {
		return false
	}
	return !slices.ContainsFunc(a.files, func(name string) bool { return name != "-" && !j.file(name, in) })
}

// file reports whether a file may be read: inside the workspace by every name, and not
// sensitive.
func (j *judgement) file(name string, in folders) bool {
	return !slices.ContainsFunc(in, func(dir string) bool { _, ok := j.place(name, dir); return !ok })
}

func (j *judgement) place(name, dir string) (f file, ok bool) {
	if name == "" || dir == "" && !path.IsAbs(name) || len(name) > maxWord {
		return f, false
	}
	f = j.p.place(name, dir)
	if f.holds != nil && exists(f.names) {
		j.shows = append(j.shows, f.holds.File)
	}
	return f, !f.outside && f.alone == "" && f.secret == ""
}

// tree reports whether nothing sensitive is among the files below folders, of which none means
// the current one, nor, for a program that follows links, what those lead to. Files of other names
// than [arguments].only are not read.
func (j *judgement) tree(a *arguments, in folders, follows bool) bool {
	names := a.files
	if len(names) == 0 {
		names = []string{"."}
	}
	for _, dir := range in {
		for _, name := range names {
			f, ok := j.place(name, dir)
			if !ok {
				return false
			}
			real := filepath.FromSlash(f.names[len(f.names)-1])
			hits, complete := j.p.SearchHits(j.ctx, agent.Search{Path: real})
			hits = slices.DeleteFunc(hits, func(hit string) bool { return !named(hit, a.only) })
			for _, hit := range hits {
				below := strings.TrimPrefix(hit, j.p.relative(filepath.ToSlash(real)))
				if !a.undotted || !strings.Contains("/"+strings.TrimPrefix(below, "/"), "/.") {
					j.shows = append(j.shows, hit)
				}
			}
			if len(hits) > 0 || !complete || follows && j.linked(real) {
				return false
			}
		}
	}
	return true
}

// named reports whether the name of a file may fit one of the patterns; of none every name does.
func named(file string, patterns []string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(pattern string) bool {
		fits, err := path.Match(pattern, path.Base(file))
		return fits || err != nil || strings.ContainsAny(pattern, `[\/`) // which programs read in other ways
	})
}

// linked reports a link below a folder that leads to a folder, out of the workspace, or to what is
// sensitive.
func (j *judgement) linked(root string) bool {
	err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.Type()&os.ModeSymlink == 0 || name == root {
			return err
		}
		info, err := os.Stat(name)
		if _, ok := j.place(filepath.ToSlash(name), ""); err != nil || !ok || info.IsDir() || j.ctx.Err() != nil {
			return errLinked
		}
		return nil
	})
	return err != nil
}

// words are the texts a command gets, with patterns replaced by the names they match now. Each of
// these has to be one that may be read: their order, and so which of them is a file's name and which
// a program's text, is not the same in every language, and one with a dash is an option.
func (j *judgement) words(all []*syntax.Word, in folders) (texts []string, ok bool) {
	texts = j.room(len(all))
	for _, w := range all {
		text, pattern, ok := j.word(w)
		if !ok {
			return nil, false
		}
		var names map[string]bool
		if j.patterns = j.patterns || pattern; pattern {
			if names, ok = matches(text, in); !ok {
				return nil, false
			}
		}
		for name := range names {
			if strings.HasPrefix(name, "-") || !j.file(name, in) {
				return nil, false
			}
		}
		if len(names) == 0 {
			texts = append(texts, text)
			continue
		}
		texts = append(texts, slices.Sorted(maps.Keys(names))...)
	}
	return texts, true
}

// matches returns the names a pattern stands for, in any of the folders.
func matches(pattern string, in folders) (names map[string]bool, ok bool) {
	names = map[string]bool{}
	for _, dir := range in {
		if dir == "" && !path.IsAbs(pattern) || strings.Contains(pattern, "**") {
			return nil, false
		}
		found, ok := expanded(pattern, dir)
		if !ok || len(found) > maxMatches {
			return nil, false
		}
		for _, name := range found {
			if !hidden(name, pattern) {
				names[name] = true
			}
		}
	}
	return names, true
}

// expanded returns the files that a pattern stands for in a folder, those with a dot before their
// name among them, as a shell writes them: ".." behind a link is left as it is. It is not ok if they
// are too many to look for.
func expanded(pattern, dir string) (names []string, ok bool) {
	at := func(name string) string {
		if path.IsAbs(name) {
			return name
		}
		return dir + "/" + name
	}
	names = []string{""}
	left := maxListed
	elements := strings.Split(pattern, "/")
	for i, element := range elements {
		var next []string
		for _, begin := range names {
			here := []string{element}
			if strings.ContainsAny(element, `*?[\`) {
				if here, ok = matching(at(begin), element, &left); !ok {
					return nil, false
				}
			}
			for _, name := range here {
				name = begin + name
				if i < len(elements)-1 {
					name += "/"
				}
				if left--; left < 0 {
					return nil, false
				}
				if name == "/" || found(at(name)) {
					next = append(next, name)
				}
			}
		}
		names = next
	}
	return names, true
}

// matching returns the names in a folder that fit an element of a pattern, and takes from left how
// many it read.
func matching(dir, element string, left *int) (names []string, ok bool) {
	f, err := os.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil, true
	}
	defer f.Close()
	all, _ := f.Readdirnames(*left + 1)
	if *left -= len(all); *left < 0 {
		return nil, false
	}
	for _, name := range all {
		switch fits, err := path.Match(element, name); {
		case err != nil:
			return nil, false
		case fits:
			names = append(names, name)
		}
	}
	return names, true
}

// hidden reports whether shells leave a name out, since it has a dot where the pattern has
// none.
func hidden(name, pattern string) bool {
	have, want := strings.Split(strings.TrimSuffix(name, "/"), "/"), strings.Split(strings.TrimSuffix(pattern, "/"), "/")
	for i := 1; i <= min(len(have), len(want)); i++ {
		if strings.HasPrefix(have[len(have)-i], ".") && strings.ContainsAny(want[len(want)-i], "*?") && !strings.HasPrefix(want[len(want)-i], ".") {
			return true
		}
	}
	return false
}

// word returns the text of a word if every shell reads it alike, and whether it is a pattern of
// file names.
func (j *judgement) word(w *syntax.Word) (text string, pattern, ok bool) {
	if w == nil {
		return "", false, false
	}
	var b strings.Builder
	for i, part := range w.Parts {
		var one string
		star, ok := false, false
		switch p := part.(type) {
		case *syntax.Lit:
			one, star, ok = literalText(p.Value, i == 0)
		case *syntax.SglQuoted:
			one, ok = p.Value, !p.Dollar && !strings.HasSuffix(p.Value, `\`)
		case *syntax.DblQuoted:
			one, ok = j.quoted(p)
		case *syntax.ParamExp:
			one, ok = j.value(p)
		}
		switch {
		case !ok:
			return "", false, false
		case len(w.Parts) == 1:
			return one, star, true
		}
		b.WriteString(one)
		pattern = pattern || star
	}
	text = b.String()
	if pattern && len(w.Parts) > 1 { // a quoted star is not one
		return "", false, false
	}
	return text, pattern, true
}

// revision matches a revision of git's before another, whose marks mean nothing to shells behind
// such names.
var revision = regexp.MustCompile(`^(?:HEAD|[0-9a-f]{7,40})[~^][~^0-9]*`)

// literalText is unquoted text. A backslash is read before the characters that find takes.
func literalText(value string, first bool) (text string, pattern, ok bool) {
	if first && strings.HasPrefix(value, "=") { // zsh's name of a program
		return "", false, false
	}
	if value == "!" || value == `\(` || value == `\)` || value == `\!` || value == "[" || value == "]" {
		return strings.TrimPrefix(value, `\`), false, true
	}
	rest := value
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case plainBytes[c]:
		case c == '*' || c == '?':
			pattern = true
		case (c == '~' || c == '^') && len(rest) == len(value) && revision.MatchString(value):
			rest, i, pattern = revision.ReplaceAllString(value, ""), -1, false
		default:
			return "", false, false
		}
	}
	return value, pattern, true
}

func (j *judgement) quoted(q *syntax.DblQuoted) (text string, ok bool) {
	if q.Dollar {
		return "", false
	}
	for _, part := range q.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "\\!`$") {
				return "", false
			}
			text += p.Value
		case *syntax.ParamExp:
			value, ok := j.value(p)
			if !ok {
				return "", false
			}
			text += value
		default:
			return "", false
		}
	}
	return text, true
}

// value is that of a loop's variable.
func (j *judgement) value(p *syntax.ParamExp) (string, bool) {
	var b strings.Builder
	if p.Param == nil || syntax.NewPrinter().Print(&b, p) != nil || b.String() != "$"+p.Param.Value && b.String() != "${"+p.Param.Value+"}" {
		return "", false // it is changed on the way
	}
	value, ok := j.vars[p.Param.Value]
	return value, ok
}
