package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// syncWithin is how long what only follows ([event.Relayed], drafts) is committed before it is
// synced, at most.
const syncWithin = 250 * time.Millisecond

// commits lets writers share transactions. One writer at a time commits the whole queue, its own
// job included; writers that arrive meanwhile wait, and one of them commits next.
type commits struct {
	baton   chan struct{} // one token
	stopped chan struct{}

	mu      sync.Mutex // guards waiting
	waiting []*job
}

// job is something to do in a transaction. do may run twice, if the first transaction it was part
// of failed. err is set before done is closed.
type job struct {
	do      func(context.Context, *file) error
	follows bool // it need not be synced when it is done, but within [syncWithin]
	last    last // what it comes to, if it is of one session; else nothing
	err     error
	done    chan struct{}
}

// run returns when do is committed and synced, or has failed. When ctx ends before a transaction
// began, do is not done.
func (db *DB) run(ctx context.Context, do func(context.Context, *file) error) error {
	return db.await(ctx, &job{do: do})
}

// follow is run for what may be synced a moment later.
func (db *DB) follow(ctx context.Context, do func(context.Context, *file) error) error {
	return db.await(ctx, &job{do: do, follows: true})
}

func (db *DB) await(ctx context.Context, j *job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.done = make(chan struct{})
	db.mu.Lock()
	db.waiting = append(db.waiting, j)
	db.mu.Unlock()
	for {
		var why error
		select {
		case <-j.done:
			return j.err
		case <-db.baton:
			db.commit(db.take(nil))
			db.baton <- struct{}{}
			continue
		case <-ctx.Done():
			why = ctx.Err()
		case <-db.stopped:
			why = ErrClosed
		}
		if len(db.take(j)) > 0 {
			return why
		}
		<-j.done // it is in a transaction: what comes of that is the truth
		return j.err
	}
}

// take removes a job from those that wait, or all of them, and returns what it removed.
func (c *commits) take(first *job) (jobs []*job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if first == nil {
		jobs, c.waiting = c.waiting, nil
	} else if i := slices.Index(c.waiting, first); i >= 0 {
		jobs, c.waiting = []*job{first}, slices.Delete(c.waiting, i, i+1)
	}
	return jobs
}

// alone calls f while no transaction runs.
func (c *commits) alone(ctx context.Context, f func() error) error {
	select {
	case <-c.baton:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.stopped:
		return ErrClosed
	}
	defer func() { c.baton <- struct{}{} }()
	return f()
}

// stop waits for the transaction that runs and lets no other begin.
func (c *commits) stop() {
	<-c.baton
	close(c.stopped)
}

// commit does jobs in one transaction. If that fails, each is tried in its own, so that none
// suffers for another.
func (db *DB) commit(jobs []*job) {
	if len(jobs) == 0 {
		return
	}
	err := db.transact(jobs)
	for _, j := range jobs {
		if j.err = err; err != nil && len(jobs) > 1 {
			j.err = db.transact([]*job{j})
		}
		j.err = ofDisk(db.path, j.err)
		close(j.done)
	}
	if f := db.file.Load(); err == nil {
		if err := f.foldLong(context.Background()); err != nil {
			db.log.Warn("the journal could not be folded into the sessions' file; it is tried again",
				"error", err)
		}
	}
}

// transact does jobs in one transaction or leaves nothing of them. It takes no caller's context: a
// commit cannot be half cancelled.
func (db *DB) transact(jobs []*job) (err error) {
	ctx, f := context.Background(), db.file.Load()
	if f.why != nil {
		return f.why
	}
	sync := slices.ContainsFunc(jobs, func(j *job) bool { return !j.follows })
	if err := db.ready(ctx, f, sync); err != nil {
		return err
	}
	defer func() { db.ended(sync, err) }()
	if _, err := f.exec(ctx, begin); err != nil {
		return err
	}
	for _, j := range jobs {
		if err == nil {
			err = j.do(ctx, f)
		}
	}
	if why := db.intact(f); why != nil {
		err = why // of what failed before it, too
	}
	if err == nil {
		_, err = f.exec(ctx, commit)
	}
	if err != nil {
		_, _ = f.exec(ctx, `ROLLBACK`) // it fails where SQLite has ended it already
		return err
	}
	f.noteLast(jobs)
	return nil
}

// syncing decides what is on the disk when. Its fields belong to the holder of the baton, but for
// doubt.
type syncing struct {
	odd    int // the length of what was written last to have something synced
	behind *time.Timer
	calls  sync.WaitGroup // of the timer
	// doubt says that a sync failed. The system may have dropped what it was to write, and says so
	// once: what follows in the journal could not be read after a loss of power.
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
func (db *DB) ready(ctx context.Context, f *file, sync bool) error {
	if db.doubt.Load() {
		if err := db.settle(ctx, f); err != nil {
			return err
		}
	}
	if f.relaxed != sync {
		return nil
	}
	level := "NORMAL"
	if sync {
		level = "FULL"
	}
	_, err := f.exec(ctx, "PRAGMA synchronous = "+level)
	if err == nil {
		f.relaxed = !sync
	}
	return err
}

// settle brings all that was committed from the journal into the file, whose sync reports whether
// it is there, and begins the journal anew.
func (db *DB) settle(ctx context.Context, f *file) error {
	all, err := f.fold(ctx, "TRUNCATE")
	if err != nil {
		return err
	}
	if !all {
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
	case sync: // a sync is of the whole journal
		db.stopFollowing()
	case db.behind == nil:
		db.calls.Add(1)
		db.behind = time.AfterFunc(syncWithin, db.catchUp)
	}
}

// stopFollowing has nothing synced later.
func (db *DB) stopFollowing() {
	if db.behind != nil && db.behind.Stop() {
		db.calls.Done()
	}
	db.behind = nil
}

// catchUp syncs what was committed without.
func (db *DB) catchUp() {
	defer db.calls.Done()
	ctx := context.Background()
	err := db.run(ctx, func(ctx context.Context, f *file) error {
		db.odd = 1 - db.odd // only a commit that changes something is synced
		_, err := f.exec(ctx, putScratch, db.odd)
		return err
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
