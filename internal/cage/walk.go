package cage

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"webchat/internal/policy"
)

// entry is what one name in a folder means.
type entry struct {
	name   string
	folder bool
	held   holding
	// unread and unwritten are what the user's rules keep from commands, of a folder with all in it.
	unread, unwritten bool
}

type holding int

const (
	nothing holding = iota
	sensitive
	later
	gitFolder  // a repository's .git, or a bare repository
	headFolder // a folder with a HEAD, which git may take for a repository once there is more in it
	dependencies
)

// folder is what was read of a folder of the workspace.
type folder struct {
	changed time.Time // of the folder, when it was read
	read    time.Time
	entries []entry // those that mean something, and folders
}

// walker knows the names of a workspace. A folder is read again when it has changed.
type walker struct {
	policy *policy.Policy
	ruled  bool // rules of the user keep something from commands
	// onlySecrets is where what runs later does not matter.
	onlySecrets bool

	mu    sync.Mutex
	known map[string]*folder // guarded by mu, by path
}

// clockStep is how coarse the times of folders may be.
const clockStep = 50 * time.Millisecond

// dependencyFolders hold what was fetched: names in them mean nothing to the user.
var dependencyFolders = []string{"node_modules", "site-packages", ".venv", "venv", "vendor",
	"target", "__pycache__"}

// read returns what is in a folder.
func (w *walker) read(dir, workspace string) ([]entry, error) {
	st, err := os.Lstat(dir)
	if err != nil || !st.IsDir() {
		return nil, err
	}
	if f := w.known[dir]; f != nil && f.changed.Equal(changed(st)) &&
		f.changed.Before(f.read.Add(-clockStep)) {
		return f.entries, nil
	}
	f := &folder{changed: changed(st), read: time.Now()}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	bare, head := isGitFolder(list), false
	for _, d := range list {
		head = head || strings.EqualFold(d.Name(), "HEAD")
		e := entry{name: d.Name(), folder: d.IsDir()}
		if w.ruled {
			e.unread, e.unwritten = withheld(w.policy, filepath.Join(dir, e.name), e.folder)
		}
		rel := strings.TrimPrefix(filepath.Join(dir, e.name), workspace+"/")
		switch {
		case d.Name() == ".git":
			e.held = gitFolder
		case e.folder && isDependencies(e.name):
			e.held = dependencies
		case !w.onlySecrets &&
			policy.IsLater(filepath.ToSlash(filepath.Join(dir, e.name)), policy.Runs):
			// ~/.config may be the workspace
			e.held = later
		case policy.Sensitive(rel) || e.folder && policy.Sensitive(rel+"/x.go"):
			e.held = sensitive
		}
		if e.held != nothing || e.folder || e.unread || e.unwritten {
			f.entries = append(f.entries, e)
		}
	}
	switch {
	case bare:
		f.entries = append(f.entries, entry{held: gitFolder})
	case head:
		f.entries = append(f.entries, entry{held: headFolder})
	}
	w.known[dir] = f
	return f.entries, nil
}

// withheld is [policy.Policy.Withheld], of a folder only where it is about what is in it too.
func withheld(p *policy.Policy, name string, folder bool) (unread, unwritten bool) {
	if unread, unwritten = p.Withheld(name); folder && (unread || unwritten) {
		inRead, inWrite := p.Withheld(name + "/x")
		unread, unwritten = unread && inRead, unwritten && inWrite
	}
	return unread, unwritten
}

// isGitFolder reports whether a folder holds what git takes for a repository.
func isGitFolder(list []fs.DirEntry) bool {
	found := 0
	for _, d := range list {
		if n := d.Name(); n == "HEAD" || (n == "objects" || n == "refs") && d.IsDir() {
			found++
		}
	}
	return found == 3
}

// finding is what was found in a workspace.
type finding struct {
	sensitive, later, git []string
	unread, unwritten     []string
}

// secretsBelow returns the files that may hold secrets in the first levels of a folder, or top
// itself if it is such a file.
func (w *walker) secretsBelow(top string, levels int) (found []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	isSecret := func(p string) bool {
		st, err := os.Lstat(p)
		return err == nil && st.Mode().IsRegular() && policy.Sensitive(p)
	}
	if isSecret(top) {
		return []string{top}
	}
	var visit func(dir string, levels int)
	visit = func(dir string, levels int) {
		entries, err := w.read(dir, "/")
		if err != nil {
			return // it cannot be read inside either
		}
		for _, e := range entries {
			switch p := filepath.Join(dir, e.name); {
			case e.folder && levels > 1:
				visit(p, levels-1)
			case !e.folder && isSecret(p):
				found = append(found, p)
			}
		}
	}
	visit(top, levels)
	return found
}

// find walks a workspace.
func (w *walker) find(ctx context.Context, workspace string) (f finding, err error) {
	err = w.visit(ctx, workspace, func(p string, e entry) bool {
		if e.unwritten {
			f.unwritten = append(f.unwritten, p)
		}
		if e.unread {
			f.unread = append(f.unread, p)
			return false
		}
		switch e.held {
		case sensitive:
			f.sensitive = append(f.sensitive, p)
		case later:
			f.later = append(f.later, p)
		case gitFolder:
			f.git = append(f.git, p)
		}
		return e.held == nothing
	}, nil)
	return f, err
}

// visit calls each for what means something in a workspace, which says of folders whether what is
// in them does, too. Of a folder that cannot be read, unreadable says whether it can be now; nil:
// no.
func (w *walker) visit(ctx context.Context, workspace string,
	each func(p string, e entry) (into bool), unreadable func(dir string) bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := map[string]bool{}
	for todo := []string{workspace}; len(todo) > 0; todo = todo[1:] {
		dir := todo[0]
		if ctx.Err() != nil {
			return ctx.Err()
		}
		seen[dir] = true
		entries, err := w.read(dir, workspace)
		if err != nil && unreadable != nil && unreadable(dir) {
			entries, err = w.read(dir, workspace)
		}
		if err != nil {
			continue // what cannot be read outside cannot be read inside
		}
		for _, e := range entries {
			if p := filepath.Join(dir, e.name); each(p, e) && e.folder {
				todo = append(todo, p)
			}
		}
	}
	for dir := range w.known {
		if !seen[dir] {
			delete(w.known, dir)
		}
	}
	return nil
}
