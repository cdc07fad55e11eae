package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// syncWithin is how long what only follows ([event.Relayed], drafts) is committed before
// it is synced, at most.
const syncWithin = 250 * time.Millisecond

// syncing decides what is on the disk when. Its fields belong to the holder of the
// baton, but for doubt.
type syncing struct {
	relaxed bool // the connection does not sync its commits now
	odd     int  // the length of what was written last to have something synced
	behind  *time.Timer
	calls   sync.WaitGroup // of the timer
	// doubt says that a sync failed. The system may have dropped what it was to write, and
	// says so once: what follows in the journal could not be read after a loss of power.
	doubt atomic.Bool
}

// doubted returns an error while it is not known what is on the disk.
func (s *syncing) doubted() error {
	if s.doubt.Load() {
		return fmt.Errorf("%w: it could not sync what was written", ErrDisk)
	}
	return nil
}

// ready prepares the connection for a transaction that has to be synced, or need not.
func (db *DB) ready(ctx context.Context, sync bool) error {
	if db.doubt.Load() {
		if err := db.settle(ctx); err != nil {
			return err
		}
	}
	if db.relaxed != sync {
		return nil
	}
	level := "NORMAL"
	if sync {
		level = "FULL"
	}
	if _, err := db.conn.ExecContext(ctx, "PRAGMA synchronous = "+level); err != nil {
		return ours(err)
	}
	db.relaxed = !sync
	return nil
}

// settle brings all that was committed from the journal into the file, whose sync says
// whether it is there, and begins the journal anew.
func (db *DB) settle(ctx context.Context) error {
	var busy, frames, moved int
	if err := db.conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &moved); err != nil {
		return ours(err)
	}
	if busy != 0 {
		return db.doubted()
	}
	db.doubt.Store(false)
	return nil
}

// ended notes what became of a transaction.
func (db *DB) ended(sync bool, err error) {
	switch {
	case errors.Is(err, ErrDisk):
		db.doubt.Store(true)
	case err != nil:
	case sync && db.behind != nil: // a sync is of the whole journal
		if db.behind.Stop() {
			db.calls.Done()
		}
		db.behind = nil
	case !sync && db.behind == nil:
		db.calls.Add(1)
		db.behind = time.AfterFunc(syncWithin, db.catchUp)
	}
}

// catchUp syncs what was committed without.
func (db *DB) catchUp() {
	defer db.calls.Done()
	ctx := context.Background()
	err := db.run(ctx, func(ctx context.Context) error {
		db.odd = 1 - db.odd // only a commit that changes something is synced
		_, err := db.put.scratch.ExecContext(ctx, db.odd)
		return ours(err)
	})
	if err == nil {
		return
	}
	_ = db.alone(ctx, func() error { // a closed file is synced
		if db.behind != nil {
			db.calls.Add(1)
			db.behind.Reset(20 * syncWithin)
		}
		return nil
	})
}

// stopFollowing waits for the timer. Nobody has the baton any longer.
func (db *DB) stopFollowing() {
	if db.behind != nil && db.behind.Stop() {
		db.calls.Done()
	}
	db.calls.Wait()
}
