package policy

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many links to what is not there are followed.
const maxLinks = 40

// Resolve returns where an absolute path leads with all links followed, as the
// system walks it: ".." behind a link leaves what the link leads to, which a path
// that was cleaned before cannot tell. A file that does not exist yet leads where
// its folder does, and a link to such a file leads where the file would be.
func Resolve(name string) string {
	links := maxLinks
	at, rest := split(name)
	for len(rest) > 0 {
		element := rest[0]
		rest = rest[1:]
		switch element {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		at = filepath.Join(at, element)
		to, err := os.Readlink(at)
		if err != nil || links == 0 {
			continue
		}
		links--
		root, elements := split(to)
		if rest = append(elements, rest...); root != "" {
			at = root
		} else {
			at = filepath.Dir(at)
		}
	}
	return at
}

// split returns the root of a path, empty if it is relative, and its elements.
func split(name string) (root string, elements []string) {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		root = filepath.VolumeName(name) + string(filepath.Separator)
		name = name[len(root):]
	}
	return root, strings.Split(name, string(filepath.Separator))
}
