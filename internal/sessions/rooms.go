package sessions

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/session"
)

// ErrWorking: something runs or waits in a workspace.
var ErrWorking = errors.New("something runs or waits")

// Room is what the sessions of one workspace work with; what is named as in [session.Config] is
// meant for each of them. Everything in it may be nil.
type Room struct {
	Tools  func(id eventlog.ID) (agent.Toolset, error)
	Hooks  session.Hooks
	Policy session.Policy
	// Refused is of the agents' own commands.
	Refused func(command string, exit int, text string) []event.SandboxRefused
	Kept    func(user string) consent.Kept // what a user allowed for the workspace
	Cage    consent.Cage                   // confines what agents run
	// Confines reports whether Cage holds what agents of a backend do by their own means. nil: none's.
	Confines func(backend string) bool
	Files    *files.Index // the manager closes it
}

// rooms are those of the workspaces in which something was done.
type rooms struct {
	make func(workspace string) (Room, error)

	mu   sync.Mutex // guards made
	made map[string]Room
}

// of returns the room of a workspace.
func (o *rooms) of(workspace string) (Room, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if room, ok := o.made[workspace]; ok {
		return room, nil
	}
	room, err := o.make(workspace)
	if err != nil {
		return Room{}, fmt.Errorf("work in %s: %w", workspace, err)
	}
	o.made[workspace] = room
	return room, nil
}

// close ends what looks at files.
func (o *rooms) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, room := range o.made {
		if room.Files != nil {
			room.Files.Close()
		}
	}
}

// Workspaces are the folders that sessions may work in.
func (m *Manager) Workspaces() *files.Workspaces { return m.cfg.Workspaces }

// Room returns what the sessions of a workspace work with, made at its first use.
func (m *Manager) Room(workspace string) (Room, error) { return m.rooms.of(workspace) }

// CloseWorkspace hides a workspace and its sessions. [ErrWorking] while something runs or waits in
// one of them; else the errors of [files.Workspaces.Close].
func (m *Manager) CloseWorkspace(ctx context.Context, id string) error {
	if w, ok := m.cfg.Workspaces.ByID(id); ok {
		busy, err := m.List(As(ctx, ""), Query{
			Limit:  1,
			Filter: Filter{Workspaces: []string{w.Path}, State: Active},
		})
		if err != nil {
			return err
		}
		if len(busy.Sessions) > 0 {
			return fmt.Errorf("close %s: %w there: stop it first", w.Path, ErrWorking)
		}
	}
	return m.cfg.Workspaces.Close(id)
}

// Counts says for each workspace how many sessions of ctx's user it has and when something last
// happened in one.
func (m *Manager) Counts(ctx context.Context) (map[string]Workspace, error) {
	all, err := m.cfg.Catalog.Workspaces(ctx, UserOf(ctx))
	by := map[string]Workspace{}
	for _, w := range all {
		by[w.Path] = w
	}
	return by, err
}

// configFor is what a user's session of that backend and workspace works with.
func (m *Manager) configFor(user, backend, workspace string) (session.Config, error) {
	room, err := m.Room(workspace)
	c := m.base
	c.Backend, c.Workspace = m.backends.named[backend], workspace
	c.Context = func() event.Context {
		h := files.HeadOf(workspace)
		return event.Context{Cwd: workspace, GitRoot: h.Root, Branch: h.Branch, Commit: h.Commit}
	}
	c.Tools, c.Hooks, c.Policy, c.Refused, c.Cage = room.Tools, room.Hooks, room.Policy, room.Refused,
		room.Cage
	c.Confined = room.Confines != nil && room.Confines(backend)
	if room.Kept != nil {
		c.Kept = room.Kept(user)
	}
	return c, err
}
