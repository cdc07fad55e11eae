package web

import (
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
)

// gap is a line break between two tags or actions, with what surrounds it.
var gap = regexp.MustCompile(`(>|\}\})\s*\n\s*(<|\{\{)`)

// Parse adds the files of [FS] that match the patterns to t and returns it. Line
// breaks between tags are for whoever reads the files: they are left out, so
// that no frame of a stream carries them and :empty means what it says. What
// must have one writes {{"\n"}}.
func Parse(t *template.Template, patterns ...string) (*template.Template, error) {
	for _, pattern := range patterns {
		names, err := fs.Glob(FS, pattern)
		if err == nil && len(names) == 0 {
			err = fs.ErrNotExist
		}
		if err != nil {
			return nil, fmt.Errorf("find templates %s: %w", pattern, err)
		}
		for _, name := range names {
			b, err := FS.ReadFile(name)
			if err != nil {
				return nil, err
			}
			if _, err := t.New(path.Base(name)).Parse(gap.ReplaceAllString(string(b), "$1$2")); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}
