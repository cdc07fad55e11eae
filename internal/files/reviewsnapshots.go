package files

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"webchat/internal/calls"
	"webchat/internal/event"
)

// bySnapshots is how many edits a file counts as that is compared by snapshots, beside the
// place of the turn: no other review of it has as many.
const bySnapshots = 1 << 32

// ends returns the snapshots between which turns acted, the number of the last such turn, and
// whether they hold what all did.
func ends(turns []calls.Turn) (was, left string, last int, ok bool) {
	for i, t := range turns {
		switch {
		case t.Left != "" && left == "":
			was, left, last = t.Was, t.Left, i
		case t.Left != "":
			left, last = t.Left, i
		case t.NoSnapshot != "" || t.Edits > 0:
			return "", "", 0, false
		}
	}
	return was, left, last, left != ""
}

// reviewSnapshots compares what turns found with what they left; false if that was not kept. parts
// are what the agent reported of its edits, by path.
func (s ChangeSource) reviewSnapshots(ctx context.Context, r *Review, turns []calls.Turn,
	parts map[string]*editsOfFile) (ok bool, err error) {
	was, left, last, ok := ends(turns)
	if !ok || s.Snapshots == nil {
		return false, nil
	}
	list, err := s.Snapshots.Differing(ctx, s.Workspace, s.Session, was, left, MaxReviewed, mostBytes)
	if errors.Is(err, ErrNoSnapshot) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, d := range list {
		if len(r.Files) == mostFiles {
			r.More = true
			break
		}
		f := Reviewed{
			Path:  d.Path,
			Was:   d.Was,
			Now:   d.Now,
			Why:   d.Why,
			Edits: bySnapshots + last,
			Held:  true,
		}
		if s.Closed != nil && s.Closed(d.Path) {
			f.Was, f.Now, f.Why = nil, nil, ReviewClosed
		}
		r.Files = append(r.Files, f)
	}
	rest := int64(mostBytes)
	// what the agent edited and no snapshot holds
	for _, path := range slices.Sorted(maps.Keys(parts)) {
		if p := parts[path]; len(p.here) > 0 && !r.Has(path) && len(r.Files) < mostFiles &&
			!s.Snapshots.holds(ctx, s.Workspace, s.Session, was, path) &&
			!s.Snapshots.holds(ctx, s.Workspace, s.Session, left, path) {
			r.Add(s.reviewEdits(path, p, &rest))
		}
	}
	if len(turns) == 1 {
		r.Turn = turns[0].ID
	}
	return true, ctx.Err()
}

// unkept is why a turn has no snapshot, for the user.
var unkept = map[event.NoSnapshot]string{
	event.SnapshotNoGit:    "git is not installed",
	event.SnapshotTooLarge: "the folder is over 2 GB or 200,000 files",
	event.SnapshotLate:     "looking at the folder took too long",
	event.SnapshotFailed:   "git or the disk refused it; the server's log says more",
}

// Unkept is the error for a turn of which no snapshots are kept: why that is. nil if they are.
func Unkept(t calls.Turn) error {
	why := unkept[t.NoSnapshot]
	switch {
	case t.Left != "":
		return nil
	case t.End == 0:
		why = "it has not ended"
	case why == "":
		why = "it changed nothing that is known"
	}
	return fmt.Errorf("%w for this turn: %s", ErrNoSnapshot, why)
}
