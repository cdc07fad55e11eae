package sessions

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/session"
	"webchat/internal/worktree"
)

// Config is what a [Manager] works with. Log, Catalog, Backends and Workspaces are needed; what is
// named as in [session.Config] is meant for each session.
type Config struct {
	Log     Log
	Catalog Catalog
	Drafts  eventlog.Drafts
	Owners  Owners // of the sessions, where several replicas share the log; nil: this program has all

	Backends []agent.Backend
	// Choose says which backend new sessions have. It is asked once, when that is first needed:
	// looking for agents may take a while. nil: the first.
	Choose func(ctx context.Context) string

	Workspaces *files.Workspaces
	// Room makes what the sessions of a workspace work with, at its first use. It does not need the
	// folder to be there. nil: they have nothing.
	Room func(workspace string) (Room, error)

	// Worktrees are those that sessions work in. nil: none can be made.
	Worktrees *worktree.Trees

	// Snapshots keep what workspaces are before turns act. nil: none are kept.
	Snapshots Snapshots

	// Holder holds what agents made that takes effect later by itself. nil: nothing is confined.
	Holder Holder

	Attachments session.Uploads
	Outputs     session.AttachableOutputs

	Permissions       consent.Mode
	PermissionTimeout time.Duration
	Budget            event.Budget
	Day               *session.Day
	Cost              func(model string, u event.Usage) (dollars float64, known bool)
	AgentIdle         time.Duration
	SnapshotWait      time.Duration
	DraftPause        time.Duration

	Notice func() string

	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// Snapshots are those of all sessions. The methods may be called concurrently.
type Snapshots interface {
	session.Snapshots
	// Unsettled returns the sessions that went back when their process was killed.
	Unsettled() []string
	// DeleteSession deletes those of a session.
	DeleteSession(ctx context.Context, workspace, session string) error
}

// Holder is that of all sessions. The methods may be called concurrently.
type Holder interface {
	session.Holder
	// DeleteSession deletes what is held for a session.
	DeleteSession(session string) error
}

func (c Config) complete() (Config, error) {
	switch {
	case c.Log == nil || c.Catalog == nil:
		return c, fmt.Errorf("%w: sessions need a log and a catalog", eventlog.ErrInvalid)
	case c.Workspaces == nil:
		return c, fmt.Errorf("%w: sessions need workspaces", eventlog.ErrInvalid)
	case len(c.Backends) == 0:
		return c, fmt.Errorf("%w: sessions need a backend", eventlog.ErrInvalid)
	}
	if c.Room == nil {
		c.Room = func(string) (Room, error) { return Room{}, nil }
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, nil
}

// sessionConfig returns what every session works with, but for its backend and what is its
// workspace's.
func (c Config) sessionConfig(owner eventlog.Owner) (session.Config, error) {
	return session.Config{
		Log:               c.Log,
		Drafts:            c.Drafts,
		Owner:             owner,
		Snapshots:         c.Snapshots,
		Holder:            c.Holder,
		Attachments:       c.Attachments,
		Outputs:           c.Outputs,
		Permissions:       c.Permissions,
		PermissionTimeout: c.PermissionTimeout,
		Budget:            c.Budget,
		Day:               c.Day,
		Cost:              c.Cost,
		AgentIdle:         c.AgentIdle,
		SnapshotWait:      c.SnapshotWait,
		DraftPause:        c.DraftPause,
		Notice:            c.Notice,
		Logger:            c.Logger,
		Now:               c.Now,
		Workspace:         c.Workspaces.First(),
		Context:           func() event.Context { return event.Context{} },
	}.Complete()
}

// Options is what a session starts with; what is empty has a default.
type Options struct {
	Workspace string // the path of one that is open; empty: the first
	Backend   string
	Model     string
	Title     string
	Mode      string
	// Worktree has it work in a worktree of its own, of the repository that the workspace is in.
	Worktree  bool
	TakeAlong bool // what is not committed there

	taken []event.Data // what it begins with, of another session
}

// Patch changes a session; nil leaves a property as it is.
type Patch struct {
	Title  *string       `json:"title,omitempty"`
	Model  *string       `json:"model,omitempty"`
	Mode   *string       `json:"mode,omitempty"`
	Effort *string       `json:"effort,omitempty"`
	Pinned *bool         `json:"pinned,omitempty"`
	Budget *event.Budget `json:"budget,omitempty"`
}
