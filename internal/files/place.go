package files

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// placeNames is how many names are looked at for a file that a command calls by the
// end of its path.
const placeNames = 20

// Complete finds files by a part of their path.
type Complete func(ctx context.Context, q string, limit int) (names []string, _ error)

// Place finds the file below a folder, an absolute path, that a command gave a name: below
// the folder it ran in, below the whole one, or as the only one whose path ends so. It only
// looks whether the file is there, and not beyond the folder, by no link either. Without
// complete only names that lead to a file by themselves are found.
func Place(ctx context.Context, folder, cwd, name string, complete Complete) (string, bool) {
	if name == "" || len(name) > 1000 || strings.ContainsRune(name, 0) {
		return "", false
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", false
	}
	defer root.Close()
	name = filepath.ToSlash(name)
	if inside, err := filepath.Rel(folder, filepath.FromSlash(name)); err == nil && path.IsAbs(name) {
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
	return byEnd(ctx, path.Clean(name), complete)
}

// byEnd finds the only file whose path ends with a name, as go test gives it.
func byEnd(ctx context.Context, name string, complete Complete) (found string, ok bool) {
	if complete == nil || !filepath.IsLocal(name) {
		return "", false
	}
	list, err := complete(ctx, name, placeNames)
	if err != nil {
		return "", false
	}
	for _, one := range list {
		if strings.HasSuffix(one, "/"+name) {
			if ok {
				return "", false // several: it could be another
			}
			found, ok = one, true
		}
	}
	return found, ok
}
