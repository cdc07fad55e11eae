package offline

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"webchat/internal/displays"
	"webchat/internal/files"
	"webchat/internal/proc"
	"webchat/internal/workspace"
)

// tree is the open workspace during one turn. Nothing is read through a link that leaves it.
type tree struct {
	root *os.Root
	path string   // Config.Path
	all  []string // what list found; nil: it has not looked
}

func openTree(dir, path string) (*tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	return &tree{root: root, path: path}, nil
}

func (w *tree) close() { w.root.Close() }

// list returns the files of the workspace as slash paths, the shallow ones first. It looks once.
func (w *tree) list(ctx context.Context) []string {
	if w.all != nil {
		return w.all
	}
	w.all = []string{}
	for name := range workspace.Names(ctx, w.root.FS()) {
		w.all = append(w.all, name)
	}
	return w.all
}

// first returns the first file that has a name like that.
func (w *tree) first(like func(string) bool) string {
	if i := slices.IndexFunc(w.list(context.Background()), like); i >= 0 {
		return w.all[i]
	}
	return ""
}

func isReadme(p string) bool { return strings.HasPrefix(strings.ToLower(path.Base(p)), "readme") }

// isPicture reports whether a name is one of what the picture tool shows; whether the file is one,
// the tool judges by its bytes.
func isPicture(p string) bool { return displays.Shows(p) == displays.DisplayImage }

// find returns the path that a person called by a name: one that exists, one that only the tool can
// judge, or the one file whose name is like it, the highest of them. ok is false if it is none of
// these, and the path is then the name.
func (w *tree) find(ctx context.Context, name string) (found string, ok bool) {
	hits := w.fits(ctx, name)
	if len(hits) == 1 || len(hits) > 1 && strings.Count(hits[0], "/") < strings.Count(hits[1], "/") {
		return hits[0], true
	}
	return strings.TrimRight(name, endings), false
}

// endings are characters that end a sentence, not a name.
const endings = ".?!,;: "

// fits returns the path of a name as it is, or else all files whose names are like it, the highest
// first.
func (w *tree) fits(ctx context.Context, name string) []string {
	for _, p := range []string{name, strings.TrimRight(name, endings)} {
		if p != "" && (leadsOut(p) || w.exists(p)) {
			return []string{p}
		}
		name = p
	}
	low := strings.ToLower(strings.ReplaceAll(name, `\`, "/"))
	for _, same := range sameness {
		hits := slices.DeleteFunc(slices.Clone(w.list(ctx)), func(f string) bool {
			f = strings.ToLower(f)
			return !same(low, f) && !same(strings.TrimSuffix(low, " file"), f)
		})
		if len(hits) > 0 {
			return hits
		}
	}
	return nil
}

// sameness is how a file may be like a name, from the likest.
var sameness = []func(name, file string) bool{
	func(name, file string) bool { return strings.HasSuffix("/"+file, "/"+name) },
	func(name, file string) bool { return letters(path.Base(file)) == letters(name) },
	func(name, file string) bool {
		return letters(strings.TrimSuffix(path.Base(file), path.Ext(file))) == letters(name)
	},
}

// letters drops what people leave out or change when they say a name.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// leadsOut reports whether p is a path that no look into the workspace can settle.
func leadsOut(p string) bool {
	return filepath.IsAbs(p) || strings.HasPrefix(p, "/") ||
		slices.Contains(strings.Split(filepath.ToSlash(p), "/"), "..")
}

// exists reports whether there is something at p, or a link on the way to it: where that leads is
// the tool's to judge.
func (w *tree) exists(p string) bool {
	if _, err := w.root.Lstat(p); err == nil {
		return true
	}
	for dir := path.Dir(filepath.ToSlash(p)); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if fi, err := w.root.Lstat(dir); err == nil {
			return fi.Mode()&fs.ModeSymlink != 0
		}
	}
	return false
}

var (
	// builtins are the words a shell runs itself.
	builtins = strings.Fields(
		`. : [ alias cd command echo eval exec exit export false hash jobs kill printf pwd read
		set shift test times trap true type ulimit umask unset wait`)
	windowsBuiltins = strings.Fields(
		`cd chdir cls copy date del dir echo erase exit md mkdir move path rd ren rmdir set time type ver vol`)
	// compound matches compound commands, which talk like "run for me the linter" is not.
	compound = regexp.MustCompile(
		`^(?:\(.*\)|\{ .*\}|(?:for|while|until) .*\bdone\b|if .*\bfi\b|case .*\besac\b)`)
	assignment = regexp.MustCompile(`^(?:[A-Za-z_]\w*=(?:'[^']*'|"[^"]*"|[^\s'"])*\s+)+`)
)

// isCommand reports whether a shell line begins with something that can be run: a program, a file
// of the workspace, or what a shell does itself.
func (w *tree) isCommand(line string) bool {
	line = strings.TrimPrefix(assignment.ReplaceAllString(strings.Trim(line, " `"), ""), "! ")
	word, _, _ := strings.Cut(line, " ")
	if end := strings.IndexAny(word, ";&|<>"); end >= 0 {
		word = word[:end]
	}
	word = strings.Trim(word, `"'`)
	switch {
	case compound.MatchString(line):
		return true
	case word == "" || assignment.MatchString(word+" "):
		return false
	case slices.Contains(builtins, word) && runtime.GOOS != "windows":
		return true
	case slices.Contains(windowsBuiltins, strings.ToLower(word)) && runtime.GOOS == "windows":
		return true
	}
	_, err := proc.LookUp(proc.Command{
		Args: []string{word},
		Dir:  w.root.Name(),
		Env:  []string{"PATH=" + w.path},
	})
	return err == nil
}

// testCommand returns how the project's tests are run, or "".
func (w *tree) testCommand() string { return files.TestCommand(w.root, w.isCommand) }
