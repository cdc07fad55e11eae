package main

import (
	"context"
	"errors"
	"log/slog"

	"webchat/internal/fold"
	"webchat/internal/sessions"
	"webchat/internal/store"
	"webchat/internal/takeover"
)

// takeOver brings what the version before kept in a data folder for each workspace into
// the user's data folder, which is locked. A data folder that was named is left alone.
func (o *options) takeOver(ctx context.Context, dir string, log *slog.Logger) (_ *takeover.Old, err error) {
	logs := &adopting{dir: dir}
	defer func() {
		if logs.db != nil {
			err = errors.Join(err, logs.db.Close())
			logs.db = nil
		}
	}()
	if o.DataDir != "" {
		return &takeover.Old{}, nil
	}
	return takeover.Run(ctx, takeover.Config{Dir: dir, Sessions: logs, Logger: log})
}

// adopting implements [takeover.Sessions]. The file is opened when it is first needed,
// since most starts have nothing to take over.
type adopting struct {
	dir string
	db  *store.DB // nil: not open
}

// Adopt implements [takeover.Sessions].
func (a *adopting) Adopt(ctx context.Context, folder string) (came takeover.Adopted, err error) {
	if a.db == nil {
		if a.db, err = store.Open(store.Config{Dir: a.dir}); err != nil {
			a.db = nil
			return came, err
		}
	}
	n, err := a.db.Adopt(ctx, folder)
	came = takeover.Adopted{Here: n.Here, New: n.New, Left: n.Left}
	if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNewer) {
		came.Damaged, err = err, nil
	}
	return came, err
}

// DeleteIn implements [takeover.Sessions].
func (a *adopting) DeleteIn(ctx context.Context, folder, id string) error {
	return store.DeleteIn(ctx, folder, id)
}

// everywhere deletes sessions from old data folders, too.
type everywhere struct {
	onDisk
	old *takeover.Old
}

// onDisk is a catalog that leaves something of deleted sessions until it is scrubbed.
type onDisk interface {
	sessions.Catalog
	Scrub(ctx context.Context) error
}

// Delete implements [sessions.Catalog].
func (e everywhere) Delete(ctx context.Context, id fold.ID) error {
	if err := e.old.Delete(ctx, string(id)); err != nil {
		return err
	}
	return e.onDisk.Delete(ctx, id)
}
