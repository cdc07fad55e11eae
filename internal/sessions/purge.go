package sessions

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/eventlog"
	"webchat/internal/session"
	"webchat/internal/worktree"
)

const (
	purgeAgain  = 5 * time.Second // how soon a deletion that was refused is tried again
	forgetLimit = time.Minute     // how long a backend may take to forget a session
)

// purger removes deleted sessions for good, when their time has come.
type purger struct {
	ctx       context.Context // the manager's
	table     *table
	replica   replica
	catalog   Catalog
	trouble   *trouble
	backends  *backends
	snapshots Snapshots                 // nil: none are kept
	holder    Holder                    // nil: nothing is held
	worktrees *worktree.Trees           // nil: there are none
	shown     session.AttachableOutputs // nil: there are none
	uploads   session.Uploads           // nil: there are none
	logger    *slog.Logger
	now       func() time.Time
	scrubbing chan struct{} // holds one while deleted text is erased

	mu     sync.Mutex // guards what follows
	timers map[eventlog.ID]*time.Timer
	closed bool
}

// schedule has a deleted session purged after a while, unless that is scheduled.
func (p *purger) schedule(id eventlog.ID, in time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.timers[id] != nil {
		return
	}
	p.timers[id] = time.AfterFunc(in, func() {
		release, err := p.table.claim(p.ctx, id)
		if err != nil {
			return // the program ends, and the next one finds it
		}
		defer release()
		if p.may(id) {
			p.purge(id)
			p.erase()
		}
	})
}

// take takes a session off the schedule; nil if it was not on it.
func (p *purger) take(id eventlog.ID) *time.Timer {
	p.mu.Lock()
	defer p.mu.Unlock()
	timer := p.timers[id]
	delete(p.timers, id)
	return timer
}

// close ends the schedule.
func (p *purger) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, t := range p.timers {
		t.Stop()
	}
}

// left is how long a deleted session can still be restored.
func (p *purger) left(s eventlog.Summary) time.Duration {
	return max(0, UndoDelete-p.now().Sub(s.DeletedAt))
}

// may takes a deleted session whose time has come. It is another's affair if another replica has
// it, which may have restored it.
func (p *purger) may(id eventlog.ID) bool {
	if p.replica.owners == nil || p.table.get(id) != nil {
		return true
	}
	err := p.replica.take(p.ctx, id)
	var sum eventlog.Summary
	if err == nil {
		sum, err = p.catalog.Summary(p.ctx, id)
	}
	if err == nil && !sum.DeletedAt.IsZero() {
		return true
	}
	p.take(id) // what is left to do the next sweep finds
	return false
}

// purge removes a deleted session for good. What the log refuses is tried again. The caller has the
// session's claim.
func (p *purger) purge(id eventlog.ID) {
	if s := p.table.get(id); s != nil {
		s.Close()
	}
	if sum, err := p.catalog.Summary(p.ctx, id); err == nil {
		defer p.forget(id, sum.Backend)
		p.deleteHeld(id)
		p.leaveWorktree(id)
		// first: a process that is killed here purges the session again
		p.deleteSnapshots(id, sum.Workspace)
	}
	err := p.trouble.wrote(p.catalog.Delete(context.WithoutCancel(p.ctx), id), 0)
	p.take(id)
	if err != nil {
		p.logger.Error("a deleted session could not be removed; it is tried again", "session",
			string(id), "error", err)
		p.schedule(id, purgeAgain)
		return
	}
	p.table.remove(id)
	if p.shown != nil {
		p.shown.DeleteSession(string(id))
	}
	if p.uploads != nil {
		p.uploads.DeleteSession(string(id))
	}
}

// leaveWorktree remembers that nothing works in the worktree of a session, which stays.
func (p *purger) leaveWorktree(id eventlog.ID) {
	if p.worktrees == nil {
		return
	}
	if err := p.worktrees.Leave(string(id)); err != nil {
		p.logger.Warn("the worktree of a deleted session may not be listed", "session", string(id),
			"error", err)
	}
}

// deleteHeld deletes what is held for a session.
func (p *purger) deleteHeld(id eventlog.ID) {
	if p.holder == nil {
		return
	}
	if err := p.holder.DeleteSession(string(id)); err != nil {
		p.logger.Warn("what was held for a deleted session may be left", "session", string(id),
			"error", err)
	}
}

// deleteSnapshots deletes what is kept of a session's workspace.
func (p *purger) deleteSnapshots(id eventlog.ID, workspace string) {
	if p.snapshots == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), forgetLimit)
	defer cancel()
	if err := p.snapshots.DeleteSession(ctx, workspace, string(id)); err != nil {
		p.logger.Warn("snapshots of a deleted session may be left", "session", string(id), "error", err)
	}
}

// erase takes what is left of purged sessions off the disk, if the catalog is on one.
func (p *purger) erase() {
	disk, ok := p.catalog.(interface {
		Scrub(ctx context.Context) error
	})
	if !ok {
		return
	}
	select { // a disk may keep it for long
	case p.scrubbing <- struct{}{}:
		defer func() { <-p.scrubbing }()
	case <-p.ctx.Done():
		return
	}
	if err := disk.Scrub(p.ctx); err != nil && p.ctx.Err() == nil {
		p.logger.Warn(
			"words of deleted sessions may be left on the disk until the next one is deleted", "error", err)
	}
}

// forget has a backend remove what it keeps of a deleted session. That may take the start of a
// program, so nothing waits for it but the end of the manager.
func (p *purger) forget(id eventlog.ID, backend string) {
	f, ok := p.backends.named[backend].(agent.Forgetter)
	if !ok {
		return
	}
	p.table.wg.Go(func() { // the caller has a claim
		ctx, cancel := context.WithTimeout(p.ctx, forgetLimit)
		defer cancel()
		if err := f.Forget(ctx, string(id)); err != nil && p.ctx.Err() == nil {
			p.logger.Warn("a backend keeps something of a deleted session", "session", string(id),
				"backend", backend, "error", err)
		}
	})
}
