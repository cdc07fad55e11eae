package files

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mostEntries is how many entries of a folder are looked at, so that a very large one costs no more
// than a moment.
const mostEntries = 10_000

// Folder is a folder that could be opened.
type Folder struct {
	Path    string
	Warning Warning
	Known   bool // it is or was open
	Open    bool // it is
}

// Complete returns up to limit folders that a person may mean by q: those that are open first, then
// those that were, then folders below the home folder whose name begins so. q may begin with ~; a
// folder named in full is found wherever it is. What begins with a dot is offered when the dot is
// typed.
func (l *Workspaces) Complete(home, q string, limit int) (found []Folder) {
	q = strings.TrimSpace(q)
	path := expand(home, q)
	if q == "~" || q == "~/" {
		q = ""
	}
	open, known := l.All(), l.all()
	add := func(path string) {
		if len(found) < limit && !slices.ContainsFunc(found, func(f Folder) bool {
			return f.Path == path
		}) {
			found = append(found, Folder{path, Warn(path, home), indexOf(known, path) >= 0,
				slices.ContainsFunc(open, func(w Workspace) bool { return w.Path == path })})
		}
	}
	if real, err := resolveWorkspace(path); err == nil && q != "" {
		add(real)
	}
	for _, w := range append(open, l.Closed()...) {
		if w.Available() && (q == "" || strings.Contains(strings.ToLower(w.Name), strings.ToLower(q)) ||
			strings.HasPrefix(w.Path, path)) {
			add(w.Path)
		}
	}
	for _, path := range below(home, path) {
		add(path)
	}
	return found
}

// expand makes what a person typed an absolute path; names without one are below home.
func expand(home, q string) string {
	if rest, ok := strings.CutPrefix(q, "~"); ok {
		q = strings.TrimLeft(rest, `/\`)
	}
	if filepath.IsAbs(q) || home == "" {
		return q
	}
	path := filepath.Join(home, q)
	if q == "" || os.IsPathSeparator(q[len(q)-1]) {
		path += string(filepath.Separator)
	}
	return path
}

// below lists the folders beside path whose name begins like its last part, if they lie below home.
func below(home, path string) (found []string) {
	dir, prefix := filepath.Split(path)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || home == "" {
		return nil
	}
	if top, err := filepath.EvalSymlinks(home); err != nil || !insideFolder(top, real) {
		return nil
	}
	f, err := os.Open(real)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(mostEntries) // what could be read is offered
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() && strings.HasPrefix(strings.ToLower(name), strings.ToLower(prefix)) &&
			(prefix != "" && prefix[0] == '.' || name[0] != '.') {
			found = append(found, filepath.Join(real, name))
		}
	}
	slices.SortFunc(found, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a), strings.ToLower(b)), cmp.Compare(a, b))
	})
	return found
}

func insideFolder(top, path string) bool {
	rel, err := filepath.Rel(top, path)
	return err == nil && filepath.IsLocal(rel)
}
