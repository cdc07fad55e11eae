package policy

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// expanded returns the files that a pattern stands for in a folder, those with a dot before their
// name among them, as a shell writes them: ".." behind a link is left as it is. It is not ok if
// they are too many to look for.
func expanded(pattern, dir string) (names []string, ok bool) {
	at := func(name string) string {
		if path.IsAbs(name) {
			return name
		}
		return dir + "/" + name
	}
	names = []string{""}
	left := maxListed
	elements := strings.Split(pattern, "/")
	for i, element := range elements {
		var next []string
		for _, begin := range names {
			here := []string{element}
			if strings.ContainsAny(element, `*?[\`) {
				if here, ok = matching(at(begin), element, &left); !ok {
					return nil, false
				}
			}
			for _, name := range here {
				name = begin + name
				if i < len(elements)-1 {
					name += "/"
				}
				if left--; left < 0 {
					return nil, false
				}
				if name == "/" || found(at(name)) {
					next = append(next, name)
				}
			}
		}
		names = next
	}
	return names, true
}

// matching returns the names in a folder that fit an element of a pattern, and takes from left how
// many it read.
func matching(dir, element string, left *int) (names []string, ok bool) {
	f, err := os.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil, true
	}
	defer f.Close()
	all, _ := f.Readdirnames(*left + 1)
	if *left -= len(all); *left < 0 {
		return nil, false
	}
	for _, name := range all {
		switch fits, err := path.Match(element, name); {
		case err != nil:
			return nil, false
		case fits:
			names = append(names, name)
		}
	}
	return names, true
}
