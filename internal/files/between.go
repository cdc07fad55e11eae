package files

import (
	"context"
	"slices"
	"strings"

	"webchat/internal/patch"
)

// Counted is how much differs between two snapshots: lines where they can be counted of all files,
// else none.
type Counted struct{ Files, Added, Removed int64 }

const (
	mostCounted  = 200     // files whose lines are counted
	mostCompared = 4 << 20 // bytes of what they were and are
)

// Count returns how much differs between two snapshots of a session. [ErrNoSnapshot] if one is not
// kept.
func (s *Snapshots) Count(ctx context.Context, workspace, session, was,
	left string) (n Counted, err error) {
	p, leave, err := s.enter(ctx, workspace)
	if err != nil {
		return n, err
	}
	defer leave()
	list, _, _, err := p.between(session, was, left)
	if n.Files = int64(len(list)); len(list) > mostCounted {
		return n, err
	}
	read, lines := 0, Counted{Files: n.Files}
	for _, d := range list {
		if d.from.mode == linkMode || d.to.mode == linkMode {
			continue
		}
		from, err := p.kept(d.from)
		if err != nil {
			return n, err
		}
		to, err := p.kept(d.to)
		if read += len(from) + len(to); err != nil || read > mostCompared {
			return n, err
		}
		if binary(from) || binary(to) {
			continue
		}
		added, removed := patch.Changed(from, to)
		lines.Added, lines.Removed = lines.Added+int64(added), lines.Removed+int64(removed)
	}
	return lines, err
}

// Differing is a file that differs between two snapshots.
type Differing struct {
	Path            string
	Existed, Exists bool
	Was, Now        []byte     // not there if it did not exist, does not, or Why is set
	Why             Unreviewed // why they are not there: [ReviewLarge], or [ReviewLink]
}

// Differing returns the files that differ between two snapshots of a session, by path, with what
// they were as far as a file has at most each bytes, and all have at most that many.
// [ErrNoSnapshot] if one is not kept.
func (s *Snapshots) Differing(ctx context.Context, workspace, session, was, left string, each,
	all int64) (list []Differing, err error) {
	p, leave, err := s.enter(ctx, workspace)
	if err != nil {
		return nil, err
	}
	defer leave()
	differ, _, _, err := p.between(session, was, left)
	for _, d := range differ {
		f := Differing{Path: d.path, Existed: d.from != version{}, Exists: d.to != version{}}
		if f.Was, err = p.kept(d.from); err == nil {
			f.Now, err = p.kept(d.to)
		}
		if err != nil {
			return nil, err
		}
		size := int64(len(f.Was) + len(f.Now))
		switch {
		case d.from.mode == linkMode || d.to.mode == linkMode:
			f.Why = ReviewLink
		case int64(max(len(f.Was), len(f.Now))) > each || size > all:
			f.Why = ReviewLarge
		default:
			all -= size
		}
		if f.Why != "" {
			f.Was, f.Now = nil, nil
		}
		list = append(list, f)
	}
	return list, err
}

// kept is what a snapshot has of a file; nil if there is none.
func (p *shelf) kept(v version) ([]byte, error) {
	if (v == version{}) {
		return nil, nil
	}
	data, err := p.objects.get(blobKind, v.hash)
	return append([]byte{}, data...), err
}

// holds reports whether a snapshot has a file.
func (s *Snapshots) holds(ctx context.Context, workspace, session, id, name string) bool {
	p, leave, err := s.enter(ctx, workspace)
	if err != nil {
		return false
	}
	defer leave()
	snap, err := p.load(session, id)
	if err != nil {
		return false
	}
	dir, base := "", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		dir, base = name[:i], name[i+1:]
	}
	tree, ok := p.objects.folder(snap.files, dir)
	entries, err := p.objects.tree(tree)
	return ok && err == nil && slices.ContainsFunc(entries, func(e treeEntry) bool {
		return e.name == base && e.mode != treeMode
	})
}

// folder returns a folder of a tree; of the empty path, the tree.
func (o *objects) folder(tree, dir string) (name string, ok bool) {
	if dir == "" {
		return tree, true
	}
	for part := range strings.SplitSeq(dir, "/") {
		entries, err := o.tree(tree)
		i := slices.IndexFunc(entries, func(e treeEntry) bool {
			return e.name == part && e.mode == treeMode
		})
		if err != nil || i < 0 {
			return "", false
		}
		tree = entries[i].hash
	}
	return tree, true
}
