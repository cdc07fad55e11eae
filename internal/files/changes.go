package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a look at what changed.
const (
	maxChanges  = 500     // files that git may name
	maxCounted  = 40      // of which the lines are counted
	maxCompared = 1 << 20 // bytes of a file whose lines are counted
)

// Change is a file that differs from the last commit. Added and Removed count lines;
// both are 0 where they were not counted.
type Change struct {
	Path           string // relative to the workspace, with slashes
	Kind           ChangeKind
	Added, Removed int
}

// ChangeKind says how a file differs.
type ChangeKind string

// The kinds of changes.
const (
	Modified ChangeKind = "modified"
	Created  ChangeKind = "new"
	Deleted  ChangeKind = "deleted"
)

// errMany ends reading a list that is long enough.
var errMany = errors.New("enough changes")

// Changes returns the files below the workspace that differ from the last commit, by
// path; more says that there are others. There is nothing outside of a repository. Git
// names them by their times and sizes, and what only was touched is left out by
// comparing the bytes here: so nothing runs that a repository's settings name, no
// filter either.
func (x *Index) Changes(ctx context.Context) (list []Change, more bool, err error) {
	if !inRepository(x.root) && !isGit(x.root) {
		return nil, false, ctx.Err()
	}
	g := &gathering{root: x.root, env: x.env}
	g.env = append(slices.Clone(g.env), g.withoutFilters(ctx)...)
	by, blobs := map[string]ChangeKind{}, map[string]string{}
	raw := func(command string, args ...string) error {
		return g.run(ctx, ".", append([]string{command, "--raw", "-z", "--relative", "--no-renames", "--abbrev=64", "--ignore-submodules=all"}, args...), nil, func(r io.Reader) error {
			return rawRecords(r, func(kind ChangeKind, blob, name string) error {
				if len(by) >= maxChanges {
					return errMany
				}
				if !writable(name) {
					return nil
				}
				if _, known := blobs[name]; !known {
					blobs[name] = blob // of the last commit, if the index differs from it
				}
				if by[name] != Created || kind == Deleted {
					by[name] = kind
				}
				return nil
			})
		})
	}
	staged := raw("diff-index", "--cached", "HEAD") // fails before the first commit
	err = raw("diff-files")
	if err == nil {
		err = g.ask(ctx, ".", []string{"--others", "--exclude-standard"}, func(_ byte, name string) error {
			if len(by) >= maxChanges {
				return errMany
			}
			if writable(name) && !strings.HasSuffix(name, "/") {
				by[name] = Created
			}
			return nil
		})
	}
	if errors.Is(staged, errMany) || errors.Is(err, errMany) {
		more, err = true, nil
	}
	if err != nil {
		return nil, false, err
	}
	for name, kind := range by {
		list = append(list, Change{Path: name, Kind: kind})
	}
	slices.SortFunc(list, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	list, err = g.count(ctx, list, blobs)
	return list, more, err
}

// withoutFilters is the environment in which git runs none of the filters that the
// repository's settings name: it would to compare files that changed in the moment of
// the last commit.
func (g *gathering) withoutFilters(ctx context.Context) (env []string) {
	n := 0
	none := func(key string) {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=", n))
		n++
	}
	// It ends with an error where there are none.
	_ = g.run(ctx, ".", []string{"config", "--null", "--name-only", "--get-regexp", `^filter\..*\.(clean|process)$`}, nil, func(r io.Reader) error {
		for b := bufio.NewReader(r); ; {
			key, err := b.ReadString(0)
			if err != nil {
				return nil
			}
			none(strings.TrimSuffix(key, "\x00"))
		}
	})
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// isGit reports whether dir is the top of a repository.
func isGit(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// count compares the first files with what git has of them, and leaves out those that
// are the same.
func (g *gathering) count(ctx context.Context, list []Change, blobs map[string]string) ([]Change, error) {
	var ask strings.Builder
	var asked []int
	for i, c := range list {
		if c.Kind == Modified && len(asked) < maxCounted {
			asked = append(asked, i)
			ask.WriteString(blobs[c.Path] + "\n")
		}
	}
	top, err := os.OpenRoot(g.root)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	same := map[int]bool{}
	if len(asked) > 0 {
		err = g.run(ctx, ".", []string{"cat-file", "--batch"}, strings.NewReader(ask.String()), func(r io.Reader) error {
			b := bufio.NewReader(r)
			for _, i := range asked {
				was, ok, err := blob(b)
				if err != nil {
					return err
				}
				now, readable := content(top, list[i].Path)
				if !ok || !readable {
					continue
				}
				list[i].Added, list[i].Removed = differing(was, now)
				same[i] = bytes.Equal(plainEnds(was), plainEnds(now))
			}
			return nil
		})
	}
	left := list[:0]
	for i, c := range list {
		if !same[i] {
			left = append(left, c)
		}
	}
	return left, err
}

// blob reads one answer of git cat-file --batch; false: it is missing, or too large.
func blob(r *bufio.Reader) (data []byte, ok bool, err error) {
	head, err := r.ReadString('\n')
	if err != nil {
		return nil, false, err
	}
	words := strings.Fields(head)
	if len(words) != 3 {
		return nil, false, nil // "… missing"
	}
	size, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return nil, false, fmt.Errorf("git cat-file: %w", err)
	}
	if size > maxCompared {
		_, err = io.CopyN(io.Discard, r, size+1)
		return nil, false, err
	}
	data = make([]byte, size+1)
	if _, err = io.ReadFull(r, data); err != nil {
		return nil, false, err
	}
	return data[:size], true, nil
}

// content reads a regular file of the workspace that is not large.
func content(top *os.Root, name string) ([]byte, bool) {
	name = filepath.FromSlash(name)
	st, err := top.Lstat(name)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxCompared {
		return nil, false
	}
	b, err := top.ReadFile(name)
	return b, err == nil
}

// plainEnds ends lines as git stores them.
func plainEnds(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }

// differing counts the lines that only one of two texts has. A line that moved is in
// both.
func differing(was, now []byte) (added, removed int) {
	counts := map[string]int{}
	for line := range bytes.Lines(plainEnds(was)) {
		counts[string(line)]++
	}
	for line := range bytes.Lines(plainEnds(now)) {
		if counts[string(line)]--; counts[string(line)] < 0 {
			added++
		}
	}
	for _, n := range counts {
		removed += max(0, n)
	}
	return added, removed
}

// rawRecords reads what git diff-files and diff-index write with --raw -z: ":100644
// 100644 BLOB BLOB M", NUL, the path, NUL.
func rawRecords(r io.Reader, each func(kind ChangeKind, blob, name string) error) error {
	b := bufio.NewReader(r)
	for {
		head, err := b.ReadString(0)
		if err == io.EOF && head == "" {
			return nil
		}
		var name string
		if err == nil {
			name, err = b.ReadString(0)
		}
		words := strings.Fields(strings.Trim(head, ":\x00"))
		if err != nil || len(words) != 5 {
			return errors.New("git diff: a record is not as documented")
		}
		kind := map[byte]ChangeKind{'A': Created, 'D': Deleted}[words[4][0]]
		if kind == "" {
			kind = Modified
		}
		if err := each(kind, words[2], strings.TrimSuffix(name, "\x00")); err != nil {
			return err
		}
	}
}
