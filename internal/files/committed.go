package files

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git's names of objects
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mostCommits is how many commits are looked at for one file.
const mostCommits = 5000

// ConfigNames returns the names of the settings in the text of a file of git's. What it includes is
// not read.
func ConfigNames(ctx context.Context, env []string, text []byte) (names []string, err error) {
	g := &gathering{root: os.TempDir(), env: append(gitEnv(env), "GIT_CEILING_DIRECTORIES="+
		os.TempDir(), "GIT_CONFIG_NOSYSTEM=1")}
	args := []string{"config", "-f", "-", "--no-includes", "--name-only", "--list", "-z"}
	err = g.run(ctx, "", args, bytes.NewReader(text), func(r io.Reader) error {
		return records(r, func(name string) error {
			names = append(names, name)
			return nil
		})
	})
	return names, err
}

// Tips are the commits that HEAD and the refs of the repository have that a folder is in.
func Tips(dir string) []string {
	_, git := findGit(dir)
	if git == "" {
		return nil
	}
	found := map[string]bool{HeadOf(dir).Commit: true}
	for _, to := range refsOf(git) {
		found[commitName(to)] = true
	}
	delete(found, "")
	return slices.Sorted(maps.Keys(found))
}

// Committed reports whether files of a workspace have the bytes that they had, each at its path, in
// a commit that some commits reach. Each object is checked against its name, so that no one can put
// another one in its place.
func Committed(ctx context.Context, env []string, workspace string, since,
	names []string) (bool, error) {
	top, git := findGit(workspace)
	rel, err := filepath.Rel(top, workspace)
	if git == "" || err != nil || len(since) == 0 || len(names) == 0 {
		return false, err
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return false, err
	}
	defer root.Close()
	in := &past{newHash: sha1.New, left: map[string]string{}, known: map[string]map[string]string{}}
	if len(since[0]) == 2*sha256.Size {
		in.newHash = sha256.New
	}
	for _, name := range names {
		if !straight(root, path.Dir(name), map[string]bool{}) {
			return false, nil
		}
		data, _, err := now(root, name, maxKept)
		if err != nil {
			return false, nil // it is not what git checks out, or gone
		}
		in.left[path.Join(filepath.ToSlash(rel), name)] = in.name(blobKind, data)
	}
	g := &gathering{root: top, env: append(gitEnv(env), "GIT_NO_REPLACE_OBJECTS=1")}
	asked, ask := io.Pipe()
	defer asked.Close()
	in.ask = ask
	err = g.run(ctx, "", []string{"cat-file", "--batch"}, asked, func(r io.Reader) error {
		defer ask.Close()
		in.answers = bufio.NewReader(r)
		return in.walk(ctx, since)
	})
	if err != nil && len(in.left) > 0 {
		return false, fmt.Errorf("look for what was committed in %s: %w", top, err)
	}
	return len(in.left) == 0, nil
}

// past is a repository read from its newest commits on.
type past struct {
	ask     io.Writer
	answers *bufio.Reader
	newHash func() hash.Hash
	left    map[string]string            // the names of blobs that were not found yet, by path
	known   map[string]map[string]string // trees
}

func (h *past) name(kind string, data []byte) string {
	sum := h.newHash()
	fmt.Fprintf(sum, "%s %d\x00", kind, len(data))
	sum.Write(data)
	return hex.EncodeToString(sum.Sum(nil))
}

// get reads an object. One that is missing, or is not what its name says, is of no kind.
func (h *past) get(name string) (kind string, data []byte, err error) {
	if _, err = io.WriteString(h.ask, name+"\n"); err != nil {
		return "", nil, err
	}
	line, err := h.answers.ReadString('\n')
	fields := strings.Fields(line)
	if err != nil || len(fields) != 3 {
		return "", nil, err
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil || size > maxKept {
		return "", nil, errors.Join(err, errUnread)
	}
	data = make([]byte, size+1)
	if _, err = io.ReadFull(h.answers, data); err != nil {
		return "", nil, err
	}
	if data = data[:size]; h.name(fields[1], data) != name {
		return "", nil, nil
	}
	return fields[1], data, nil
}

// walk looks at commits until nothing is left to be found.
func (h *past) walk(ctx context.Context, tips []string) error {
	seen := map[string]bool{}
	for todo := slices.Clone(tips); len(todo) > 0 && len(h.left) > 0 &&
		len(seen) < mostCommits; todo = todo[1:] {
		if seen[todo[0]] {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		seen[todo[0]] = true
		kind, data, err := h.get(todo[0])
		if err != nil {
			return err
		}
		head, _, _ := strings.Cut(string(data), "\n\n")
		for line := range strings.Lines(head) {
			field, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch {
			case kind == "commit" && field == "tree":
				err = h.look(value)
			case kind == "commit" && field == "parent" || kind == "tag" && field == "object":
				todo = append(todo, value)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// look looks for files in a tree.
func (h *past) look(tree string) error {
	for name, want := range h.left {
		at := tree
		for part := range strings.SplitSeq(name, "/") {
			entries, err := h.tree(at)
			if err != nil {
				return err
			}
			at = entries[part]
		}
		if at == want {
			delete(h.left, name)
		}
	}
	return nil
}

// tree returns what is in a tree, by name.
func (h *past) tree(name string) (map[string]string, error) {
	if entries, ok := h.known[name]; ok || name == "" {
		return entries, nil
	}
	kind, data, err := h.get(name)
	if err != nil {
		return nil, err
	}
	entries, size := map[string]string{}, h.newHash().Size()
	for kind == treeKind && len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		_, file, spaced := strings.Cut(string(head), " ")
		if !ok || !spaced || len(rest) < size {
			break
		}
		entries[file], data = hex.EncodeToString(rest[:size]), rest[size:]
	}
	h.known[name] = entries
	return entries, nil
}
