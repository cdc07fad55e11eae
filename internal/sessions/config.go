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
)

// Config is what a [Manager] works with. Log, Catalog, Backends and Workspaces
// are needed; what is named as in [session.Config] is meant for each session.
type Config struct {
	Log     Log
	Catalog Catalog
	Drafts  eventlog.Drafts

	Backends []agent.Backend
	Default  string // the backend of new sessions; empty: the first
	// Choose, if set, says instead of Default which backend new sessions have. It is
	// asked once, when that is first needed: looking for agents may take a while.
	Choose func(ctx context.Context) string

	Workspaces *files.Workspaces
	// Room makes what the sessions of a workspace work with, at its first use. It does
	// not need the folder to be there. nil: they have nothing.
	Room func(workspace string) (Room, error)

	Attachments Attachments // nil: uploads are refused
	Outputs     Outputs     // nil: outputs cannot be attached

	Permissions       consent.Mode
	PermissionTimeout time.Duration
	AgentIdle         time.Duration

	Tell func() string // as in [session.Config]

	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// Attachments keeps what users upload for their prompts.
type Attachments interface {
	session.Uploads
	// DeleteSession drops all of a session's.
	DeleteSession(session string)
}

// Outputs is what was shown.
type Outputs interface {
	session.AttachableOutputs
	// DeleteSession drops all of a session's.
	DeleteSession(session string)
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
	seen := map[string]bool{}
	for _, b := range c.Backends {
		if seen[b.Name()] {
			return c, fmt.Errorf("%w: two backends are named %q", eventlog.ErrInvalid, b.Name())
		}
		seen[b.Name()] = true
	}
	if c.Default == "" {
		c.Default = c.Backends[0].Name()
	}
	if !seen[c.Default] {
		return c, fmt.Errorf("%w: the default backend %q is not among the backends", eventlog.ErrInvalid, c.Default)
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

// sessionConfig returns what every session works with, but for its backend and its workspace.
func (c Config) sessionConfig(owner eventlog.Owner) (session.Config, error) {
	one := session.Config{Log: c.Log, Drafts: c.Drafts, Owner: owner, Permissions: c.Permissions, PermissionTimeout: c.PermissionTimeout, AgentIdle: c.AgentIdle, Tell: c.Tell, Logger: c.Logger, Now: c.Now}
	if c.Attachments != nil { // a nil of one interface is none of another
		one.Attachments = c.Attachments
	}
	if c.Outputs != nil {
		one.Outputs = c.Outputs
	}
	one.Workspace, one.Context = c.Workspaces.First(), func() event.Context { return event.Context{} } // of none: each has its own
	return one.Complete()
}

// Options is what a session starts with; what is empty has a default.
type Options struct {
	Workspace string // the path of one that is open; empty: the first
	Backend   string
	Model     string
	Title     string
	Mode      string
}

// Patch changes a session; nil leaves a property as it is.
type Patch struct {
	Title  *string
	Model  *string
	Mode   *string
	Effort *string
	Pinned *bool
}
