package main

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"sync"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"webchat/internal/agent"
	"webchat/internal/agent/offline"
	"webchat/internal/consent"
	"webchat/internal/daemon"
	"webchat/internal/displaytools"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/guard"
	"webchat/internal/held"
	"webchat/internal/mcp"
	"webchat/internal/outputs"
	"webchat/internal/policy"
	"webchat/internal/released"
	"webchat/internal/server"
	"webchat/internal/session"
	"webchat/internal/sessions"
	"webchat/internal/sse"
	"webchat/internal/store"
	"webchat/internal/wording"
	"webchat/internal/worktree"
)

// keptAttachments is the memory for uploads, in bytes.
const keptAttachments = 128 << 20

// rooms are the parts of a server, complete and unstarted.
type rooms struct {
	db       sessionStore
	file     *store.DB       // nil: a database keeps the sessions
	engine   *store.Postgres // nil: a file keeps them
	outputs  *outputs.Store
	guard    *guard.Guard
	sessions *sessions.Manager
	day      *session.Day // nil: a day has no budget
	hub      *sse.Hub
	lender   *mcp.Lender
	handover *daemon.Handover
	holder   *held.Holder // nil: nothing is confined
	server   *server.Server
	metrics  *metrics
	peers    server.Peers   // nil: it is alone
	looking  sync.WaitGroup // for agents, which may take a while

	cells *cages
	trees *worktree.Trees
	kept  *policy.Kept
}

// usersOwn is what the display tools need that are the user's alone.
type usersOwn struct {
	inputs  *displaytools.Inputs
	before  func(eventlog.ID) displaytools.Before
	results func(eventlog.ID) displaytools.Results
	held    func(eventlog.ID) displaytools.Held
}

// tools makes the display tools of one session.
func (o setup) tools(workspace string, p *policy.Policy, out *outputs.Store,
	own usersOwn, confine displaytools.Confine) func(eventlog.ID) (agent.Toolset, error) {
	shell, _ := lookup(o.env, "SHELL")
	return func(id eventlog.ID) (agent.Toolset, error) {
		cfg := displaytools.Config{
			SessionID:      string(id),
			Workspace:      workspace,
			Policy:         p,
			Outputs:        out,
			Shell:          shell,
			Env:            o.env,
			EnvAllow:       o.c.EnvAllow,
			EnvDeny:        o.c.keyVariables(),
			CommandTimeout: o.CommandTimeout,
			Inputs:         own.inputs,
			Confine:        confine,
		}
		if own.before != nil {
			cfg.Before = own.before(id)
		}
		if own.results != nil {
			cfg.Results = own.results(id)
		}
		if own.held != nil {
			cfg.Held = own.held(id)
		}
		return displaytools.New(cfg)
	}
}

// desk keeps what the user's MCP servers return for them.
type desk struct{ *released.Releases }

// Give implements [mcp.Desk].
func (d desk) Give(call agent.CallInfo, name string, data []byte, sent string,
	app *displaytools.App) (*agent.Telemetry, string, error) {
	return displaytools.Give(d.Store, call, name, data, sent, app)
}

// before says what the files of a session's workspace were when it began.
func (r *rooms) before(id eventlog.ID) displaytools.Before {
	return func(ctx context.Context, path string) (displaytools.Earlier, error) {
		sess, err := r.sessions.Get(ctx, id)
		if err != nil {
			return displaytools.Earlier{}, err
		}
		source, err := r.server.ChangesOf(sess)
		if err != nil {
			return displaytools.Earlier{}, err
		}
		was, err := source.Was(ctx, path)
		return displaytools.Earlier(was), err
	}
}

// results returns what came of the calls of a session's agent.
func (r *rooms) results(id eventlog.ID) displaytools.Results {
	return func(ctx context.Context, toolCallID string, from int64) (displaytools.Returned, error) {
		sess, err := r.sessions.Get(ctx, id)
		if err != nil {
			return displaytools.Returned{}, err
		}
		res, err := sess.Result(ctx, toolCallID, from)
		return displaytools.Returned(res), err
	}
}

// looks is what a text asks to see, read as the offline agent reads it.
func looks(ctx context.Context, workspace, text string) (all []server.Look, err error) {
	found, err := offline.Looks(ctx, workspace, text)
	for _, l := range found {
		all = append(all, server.Look(l))
	}
	return all, err
}

// room makes what the sessions of a workspace work with.
func (o setup) room(cells *cages, dir string, out *released.Releases, own usersOwn,
	kept *policy.Kept) func(string) (sessions.Room, error) {
	env, _ := policy.Inherit(o.env, o.c.EnvAllow, o.c.keyVariables())
	names := files.NewBudget(namesKept)
	return func(workspace string) (room sessions.Room, err error) {
		if err := cells.fits(workspace); err != nil {
			return room, err
		}
		p := o.policy(workspace, dir)
		confine, err := cells.commands(workspace)
		if err != nil {
			return room, err
		}
		room = sessions.Room{
			Tools: o.roster(o.c).mcpServers().Lend(workspace, desk{out},
				out.Reading(o.tools(workspace, p, out.Store, own, confine))),
			Policy: p,
			Kept:   func(user string) consent.Kept { return kept.Workspace(workspace, user) },
		}
		room.Refused = cells.refused(workspace)
		if cells != nil {
			if room.Cage, err = cells.Of(workspace); err != nil {
				return room, err
			}
			room.Confines = func(backend string) bool { return backend != mcp.BackendName }
		}
		if len(o.c.Hooks) > 0 {
			if room.Hooks, err = o.hooks(workspace); err != nil {
				return room, err
			}
		}
		room.Files, err = files.New(files.Config{Root: workspace, Env: o.trusted(env, workspace),
			Hidden: p.Hidden, Budget: names})
		return room, err
	}
}

