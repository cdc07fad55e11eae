package files

import (
	"bufio"
	"bytes"
	"context" // git's name for a file, and no protection
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"webchat/internal/patch"
)

// Bounds of a look at what changed.
const (
	maxChanges  = 500       // files that git may name
	maxCounted  = 40        // of which the lines are counted, since the last commit
	maxCompared = 1 << 20   // bytes of a file whose lines are counted
	maxHeld     = 32 << 20  // bytes of all files that are kept
	maxRenames  = 50        // files of each kind that are looked at for renames
	maxAlike    = 128 << 20 // bytes that are compared line by line for that
)

// Change is a file that differs from a commit.
type Change struct {
	Path    string     `json:"path"`           // relative to the workspace, with slashes
	From    string     `json:"from,omitempty"` // of a renamed file: its path in the commit
	Kind    ChangeKind `json:"kind"`
	Added   int        `json:"added"` // lines, unless Uncounted
	Removed int        `json:"removed"`
	Binary  bool       `json:"binary,omitempty"` // it is not text, so it has no lines
	// it is too large, no regular file, or one of too many
	Uncounted bool `json:"uncounted,omitempty"`
	// it was last written before the session began, so the session hardly changed it
	Before  bool      `json:"before,omitempty"`
	Written time.Time `json:"-"` // when the file was written last; zero: it is deleted

	blob     string // what git has of it; empty: nothing
	was, now []byte // what was compared
	held     bool   // both are there
}

// ChangeKind says how a file differs.
type ChangeKind string

// The kinds of changes.
const (
	Modified ChangeKind = "modified"
	Created  ChangeKind = "new"
	Deleted  ChangeKind = "deleted"
	Renamed  ChangeKind = "renamed"
)

var (
	// ErrNoCommit: git does not have a commit.
	ErrNoCommit = errors.New("git does not have that commit")
	// ErrTooLarge: a file is larger than was asked for.
	ErrTooLarge = errors.New("too large")
)

// Changes returns the files below the workspace that differ from the last commit, by path; more
// says that there are others. There is nothing outside of a repository. Git names them by their
// times and sizes, and what only was touched is left out by comparing the bytes here: so nothing
// runs that a repository's settings name, no filter either.
func (x *Index) Changes(ctx context.Context) (list []Change, more bool, err error) {
	if RepositoryOf(x.root) == "" {
		return nil, false, ctx.Err()
	}
	return x.gathering().since(ctx, "HEAD", maxCounted)
}

// Since is the same since any commit, given as its name in hexadecimal; of an empty one, since
// there was none. It counts the lines of all files it returns and finds out which were renamed.
// [ErrNoCommit] if git does not have the commit.
func (x *Index) Since(ctx context.Context, commit string) (list []Change, more bool, err error) {
	g := x.gathering()
	if commit != "" && !g.has(ctx, commit) || RepositoryOf(x.root) == "" {
		return nil, false, errors.Join(ctx.Err(), ErrNoCommit)
	}
	list, more, err = g.since(ctx, commit, maxChanges)
	return renamed(list), more, err
}

// has reports whether git has a commit.
func (g *gathering) has(ctx context.Context, commit string) bool {
	return commitName(commit) != "" && g.run(ctx, ".",
		[]string{"cat-file", "-e", commit + "^{commit}"}, nil, drain) == nil
}

