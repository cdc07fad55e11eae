package policy

import (
	"os"
	"path/filepath"
)

// maxLinks is how many links to what is not there are followed.
const maxLinks = 40

// Resolve returns where an absolute path leads with all links followed. A file that
// does not exist yet leads where its folder does, and a link to such a file leads
// where the file would be.
func Resolve(name string) string { return resolve(name, maxLinks) }

func resolve(name string, links int) string {
	for dir, rest := name, ""; ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if to, err := os.Readlink(dir); err == nil && links > 0 {
			return resolve(filepath.Join(follow(dir, to), rest), links-1)
		}
		if filepath.Dir(dir) == dir {
			return name
		}
	}
}

func follow(link, to string) string {
	if filepath.IsAbs(to) {
		return to
	}
	return filepath.Join(filepath.Dir(link), to)
}
