package cage

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// repository is a folder that git may take for a repository, or a file or link that leads to one.
type repository struct {
	path string
	held bool // trees that begin now cannot change what git obeys in it
}

// mostConfig is how much of a file of git's settings is read.
const mostConfig = 1 << 20

// mostRead is how much of other files is read.
const mostRead = 16 << 20

// obeyed adds what git obeys in repositories, and in those that they lead to.
func (k *keeper) obeyed(found []repository, add func(p, git string, held bool)) {
	seen := map[string]bool{}
	for len(found) > 0 {
		r := found[0]
		found = found[1:]
		st, err := os.Lstat(r.path)
		if err != nil || seen[r.path] {
			continue
		}
		seen[r.path] = true
		for _, dir := range k.cfg.hooksOf(r.path) {
			add(dir, r.path, r.held)
		}
		if !st.IsDir() {
			add(r.path, filepath.Dir(r.path), r.held)
			if to, ok := leadsTo(r.path); ok && k.writes(to) {
				found = append(found, repository{to, false})
			}
			continue
		}
		for _, name := range gitRuns {
			if name != "gitdir" {
				add(filepath.Join(r.path, name), r.path, r.held)
			}
		}
		if to, ok := commonDir(r.path); ok && k.writes(to) {
			found = append(found, repository{to, false})
		}
		for _, below := range []string{"worktrees", "modules"} {
			found = append(found, repositoriesIn(filepath.Join(r.path, below), r.held, 3)...)
		}
	}
}

// writes reports whether trees may write to a folder.
func (k *keeper) writes(dir string) bool {
	if isIn(dir, k.cfg.Workspace) {
		return true
	}
	common, ok := commonOf(filepath.Join(k.cfg.Workspace, ".git"))
	return ok && isIn(dir, common)
}

// repositoriesIn are those of submodules or worktrees, whose names may have slashes.
func repositoriesIn(dir string, held bool, depth int) (all []repository) {
	list, _ := os.ReadDir(dir) // there may be none
	for _, d := range list {
		if !d.IsDir() {
			continue
		}
		p := filepath.Join(dir, d.Name())
		all = append(all, repository{p, held})
		if _, err := os.Lstat(filepath.Join(p, "HEAD")); err != nil && depth > 0 {
			all = append(all, repositoriesIn(p, held, depth-1)...)
		}
	}
	return all
}

// mostLinks is how many links the kernel follows on the way to a file.
const mostLinks = 40

// chain returns a path in a folder without links, the links it leads through, and their end.
func chain(p string) (all []string) {
	at, rest := filepath.Dir(p), []string{filepath.Base(p)}
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		next := filepath.Join(at, name)
		to, err := os.Readlink(next)
		if err != nil || name == ".." {
			at = next
			continue
		}
		if all = append(all, next); len(all) > mostLinks {
			return all // it cannot be opened
		}
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return append(all, at)
}

// hooksName matches the setting of git that names a folder of hooks.
var hooksName = regexp.MustCompile(
	`(?im)^[ \t]*(?:\[core\])?[ \t]*hookspath[ \t]*=[ \t]*"?([^"#;\r\n]+)`)

// includeName matches a settings file that git's settings include. At most mostIncluded are read.
var includeName = regexp.MustCompile(
	`(?im)^[ \t]*(?:\[include[^\]\n]*\])?[ \t]*path[ \t]*=[ \t]*"?([^"#;\r\n]+)`)

const mostIncluded = 50

// hooksOf returns the folders in the workspace where settings have git look for the hooks of a
// repository, whose .git is p.
func (c *Config) hooksOf(p string) (all []string) {
	if filepath.Base(p) != ".git" {
		return nil
	}
	dirs := []string{p}
	if to, ok := leadsTo(p); ok {
		dirs = append(dirs, to)
		if to, ok = commonDir(to); ok {
			dirs = append(dirs, to)
		}
	}
	files := []string{filepath.Join(c.Home, ".gitconfig"), filepath.Join(c.Home, ".config/git/config")}
	for _, dir := range dirs {
		files = append(files, filepath.Join(dir, "config"), filepath.Join(dir, "config.worktree"))
	}
	for i := 0; i < len(files) && i < mostIncluded; i++ {
		real, err := filepath.EvalSymlinks(files[i])
		if err != nil {
			continue
		}
		for _, m := range includeName.FindAllSubmatch(head(real, mostConfig), -1) {
			at := c.expand(strings.TrimSpace(string(m[1])))
			if !filepath.IsAbs(at) {
				at = filepath.Join(filepath.Dir(files[i]), at)
			}
			files = append(files, at)
		}
		for _, m := range hooksName.FindAllSubmatch(head(real, mostConfig), -1) {
			at := c.expand(strings.TrimSpace(string(m[1])))
			if !filepath.IsAbs(at) {
				at = filepath.Join(filepath.Dir(p), at)
			}
			if at != c.Workspace && isIn(at, c.Workspace) {
				all = append(all, at)
			}
		}
	}
	return all
}

