package files

import (
	"os"
	"path/filepath"
	"strings"
)

// maxGitFile is how much of a file of git is read at most.
const maxGitFile = 16 << 20

// Head is what is checked out in a git repository.
type Head struct {
	Root   string // of the repository; empty: none
	Branch string // empty: a commit of no branch
	Commit string // in hexadecimal; empty: there is none yet
}

// HeadOf says where dir is in a git repository, as far as its files show. It reads them itself: it
// starts no process and follows no configuration.
func HeadOf(dir string) Head {
	root, git := findGit(dir)
	if git == "" {
		return Head{}
	}
	h := Head{Root: root}
	head := firstLine(filepath.Join(git, "HEAD"))
	ref, symbolic := strings.CutPrefix(head, "ref:")
	if !symbolic {
		h.Commit = commitName(head)
		return h
	}
	ref = strings.TrimSpace(ref)
	h.Branch = strings.TrimPrefix(ref, "refs/heads/")
	if h.Branch == ".invalid" { // what a repository with another ref storage says
		h.Branch = ""
		return h
	}
	if !filepath.IsLocal(filepath.FromSlash(ref)) {
		return h
	}
	// A linked worktree has its own HEAD; branches are in the common folder.
	common := git
	if p := firstLine(filepath.Join(git, "commondir")); p != "" {
		common = relativeTo(git, p)
	}
	for _, folder := range []string{git, common} {
		if c := commitName(firstLine(filepath.Join(folder, filepath.FromSlash(ref)))); c != "" {
			h.Commit = c
			return h
		}
	}
	for line := range strings.Lines(string(readGit(filepath.Join(common, "packed-refs")))) {
		if c, packed, _ := strings.Cut(strings.TrimSpace(line), " "); packed == ref {
			h.Commit = commitName(c)
		}
	}
	return h
}

// findGit looks for the repository dir is in: its root and its git folder.
func findGit(dir string) (root, git string) {
	for d := filepath.Clean(dir); ; {
		p := filepath.Join(d, ".git")
		if info, err := os.Stat(p); err == nil {
			if info.IsDir() {
				if _, err := os.Stat(filepath.Join(p, "HEAD")); err == nil {
					return d, p
				}
			} else if to, ok := strings.CutPrefix(firstLine(p), "gitdir:"); ok {
				return d, relativeTo(d, strings.TrimSpace(to))
			}
		}
		up := filepath.Dir(d)
		if up == d {
			return "", ""
		}
		d = up
	}
}

func relativeTo(dir, p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(dir, filepath.FromSlash(p))
}

// commitName returns h if it is the name of a commit.
func commitName(h string) string {
	if len(h) != 40 && len(h) != 64 || strings.Trim(h, "0123456789abcdef") != "" {
		return ""
	}
	return h
}

func firstLine(name string) string {
	line, _, _ := strings.Cut(string(readGit(name)), "\n")
	return strings.TrimSpace(line)
}

// readGit returns the content of a regular file; nothing if it cannot be read.
func readGit(name string) []byte {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxGitFile {
		return nil
	}
	b, err := readSame(os.OpenFile, name, info, maxGitFile)
	if err != nil {
		return nil
	}
	return b
}
