package files

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1" // git's name for a file, and no protection
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"webchat/internal/wording"
)

// compare says how files differ from what git has of them, counts the lines of the
// first, and leaves out those that are the same.
func (g *gathering) compare(ctx context.Context, list []Change, counted int) ([]Change, error) {
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
	differs, held := make([]bool, len(list)), 0
	all := func(b *bufio.Reader) error {
		for i := range list {
			var was []byte
			known := list[i].blob == ""
			if !known && i < counted {
				if was, known, err = blob(b, maxCompared); err != nil && !errors.Is(err, ErrTooLarge) {
					return err
				}
			}
			c := &list[i]
			differs[i] = c.with(top, was, known && i < counted)
			if held += len(c.was) + len(c.now); held > maxHeld {
				c.was, c.now, c.held = nil, nil, false
			}
		}
		return nil
	}
	if ask.Len() == 0 {
		err = all(nil)
	} else {
		err = g.run(ctx, ".", []string{"cat-file", "--batch"}, strings.NewReader(ask.String()), func(r io.Reader) error { return all(bufio.NewReader(r)) })
	}
	left := list[:0]
	for i, c := range list {
		if differs[i] {
			left = append(left, c)
		}
	}
	return left, err
}

// with compares what a file was with what it is; false: it is the same. known says that
// all of what it was is given.
func (c *Change) with(top *os.Root, was []byte, known bool) (differs bool) {
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
	if err == nil && (named(c.blob, is) || named(c.blob, plainEnds(is))) {
		return false
	}
	if !known || err != nil && !gone {
		c.Uncounted = true
		return true
	}
	c.was, c.now, c.held = was, is, true
	if c.Binary = binary(was) || binary(is); !c.Binary {
		c.Added, c.Removed = wording.Changed(was, is)
	}
	return c.Kind != Modified || !bytes.Equal(plainEnds(was), plainEnds(is))
}

// named reports whether git has data under a name: so whether a file was only touched is
// known without its blob, of however many.
func named(blob string, data []byte) bool {
	var h interface {
		io.Writer
		Sum([]byte) []byte
	}
	switch len(blob) {
	case 2 * sha1.Size:
		h = sha1.New()
	case 2 * sha256.Size:
		h = sha256.New()
	default:
		return false
	}
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil)) == blob
}

// Renames are found as those of deleted and new files whose lines are mostly the same.
const (
	maxHeld    = 32 << 20  // bytes of all files that are kept
	maxRenames = 50        // files of each kind
	maxAlike   = 128 << 20 // bytes that are compared line by line
)

// renamed makes one change of a deleted file and a new one that is much like it.
func renamed(list []Change) []Change {
	var gone, fresh []int
	for i, c := range list {
		switch {
		case !c.held || len(c.was)+len(c.now) == 0:
		case c.Kind == Deleted && len(gone) < maxRenames:
			gone = append(gone, i)
		case c.Kind == Created && len(fresh) < maxRenames:
			fresh = append(fresh, i)
		}
	}
	taken, left := map[int]bool{}, maxAlike
	for _, f := range fresh {
		best, most := -1, 0
		for _, g := range gone {
			if taken[g] {
				continue
			}
			if n := alike(list[g].was, list[f].now, &left); n > most {
				best, most = g, n
			}
		}
		if best < 0 {
			continue
		}
		taken[best] = true
		c := &list[f]
		c.Kind, c.From, c.was = Renamed, list[best].Path, list[best].was
		if !c.Binary {
			c.Added, c.Removed = wording.Changed(c.was, c.now)
		}
	}
	out := list[:0]
	for i, c := range list {
		if !taken[i] {
			out = append(out, c)
		}
	}
	return out
}

// alike says of two texts how many percent of their lines are the same; 0 if that is
// less than half. Files other than text have to be the same. left is how many bytes may be
// compared still.
func alike(was, is []byte, left *int) int {
	if bytes.Equal(was, is) {
		return 100
	}
	if min(len(was), len(is))*3 < max(len(was), len(is)) || *left < 0 || binary(was) || binary(is) {
		return 0
	}
	*left -= len(was) + len(is)
	lines := func(b []byte) int { return bytes.Count(b, []byte{'\n'}) + 1 }
	all := lines(was) + lines(is)
	added, removed := wording.Changed(was, is)
	if percent := 100 * (all - added - removed) / all; percent >= 50 {
		return percent
	}
	return 0
}

// Was returns a file as a commit has it; false: the commit has no such file. It reads at
// most limit bytes, over which the error is [ErrTooLarge]; and [ErrNoCommit] if git does
// not have the commit.
func (x *Index) Was(ctx context.Context, commit, path string, limit int64) (data []byte, found bool, err error) {
	if hash(commit) == "" || !writable(path) || !filepath.IsLocal(filepath.FromSlash(path)) {
		return nil, false, ErrNoCommit
	}
	g := &gathering{root: x.root, env: x.env}
	if !g.has(ctx, commit) {
		return nil, false, errors.Join(ctx.Err(), ErrNoCommit)
	}
	ask := strings.NewReader(commit + ":./" + path + "\n")
	err = g.run(ctx, ".", []string{"cat-file", "--batch"}, ask, func(r io.Reader) error {
		b := bufio.NewReader(r)
		head, err := b.Peek(1)
		if err != nil || len(head) == 0 {
			return err
		}
		data, found, err = blob(b, limit)
		return err
	})
	return data, found, err
}

// ErrTooLarge says that a file is larger than was asked for.
var ErrTooLarge = errors.New("too large")

// blob reads one answer of git cat-file --batch; false: it is missing, or no file.
// [ErrTooLarge] if it is over most bytes; then it was skipped.
func blob(r *bufio.Reader, most int64) (data []byte, ok bool, err error) {
	head, err := r.ReadString('\n')
	if err != nil {
		return nil, false, err
	}
	words := strings.Fields(head)
	if len(words) != 3 || words[2] == "missing" { // a path may hold a blank
		return nil, false, nil
	}
	size, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return nil, false, fmt.Errorf("git cat-file: %w", err)
	}
	if folder := words[1] != "blob"; folder || size > most {
		if _, err = io.CopyN(io.Discard, r, size+1); err == nil && !folder {
			err = ErrTooLarge
		}
		return nil, false, err
	}
	data = make([]byte, size+1)
	if _, err = io.ReadFull(r, data); err != nil {
		return nil, false, err
	}
	return data[:size], true, nil
}

// now reads a file as it is. A link is what it leads to, as git has it.
func now(top *os.Root, name string, most int64) (data []byte, written time.Time, err error) {
	name = filepath.FromSlash(name)
	st, err := top.Lstat(name)
	if err != nil {
		return nil, written, err
	}
	written = st.ModTime()
	switch {
	case st.Mode().Type() == fs.ModeSymlink:
		to, err := top.Readlink(name)
		return []byte(filepath.ToSlash(to)), written, err
	case !st.Mode().IsRegular(), st.Size() > most:
		return nil, written, errUnread
	}
	data, err = top.ReadFile(name)
	return data, written, err
}

// errUnread says that something is there which is not compared.
var errUnread = errors.New("not read")

// plainEnds ends lines as git stores them.
func plainEnds(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }

// binary tells as git does: a text has no NUL in its beginning.
func binary(b []byte) bool { return bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 }

// isGit reports whether dir is the top of a repository.
func isGit(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}
