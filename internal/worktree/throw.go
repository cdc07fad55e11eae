package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"webchat/internal/files"
)

// UndoThrow is how long a copy that was thrown away can be restored.
const UndoThrow = 30 * 24 * time.Hour

// Throw moves a session's copy aside.
func (t *Trees) Throw(ctx context.Context, session string) (*Copy, error) {
	return t.change(session, func(c *Copy) error {
		if !c.Thrown.IsZero() {
			return nil
		}
		if repo, err := t.git.In(ctx, c.Checkout); err == nil { // else git forgets it later
			_, _ = repo.Run(ctx, nil, "worktree", "lock", "--reason",
				"webchat keeps it for 30 days", c.Root)
		}
		c.Thrown = t.cfg.Now().UTC()
		return os.Rename(c.Root, t.aside(c))
	})
}

func (t *Trees) aside(c *Copy) string {
	return filepath.Join(filepath.Dir(t.about(c.Session)), "thrown")
}

// Restore takes back that a copy was thrown away.
func (t *Trees) Restore(ctx context.Context, session string) (*Copy, error) {
	return t.change(session, func(c *Copy) error {
		if c.Thrown.IsZero() {
			return nil
		}
		if err := os.Rename(t.aside(c), c.Root); err != nil {
			return err
		}
		c.Thrown = time.Time{}
		if repo, err := t.git.In(ctx, c.Checkout); err == nil {
			_, _ = repo.Run(ctx, nil, "worktree", "unlock", c.Root)
		}
		return nil
	})
}

// Settle deletes for good what was thrown away longer than [UndoThrow] ago, and remembers which
// sessions are not known: see [Trees.Lost].
func (t *Trees) Settle(ctx context.Context, known func(session string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.All() {
		repo, _ := t.git.In(ctx, c.Checkout) // nil where it is not there
		switch {
		case !c.Thrown.IsZero() && !t.cfg.Now().Before(c.Thrown.Add(UndoThrow)):
			_ = os.Rename(t.aside(c), c.Root)
			if repo != nil {
				_, _ = repo.Run(ctx, nil, "worktree", "unlock", c.Root)
			}
			t.remove(ctx, repo, c)
		case c.Gone && !c.isThere() && c.Thrown.IsZero(): // the user deleted it
			t.remove(ctx, nil, c)
		case !c.Gone && !known(c.Session):
			c.Gone = true
			_ = t.keep(c) // it is tried again
		}
	}
}

// Usable returns [ErrNone] for a copy that was thrown away.
func (c *Copy) Usable() error {
	if c.Thrown.IsZero() {
		return nil
	}
	return fmt.Errorf("%w: it was thrown away; bring it back first", ErrNone)
}

func (c *Copy) isThere() bool {
	_, err := os.Lstat(c.Root)
	return err == nil
}

// Leave remembers that the session of a copy is gone.
func (t *Trees) Leave(session string) error {
	_, err := t.change(session, func(c *Copy) error { c.Gone = true; return nil })
	if errors.Is(err, ErrNone) {
		return nil
	}
	return err
}

// Holds reports whether a folder is where copies are.
func (t *Trees) Holds(folder string) bool {
	rel, err := filepath.Rel(t.cfg.Dir, folder)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// Lost returns the copies that are there whose sessions are gone.
func (t *Trees) Lost() []*Copy {
	return slices.DeleteFunc(t.All(), func(c *Copy) bool { return !c.Gone || !c.isThere() })
}

// Unmake deletes a copy at once, for good.
func (t *Trees) Unmake(ctx context.Context, session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c, err := t.Of(session); err == nil {
		repo, _ := t.git.In(ctx, c.Checkout) // nil where it is not there
		t.remove(ctx, repo, c)
	}
}

// remove deletes a copy with its branch; repo is nil if its checkout is not there.
func (t *Trees) remove(ctx context.Context, repo *files.Repository, c *Copy) {
	if repo != nil {
		_, _ = repo.Run(ctx, nil, "worktree", "remove", "--force", c.Root) // it may not be there
		_, _ = repo.Run(ctx, nil, "branch", "-D", "-q", c.Branch)
	}
	_ = os.RemoveAll(filepath.Dir(t.about(c.Session)))
}
