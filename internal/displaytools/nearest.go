package displaytools

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/wording"
)

const (
	nearLimit = 20000 // files looked at
	nearShown = 3
)

// explain makes a sentence of the errors that resolve and open do not explain, with the
// nearest names if no file has the requested one.
func (w *workspace) explain(ctx context.Context, asked string, err error) error {
	switch {
	case errors.Is(err, errOutside):
		return agent.Errorf(event.KindOutside,
			"That path leaves the workspace. Only files inside %s are shown, and links are followed first.",
			w.shown())
	case !errors.Is(err, errMissing):
		return err
	}
	name := called(asked)
	if filepath.IsLocal(asked) { // a file of that name may be in another folder
		name = shorten(printable(filepath.ToSlash(filepath.Clean(asked))), tryLength)
	}
	f := agent.Errorf(event.KindNotFound, "There is no %s in %s.", name, w.shown())
	f.Nearest = wording.Nearest(filepath.ToSlash(asked), w.names(ctx), nearShown)
	return f
}

// names are the files of the workspace that may be named in a list of names.
func (w *workspace) names(ctx context.Context) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		root, err := w.root()
		if err != nil {
			return
		}
		defer root.Close()
		seen := 0
		_ = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
			seen++
			switch {
			case seen > nearLimit || ctx.Err() != nil:
				return fs.SkipAll
			case err != nil, d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
				return fs.SkipDir
			case !d.Type().IsRegular(), w.policy.Hidden(filepath.Join(w.real, p)):
			case printable(p) != p, strings.Contains(p, ", "): // it would read as another
			case !yield(p):
				return fs.SkipAll
			}
			return nil
		})
	}
}
