package files

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// RestoreOf says what is brought back: what differs between two snapshots of a session, from what
// it was in the first to what it was in the other. To undo a turn, From is the later one; to take
// that back, the earlier one.
type RestoreOf struct {
	Workspace, Session, From, To string
	Dry                          bool // nothing is written
}

// Restored is what was brought back, by paths in the workspace, and what was not.
type Restored struct {
	Written   []string    `json:"written"`
	Deleted   []string    `json:"deleted"`
	Kept      []KeptFile  `json:"kept"`
	NotUndone []NotUndone `json:"notUndone"`
}

// KeptFile is a file that was left alone.
type KeptFile struct {
	Path string  `json:"path"`
	Why  WhyKept `json:"why"`
}

// WhyKept says why a file was left alone.
type WhyKept string

// The reasons.
const (
	KeptChanged WhyKept = "changed" // it is not what the snapshot has any longer
	// it was there before, where the earlier snapshot had no place for it
	KeptOlder  WhyKept = "older"
	KeptBusy   WhyKept = "busy"   // git writes to the repository now
	KeptPacked WhyKept = "packed" // the ref is in the file of all, which is left to git
)

// NotUndone is a change of something that snapshots do not hold.
type NotUndone struct {
	What string    `json:"what"` // a path, or a ref whose objects are gone
	At   time.Time `json:"at,omitzero"`
}

// NotRestored is the error for a file that could not be written. None was.
type NotRestored struct {
	Path string
	Err  error
}

func (e *NotRestored) Error() string {
	return fmt.Sprintf("%s could not be written: %v", e.Path, e.Err)
}
func (e *NotRestored) Unwrap() error { return e.Err }

// step is one file that is brought back.
type step struct {
	path     string
	from, to version
	st       fs.FileInfo // what was there when it was compared; nil: nothing
	temp     string      // what will take its place, in its folder; empty: not written yet
}

// Restore brings files back, each only where it still is what the first snapshot has: others are
// named and left alone. If one cannot be written, none is, and the error is a [NotRestored]. It is
// [ErrNoSnapshot] if a snapshot is not kept. No link is followed, and nothing outside of the
// workspace is written.
func (s *Snapshots) Restore(ctx context.Context, of RestoreOf) (r Restored, err error) {
	p, leave, err := s.enter(ctx, of.Workspace)
	if err != nil {
		return r, err
	}
	defer leave()
	list, from, to, err := p.between(of.Session, of.From, of.To)
	if err != nil {
		return r, fmt.Errorf("bring back what changed in %s: %w", of.Workspace, err)
	}
	root, err := os.OpenRoot(of.Workspace)
	if err != nil {
		return r, fmt.Errorf("%w: %w", ErrMissing, err)
	}
	defer root.Close()
	r = Restored{
		Written:   []string{},
		Deleted:   []string{},
		Kept:      []KeptFile{},
		NotUndone: []NotUndone{},
	}
	r.notKept(from, to)
	steps := p.plan(root, list, from, to, &r)
	more, err := p.planGit(ctx, root, from, to, &r)
	if err != nil {
		return r, err
	}
	steps = append(steps, more...)
	for _, t := range steps {
		if (t.to == version{}) {
			r.Deleted = append(r.Deleted, t.path)
		} else {
			r.Written = append(r.Written, t.path)
		}
	}
	if of.Dry || len(steps) == 0 {
		return r, ctx.Err()
	}
	return r, p.apply(ctx, root, to, steps)
}

// difference is a file that differs between two snapshots.
type difference struct {
	path     string
	from, to version
}

// between returns what differs between two snapshots of a session, by path, and both.
func (p *shelf) between(session, from, to string) (list []difference, a, b snapshot, err error) {
	if a, err = p.load(session, from); err == nil {
		b, err = p.load(session, to)
	}
	if err == nil {
		err = p.objects.differ(a.files, b.files, "", func(path string, from, to version) {
			list = append(list, difference{path, from, to})
		})
	}
	return list, a, b, err
}

// notKept names what changed and is in no snapshot.
func (r *Restored) notKept(from, to snapshot) {
	for _, both := range [][2]snapshot{{from, to}, {to, from}} {
		for name, is := range both[0].Left {
			was, there := both[1].Left[name]
			if was != is && (!there || both[0].At.After(both[1].At)) {
				r.NotUndone = append(r.NotUndone, NotUndone{What: name, At: time.Unix(0, is.Written)})
			}
		}
	}
	slices.SortFunc(r.NotUndone, func(a, b NotUndone) int { return strings.Compare(a.What, b.What) })
}