// leadsTo is the repository that a file or link in the place of one names.
func leadsTo(p string) (string, bool) {
	to := p
	if st, err := os.Stat(p); err != nil {
		return "", false
	} else if !st.IsDir() {
		text := string(head(p, mostConfig))
		if !strings.HasPrefix(text, "gitdir:") {
			return "", false
		}
		to = strings.TrimSpace(strings.TrimPrefix(text, "gitdir:"))
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(p), to)
		}
	}
	real, err := filepath.EvalSymlinks(to)
	return real, err == nil
}

// commonDir is where git looks for the settings of a repository that is a part of another.
func commonDir(dir string) (string, bool) {
	to := strings.TrimSpace(string(head(filepath.Join(dir, "commondir"), mostConfig)))
	if to == "" {
		return "", false
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	real, err := filepath.EvalSymlinks(to)
	return real, err == nil
}

// head is the beginning of a regular file; nothing if it cannot be read.
func head(p string, most int) []byte {
	st, err := os.Lstat(p)
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	f, err := os.OpenFile(p, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if is, err := f.Stat(); err != nil || !os.SameFile(is, st) {
		return nil
	}
	b := make([]byte, min(int64(most)+1, st.Size()+1))
	n, _ := f.Read(b) // less is less
	return b[:n]
}

// read is [head] of the file that a path leads to: trees may have put a pipe or a device in the
// place of a file, which has no end.
func read(p string) []byte {
	real, err := filepath.EvalSymlinks(p)
	if err != nil {
		return nil
	}
	return head(real, mostRead)
}

// gitWrote reports whether something that git obeys is as its own init, clone and worktree make it.
func (k *keeper) gitWrote(ctx context.Context, p, git string) (bool, error) {
	rel, err := filepath.Rel(git, p)
	if err != nil {
		return false, err
	}
	switch rel {
	case ".git": // what it leads to is looked at itself, where trees write as they do here
		to, ok := leadsTo(p)
		return ok && k.writes(to), nil
	case "hooks":
		list, err := os.ReadDir(p)
		return err == nil && !slices.ContainsFunc(list, func(d os.DirEntry) bool {
			return !d.Type().IsRegular() || !strings.HasSuffix(d.Name(), ".sample")
		}), nil
	case "commondir":
		return filepath.Base(filepath.Dir(git)) == "worktrees" &&
			strings.TrimSpace(string(head(p, mostConfig))) == "../..", nil
	case "config":
		text := head(p, mostConfig)
		if text == nil || len(text) > mostConfig || k.cfg.ConfigNames == nil {
			return false, nil
		}
		names, err := k.cfg.ConfigNames(ctx, text)
		if err != nil {
			return false, nil // what git cannot read is not plain
		}
		return !slices.ContainsFunc(names, func(name string) bool { return !plainSetting(name) }), nil
	}
	return false, nil
}

// plainSettings are names of settings by which git runs nothing and goes nowhere by itself.
var plainSettings = strings.Fields(
	`core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase
	core.precomposeunicode core.symlinks user.name user.email remote.*.url remote.*.fetch branch.*.remote branch.*.merge`)

// plainSetting reports whether a setting is one of those. The middle of a name may have dots and
// slashes.
func plainSetting(name string) bool {
	first, rest, _ := strings.Cut(strings.ToLower(name), ".")
	last := path.Base(strings.ReplaceAll(rest, ".", "/"))
	if last != rest {
		first += ".*"
	}
	return slices.Contains(plainSettings, first+"."+last)
}
