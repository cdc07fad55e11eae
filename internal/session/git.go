package session

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"webchat/internal/event"
)

// maxGitFile is how much of a file of git is read at most.
const maxGitFile = 16 << 20

// gitContext says where dir is in a git repository, as far as its files tell. It
// reads them by hand: no process is started, no configuration is honoured.
func gitContext(dir string) event.Context {
	c := event.Context{Cwd: dir}
	root, git := findGit(dir)
	if git == "" {
		return c
	}
	c.GitRoot = root
	head := firstLine(filepath.Join(git, "HEAD"))
	ref, symbolic := strings.CutPrefix(head, "ref:")
	if !symbolic {
		c.Commit = hash(head)
		return c
	}
	ref = strings.TrimSpace(ref)
	c.Branch = strings.TrimPrefix(ref, "refs/heads/")
	if c.Branch == ".invalid" { // what a repository with another ref storage says
		c.Branch = ""
		return c
	}
	if !filepath.IsLocal(filepath.FromSlash(ref)) {
		return c
	}
	// A linked worktree has its own HEAD; branches are in the common folder.
	common := git
	if p := firstLine(filepath.Join(git, "commondir")); p != "" {
		common = relativeTo(git, p)
	}
	for _, folder := range []string{git, common} {
		if h := hash(firstLine(filepath.Join(folder, filepath.FromSlash(ref)))); h != "" {
			c.Commit = h
			return c
		}
	}
	c.Commit = packedRef(filepath.Join(common, "packed-refs"), ref)
	return c
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

// packedRef finds the commit of a ref among the packed ones.
func packedRef(name, ref string) string {
	b := readGit(name)
	for line := range bytes.Lines(b) {
		h, r, ok := strings.Cut(strings.TrimRight(string(line), "\r\n"), " ")
		if ok && r == ref {
			return hash(h)
		}
	}
	return ""
}

// hash returns h if it is the name of a commit.
func hash(h string) string {
	if len(h) != 40 && len(h) != 64 || strings.Trim(h, "0123456789abcdef") != "" {
		return ""
	}
	return h
}

func firstLine(name string) string {
	s := bufio.NewScanner(bytes.NewReader(readGit(name)))
	s.Scan()
	return strings.TrimSpace(s.Text())
}

// readGit returns the content of a regular file; nothing if it cannot be read.
func readGit(name string) []byte {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() { // a pipe would block
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxGitFile))
	if err != nil {
		return nil
	}
	return b
}