// plan compares what differs with what is there.
func (p *shelf) plan(root *os.Root, list []difference, from, to snapshot,
	r *Restored) (steps []step) {
	held := map[string]bool{} // what the earlier snapshot has, by hash
	for _, d := range list {
		held[d.to.hash] = true
	}
	keep := func(path string, why WhyKept) { r.Kept = append(r.Kept, KeptFile{path, why}) }
	gone := map[string]bool{}
	for _, d := range list {
		is, st, err := current(root, d.path)
		switch {
		case err != nil || is != d.from && is != d.to || !filepath.IsLocal(filepath.FromSlash(d.path)):
			keep(d.path, KeptChanged)
		case is == d.to:
		case d.to == version{} && to.At.Before(from.At) && !held[d.from.hash] &&
			p.wasThere(root, d.path, st, to):
			keep(d.path, KeptOlder)
		default:
			steps = append(steps, step{path: d.path, from: d.from, to: d.to, st: st})
			if (d.to == version{}) {
				gone[d.path] = true
			}
		}
	}
	return slices.DeleteFunc(steps, func(t step) bool {
		if (t.to == version{}) || room(root, t.path, gone) {
			return false
		}
		keep(t.path, KeptChanged)
		return true
	})
}

// wasThere reports whether a file that a snapshot lacks was there when it was taken: it was left
// out, or is older.
func (p *shelf) wasThere(root *os.Root, name string, st fs.FileInfo, to snapshot) bool {
	_, left := to.Left[name]
	return left || born(filepath.Join(root.Name(), filepath.FromSlash(name)),
		st).Before(to.At.Add(-written))
}

// room reports whether a file can be written once what is gone is deleted: nothing but folders is
// above it, and nothing in a folder of its name.
func room(root *os.Root, name string, gone map[string]bool) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if st, err := root.Lstat(filepath.FromSlash(dir)); err == nil && !st.IsDir() && !gone[dir] {
			return false
		}
	}
	if st, err := root.Lstat(filepath.FromSlash(name)); err != nil || !st.IsDir() {
		return true
	}
	return fs.WalkDir(root.FS(), name, func(at string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !gone[at] {
			err = fs.ErrExist
		}
		return err
	}) == nil
}

// current is what a file is now. A folder is none, and neither is what a link leads to.
func current(root *os.Root, name string) (is version, st fs.FileInfo, err error) {
	if !straight(root, path.Dir(name), map[string]bool{}) {
		return version{}, nil, nil
	}
	st, err = root.Lstat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && st.IsDir():
		return version{}, nil, nil
	case err != nil:
		return version{}, nil, err
	case !keepable(st) || st.Size() > maxKept:
		return version{}, nil, errUnread
	}
	data, mode, err := readVersion(root, name, st)
	return version{mode, objectName(blobKind, data)}, st, err
}

// apply takes the steps, or none of them.
func (p *shelf) apply(ctx context.Context, root *os.Root, to snapshot, steps []step) (err error) {
	var done []*step
	defer func() {
		for i := range steps {
			steps[i].discard(root)
		}
		if err == nil {
			return
		}
		for _, t := range slices.Backward(done) { // what it was is in the snapshot
			back := step{path: t.path, from: t.to, to: t.from}
			if _, back.st, _ = current(root, t.path); p.take(root, &back) != nil {
				back.discard(root)
			}
		}
	}()
	for i := range steps { // so that a full disk is found before anything is changed
		if t := &steps[i]; (t.to != version{}) && straight(root, path.Dir(t.path), map[string]bool{}) {
			if err := p.stage(root, t); err != nil {
				return &NotRestored{t.path, err}
			}
		}
	}
	deletes := func(t *step) bool { return t.to == version{} }
	for _, deleting := range []bool{true, false} {
		for i := range steps {
			t := &steps[i]
			if deletes(t) != deleting {
				continue
			}
			if err = ctx.Err(); err == nil {
				err = p.take(root, t)
			}
			if err != nil {
				return &NotRestored{t.path, err}
			}
			done = append(done, t)
		}
		if deleting {
			p.clear(root, to, done)
		}
	}
	return nil
}

