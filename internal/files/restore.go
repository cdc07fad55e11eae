package files

import (
	"context"
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

// Restored is what was brought back, by paths in the workspace, and what was not.
type Restored struct {
	Written   []string    `json:"written"`
	Deleted   []string    `json:"deleted"`
	Kept      []KeptFile  `json:"kept"`
	NotUndone []NotUndone `json:"notUndone"`

	Texts []Rewritten `json:"-"` // of those written and deleted, if they were asked for
	Since time.Time   `json:"-"` // of what is brought back, if texts were asked for
}

// NoneRestored is that nothing was.
func NoneRestored() Restored {
	return Restored{
		Written:   []string{},
		Deleted:   []string{},
		Kept:      []KeptFile{},
		NotUndone: []NotUndone{},
	}
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
	// the repository ignores it, so no snapshot has it, and something in it was written since
	KeptIgnored WhyKept = "ignored"
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
		list, err = p.differing(a, b)
	}
	return list, a, b, err
}

// differing returns what differs between two snapshots, by path.
func (p *shelf) differing(a, b snapshot) (list []difference, err error) {
	err = p.objects.differ(a.files, b.files, "", func(path string, from, to version) {
		list = append(list, difference{path, from, to})
	})
	return list, err
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
func (p *shelf) plan(root *os.Root, list []difference, from, to snapshot, others map[string]bool,
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
		case err != nil || is != d.from && is != d.to || !filepath.IsLocal(filepath.FromSlash(d.path)),
			others[d.path]:
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
		if t.deletes() || room(root, t.path, gone) {
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

// apply takes the steps, in their order, which is that of [inOrder], or none of them.
func (p *shelf) apply(ctx context.Context, root *os.Root, from, to snapshot,
	steps []step) (err error) {
	defer func() {
		for i := range steps {
			steps[i].discard(root)
		}
		if err != nil {
			p.revert(root, from, steps)
		}
	}()
	for i := range steps { // so that a full disk is found before anything is changed
		if t := &steps[i]; !t.deletes() && straight(root, path.Dir(t.path), map[string]bool{}) {
			if err := p.stage(root, t); err != nil {
				return &NotRestored{t.path, err}
			}
		}
	}
	for i := range steps {
		t := &steps[i]
		if i > 0 && steps[i-1].deletes() && !t.deletes() {
			p.clear(root, to, steps[:i])
		}
		if err = ctx.Err(); err == nil {
			err = p.take(root, t)
		}
		if err != nil {
			return &NotRestored{t.path, err}
		}
	}
	if n := len(steps); n > 0 && steps[n-1].deletes() {
		p.clear(root, to, steps)
	}
	return nil
}

// inOrder sorts steps as they are taken: what deletes comes first.
func inOrder(steps []step) []step {
	slices.SortStableFunc(steps, func(a, b step) int {
		switch {
		case a.deletes() == b.deletes():
			return 0
		case a.deletes():
			return -1
		}
		return 1
	})
	return steps
}

// revert takes steps back, as far as they were taken: what the files were is in the snapshot from.
// Files that are something else by now stay.
func (p *shelf) revert(root *os.Root, from snapshot, steps []step) {
	var taken []step
	for _, t := range slices.Backward(steps) {
		back := step{path: t.path, mark: t.mark, from: t.to, to: t.from}
		is, st, err := current(root, t.path)
		if err != nil || is != t.to {
			continue
		}
		if back.st = st; p.take(root, &back) != nil {
			back.discard(root)
			continue
		}
		taken = append(taken, back)
	}
	p.clear(root, from, slices.DeleteFunc(taken, func(t step) bool { return !t.deletes() }))
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
