package policy

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// gitReader is a command of git that only reads, with the options it may have; "n=" takes a
// value with = or, if its name has one letter, in the same word. No option is listed that
// writes a file (--output) or starts a program (--ext-diff, --textconv, --show-signature).
type gitReader struct {
	options []string
	paths   bool // it takes revisions and paths
}

var diffOptions = []string{"p", "patch", "stat", "stat=", "numstat", "shortstat", "name-only", "name-status", "summary", "raw", "cached", "staged", "U=", "unified=", "w", "b", "M", "C",
	"ignore-all-space", "ignore-space-change", "ignore-blank-lines", "word-diff", "word-diff=", "color=", "no-color", "minimal", "patience", "histogram", "diff-filter=", "find-renames", "no-renames",
	"function-context", "W", "quiet", "exit-code", "check", "relative", "z", "R", "no-patch", "s", "no-ext-diff", "no-textconv"}

var logOptions = append([]string{"oneline", "n=", "max-count=", "skip=", "graph", "all", "branches", "tags", "remotes", "author=", "committer=", "since=", "after=", "until=", "before=", "grep=", "i", "E", "F", "G=", "S=",
	"pretty=", "format=", "abbrev-commit", "abbrev=", "no-abbrev", "decorate", "decorate=", "no-decorate", "follow", "merges", "no-merges", "first-parent", "reverse", "date=", "relative-date", "topo-order", "date-order", "left-right", "cherry-pick"}, diffOptions...)

var gitReaders = map[string]gitReader{
	"status":    {options: []string{"s", "short", "b", "branch", "long", "porcelain", "porcelain=", "u=", "untracked-files", "untracked-files=", "ignored", "z", "show-stash", "ahead-behind", "no-renames"}, paths: true},
	"log":       {options: logOptions, paths: true},
	"show":      {options: logOptions, paths: true},
	"diff":      {options: append([]string{"merge-base"}, diffOptions...), paths: true},
	"blame":     {options: []string{"L=", "w", "M", "C", "e", "s", "l", "t", "p", "porcelain", "line-porcelain", "show-name", "show-email", "date=", "abbrev="}, paths: true},
	"branch":    {options: []string{"a", "all", "r", "remotes", "v", "vv", "verbose", "show-current", "list", "merged", "no-merged", "sort=", "format=", "no-color"}},
	"rev-parse": {options: []string{"show-toplevel", "show-prefix", "abbrev-ref", "short", "short=", "verify", "git-dir", "is-inside-work-tree", "q", "quiet"}, paths: true},
	"ls-files":  {options: []string{"c", "cached", "d", "deleted", "m", "modified", "o", "others", "s", "stage", "i", "ignored", "exclude-standard", "z", "u", "unmerged", "full-name", "error-unmatch"}, paths: true},
	"describe":  {options: []string{"tags", "all", "always", "dirty", "long", "abbrev=", "match=", "exact-match", "contains"}, paths: true},
	"remote":    {options: []string{"v", "verbose"}},
}

// rangeOrRevision matches what names commits and nothing else.
var rangeOrRevision = regexp.MustCompile(`^[A-Za-z0-9_./@^~{}-]+$`)

func gitCommand(j *judgement, a *arguments, in folders) bool {
	words := a.texts
	if len(words) > 0 && words[0] == "--no-pager" {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	x, ok := gitReaders[words[0]]
	if !ok || slices.ContainsFunc(in, func(dir string) bool { return !j.p.plainRepository(dir) }) {
		return false
	}
	words = words[1:]
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "--":
			return x.paths && gitPaths(j, words[i+1:], in)
		case len(w) == 2 && strings.Contains("nGSL", w[1:]) && w[0] == '-' && slices.Contains(x.options, w[1:]+"="): // its value is the next word
			i++
		case strings.HasPrefix(w, "-"):
			if !x.permits(w) {
				return false
			}
		case !x.paths || !j.revision(w, in):
			return false
		}
	}
	return true
}

// permits reports whether an option is listed. A value may stand in it, but no format that has a
// signature checked.
func (x gitReader) permits(word string) bool {
	name, value, has := strings.Cut(strings.TrimLeft(word, "-"), "=")
	if strings.Contains(value, "%G") || strings.Contains(value, "signature") {
		return false
	}
	if strings.HasPrefix(word, "--") {
		return !has && slices.Contains(x.options, name) || has && slices.Contains(x.options, name+"=")
	}
	name = word[1:]
	if strings.Trim(name, "0123456789") == "" { // -20
		return slices.Contains(x.options, "n=") && name != ""
	}
	return slices.Contains(x.options, name) || len(name) > 1 && slices.Contains(x.options, name[:1]+"=") ||
		len(name) > 1 && !strings.ContainsFunc(name, func(r rune) bool { return !slices.Contains(x.options, string(r)) })
}

