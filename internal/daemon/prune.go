package daemon

import (
	"context"
	"time"
)

// Pruned is what a pruning did.
type Pruned struct {
	Sessions int   `json:"sessions"` // deleted
	Before   int64 `json:"before"`   // bytes on the disk
	After    int64 `json:"after"`
}

// Sessions can be deleted by their age.
type Sessions interface {
	Prune(ctx context.Context, before time.Time) (int, error)
}

// Shrinking is a store that gives room back to the disk.
type Shrinking interface {
	Size() (int64, error)
	Vacuum(ctx context.Context) error
}

// Prune deletes the sessions that were not used for so long, and gives their room
// back to the disk.
func Prune(ctx context.Context, sessions Sessions, db Shrinking, older time.Duration) (p Pruned, err error) {
	if p.Before, err = db.Size(); err != nil {
		return p, err
	}
	if p.Sessions, err = sessions.Prune(ctx, time.Now().Add(-older)); err != nil {
		return p, err
	}
	if err = db.Vacuum(ctx); err != nil {
		return p, err
	}
	p.After, err = db.Size()
	return p, err
}
