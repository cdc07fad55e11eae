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
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/internal/patch"
)

// isBlob reports whether git has data under a name: so whether a file was only touched is known
// without its blob, of however many.
func isBlob(name string, data []byte) bool {
	var h hash.Hash
	switch len(name) {
	case 2 * sha1.Size:
		h = sha1.New()
	case 2 * sha256.Size:
		h = sha256.New()
	default:
		return false
	}
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil)) == name
}

// renamed makes one change of a deleted file and a new one most of whose lines are the same.
func renamed(list []Change) []Change {
	some := func(kind ChangeKind) (found []*Change) {
		for i := range list {
			c := &list[i]
			if c.Kind == kind && c.held && len(c.was)+len(c.now) > 0 && len(found) < maxRenames {
				found = append(found, c)
			}
		}
		return found
	}
	gone, left := some(Deleted), maxAlike
	taken := map[string]bool{}
	for _, fresh := range some(Created) {
		var from *Change
		most := 0
		for _, c := range gone {
			if n := alike(c.was, fresh.now, &left); n > most && !taken[c.Path] {
				from, most = c, n
			}
		}
		if from != nil {
			taken[from.Path] = true
			fresh.Kind, fresh.From, fresh.was = Renamed, from.Path, from.was
			fresh.count()
		}
	}
	return slices.DeleteFunc(list, func(c Change) bool { return c.Kind == Deleted && taken[c.Path] })
}

// alike says of two texts how many percent of their lines are the same; 0 if that is less than
// half. Files other than text have to be the same. left is how many bytes may be compared still.
func alike(was, is []byte, left *int) int {
	if bytes.Equal(was, is) {
		return 100
	}
	if min(len(was), len(is))*3 < max(len(was), len(is)) || *left < 0 || binary(was) || binary(is) {
		return 0
	}
	*left -= len(was) + len(is)
	all := bytes.Count(was, []byte{'\n'}) + bytes.Count(is, []byte{'\n'}) + 2
	added, removed := patch.Changed(was, is)
	if percent := 100 * (all - added - removed) / all; percent >= 50 {
		return percent
	}
	return 0
}

// Was returns a file as a commit has it; false if the commit has no such file. It reads at most
// limit bytes, over which the error is [ErrTooLarge]; and [ErrNoCommit] if git does not have the
// commit.
func (x *Index) Was(ctx context.Context, commit, path string,
	limit int64) (data []byte, found bool, err error) {
	g := x.gathering()
	if !writable(path) || !filepath.IsLocal(filepath.FromSlash(path)) || !g.has(ctx, commit) {
		return nil, false, errors.Join(ctx.Err(), ErrNoCommit)
	}
	ask := strings.NewReader(commit + ":./" + path + "\n")
	err = g.run(ctx, ".", []string{"cat-file", "--batch"}, ask, func(r io.Reader) (err error) {
		data, found, err = blob(bufio.NewReader(r), limit)
		return err
	})
	return data, found, err
}

// Sizes returns how many bytes files have in a commit, by their paths. Files that are not in it, or
// that git does not report, are left out.
func (x *Index) Sizes(ctx context.Context, commit string, paths []string) map[string]int64 {
	sizes := map[string]int64{}
	if commitName(commit) == "" {
		return sizes
	}
	var ask strings.Builder
	for _, path := range paths {
		if !writable(path) || !filepath.IsLocal(filepath.FromSlash(path)) {
			return sizes
		}
		ask.WriteString(commit + ":./" + path + "\n")
	}
	_ = x.gathering().run(ctx, ".", []string{"cat-file", "--batch-check"},
		strings.NewReader(ask.String()), func(r io.Reader) error {
			lines := bufio.NewScanner(r)
			for i := 0; lines.Scan() && i < len(paths); i++ { // one for each
				words := strings.Fields(lines.Text())
				if len(words) != 3 || words[1] != "blob" { // "NAME missing", and a path may hold a blank
					continue
				}
				if n, err := strconv.ParseInt(words[2], 10, 64); err == nil {
					sizes[paths[i]] = n
				}
			}
			return lines.Err()
		})
	return sizes
}

// blob reads one answer of git cat-file --batch; false if it is missing, or no file. [ErrTooLarge]
// if it is over most bytes; then it was skipped.
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
	_, err = io.ReadFull(r, data)
	return data[:size], err == nil, err
}

// now reads a file as it is. A link is what it leads to, as git has it.
func now(top *os.Root, name string, most int64) (data []byte, written time.Time, err error) {
	name = filepath.FromSlash(name)
	st, err := top.Lstat(name)
	if err != nil {
		return nil, written, err
	}
	switch written = st.ModTime(); {
	case st.Mode().Type() == fs.ModeSymlink:
		to, err := top.Readlink(name)
		return []byte(filepath.ToSlash(to)), written, err
	case !st.Mode().IsRegular(), st.Size() > most:
		return nil, written, errUnread
	}
	if data, err = readSame(top.OpenFile, name, st, most); errors.Is(err, ErrTooLarge) {
		err = errUnread
	}
	return data, written, err
}

// errUnread says that something is there which is not compared.
var errUnread = errors.New("not read")

// plainEnds ends lines as git stores them.
func plainEnds(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }

// binary decides as git does: a text has no NUL in its beginning.
func binary(b []byte) bool { return bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 }
