package store

import (
	"context"
	"slices"
	"sync"
)

// committer lets writers share transactions without anybody waiting for
// company: who finds the baton commits everything that waits, his own included;
// who comes meanwhile waits, and one of those is next.
type committer struct {
	baton   chan struct{} // one token
	stopped chan struct{}
	commit  func([]*job)

	mu      sync.Mutex // guards waiting
	waiting []*job
}

// job is something to do in a transaction. do may run twice, if the first
// transaction it was part of failed. err is set before done is closed.
type job struct {
	do      func(context.Context) error
	follows bool // it need not be synced when it is done
	last    last // what it comes to, if it is of one session; else nothing
	err     error
	done    chan struct{}
}

func newCommitter(commit func([]*job)) *committer {
	c := &committer{baton: make(chan struct{}, 1), stopped: make(chan struct{}), commit: commit}
	c.baton <- struct{}{}
	return c
}

// run returns when do is committed and synced, or has failed. When ctx ends before a
// transaction began, do is not done.
func (c *committer) run(ctx context.Context, do func(context.Context) error) error {
	return c.await(ctx, &job{do: do, done: make(chan struct{})})
}

// runAs is run for what a session comes to, or follow if it may.
func (c *committer) runAs(ctx context.Context, l last, follows bool, do func(context.Context) error) error {
	return c.await(ctx, &job{do: do, follows: follows, last: l, done: make(chan struct{})})
}

// follow is run for what may be synced a moment later: within [syncWithin].
func (c *committer) follow(ctx context.Context, do func(context.Context) error) error {
	return c.await(ctx, &job{do: do, follows: true, done: make(chan struct{})})
}

func (c *committer) await(ctx context.Context, j *job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	c.waiting = append(c.waiting, j)
	c.mu.Unlock()
	for {
		var why error
		select {
		case <-j.done:
			return j.err
		case <-c.baton:
			c.commit(c.take())
			c.baton <- struct{}{}
			continue
		case <-ctx.Done():
			why = ctx.Err()
		case <-c.stopped:
			why = ErrClosed
		}
		if c.withdraw(j) {
			return why
		}
		<-j.done // it is in a transaction: what comes of that is the truth
		return j.err
	}
}

func (c *committer) take() []*job {
	c.mu.Lock()
	defer c.mu.Unlock()
	jobs := c.waiting
	c.waiting = nil
	return jobs
}

// withdraw reports whether j still waited.
func (c *committer) withdraw(j *job) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, w := range c.waiting {
		if w == j {
			c.waiting = append(c.waiting[:i:i], c.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// stop waits for the transaction that runs and lets no other begin.
func (c *committer) stop() {
	<-c.baton
	close(c.stopped)
}

// commit does jobs in one transaction. If that fails, each is tried in its own,
// so that none suffers for another.
func (db *DB) commit(jobs []*job) {
	if len(jobs) == 0 {
		return
	}
	err := db.transact(jobs)
	for _, j := range jobs {
		if j.err = err; err != nil && len(jobs) > 1 {
			j.err = db.transact([]*job{j})
		}
		close(j.done)
	}
}

// transact does jobs in one transaction or leaves nothing of them. It takes no
// caller's context: a commit cannot be half cancelled.
func (db *DB) transact(jobs []*job) (err error) {
	ctx := context.Background()
	sync := slices.ContainsFunc(jobs, func(j *job) bool { return !j.follows })
	if err := db.ready(ctx, sync); err != nil {
		return err
	}
	defer func() { db.ended(sync, err) }()
	if _, err := db.put.begin.ExecContext(ctx); err != nil {
		return ours(err)
	}
	for _, j := range jobs {
		if err := j.do(ctx); err != nil {
			db.rollback(ctx)
			return err
		}
	}
	if err := db.intact(); err != nil {
		db.rollback(ctx)
		return err
	}
	if _, err := db.put.commit.ExecContext(ctx); err != nil {
		db.rollback(ctx)
		return ours(err)
	}
	db.noteLast(jobs)
	return nil
}

// rollback ends a failed transaction. SQLite may have ended it already, which
// is the only way this fails.
func (db *DB) rollback(ctx context.Context) { _, _ = db.conn.ExecContext(ctx, `ROLLBACK`) }
