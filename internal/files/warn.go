package files

import (
	"os"
	"path/filepath"
)

// Warning is why a folder is unusual as a workspace; empty if it is not.
type Warning string

// The warnings.
const (
	WarnRoot       Warning = "root"       // it holds the whole machine
	WarnHome       Warning = "home"       // it is a home folder, or holds some
	WarnInside     Warning = "inside"     // it lies in a repository
	WarnRepository Warning = "repository" // it belongs to no repository
)

// Text says what the warning means, in a sentence; empty for none.
func (w Warning) Text() string {
	switch w {
	case WarnRoot:
		return "This is the whole machine: agents may read every file of it that you may read."
	case WarnHome:
		return "This holds your whole home folder: agents may read all your files in it, except keys " +
			"and passwords."
	case WarnInside:
		return "This is a part of a repository: agents work in this folder and do not see the rest of it."
	case WarnRepository:
		return "This is not a git repository: what agents change there cannot be taken back with git."
	}
	return ""
}

// Warn says what the user should know before a folder is opened. home is the user's home folder;
// empty: unknown.
func Warn(path, home string) Warning {
	path = filepath.Clean(path)
	if path == filepath.Dir(path) {
		return WarnRoot
	}
	if isHome(path, home) {
		return WarnHome
	}
	switch root := RepositoryOf(path); {
	case root == path:
		return ""
	case root == "" || isHome(root, home):
		return WarnRepository
	}
	return WarnInside
}

// isHome reports whether path is a home folder or above the user's.
func isHome(path, home string) bool {
	if home != "" {
		if real, err := filepath.EvalSymlinks(home); err == nil {
			home = real
		}
		if insideFolder(path, home) {
			return true
		}
	}
	switch filepath.Dir(path) {
	case "/home", "/Users", `C:\Users`:
		return true
	}
	return path == "/root"
}

// RepositoryOf returns the root of the repository that a folder is in; empty if it is in none.
func RepositoryOf(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}