// clear removes the folders that are empty now and that the snapshot has nothing in.
func (p *shelf) clear(root *os.Root, to snapshot, deleted []*step) {
	for _, t := range slices.Backward(deleted) {
		if strings.HasPrefix(t.path, gitFolder+"/") {
			continue // without its empty folders a repository is none
		}
		for dir := path.Dir(t.path); dir != "."; dir = path.Dir(dir) {
			if _, ok := p.objects.folder(to.files, dir); ok || !removeEmpty(root, dir) {
				break
			}
		}
	}
}

// removeEmpty removes a folder, if it is one and has nothing in it.
func removeEmpty(root *os.Root, dir string) bool {
	in, err := descend(root, path.Dir(dir), false)
	if err != nil {
		return false
	}
	defer in.Close()
	st, err := in.Lstat(path.Base(dir))
	return err == nil && st.IsDir() && in.Remove(path.Base(dir)) == nil
}

// descend opens a folder of the workspace step by step, so that no link is followed even if one
// takes its place meanwhile.
func descend(root *os.Root, dir string, create bool) (*os.Root, error) {
	at, err := root.OpenRoot(".")
	if err != nil || dir == "." {
		return at, err
	}
	for name := range strings.SplitSeq(dir, "/") {
		below, err := enter(at, name, create)
		_ = at.Close()
		if err != nil {
			return nil, err
		}
		at = below
	}
	return at, nil
}

// enter opens a folder that is not a link.
func enter(at *os.Root, name string, create bool) (*os.Root, error) {
	st, err := at.Lstat(name)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err = at.Mkdir(name, 0o755); err == nil || errors.Is(err, fs.ErrExist) {
			st, err = at.Lstat(name)
		}
	}
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, ErrChanged
	}
	below, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if is, err := below.Stat("."); err != nil || !os.SameFile(is, st) {
		return nil, errors.Join(ErrChanged, err, below.Close())
	}
	return below, nil
}

// stage writes beside a file what will take its place.
func (p *shelf) stage(root *os.Root, t *step) (err error) {
	data, err := p.objects.get(blobKind, t.to.hash)
	if err != nil {
		return err
	}
	in, err := descend(root, path.Dir(t.path), true)
	if err != nil {
		return err
	}
	defer in.Close()
	temp := ".webchat-" + rand.Text() + ".tmp"
	if t.to.mode == linkMode {
		err = in.Symlink(string(data), temp)
	} else {
		err = t.write(in, temp, data)
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(in.Remove(temp)))
	}
	t.temp = temp
	return nil
}

func (t *step) write(in *os.Root, temp string, data []byte) error {
	f, err := in.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if t.st != nil && t.st.Mode().IsRegular() {
		keepOwner(f, t.st)
		mode = t.st.Mode().Perm()
	}
	if t.to.mode == executableMode {
		mode |= mode & 0o444 >> 2
	} else {
		mode &^= 0o111
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// take takes one step, if the file still is what was compared.
func (p *shelf) take(root *os.Root, t *step) error {
	if (t.to != version{}) && t.temp == "" {
		if err := p.stage(root, t); err != nil {
			return err
		}
	}
	in, err := descend(root, path.Dir(t.path), false)
	if err != nil {
		return err
	}
	defer in.Close()
	base := path.Base(t.path)
	st, err := in.Lstat(base)
	if errors.Is(err, fs.ErrNotExist) {
		st, err = nil, nil
	}
	if err == nil && st != nil && st.IsDir() && t.st == nil {
		err = in.Remove(base) // an empty one
		st = nil
	}
	switch {
	case err != nil:
		return err
	case !sameFile(st, t.st):
		return ErrChanged
	case t.to == version{}:
		return in.Remove(base)
	}
	if err := in.Rename(t.temp, base); err != nil {
		return err
	}
	t.temp = ""
	return nil
}

// discard removes what was not put in its place.
func (t *step) discard(root *os.Root) {
	if t.temp == "" {
		return
	}
	if in, err := descend(root, path.Dir(t.path), false); err == nil {
		_ = in.Remove(t.temp) // the next start of an undo makes another
		_ = in.Close()
	}
	t.temp = ""
}
