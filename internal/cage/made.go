package cage

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"webchat/internal/policy"
)

// settles is how long a file has to be unchanged before it is held while a call still runs.
const settles = time.Second

// Look says how [Cage.Look] looks.
type Look struct {
	// Running: calls may go on, so what was written just now is left for the next look.
	Running bool
	// Count: what is left where it is is counted, too, which takes longer.
	Count bool
	// Since are the commits that the refs of the repository had when the session began. What git
	// checks out of them stays.
	Since []string
	// Aside moves a file or folder out of a root that it is below, where it was not before a time.
	// nil: everything stays, and is named once.
	Aside func(root, name string, was time.Time) (id string, err error)
}

// Made is a file or folder that was made while trees ran, and that takes effect later by itself.
type Made struct {
	ID    string // from [Look].Aside
	Root  string // it was below: the workspace, or a folder of git's
	Name  string // below Root, with slashes
	Path  string // relative to the workspace, with slashes, or absolute if it is elsewhere
	Stood time.Duration
}

// Looked is what came of a look.
type Looked struct {
	Made []Made
	// Left is how many more were made and stay: below folders of dependencies, and those that git
	// checked out.
	Left int
}

// begins notes what is there before a tree starts, if none runs. What earlier ones made is
// left out unless it was looked at.
func (k *keeper) begins(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.live == 0 && !k.unseen {
		k.known = nil
		all, err := k.counting(ctx)
		if err != nil {
			return err
		}
		k.known, k.prints = map[string]seen{}, map[string]bool{}
		k.kept, k.first = map[string]string{}, map[string]time.Time{}
		k.began, k.counted, k.out = time.Now(), 0, 0
		for p, n := range all {
			k.known[p] = k.seen(p, n)
			k.prints[n.print] = k.prints[n.print] || n.held
		}
		k.last = k.began
	}
	k.live++
	k.unseen = true
	return nil
}

func (k *keeper) ended() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.live--
}

func (k *keeper) runs() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.unseen
}

func (k *keeper) look(ctx context.Context, l Look) (found Looked, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.unseen {
		return found, nil
	}
	now := time.Now()
	all, err := k.counting(ctx)
	if err != nil {
		return found, err
	}
	asking, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	maps.DeleteFunc(k.known, func(p string, _ seen) bool { _, there := all[p]; return !there })
	maps.DeleteFunc(k.first, func(p string, _ time.Time) bool { _, there := all[p]; return !there })
	var errs []error
	for _, p := range gitFirst(all) {
		n := all[p]
		if k.isSeen(p, n) || l.Running && k.live > 0 && !k.settled(p, n, now) {
			continue
		}
		stays, out, err := k.stays(asking, p, n, l.Since)
		if err != nil {
			errs = append(errs, err)
		}
		if out {
			k.out++
		}
		if stays {
			k.known[p] = seen{print: n.print}
			continue
		}
		made, err := k.moveAside(p, n, l, now)
		found.Made, errs = append(found.Made, made...), append(errs, err)
	}
	k.last = now
	k.unseen = k.live > 0
	if l.Count {
		found.Left, err = k.count(ctx)
		errs = append(errs, err)
	}
	return found, errors.Join(errs...)
}

// gitFirst orders paths by the folders of git's that obey them: git is asked about the others.
func gitFirst(all map[string]counts) []string {
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		if (all[a].git == "") != (all[b].git == "") {
			return len(all[b].git) - len(all[a].git)
		}
		return strings.Compare(a, b)
	})
}

// isSeen reports whether what is at a path was looked at already. The caller holds k.mu.
func (k *keeper) isSeen(p string, n counts) bool {
	is, known := k.known[p]
	switch now := k.seen(p, n); {
	case known && is.held && is.way == now.way:
		now.held = true
		k.known[p], k.prints[n.print] = now, true
	case known && is.print == n.print:
	case k.prints[n.print]: // it was moved with the folder that it is in
		now.held = false
		k.known[p] = now
	default:
		return false
	}
	return true
}

// moveAside moves the parts of a file or folder aside. The caller holds k.mu.
func (k *keeper) moveAside(p string, n counts, l Look, now time.Time) (made []Made, err error) {
	for _, part := range k.unkept(p) {
		found, bad := k.move(part, n, l, now)
		if bad != nil {
			err = errors.Join(err, bad)
			continue
		}
		made = append(made, found)
	}
	delete(k.first, p)
	delete(k.known, p)
	if l.Aside == nil {
		k.known[p] = seen{print: n.print}
	} else if again, bad := printed(p); bad == nil && len(k.unkept(p)) == 0 { // a part was moved
		k.known[p] = seen{print: again}
	}
	return made, err
}

func (k *keeper) restore(root string, put func() (name string, err error),
	shown func(name string) bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	name, err := put()
	if err != nil || k.known == nil { // no tree runs
		return err
	}
	p := filepath.Join(root, filepath.FromSlash(name))
	is, err := printed(p)
	if err == nil && settle(p) && shown(name) {
		k.kept[p] = is
	}
	return err
}

