package sessions

import (
	"context"
	"fmt"

	"webchat/internal/event"
	"webchat/internal/files"
	"webchat/internal/session"
	"webchat/internal/worktree"
)

// createInCopy creates a session in a worktree of its own of the repository that a folder is in.
func (m *Manager) createInCopy(ctx context.Context, folder string,
	o Options) (*session.Session, error) {
	if m.cfg.Worktrees == nil {
		return nil, fmt.Errorf("create a session: %w: worktrees are not kept here", worktree.ErrUnfit)
	}
	id := event.NewID()
	c, err := m.cfg.Worktrees.Make(ctx, worktree.Wish{
		Session:   string(id),
		Workspace: folder,
		Words:     o.Title,
		Along:     o.TakeAlong,
	})
	if err != nil {
		return nil, err // it says what a person reads
	}
	o.taken = []event.Data{c.Fact()}
	w, _, err := m.cfg.Workspaces.Open(c.Workspace)
	if err == nil {
		var s *session.Session
		if s, err = m.create(ctx, id, w.Path, o); err == nil {
			return s, nil
		}
		_ = m.cfg.Workspaces.Close(files.WorkspaceID(w.Path)) // another one is open
	}
	m.cfg.Worktrees.Unmake(context.WithoutCancel(ctx), string(id))
	return nil, err
}
