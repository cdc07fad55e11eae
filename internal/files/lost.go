package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// Rewritten is a file that going back would write or delete.
type Rewritten struct {
	Path      string
	Now, Then []byte     // nil: there is none; a link is where it leads
	Why       Unreviewed // the texts are not there; empty: they are
}

// texts are what files are, and what steps make of them.
func (p *shelf) texts(steps []step) (all []Rewritten) {
	for _, t := range steps {
		if strings.HasPrefix(t.path, gitFolder+"/") {
			continue // git's own bytes mean nothing to a reader
		}
		r := Rewritten{Path: t.path}
		var errs [2]error
		r.Now, errs[0] = textAt(p, t.from)
		r.Then, errs[1] = textAt(p, t.to)
		if errors.Join(errs[:]...) != nil || len(r.Now) > MaxReviewed || len(r.Then) > MaxReviewed {
			r.Now, r.Then, r.Why = nil, nil, ReviewLarge
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Rewritten) int { return strings.Compare(a.Path, b.Path) })
	return all
}

func textAt(p *shelf, v version) ([]byte, error) {
	if v == (version{}) {
		return nil, nil
	}
	text, err := p.objects.get(blobKind, v.hash)
	return append([]byte{}, text...), err
}

// mostSearched is how many files of an ignored folder are looked at for one that was written.
const mostSearched = 10_000

// ignored adds what the repository ignores and was written since: a folder of dependencies, or of
// what was built, that no snapshot has.
func (p *shelf) ignored(ctx context.Context, root *os.Root, b bringing, r *Restored) {
	args := []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory",
		"--full-name"}
	// what git cannot list is not known
	_ = p.git(ctx, p.workspace, args, nil, func(out io.Reader) error {
		return records(out, func(name string) error {
			name, ok := strings.CutPrefix(name, p.prefix)
			name = strings.TrimSuffix(name, "/")
			_, named := b.from.Left[name]
			if ok && name != "" && !named && writtenSince(root, name, b.to.At) {
				r.Kept = append(r.Kept, KeptFile{name, KeptIgnored})
			}
			return nil
		})
	})
}

// writtenSince reports whether a file, or one in a folder, was written since. Of a folder with very
// many it is taken for granted.
func writtenSince(root *os.Root, name string, since time.Time) bool {
	seen, found := 0, false
	_ = fs.WalkDir(root.FS(), path.Clean(name), func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be read is not looked at
		}
		st, err := d.Info()
		seen++
		if found = err == nil && st.ModTime().After(since) || seen > mostSearched; found {
			return fs.SkipAll
		}
		return nil
	})
	return found
}
