package web

import (
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"
)

// Parse adds the files of [FS] that match the patterns to t and returns it. Line
// breaks between tags are for readers of the files: they are left out, so
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
			if _, err := t.New(path.Base(name)).Parse(joinLines(string(b))); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// joinLines leaves out the line breaks between two tags or actions, with the blanks
// around them. It is run on all templates at every start, where a regular expression
// costs ten times as much.
func joinLines(text string) string {
	const blank = " \t\n\f\r"
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		head, tail := strings.TrimRight(text[:i], blank), strings.TrimLeft(text[i:], blank)
		if !strings.HasSuffix(head, ">") && !strings.HasSuffix(head, "}}") ||
			!strings.HasPrefix(tail, "<") && !strings.HasPrefix(tail, "{{") {
			head = text[:len(text)-len(tail)]
		}
		b.WriteString(head)
		text = tail
	}
}
