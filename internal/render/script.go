package render

import (
	"embed"
	"html/template"
)

// Script returns scripts of the program's own, one after the other, for a page that loads none.
// What they hold was compiled in.
func Script(files embed.FS, names ...string) (template.JS, error) {
	var all []byte
	for _, name := range names {
		b, err := files.ReadFile(name)
		if err != nil {
			return "", err
		}
		all = append(all, b...)
	}
	return template.JS(all), nil
}
