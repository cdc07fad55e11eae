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

// Config is what a [Manager] works with. Log, Catalog, Backends and Workspace
// are needed; what is named as in [session.Config] is meant for each session.
type Config struct {
	Log     Log
	Catalog Catalog
	Drafts  eventlog.Drafts

	Backends []agent.Backend
	Default  string // the backend of new sessions; empty: the first
	// Choose, if set, says instead of Default which backend new sessions have. It is
	// asked once, when that is first needed: looking for agents may take a while.
	Choose    func(ctx context.Context) string
	Workspace string // absolute path

	Tools  func(id session.ID) (agent.Toolset, error)
	Hooks  session.Hooks
	Policy consent.Policy
	Kept   consent.Kept

	Attachments Attachments // nil: uploads are refused
	Outputs     Outputs     // nil: outputs cannot be attached

	Permissions       consent.Mode
	PermissionTimeout time.Duration
	AgentIdle         time.Duration

	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// Attachments keeps what users upload for their prompts.
type Attachments interface {
	session.Attachments
	// DeleteSession drops all of a session's.
	DeleteSession(session string)
}

// Outputs is what was shown.
type Outputs interface {
	session.Outputs
	// DeleteSession drops all of a session's.
	DeleteSession(session string)
}

func (c Config) complete() (Config, error) {
	switch {
	case c.Log == nil || c.Catalog == nil:
		return c, fmt.Errorf("%w: sessions need a log and a catalog", eventlog.ErrInvalid)
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
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, nil
}

// each returns what every session works with, but for its backend.
func (c Config) each(owner eventlog.Owner) (session.Config, error) {
	one := session.Config{Log: c.Log, Drafts: c.Drafts, Owner: owner, Workspace: c.Workspace, Context: c.context,
		Tools: c.Tools, Hooks: c.Hooks, Policy: c.Policy, Kept: c.Kept,
		Permissions: c.Permissions, PermissionTimeout: c.PermissionTimeout, AgentIdle: c.AgentIdle, Logger: c.Logger, Now: c.Now}
	if c.Attachments != nil { // a nil of one interface is none of another
		one.Attachments = c.Attachments
	}
	if c.Outputs != nil {
		one.Outputs = c.Outputs
	}
	return one.Complete()
}

// context says where the workspace is now.
func (c Config) context() event.Context {
	h := files.HeadOf(c.Workspace)
	return event.Context{Cwd: c.Workspace, GitRoot: h.Root, Branch: h.Branch, Commit: h.Commit}
}

// Options is what a session starts with; what is empty has a default.
type Options struct {
	Backend string
	Model   string
	Title   string
	Mode    string
}

// Patch changes a session; nil leaves a property as it is.
type Patch struct {
	Title  *string
	Model  *string
	Mode   *string
	Effort *string
	Pinned *bool
}
