package daemon

import (
	"context"
	"time"

	"webchat/internal/sessions"
)

// Pruned is what a pruning did.
type Pruned struct {
	Sessions  int   `json:"sessions"`  // deleted
	Elsewhere int   `json:"elsewhere"` // that stay, since another replica has them
	Before    int64 `json:"before"`    // bytes on the disk
	After     int64 `json:"after"`
}

// Sessions can be deleted by their age.
type Sessions interface {
	Prune(ctx context.Context, before time.Time) (sessions.Pruned, error)
}

// Shrinking is a store that gives room back to the disk.
type Shrinking interface {
	Size() (int64, error)
	Vacuum(ctx context.Context) error
}

// Prune deletes the sessions that were not used for so long, and gives their room
// back to the disk.
func Prune(ctx context.Context, all Sessions, db Shrinking,
	older time.Duration) (p Pruned, err error) {
	if p.Before, err = db.Size(); err != nil {
		return p, err
	}
	pruned, err := all.Prune(ctx, time.Now().Add(-older))
	if err != nil {
		return p, err
	}
	p.Sessions, p.Elsewhere = pruned.Deleted, pruned.Elsewhere
	if err = db.Vacuum(ctx); err != nil {
		return p, err
	}
	p.After, err = db.Size()
	return p, err
}