func drain(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// since lists what differs from a commit, with what was compared of the first counted ones.
func (g *gathering) since(ctx context.Context, commit string,
	counted int) (list []Change, more bool, err error) {
	g.env = append(slices.Clone(g.env), g.withoutFilters(ctx)...)
	blobs, more, err := g.differ(ctx, commit)
	if err != nil {
		return nil, false, err
	}
	for _, name := range slices.Sorted(maps.Keys(blobs)) {
		if g.named(name) {
			list = append(list, Change{Path: name, blob: blobs[name]})
		}
	}
	list, err = g.compare(ctx, list, counted)
	return list, more, err
}

// differ returns the files that may differ from a commit, with the names of what git has of them in
// it: of new ones, nothing.
func (g *gathering) differ(ctx context.Context,
	commit string) (blobs map[string]string, more bool, err error) {
	blobs = map[string]string{}
	add := func(blob, name string) error {
		if _, known := blobs[name]; known || !writable(name) {
			return nil // what is staged says what the commit has
		}
		if len(blobs) >= maxChanges {
			return errEnough
		}
		blobs[name] = blob
		return nil
	}
	raw := func(command string, args ...string) error {
		args = append([]string{command, "--raw", "-z", "--relative", "--no-renames", "--abbrev=64",
			"--ignore-submodules=all"}, args...)
		return g.run(ctx, ".", args, nil, func(r io.Reader) error { return rawRecords(r, add) })
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
	} else if err = raw("diff-index", "--cached", commit, "--"); commit == "HEAD" && !errors.Is(err,
		errEnough) && ctx.Err() == nil {
		err = nil // there is none before the first commit
	}
	if err == nil {
		err = raw("diff-files")
	}
	if err == nil {
		err = list("--others", "--exclude-standard")
	}
	if errors.Is(err, errEnough) {
		return blobs, true, nil
	}
	return blobs, false, err
}

// withoutFilters is the environment in which git runs none of the filters that the repository's
// settings name: it would to compare files that changed in the moment of the last commit, and one
// that is required and missing would end it.
func (g *gathering) withoutFilters(ctx context.Context) (env []string) {
	n := 0
	// It ends with an error where there are none.
	_ = g.run(ctx, ".", []string{"config", "--null", "--name-only", "--get-regexp",
		`^filter\..*\.(clean|process|required)$`}, nil, func(r io.Reader) error {
		return records(r, func(key string) error {
			env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key),
				fmt.Sprintf("GIT_CONFIG_VALUE_%d=", n))
			n++
			return nil
		})
	})
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// rawRecords reads what git diff-files and diff-index write with --raw -z: ":100644 100644 BLOB
// BLOB M", NUL, the path, NUL. The first blob is that of the older side; none is zeros.
func rawRecords(r io.Reader, each func(blob, name string) error) error {
	var head []string
	return records(r, func(record string) error {
		if head == nil {
			if head = strings.Fields(strings.TrimPrefix(record, ":")); len(head) != 5 {
				return errors.New("git diff: a record is not as documented")
			}
			return nil
		}
		blob := head[2]
		if head = nil; strings.Trim(blob, "0") == "" {
			blob = ""
		}
		return each(blob, record)
	})
}

// compare says how files differ from what git has of them, counts the lines of the first, and
// leaves out those that are the same.
func (g *gathering) compare(ctx context.Context, list []Change,
	counted int) (differ []Change, err error) {
	var ask strings.Builder
	for _, c := range list[:min(len(list), counted)] {
		if c.blob != "" {
			ask.WriteString(c.blob + "\n")
		}
	}
	top, err := os.OpenRoot(g.root)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	held := 0
	all := func(r io.Reader) error {
		b := bufio.NewReader(r)
		for i, c := range list {
			var was []byte
			known := c.blob == ""
			if !known && i < counted {
				if was, known, err = blob(b, maxCompared); err != nil && !errors.Is(err, ErrTooLarge) {
					return err
				}
			}
			if !c.compare(top, was, known && i < counted) {
				continue
			}
			if held += len(c.was) + len(c.now); held > maxHeld {
				c.was, c.now, c.held = nil, nil, false
			}
			differ = append(differ, c)
		}
		return nil
	}
	if ask.Len() == 0 {
		return differ, errors.Join(all(strings.NewReader("")), ctx.Err())
	}
	err = g.run(ctx, ".", []string{"cat-file", "--batch"}, strings.NewReader(ask.String()), all)
	return differ, err
}

// compare compares what a file was with what it is; false if it is the same. known says that all of
// what it was is given.
func (c *Change) compare(top *os.Root, was []byte, known bool) (differs bool) {
	is, written, err := now(top, c.Path, maxCompared)
	gone := errors.Is(err, fs.ErrNotExist)
	c.Written = written
	switch c.Kind = Modified; {
	case gone && c.blob == "":
		return false
	case gone:
		c.Kind = Deleted
	case c.blob == "":
		c.Kind = Created
	}
	if err == nil && (isBlob(c.blob, is) || isBlob(c.blob, plainEnds(is))) {
		return false
	}
	if !known || err != nil && !gone {
		c.Uncounted = true
		return true
	}
	c.was, c.now, c.held = was, is, true
	c.count()
	return c.Kind != Modified || !bytes.Equal(plainEnds(was), plainEnds(is))
}

func (c *Change) count() {
	if c.Binary = binary(c.was) || binary(c.now); !c.Binary {
		c.Added, c.Removed = patch.Changed(c.was, c.now)
	}
}
