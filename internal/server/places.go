package server

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// places finds files of the workspace by the names that commands give them. It only
// looks whether they are there, and not beyond the workspace, by no link either.
type places struct {
	root  string // of the workspace, an absolute path; empty: there are no places
	files Files  // nil: only names that lead to a file by themselves are found
}

// placeNames is how many names are looked at for a file that a command calls by the
// end of its path.
const placeNames = 20

// Place implements views.Places.
func (p places) Place(ctx context.Context, cwd, name string) (string, bool) {
	if p.root == "" || name == "" || len(name) > 1000 || strings.ContainsRune(name, 0) {
		return "", false
	}
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return "", false
	}
	defer root.Close()
	name = filepath.ToSlash(name)
	if inside, err := filepath.Rel(p.root, filepath.FromSlash(name)); err == nil && path.IsAbs(name) {
		name, cwd = filepath.ToSlash(inside), ""
	}
	for _, try := range []string{path.Join(filepath.ToSlash(cwd), name), path.Clean(name)} {
		if try = strings.TrimPrefix(try, "/"); !filepath.IsLocal(filepath.FromSlash(try)) {
			continue
		}
		if st, err := root.Stat(filepath.FromSlash(try)); err == nil && st.Mode().IsRegular() {
			return try, true
		}
	}
	return p.byEnd(ctx, path.Clean(name))
}

// byEnd finds the only file whose path ends with a name, as go test gives it.
func (p places) byEnd(ctx context.Context, name string) (found string, ok bool) {
	if p.files == nil || !filepath.IsLocal(name) {
		return "", false
	}
	list, err := p.files.Complete(ctx, name, placeNames)
	if err != nil {
		return "", false
	}
	for _, f := range list {
		if strings.HasSuffix(f, "/"+name) {
			if ok {
				return "", false // several: it could be another
			}
			found, ok = f, true
		}
	}
	return found, ok
}
