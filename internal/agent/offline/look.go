package offline

import (
	"context"
	"strings"
)

// Bounds of a text that is read as a look, and of what it may stand for.
const (
	maxLook = 300 // bytes
	maxFits = 9   // files
)

// Look is a display that calls no model.
type Look struct {
	Path      string // of the file or folder, below the workspace
	Tool      string
	Arguments any // of the tool, for JSON
}

// Looks returns what a text asks to see of a folder, if it asks for that and for nothing else, and
// if it is there: one, or several files that the name fits, the highest first. It reads a text as a
// prompt of this backend is read.
func Looks(ctx context.Context, dir, text string) (all []Look, err error) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxLook || strings.Contains(text, "\n") {
		return nil, nil
	}
	w, err := openTree(dir, "")
	if err != nil {
		return nil, err
	}
	defer w.close()
	first, rest := split(spoken().polite.ReplaceAllString(text, ""))
	f, ok := wish(first, w)
	if !ok || rest != "" {
		return nil, nil
	}
	for _, f.Path = range w.fits(ctx, f.Path) {
		if _, err := w.root.Stat(f.Path); err != nil || len(all) == maxFits {
			continue // it leads out, and asking says what is possible
		}
		tool, arguments := f.display()
		all = append(all, Look{f.Path, tool, arguments})
	}
	return all, nil
}