// settle reports whether no process has a file, or a file in a folder, open for writing, so that a
// later change also changes its print: of several writes to mapped memory, only the first does. It
// waits for files that were changed within one step of the clock.
func settle(p string) bool {
	open := false
	_ = filepath.WalkDir(p, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be read outside is not run there either
		}
		if st, err := d.Info(); err == nil {
			time.Sleep(min(clockStep, clockStep-time.Since(changed(st))))
			open = open || st.Mode().IsRegular() && isWritten(at)
		}
		return nil
	})
	return !open
}

// unkept returns the parts of a file or folder that the user has not kept.
func (k *keeper) unkept(p string) []string {
	return slices.DeleteFunc(parts(p), func(part string) bool {
		is, err := printed(part)
		return err == nil && k.kept[part] == is
	})
}

// counts is what is known of a name that takes effect later.
type counts struct {
	print   string
	changed time.Time
	held    bool   // trees that begin now cannot change it
	git     string // the folder of git's that obeys it; empty: a name of the policy's
}

// counting returns what takes effect later in the workspace, by path.
func (k *keeper) counting(ctx context.Context) (map[string]counts, error) {
	all := map[string]counts{}
	add := func(p, git string, held bool) {
		for i, at := range chain(p) { // what a link leads to is what runs
			st, err := os.Lstat(at)
			if _, there := all[at]; err != nil || there || i > 0 && !k.writes(at) {
				continue
			}
			link := st.Mode()&fs.ModeSymlink != 0
			if is, err := printed(at); err == nil {
				all[at] = counts{print: is, changed: changed(st), held: held && !link, git: git}
			}
			if _, known := k.known[at]; link && !known && k.known != nil {
				return // it was made, and goes itself
			}
		}
	}
	var git []repository
	err := k.walk.visit(ctx, k.cfg.Workspace, func(p string, e entry) bool {
		switch e.held {
		case later:
			add(p, "", true)
		case gitFolder:
			git = append(git, repository{p, true})
		case headFolder:
			git = append(git, repository{p, false})
		}
		return e.held != gitFolder && e.held != headFolder && e.held != dependencies && e.held != later
	}, k.makeReadable)
	k.obeyed(git, add)
	return all, err
}

// makeReadable gives the rights to read a folder that was changed since trees began.
func (k *keeper) makeReadable(dir string) bool {
	st, err := os.Lstat(dir)
	if err != nil || !st.IsDir() || changed(st).Before(k.began) {
		return false
	}
	root, err := os.OpenRoot(k.cfg.Workspace)
	if err != nil {
		return false
	}
	defer root.Close()
	rel, err := filepath.Rel(k.cfg.Workspace, dir)
	return err == nil && root.Chmod(rel, st.Mode().Perm()|0o700) == nil
}

// printed is the print of a file, or of a folder with all that is in it: a sum, since it is kept.
func printed(p string) (string, error) {
	st, err := os.Lstat(p)
	if err != nil || !st.IsDir() {
		if err != nil {
			return "", err
		}
		return printOf(st), nil
	}
	all := sha256.New()
	err = filepath.WalkDir(p, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			fmt.Fprintf(all, "%q %q\n", at[len(p):], err)
			return nil
		}
		if st, err := d.Info(); err == nil {
			fmt.Fprintf(all, "%q %s\n", at[len(p):], printOf(st))
		}
		return nil
	})
	return string(all.Sum(nil)), err
}

// parts are what of a file or folder is moved: the whole, or without the instruction files in it.
// An empty folder has none.
func parts(p string) (all []string) {
	st, err := os.Lstat(p)
	if err != nil || !st.IsDir() {
		return []string{p}
	}
	instructs, unread, below := false, false, "\x00"
	_ = filepath.WalkDir(p, func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			unread = true
		case at == p:
		case policy.IsLater(filepath.ToSlash(at), policy.Instructs):
			if instructs = true; d.IsDir() {
				below = at
			}
		case d.IsDir():
		case isIn(at, below) && strings.HasPrefix(filepath.Ext(at), ".md"):
			// of such a folder only texts instruct
		default:
			all = append(all, at)
		}
		return nil
	})
	if unread || !instructs && len(all) > 0 {
		return []string{p}
	}
	return all
}

// stays reports whether what was made may stay: git wrote it itself, it only instructs, or git
// checked it out of what was there when the session began.
func (k *keeper) stays(ctx context.Context, p string, n counts,
	since []string) (stays, out bool, err error) {
	if !settle(p) {
		return false, false, nil
	}
	if n.git != "" {
		stays, err = k.gitWrote(ctx, p, n.git)
		return stays, false, err
	}
	if len(parts(p)) == 0 {
		return true, false, nil
	}
	if k.cfg.Committed == nil || len(since) == 0 {
		return false, false, nil
	}
	out, err = k.cfg.Committed(ctx, k.cfg.Workspace, since, filesOf(k.cfg.Workspace, p))
	return out, out, err
}

// filesOf are a file, or the files of a folder, below the workspace.
func filesOf(workspace, p string) (names []string) {
	_ = filepath.WalkDir(p, func(at string, d fs.DirEntry, err error) error {
		if rel, bad := filepath.Rel(workspace, at); err == nil && bad == nil && !d.IsDir() {
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	})
	return names
}
