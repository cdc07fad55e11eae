package files

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"webchat/internal/calls"
	"webchat/internal/event"
	"webchat/internal/patch"
)

// editsByFile are those of the turn and since, by the files of the workspace that the turn edited.
func (s ChangeSource) editsByFile(ctx context.Context, of ReviewOf,
	turn calls.Turn) (map[string]*editsOfFile, error) {
	var all []calls.Edit
	if err := s.Log.Index(ctx, func(x *calls.Index) { all = x.Edits(turn.Start) }); err != nil {
		return nil, err
	}
	parts := map[string]*editsOfFile{}
	for _, edit := range all {
		later := !of.On && turn.End > 0 && edit.At > turn.End
		if later && !slices.ContainsFunc(slices.Collect(maps.Keys(parts)), func(path string) bool {
			return s.mayEdit(edit, path)
		}) {
			continue // it is of files of other turns alone
		}
		e, err := s.reported(ctx, edit)
		if err != nil {
			return nil, err
		}
		for _, path := range s.pathsOf(e) {
			p := parts[path]
			if p == nil && later {
				continue
			}
			if p == nil {
				p = &editsOfFile{}
				parts[path] = p
			}
			edits := s.editsOf(path, e)
			if later {
				p.later = append(p.later, edits...)
			} else {
				p.here = append(p.here, edits...)
			}
		}
	}
	return parts, nil
}

// last begins the last turn that changed files, or else that may have.
func (h history) last() (from int64) {
	for _, t := range h.turns {
		if t.Edits > 0 || t.Changed {
			from = t.From
		}
	}
	for i := len(h.turns) - 1; i >= 0 && from == 0; i-- {
		if h.turns[i].NoSnapshot != "" {
			from = h.turns[i].From
		}
	}
	return from
}

// editsOfFile are those of a file in the turns that are reviewed, and after them.
type editsOfFile struct{ here, later []event.Edit }

// reviewEdits takes what the agent reported out of what a file is now.
func (s ChangeSource) reviewEdits(path string, p *editsOfFile, left *int64) (f Reviewed) {
	f = Reviewed{Path: path, Edits: len(p.here)}
	untold, bare := false, false
	var places patch.Places
	for _, e := range p.here {
		added, removed := e.Counts()
		f.Added, f.Removed = f.Added+added, f.Removed+removed
		untold, bare = untold || added+removed == 0, bare || e.Binary || e.Lossy()
		places.Add(e)
	}
	f.Runs = places.Changes()
	if s.Closed != nil && s.Closed(path) {
		f.Why = ReviewClosed
		return f
	}
	name, err := s.absolute(path)
	if err != nil {
		f.Why, f.Reported = ReviewChanged, p.here
		return f
	}
	now, st, err := Present(s.Workspace, name, min(MaxReviewed, max(0, *left)))
	if errors.Is(err, ErrTooLarge) {
		f.Why = ReviewLarge
		return f
	}
	known := err == nil && st != nil
	if !known && len(p.later) == 0 && err == nil && p.here[len(p.here)-1].Deletes() {
		known = true // the agent deleted it
	}
	text := slices.Clone(now)
	back := func(edits []event.Edit) {
		for _, e := range slices.Backward(edits) {
			if known {
				text, known = patch.Revert(text, e)
			}
		}
	}
	back(p.later)
	f.Now = text
	if st == nil {
		f.Now = nil
	}
	back(p.here)
	if *left -= int64(len(now) + len(text)); !known || bare {
		f.Now, f.Why, f.Reported = nil, ReviewChanged, p.here
		switch {
		case bare || binary(now):
			f.Why, f.Reported = ReviewBinary, nil
		case untold:
			f.Why = ReviewUntold
		}
		return f
	}
	if !p.here[0].Creates() || len(text) > 0 {
		f.Was = append([]byte{}, text...)
	}
	return f
}

// history is what the log says of the session's turns.
type history struct {
	began time.Time
	git   string // the commit it began at
	turns []calls.Turn
}

// edit is a call that edited files, as the agent reported it.
type edit struct {
	calls.Edit
	edits []event.Edit
}

func (s ChangeSource) history(ctx context.Context) (h history, err error) {
	began, in, err := s.start(ctx)
	if err != nil {
		return h, err
	}
	if h.began = began; in != nil && in.GitRoot != "" && s.Files != nil {
		h.git = in.Commit
	}
	return h, s.Log.Index(ctx, func(x *calls.Index) { h.turns = x.Turns() })
}

// pathsOf are the files of the workspace that an edit is about.
func (s ChangeSource) pathsOf(e edit) (paths []string) {
	add := func(name string) bool {
		rel := filepath.FromSlash(name)
		if filepath.IsAbs(rel) {
			in, err := filepath.Rel(s.Workspace, rel)
			if err != nil {
				return false
			}
			rel = in
		}
		path := filepath.ToSlash(filepath.Clean(rel))
		if path == "." || !filepath.IsLocal(rel) || !writable(path) || len(s.editsOf(path, e)) == 0 {
			return false
		}
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
		return true
	}
	if e.File != "" && add(e.File) {
		return paths
	}
	for _, change := range e.edits {
		for _, name := range []string{change.Old, change.New} {
			rest := strings.TrimPrefix(strings.TrimPrefix(name, "a/"), "b/")
			if name == "" || name == event.NoFile {
				continue
			}
			if rest != name { // git's, or a folder that has that name
				if _, err := os.Lstat(filepath.Join(s.Workspace, filepath.FromSlash(name))); err != nil &&
					(add("/"+rest) || add(rest)) {
					break
				}
			}
			if add(name) {
				break
			}
		}
	}
	return paths
}
