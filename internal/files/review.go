package files

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"webchat/internal/calls"
	"webchat/internal/event"
)

// Bounds of a review.
const (
	MaxReviewed = 2 << 20  // bytes of a file whose changes are shown
	mostFiles   = 100      // files
	mostBytes   = 16 << 20 // bytes of all texts
)

// ReviewOf says what a review is about: the work on one prompt, all since it began, or all since
// the commit at which the session began.
type ReviewOf struct {
	Commit bool
	From   int64 // the sequence of a turn's first event; 0: of the last turn that edited files
	On     bool  // all since then, later turns included
}

// Review is what an agent changed.
type Review struct {
	Of    ReviewOf     // From is set unless it is of the commit
	Turns []calls.Turn // that edited files, the first one first
	Turn  string       // the id of the one turn that is reviewed, if all of it can be undone
	Git   string       // the commit to compare with; empty: there is none
	Began time.Time
	Files []Reviewed // by path
	More  bool       // there are files that are not listed
	// Unkept says why what commands changed in the one turn that is reviewed is not known; empty: it
	// is, or none ran.
	Unkept string
}

// Reviewed is a file that an agent changed. Both texts are there, or Why says why they are not.
type Reviewed struct {
	Path           string
	Was, Now       []byte // nil: there was no file, there is none
	Edits          int    // how many the agent reported
	Added, Removed int    // as far as known where the texts are not there
	Runs           int    // of lines that the edits changed, as [patch.Places] counts them
	Why            Unreviewed
	Held           bool         // snapshots hold what it was, so it comes back with the whole turn
	Reported       []event.Edit // of a file that was changed since: what the agent reported
	// Of a file that is not shown because it is binary or too large: how many bytes the commit at
	// which the session began has of it, and how many it has. nil: not known, or there is none.
	Committed, Size *int64
}

// Unreviewed says why a file's changes are not shown, or cannot be taken back.
type Unreviewed string

// The reasons.
const (
	ReviewClosed Unreviewed = "closed" // it may hold secrets
	ReviewBinary Unreviewed = "binary" // it is or was no text, and what it was is not known
	// it is over [MaxReviewed], or all files together are too large
	ReviewLarge   Unreviewed = "large"
	ReviewChanged Unreviewed = "changed" // it is no longer what the agent left
	ReviewUntold  Unreviewed = "untold"  // the agent did not report what it changed
	ReviewLink    Unreviewed = "link"    // it is or was a link
)

// Review returns what the agent changed in the files of the workspace. For turns that is what
// differs between snapshots; where there are none, what the agent's edits carried, and what
// commands changed is known against the commit alone.
func (s ChangeSource) Review(ctx context.Context, of ReviewOf) (r Review, err error) {
	h, err := s.history(ctx)
	if err != nil {
		return r, err
	}
	r.Git, r.Began = h.git, h.began
	for _, t := range h.turns {
		if t.Edits > 0 || t.Changed {
			r.Turns = append(r.Turns, t)
		}
	}
	if r.Of = of; of.Commit {
		if err := s.reviewCommit(ctx, &r); err != nil {
			return r, err
		}
		s.measure(ctx, &r)
		return r, ctx.Err()
	}
	if of.From == 0 {
		r.Of.From = h.last()
	}
	i := slices.IndexFunc(h.turns, func(t calls.Turn) bool { return t.From == r.Of.From })
	if i < 0 {
		return r, nil
	}
	turn := h.turns[i]
	r.Began = turn.At
	parts, err := s.editsByFile(ctx, of, turn)
	if err != nil {
		return r, err
	}
	turns := h.turns[i : i+1]
	if of.On {
		turns = h.turns[i:]
	} else {
		r.Unkept = unkept[turn.NoSnapshot]
	}
	if ok, err := s.reviewSnapshots(ctx, &r, turns, parts); ok || err != nil {
		s.measure(ctx, &r)
		return r, err
	}
	left := int64(mostBytes)
	for _, path := range slices.Sorted(maps.Keys(parts)) {
		if len(r.Files) == mostFiles {
			r.More = true
			break
		}
		r.Files = append(r.Files, s.reviewEdits(path, parts[path], &left))
	}
	s.measure(ctx, &r)
	return r, ctx.Err()
}

