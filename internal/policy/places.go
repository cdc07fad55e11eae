package policy

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// places knows a workspace and what paths lead to.
type places struct {
	workspace string
	roots     []string // names of the workspace: as configured, and where that leads
	home      string
}

// Names returns the absolute paths of a file: as given, cleaned of dots, and with all
// links followed. The last is as the system follows it.
func (p *places) Names(name string) []string {
	return names(p.leads(name))
}

// leads returns a path as given and where it leads. That may be two places where ".."
// stands behind a link, since some programs clean a path before they follow it.
func (p *places) leads(name string) (given string, targets []string) {
	whole := p.rooted(name)
	given = path.Clean(filepath.ToSlash(whole))
	for _, n := range []string{given, whole} {
		targets = append(targets, filepath.ToSlash(Resolve(filepath.FromSlash(n))))
	}
	return given, slices.Compact(targets)
}

// absolute makes a path comparable.
func (p *places) absolute(name string) string {
	return path.Clean(filepath.ToSlash(p.rooted(name)))
}

// rooted makes a path absolute, and leaves its dots.
func (p *places) rooted(name string) string {
	name = strings.TrimPrefix(name, "file://")
	if rest, ok := strings.CutPrefix(name, "~/"); ok && p.home != "" {
		return p.home + "/" + rest
	}
	if filepath.IsAbs(name) || path.IsAbs(name) {
		return name
	}
	return p.workspace + "/" + name
}

// inside reports whether a resolved path is in the workspace.
func (p *places) inside(name string) bool {
	return slices.ContainsFunc(p.roots, func(root string) bool { return isUnder(root, name) })
}

// relative returns the part of a path below the workspace; the whole path if it is
// not in it.
func (p *places) relative(name string) string {
	for _, root := range p.roots {
		if isUnder(root, name) {
			return strings.TrimPrefix(strings.TrimPrefix(name, strings.TrimSuffix(root, "/")), "/")
		}
	}
	return name
}

// in returns how a grant names a folder, and the folder's path in the workspace.
func (p *places) in(dir string) (text, folder string) {
	if folder = p.relative(dir); folder != "" {
		text = ", in " + quote(folder)
	}
	return text, folder
}