// snapshots keep what workspaces are, without what may hold secrets and what is webchat's own.
func (o setup) snapshots(dir string) *files.Snapshots {
	env, _ := policy.Inherit(o.env, o.c.EnvAllow, o.c.keyVariables())
	secret := func(name string) bool {
		rel, err := filepath.Rel(dir, name)
		own := err == nil && filepath.IsLocal(rel) &&
			!isBelow(name, filepath.Join(o.shared(dir), worktreeFolder))
		return own || policy.SensitiveFile(name)
	}
	return files.NewSnapshots(files.SnapshotsConfig{Dir: filepath.Join(dir, snapshotFolder),
		Env: o.trusted(env), Secret: secret})
}

// worktrees are those that sessions work in. Git has the whole environment: it commits for the
// user.
func (o setup) worktrees(dir string) *worktree.Trees {
	return worktree.New(worktree.Config{Dir: filepath.Join(o.shared(dir), worktreeFolder),
		Env: o.trusted(policy.InheritWhole(o.env, o.c.keyVariables()))})
}

// namesKept is how many bytes the names of the files of all open folders may take.
const namesKept = 128 << 20

// What the data folder holds beside what other rooms keep in it.
const (
	outputsFolder  = "outputs"
	snapshotFolder = "snapshots"
	worktreeFolder = "worktrees" // of sessions, each with a folder for it
	heldFolder     = "held"      // what agents made that runs later
	confinedFolder = "confined"  // what confined commands write that does not last
	agentsFolder   = "agents"    // their homes
	copilotFolder  = "copilot"
)

// handler answers, and counts what it answered.
func (r *rooms) handler() http.Handler {
	return promhttp.InstrumentHandlerCounter(r.metrics.requests, r.server.Handler())
}

// notice is what pages say about a file that was damaged, or that lacks what was saved.
func (r *rooms) notice(taken store.Rescue) string {
	switch {
	case r.file == nil:
		return ""
	case len(taken.Aside) == 0:
		return r.file.Missing()
	}
	names := filepath.Base(taken.Aside[0])
	if len(taken.Aside) > 1 {
		names += ", with its journal " + filepath.Base(taken.Aside[1])
	}
	if taken.Sessions == 0 {
		return "The file with the sessions was damaged. It was moved to " + names +
			" in the data folder, and new sessions go into a new one."
	}
	text := "The file with the sessions was damaged. "
	if text += wording.Plural(taken.Sessions, "session"); taken.Sessions == 1 {
		text += " was taken out of it"
	} else {
		text += " were taken out of it"
	}
	switch {
	case taken.Damaged > 0:
		text += ", with " + wording.Plural(taken.Events, "event") + " missing in " +
			wording.Count(taken.Damaged) + " of them"
	case taken.Lost == 0:
		text += ", and nothing is missing"
	}
	if taken.Lost > 0 {
		text += "; " + wording.Plural(taken.Lost, "more session") + " could not be"
	}
	return text + ". The damaged file is " + names + " in the data folder."
}

// askAboutHeld has a session ask about what is held for it. One that cannot be loaded now asks when
// it is loaded next.
func (r *rooms) askAboutHeld(ctx context.Context, id string, found []session.HeldFile) {
	if sess, err := r.sessions.Get(ctx, eventlog.ID(id)); err == nil {
		sess.Held().Ask("", found)
	}
}

// runSessions runs the sessions, and beside them looks for damage in their logs.
func (r *rooms) runSessions(ctx context.Context) error {
	var beside sync.WaitGroup
	if r.file != nil {
		beside.Go(func() { r.file.Inspect(ctx) })
	}
	if r.cells != nil {
		beside.Go(func() { r.holder.Run(ctx, r.askAboutHeld) })
		beside.Go(func() { r.cells.Follow(ctx, r.kept.Changed) })
	}
	defer beside.Wait()
	r.settleTrees(ctx) // before sessions are made
	return r.sessions.Run(ctx)
}

// settleTrees looks at the worktrees of sessions, and hides the folders of those that are gone.
func (r *rooms) settleTrees(ctx context.Context) {
	there := map[string]bool{}
	r.trees.Settle(ctx, func(id string) bool {
		_, err := r.db.Summary(ctx, eventlog.ID(id))
		return !errors.Is(err, eventlog.ErrNotFound)
	})
	for _, c := range r.trees.All() {
		there[c.Workspace] = true
	}
	for _, w := range r.sessions.Workspaces().All() {
		if r.trees.Holds(w.Path) && !there[w.Path] {
			_ = r.sessions.Workspaces().Close(w.ID) // unless it is the only one
		}
	}
}

// work starts everything that has to run and returns the errors with which it
// ends. Sessions end when ctx does.
func (r *rooms) work(ctx context.Context) (sessions, outputs <-chan error) {
	a, b := make(chan error, 1), make(chan error, 1)
	go func() { a <- r.runSessions(ctx) }()
	go func() { b <- r.outputs.Run(ctx) }()
	return a, b
}
