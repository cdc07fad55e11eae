package policy

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// secretFiles are names of files that hold keys or passwords, as patterns of
// [path.Match] on the lower-case name.
var secretFiles = []string{
	".env*", "*.pem", "id_*", ".git-credentials", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk",
	".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", "credentials", "credentials.json", "secrets.*", "*.tfstate",
}

// pictures are endings of names that are not taken for those of keys.
var pictures = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg"}

// secretFolders hold nothing one shows by accident.
var secretFolders = []string{".ssh", ".gnupg", ".aws"}

// Sensitive reports whether a file, by a path of it, may hold keys or passwords, so
// that it is always asked about. Links have to be followed before.
func Sensitive(p string) bool {
	parts := strings.Split(strings.ToLower(filepath.ToSlash(p)), "/")
	name := parts[len(parts)-1]
	if slices.Contains(pictures, path.Ext(name)) {
		name = "" // id_photo.png is none; its folder may be one of secrets all the same
	}
	for _, pattern := range secretFiles {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	return slices.ContainsFunc(parts[:len(parts)-1], func(dir string) bool { return slices.Contains(secretFolders, dir) })
}
