package session

import (
	"cmp"
	"context"
	"errors"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/files"
)

const (
	// promptLimit is how long a prompt waits for a snapshot.
	promptLimit = 2 * time.Second
	// actLimit is how long an act does: going back cannot undo an act that does not wait. A folder is
	// looked at in less, but where others keep the machine busy.
	actLimit = 10 * time.Second
	// endLimit is how long the end of a turn does, which may have made thousands of files.
	endLimit = 20 * time.Second
)

// Snapshots keep what a workspace is. The methods may be called concurrently.
type Snapshots interface {
	// Warm prepares for the first one.
	Warm(ctx context.Context, workspace string) error
	// Take keeps one for a session. The errors are [files.ErrNoGit], [files.ErrTooMuch], that of ctx,
	// and others.
	Take(ctx context.Context, workspace, session, id string) error
	// Count returns how much differs between two of a session.
	Count(ctx context.Context, workspace, session, was, left string) (files.Counted, error)
	// Restore brings files back, and has that logged; [files.Snapshots] says more.
	Restore(ctx context.Context, of files.RestoreOf, log func(files.Restored) error) (files.Restored,
		error)
	// Settle ends what Restore had begun when its process was killed.
	Settle(ctx context.Context, workspace, session string, logged func(id string) (bool, error)) error
}

// before is the snapshot of what the workspace was before a turn acted.
type before struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when it is kept, or is not
	err    error         // why it is not; set before done is closed
}

// keeper keeps what the workspace is before a turn and after it.
type keeper struct{ *core }

// warmSnapshots prepares for the first turn, in the background.
func (s *keeper) warmSnapshots() {
	if s.cfg.Snapshots == nil {
		return
	}
	// a turn says why there is none
	s.wg.Go(func() { _ = s.cfg.Snapshots.Warm(s.ctx, s.cfg.Workspace) })
}

// keepBefore begins to keep what the workspace is, once in a turn. It returns nil if none is kept:
// also unless now, where no model is that could act without a question; and beside the turns.
func (s *keeper) keepBefore(t *turn, now bool) *before {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t == nil || t != s.turn || t.snapshot == "" || t.before == nil && !now &&
		s.bill.counting == agent.CountsNothing {
		return nil
	}
	if t.before == nil {
		ctx, cancel := context.WithCancel(s.ctx)
		b := &before{cancel: cancel, done: make(chan struct{})}
		t.before = b
		s.wg.Go(func() {
			defer close(b.done)
			b.err = s.cfg.Snapshots.Take(ctx, s.cfg.Workspace, string(s.id), t.snapshot)
			cancel()
		})
	}
	return t.before
}

// beforeAct has an act of a turn wait until what it may change is kept; not longer than
// Config.SnapshotWait. Then there is none: half of what the act left would be in it.
func (s *keeper) beforeAct(ctx context.Context, t *turn) {
	b := s.keepBefore(t, true)
	if b == nil {
		return
	}
	s.mu.Lock()
	t.acts = true
	s.mu.Unlock()
	limit := time.NewTimer(cmp.Or(s.cfg.SnapshotWait, actLimit))
	defer limit.Stop()
	select {
	case <-b.done:
	case <-ctx.Done(): // it does not act
	case <-limit.C:
		b.cancel()
		<-b.done
	}
}

// beforePrompt has a prompt wait, since its agent may act without a question.
func (s *keeper) beforePrompt(t *turn) {
	b := s.keepBefore(t, false)
	if b == nil {
		return
	}
	limit := time.NewTimer(cmp.Or(s.cfg.SnapshotWait, promptLimit))
	defer limit.Stop()
	select {
	case <-b.done:
	case <-t.ctx.Done():
	case <-limit.C:
	}
}

// spoil ends a snapshot that is not kept yet: a tool of the agent's own ran, and what it did may be
// in it.
func (b *before) spoil() {
	if b != nil {
		b.cancel() // which does nothing once it is kept
	}
}

// keepLeft keeps what the workspace is at the end of a turn that acted, if it is known what it was.
func (s *keeper) keepLeft(t *turn) {
	s.mu.Lock()
	b, acts := t.before, t.acts
	s.mu.Unlock()
	if b == nil || !acts || s.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, endLimit)
	defer cancel()
	select {
	case <-b.done:
	case <-ctx.Done():
		b.cancel()
		<-b.done
	}
	err, id := b.err, t.snapshot+"-end"
	if err == nil {
		err = s.cfg.Snapshots.Take(ctx, s.cfg.Workspace, string(s.id), id)
	}
	var changed files.Counted
	if err == nil {
		changed, err = s.cfg.Snapshots.Count(ctx, s.cfg.Workspace, string(s.id), t.snapshot, id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		t.left, t.changed = id, changed
	case s.ctx.Err() != nil:
	case errors.Is(err, files.ErrNoGit):
		t.unkept = event.SnapshotNoGit
	case errors.Is(err, files.ErrTooMuch):
		t.unkept = event.SnapshotTooLarge
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		t.unkept = event.SnapshotLate
	default:
		t.unkept = event.SnapshotFailed
		s.log().Warn("the snapshot of a turn was not kept", "error", err)
	}
}