func gitPaths(j *judgement, words []string, in folders) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, ":") || !j.file(w, in) })
}

// revision judges a word that may be a revision, a revision with a path, or a path.
func (j *judgement) revision(w string, in folders) bool {
	rev, name, has := strings.Cut(w, ":")
	if has {
		// The path is relative to the top of the repository, which is in the workspace.
		return rangeOrRevision.MatchString(rev) && !strings.Contains(name, "..") && !path.IsAbs(name) && j.file(name, in) && j.file(name, j.p.roots)
	}
	return j.file(w, in)
}

// unplain matches, in the lower-case text of a configuration, a key that may name a program or have
// one started (a signature is checked by gpg, an object that a partial clone lacks is fetched, a
// submodule is asked by a git of its own), a file whose text git would print, another working tree,
// or a file with more of it.
var unplain = regexp.MustCompile(`fsmonitor|external|textconv|pager|command|program|hookspath|editor|askpass|driver|signature|%g|worktree|mailmap|revsfile|` +
	`promisor|partialclone|submodule|` +
	`\[\s*(?:alias|filter|include|includeif|pretty|diff\s|merge\s)`)

// Bounds of what is read of a repository, in bytes. What is longer is not plain.
const (
	maxGitConfig = 1 << 20
	maxGitIndex  = 64 << 20
)

// plainRepository reports whether git, in a folder, reads one repository that begins in the
// workspace, whole and by itself, and no configuration that is [unplain]: neither the repository's
// nor the user's nor the system's.
func (p *Policy) plainRepository(dir string) bool {
	if dir == "" {
		return false
	}
	home, files := filepath.FromSlash(p.home), []string{"/etc/gitconfig"}
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config", "git", "config"))
	}
	for at := dir; ; at = path.Dir(at) {
		if !p.inside(at) || found(at+"/HEAD") { // a repository around the workspace is not looked into; a bare one may stand anywhere
			return false
		}
		if git := at + "/.git"; found(git) {
			if found(at+"/.gitmodules") || !wholeGitFolder(git) {
				return false
			}
			files = append(files, filepath.Join(git, "config"), filepath.Join(git, "config.worktree"))
			break
		}
		if at == path.Dir(at) {
			return false
		}
	}
	return !slices.ContainsFunc(files, func(name string) bool {
		b, err := head(name, maxGitConfig+1)
		return err != nil && !errors.Is(err, fs.ErrNotExist) || len(b) > maxGitConfig || unplain.Match(bytes.ToLower(b)) || SensitiveFile(name)
	})
}

// plainVersions reports whether a program that asks the version control of a folder starts nothing by
// that: there is none, or it is git with a repository that is plain.
func (p *Policy) plainVersions(dir string) bool {
	for at := dir; at != ""; at = path.Dir(at) {
		for _, other := range []string{".hg", ".svn", ".bzr", ".fslckout", "_FOSSIL_"} {
			if found(at + "/" + other) {
				return false
			}
		}
		if found(at + "/.git") {
			return p.plainRepository(dir)
		}
		if at == path.Dir(at) {
			return true
		}
	}
	return false
}

// wholeGitFolder reports whether a .git is a folder that holds all of its repository: its
// configuration and objects stand in no other one (commondir, alternates, links), it starts no
// program after git status, and what it tracks are files, no repositories with their own
// configuration.
func wholeGitFolder(git string) bool {
	info, err := os.Lstat(git)
	if err != nil || !info.IsDir() {
		return false
	}
	for _, name := range []string{"commondir", "objects/info/alternates", "hooks/post-index-change"} {
		if found(git + "/" + name) {
			return false
		}
	}
	for _, dir := range []string{git, git + "/objects", git + "/objects/pack"} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) || slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			return e.Type()&fs.ModeSymlink != 0 || strings.HasPrefix(e.Name(), "sharedindex.")
		}) {
			return false
		}
	}
	index, err := head(git+"/index", maxGitIndex+1)
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(index) <= maxGitIndex && !tracksRepository(index)
}

// tracksRepository reports whether git's index may have a repository among its files: an entry with
// the mode of one, which stands at a multiple of 8 and 4 bytes but in version 4.
func tracksRepository(index []byte) bool {
	packed := bytes.HasPrefix(index, []byte("DIRC\x00\x00\x00\x04"))
	for at := 0; ; at++ {
		next := bytes.Index(index[at:], []byte{0, 0, 0xe0, 0})
		if next < 0 {
			return false
		}
		if at += next; packed || at%8 == 4 {
			return true
		}
	}
}