// measure adds the sizes of files that are not shown.
func (s ChangeSource) measure(ctx context.Context, r *Review) {
	var paths []string
	for i := range r.Files {
		f := &r.Files[i]
		if f.Why != ReviewBinary && f.Why != ReviewLarge {
			continue
		}
		paths = append(paths, f.Path)
		if name, err := s.absolute(f.Path); err == nil {
			if _, st, _ := Present(s.Workspace, name, 0); st != nil {
				f.Size = new(st.Size())
			}
		}
	}
	if r.Git == "" || len(paths) == 0 {
		return
	}
	sizes := s.Files.Sizes(ctx, r.Git, paths)
	for i := range r.Files {
		if size, ok := sizes[r.Files[i].Path]; ok {
			r.Files[i].Committed = new(size)
		}
	}
}

// Text reports whether bytes can be shown and compared as lines of UTF-8.
func Text(b []byte) bool { return !binary(b) && utf8.Valid(b) }

// absolute is the name of a file of the workspace, without links in it.
func (s ChangeSource) absolute(path string) (string, error) {
	root, err := filepath.EvalSymlinks(s.Workspace)
	if err != nil {
		return "", err
	}
	name := filepath.Join(root, filepath.FromSlash(path))
	// of a file that is gone, its folder may be, too
	for dir := filepath.Dir(name); ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			if real != dir {
				return "", ErrChanged
			}
			return name, nil
		} else if !errors.Is(err, os.ErrNotExist) || len(dir) <= len(root) {
			return "", err
		}
	}
}

// Absolute is the name of a file of the workspace for [Present] and [Replace]. [ErrChanged] where a
// link leads to it.
func (s ChangeSource) Absolute(path string) (string, error) {
	name, err := s.absolute(path)
	if err != nil {
		return "", errors.Join(ErrChanged, err)
	}
	return name, nil
}

// reviewCommit compares with the commit at which the session began. Files last written before that
// are left out: the session did not change them.
func (s ChangeSource) reviewCommit(ctx context.Context, r *Review) error {
	list, err := s.List(ctx)
	if err != nil {
		return err
	}
	r.More = list.More
	left := mostBytes
	for _, c := range list.Files {
		if c.Before {
			continue
		}
		if len(r.Files) == mostFiles {
			r.More = true
			break
		}
		f := Reviewed{Path: c.Path, Added: c.Added, Removed: c.Removed}
		size := len(c.was) + len(c.now)
		switch {
		case s.Closed != nil && s.Closed(c.Path):
			f.Why = ReviewClosed
		case !c.held || size > left:
			f.Why = ReviewLarge
		default:
			left -= size
			if c.Kind == Modified || c.Kind == Deleted {
				f.Was = append([]byte{}, c.was...)
			}
			if c.Kind != Deleted {
				f.Now = append([]byte{}, c.now...)
			}
			if c.Kind == Renamed { // so that undoing both names it as before
				r.Add(Reviewed{Path: c.From, Was: append([]byte{}, c.was...)})
			}
		}
		r.Add(f)
	}
	return nil
}

// Has reports whether a file is in the review.
func (r *Review) Has(path string) bool {
	return slices.ContainsFunc(r.Files, func(f Reviewed) bool { return f.Path == path })
}

// Add adds a file at its place.
func (r *Review) Add(f Reviewed) {
	i, _ := slices.BinarySearchFunc(r.Files, f.Path, func(f Reviewed, path string) int {
		return cmp.Compare(f.Path, path)
	})
	r.Files = slices.Insert(r.Files, i, f)
}
