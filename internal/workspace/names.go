package workspace

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"

	"webchat/internal/wording"
)

// MostListed is how many entries of a folder are read.
const MostListed = 10_000

// Entries are the names in an open folder, folders first: at most [MostListed], without those that
// hidden reports; whole is false if there are more.
func Entries(dir *os.File, hidden func(name string) bool) (found []fs.DirEntry, whole bool,
	err error) {
	found, err = dir.ReadDir(MostListed + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	if whole = len(found) <= MostListed; !whole {
		found = found[:MostListed]
	}
	found = slices.DeleteFunc(found, func(e fs.DirEntry) bool { return hidden(e.Name()) })
	slices.SortFunc(found, func(a, b fs.DirEntry) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(strings.ToLower(a.Name()),
			strings.ToLower(b.Name())), strings.Compare(a.Name(), b.Name()))
	})
	return found, whole, nil
}

func rank(e fs.DirEntry) int {
	if e.IsDir() {
		return 0
	}
	return 1
}

// Listing is one line for each entry: folders have a slash, links say that they are links.
func Listing(entries []fs.DirEntry) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(wording.Name(e.Name()))
		switch {
		case e.IsDir():
			b.WriteByte('/')
		case e.Type()&fs.ModeSymlink != 0:
			b.WriteString(" (link)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// unmeant are folders whose files are never meant by a vague name.
var unmeant = []string{".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv",
	".cache", "target"}

// mostWalked is how many files and folders [Names] looks at.
const mostWalked = 20_000

// Names are the files of a folder and those below it as slash paths, the shallow ones first.
// Folders that hold what others made are left out, and what cannot be read is as if it were not
// there. It ends early with ctx, or after 20,000 entries.
func Names(ctx context.Context, folder fs.FS) iter.Seq2[string, fs.DirEntry] {
	return func(yield func(string, fs.DirEntry) bool) {
		walked := 0
		for folders := []string{"."}; len(folders) > 0; folders = folders[1:] {
			entries, _ := fs.ReadDir(folder, folders[0])
			for _, e := range entries {
				if walked++; walked > mostWalked || ctx.Err() != nil {
					return
				}
				name := path.Join(folders[0], e.Name())
				switch {
				case e.IsDir() && !slices.Contains(unmeant, e.Name()):
					folders = append(folders, name)
				case !e.IsDir() && !yield(name, e):
					return
				}
			}
		}
	}
}
