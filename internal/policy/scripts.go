package policy

import (
	"encoding/json"
	"path/filepath"

	"webchat/internal/strictjson"
)

// maxManifest is the longest package.json that is read, in bytes.
const maxManifest = 1 << 20

// hasScript reports whether the package.json in the folder dir has a script of that
// name. Where it has none, package managers run a program of that name.
func (p *Policy) hasScript(dir, name string) bool {
	if p.reaches([]string{"package.json"}, dir) {
		return false
	}
	b, err := head(filepath.Join(filepath.FromSlash(dir), "package.json"), maxManifest+1)
	return err == nil && len(b) <= maxManifest && scriptIn(b, name)
}

// scriptIn reports whether a package.json has a script of that name, for every reader:
// names that occur twice, in any case, make it none.
func scriptIn(manifest []byte, name string) bool {
	var all map[string]json.RawMessage // a struct would take "Scripts" for "scripts"
	var scripts map[string]string
	return strictjson.Object(manifest) == nil && json.Unmarshal(manifest, &all) == nil &&
		json.Unmarshal(all["scripts"], &scripts) == nil && scripts[name] != ""
}
