package files

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Bounds of a look at what changed.
const (
	maxChanges  = 500     // files that git may name
	maxCounted  = 40      // of which the lines are counted, since the last commit
	maxCompared = 1 << 20 // bytes of a file whose lines are counted
)

// Change is a file that differs from a commit. Added and Removed count lines, unless
// Uncounted.
type Change struct {
	Path           string // relative to the workspace, with slashes
	From           string // of a renamed file, its path in the commit
	Kind           ChangeKind
	Added, Removed int
	Binary         bool      // it is not text, so it has no lines
	Uncounted      bool      // it is too large, no regular file, or one of too many
	Written        time.Time // when the file was written last; zero: it is deleted

	blob     string // what git has of it; empty: nothing
	was, now []byte // what was compared
	held     bool   // both are there
}

// Texts returns what was compared; false where that was too much to be kept.
func (c *Change) Texts() (was, now []byte, ok bool) { return c.was, c.now, c.held }

// ChangeKind says how a file differs.
type ChangeKind string

// The kinds of changes.
const (
	Modified ChangeKind = "modified"
	Created  ChangeKind = "new"
	Deleted  ChangeKind = "deleted"
	Renamed  ChangeKind = "renamed"
)

// errMany ends reading a list that is long enough.
var errMany = errors.New("enough changes")

// Changes returns the files below the workspace that differ from the last commit, by
// path; more says that there are others. There is nothing outside of a repository. Git
// names them by their times and sizes, and what only was touched is left out by
// comparing the bytes here: so nothing runs that a repository's settings name, no
// filter either.
func (x *Index) Changes(ctx context.Context) (list []Change, more bool, err error) {
	return x.since(ctx, "HEAD", maxCounted)
}

// Since is the same since any commit, given as its name in hexadecimal; of an empty one,
// since there was none. It counts the lines of all files it returns and finds out which
// were renamed. [ErrNoCommit] if git does not have the commit (any more).
func (x *Index) Since(ctx context.Context, commit string) (list []Change, more bool, err error) {
	if commit != "" && hash(commit) == "" {
		return nil, false, ErrNoCommit
	}
	if list, more, err = x.since(ctx, commit, maxChanges); err == nil {
		list = renamed(list)
	}
	return list, more, err
}

// ErrNoCommit says that git does not have a commit.
var ErrNoCommit = errors.New("git does not have that commit")

// since lists what differs from a commit, with what was compared of the first counted
// ones.
func (x *Index) since(ctx context.Context, commit string, counted int) (list []Change, more bool, err error) {
	if !inRepository(x.root) && !isGit(x.root) {
		return nil, false, ctx.Err()
	}
	g := &gathering{root: x.root, env: x.env}
	g.env = append(slices.Clone(g.env), g.withoutFilters(ctx)...)
	if commit != "" && commit != "HEAD" && !g.has(ctx, commit) {
		return nil, false, errors.Join(ctx.Err(), ErrNoCommit)
	}
	blobs, more, err := g.differ(ctx, commit)
	if err != nil {
		return nil, false, err
	}
	for name, blob := range blobs {
		if x.named(name) {
			list = append(list, Change{Path: name, blob: blob})
		}
	}
	slices.SortFunc(list, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	list, err = g.compare(ctx, list, counted)
	return list, more, err
}

// differ returns the files that may differ from a commit, with the names of what git has
// of them in it: of new ones, nothing.
func (g *gathering) differ(ctx context.Context, commit string) (blobs map[string]string, more bool, err error) {
	blobs = map[string]string{}
	add := func(blob, name string) error {
		if _, known := blobs[name]; known || !writable(name) {
			return nil // what is staged says what the commit has
		}
		if len(blobs) >= maxChanges {
			return errMany
		}
		blobs[name] = blob
		return nil
	}
	raw := func(command string, args ...string) error {
		return g.run(ctx, ".", append([]string{command, "--raw", "-z", "--relative", "--no-renames", "--abbrev=64", "--ignore-submodules=all"}, args...), nil, func(r io.Reader) error {
			return rawRecords(r, add)
		})
	}
	list := func(args ...string) error {
		return g.ask(ctx, ".", args, func(_ byte, name string) error {
			if strings.HasSuffix(name, "/") {
				return nil // another repository
			}
			return add("", name)
		})
	}
	if commit == "" {
		err = list("--cached")
	} else if err = raw("diff-index", "--cached", commit, "--"); commit == "HEAD" && !errors.Is(err, errMany) && ctx.Err() == nil {
		err = nil // there is none before the first commit
	}
	if err == nil {
		err = raw("diff-files")
	}
	if err == nil {
		err = list("--others", "--exclude-standard")
	}
	if errors.Is(err, errMany) {
		return blobs, true, nil
	}
	return blobs, false, err
}

// has reports whether git has a commit.
func (g *gathering) has(ctx context.Context, commit string) bool {
	return g.run(ctx, ".", []string{"cat-file", "-e", commit + "^{commit}"}, nil, func(r io.Reader) error {
		_, err := io.Copy(io.Discard, r)
		return err
	}) == nil
}

// withoutFilters is the environment in which git runs none of the filters that the
// repository's settings name: it would to compare files that changed in the moment of
// the last commit, and one that is required and missing would end it.
func (g *gathering) withoutFilters(ctx context.Context) (env []string) {
	n := 0
	none := func(key string) {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=", n))
		n++
	}
	// It ends with an error where there are none.
	_ = g.run(ctx, ".", []string{"config", "--null", "--name-only", "--get-regexp", `^filter\..*\.(clean|process|required)$`}, nil, func(r io.Reader) error {
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

// rawRecords reads what git diff-files and diff-index write with --raw -z: ":100644
// 100644 BLOB BLOB M", NUL, the path, NUL. The first blob is that of the older side; none is zeros.
func rawRecords(r io.Reader, each func(blob, name string) error) error {
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
		blob := words[2]
		if strings.Trim(blob, "0") == "" {
			blob = ""
		}
		if err := each(blob, strings.TrimSuffix(name, "\x00")); err != nil {
			return err
		}
	}
}
