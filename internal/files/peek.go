package files

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Peek returns the paths in the file of a list, without changing anything. A file that
// is not there or cannot be understood lists none.
func Peek(file string) (open, closed []string) {
	b, err := os.ReadFile(file)
	var list []kept
	if err != nil || json.Unmarshal(b, &list) != nil {
		return nil, nil
	}
	for _, k := range list {
		if k.Closed {
			closed = append(closed, k.Path)
		} else {
			open = append(open, k.Path)
		}
	}
	return open, closed
}

// RepositoryOf returns the root of the repository that a folder is in, or the folder.
func RepositoryOf(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if isRepository(at) {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
