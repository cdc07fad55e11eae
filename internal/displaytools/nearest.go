package displaytools

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
)

const (
	nearLimit  = 20000 // files looked at
	nearShown  = 3
	nearLength = 64 // characters of a name that are compared
)

// explain makes a sentence of what resolve and open leave to the caller, with the
// nearest names if nothing has the one asked for.
func (w *workspace) explain(ctx context.Context, asked string, err error) error {
	switch {
	case errors.Is(err, errOutside):
		return agent.Errorf(event.KindOutside, "That path leaves the workspace. Only files inside %s are shown, and links are followed first.", w.shown())
	case !errors.Is(err, errMissing):
		return err
	}
	f := agent.Errorf(event.KindNotFound, "There is no %s in %s.", called(asked), w.shown())
	f.Nearest = w.nearest(ctx, asked)
	return f
}

// nearest returns the files whose names are most like the one asked for: the same
// name elsewhere first, then other spellings.
func (w *workspace) nearest(ctx context.Context, asked string) []string {
	type candidate struct {
		path string
		away int
	}
	want := strings.ToLower(path.Base(filepath.ToSlash(asked)))
	limit := (min(len([]rune(want)), nearLength) + 1) / 4
	var found []candidate
	seen := 0
	root, err := w.root()
	if err != nil {
		return nil
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if seen++; seen > nearLimit || ctx.Err() != nil {
			return fs.SkipAll
		}
		if err != nil {
			return fs.SkipDir
		}
		if d.IsDir() {
			if name := d.Name(); name == ".git" || name == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || w.policy.Hidden(filepath.Join(w.real, p)) || printable(p) != p || strings.Contains(p, ", ") { // in a list of names it would read as another
			return nil
		}
		if away := unlike(want, strings.ToLower(d.Name())); away <= limit {
			found = append(found, candidate{p, away})
		}
		return nil
	})
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.away, b.away), cmp.Compare(strings.Count(a.path, "/"), strings.Count(b.path, "/")), cmp.Compare(a.path, b.path))
	})
	var names []string
	for _, c := range found[:min(nearShown, len(found))] {
		names = append(names, c.path)
	}
	return names
}

// unlike is how many letters have to change; 1 when only an extension is missing.
func unlike(a, b string) int {
	if a == b {
		return 0
	}
	if a != "" && a == strings.TrimSuffix(b, path.Ext(b)) {
		return 1
	}
	return distance([]rune(a), []rune(b))
}

// distance is the edit distance of the first letters, two that changed places
// being one edit (optimal string alignment).
func distance(a, b []rune) int {
	a, b = a[:min(len(a), nearLength)], b[:min(len(b), nearLength)]
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, above, row = above, row, before
		row[0] = i + 1
		for j := range b {
			change := above[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
