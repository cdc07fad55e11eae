package files

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// placeNames is how many names are looked at for a file that a command calls by the end of its
// path.
const placeNames = 20

// Place finds the file of the workspace that a command gave a name: below the folder it ran in,
// below the workspace, or as the only one whose path ends so. It only looks whether the file is
// there, and not beyond the workspace, by no link either.
func (x *Index) Place(ctx context.Context, cwd, name string) (string, bool) {
	if name == "" || len(name) > 1000 || strings.ContainsRune(name, 0) {
		return "", false
	}
	root, err := os.OpenRoot(x.root)
	if err != nil {
		return "", false
	}
	defer root.Close()
	name = filepath.ToSlash(name)
	if inside, err := filepath.Rel(x.root, filepath.FromSlash(name)); err == nil && path.IsAbs(name) {
		name, cwd = filepath.ToSlash(inside), ""
	}
	for _, try := range []string{path.Join(filepath.ToSlash(cwd), name), path.Clean(name)} {
		if try = strings.TrimPrefix(try, "/"); !filepath.IsLocal(filepath.FromSlash(try)) {
			continue
		}
		if st, err := root.Stat(filepath.FromSlash(try)); err == nil && st.Mode().IsRegular() &&
			x.named(try) {
			return try, true
		}
	}
	return x.byEnd(ctx, path.Clean(name))
}

// byEnd finds the only file whose path ends with a name, as go test gives it.
func (x *Index) byEnd(ctx context.Context, name string) (found string, ok bool) {
	if !filepath.IsLocal(name) {
		return "", false
	}
	list, err := x.Complete(ctx, name, placeNames)
	if err != nil {
		return "", false
	}
	for _, file := range list {
		if strings.HasSuffix(file, "/"+name) {
			if ok {
				return "", false // several: it could be another
			}
			found, ok = file, true
		}
	}
	return found, ok
}
