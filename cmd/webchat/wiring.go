package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/offline"
	"webchat/internal/cage"
	"webchat/internal/consent"
	"webchat/internal/daemon"
	"webchat/internal/displaytools"
	"webchat/internal/document"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/guard"
	"webchat/internal/held"
	"webchat/internal/mcp"
	"webchat/internal/outputs"
	"webchat/internal/page"
	"webchat/internal/policy"
	"webchat/internal/released"
	"webchat/internal/server"
	"webchat/internal/session"
	"webchat/internal/sessions"
	"webchat/internal/sse"
	"webchat/internal/store"
)

// wiring makes the parts of a server, one after the other: later ones need earlier ones.
type wiring struct {
	*rooms
	ctx     context.Context // of the server
	o       *options
	c       *config
	folders []string // that are open at first
	dir     string   // the data folder
	log     *slog.Logger

	locked func() error // whether the data folder is still this server's
	lost   func(error)  // others may have its sessions
	away   func()       // the database does not answer

	box       sandbox
	backends  []agent.Backend
	opening   func() // the store, once
	notOpened error
	taken     store.Rescue
	documents document.Store
	start     string // of this server, where several share a database
	pages     *server.Pages
	inputs    *displaytools.Inputs
	shown     *released.Releases
	snapshots *files.Snapshots
	open      *files.Workspaces
	room      func(workspace string) (sessions.Room, error)
}

// newRooms wires everything. What it opened is closed when it fails.
func (w *wiring) newRooms() (_ *rooms, err error) {
	w.rooms = &rooms{metrics: newMetrics()}
	w.opening = sync.OnceFunc(w.openStore)
	for _, step := range []func() error{w.confine, w.findAgents, w.keepOutputs} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	go w.opening() // while all is made that does not need it
	defer func() {
		if w.opening(); err != nil && w.notOpened == nil {
			err = errors.Join(err, w.db.Close())
		}
	}()
	for _, step := range []func() error{w.guardPages, w.lend, w.makeRoom, w.manage, w.answer} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	w.looking.Go(func() { w.o.roster(w.c).warnBackend(w.ctx, w.backends, w.log) })
	w.looking.Go(func() { w.o.roster(w.c).warnServers(w.ctx, w.log) })
	return w.rooms, nil
}

func (w *wiring) confine() (err error) {
	if w.box, err = w.o.with(w.c).sandbox(); err != nil {
		return err
	}
	opened := func(workspace string) []policy.Opening { return w.kept.Opened(workspace) }
	w.cells = w.o.with(w.c).cages(w.box, w.dir, opened, w.log)
	if err := cage.Clear(filepath.Join(w.dir, confinedFolder)); err != nil {
		w.log.Warn("what confined commands of an earlier start left could not be removed", "error", err)
	}
	return nil
}

func (w *wiring) findAgents() (err error) {
	type calling = func(context.Context, agent.ToolCall) (agent.Result, error)
	lend := func(id string, tools []agent.ToolSpec, call calling) (agent.Lent, func(), error) {
		return w.lender.ToAgent(id, tools, call)
	}
	if w.backends, err = w.o.roster(w.c).backends(w.cells, w.dir, lend, w.log); err != nil {
		return err
	}
	const missing = "no agent that is set up is known to have a tool of this name, so the rule may " +
		"never hold"
	for _, missed := range missedRules(w.c, w.backends) {
		w.log.Warn(missing, "rule", missed)
	}
	return nil
}

func (w *wiring) keepOutputs() (err error) {
	made := outputs.Config{
		TTL:        w.o.OutputTTL,
		Budget:     int64(w.o.OutputBudget),
		Logger:     w.log,
		Unveiled:   w.c.unveiled(),
		Keep:       time.Duration(w.o.KeepOutputs),
		KeepDir:    filepath.Join(w.o.shared(w.dir), outputsFolder),
		KeepShared: w.o.SharedDir != "",
	}
	if made.KeepShared { // for their life at least: their maker may die before
		made.Keep = max(made.Keep, w.o.OutputTTL)
		made.Maker = func() int64 { return w.peers.Self().Number }
	}
	if w.outputs, err = outputs.New(made); err != nil {
		return &usageError{err.Error()}
	}
	return nil
}

func (w *wiring) openStore() {
	if w.o.EngineFile == "" {
		w.file, w.taken, w.notOpened = store.OpenFile(store.Config{Dir: w.dir, Held: w.locked}, w.log)
		w.db = w.file
		return
	}
	w.engine, w.notOpened = w.o.openEngine(w.ctx, w.dir, w.lost, w.away, w.log)
	w.db = w.engine
}

// guardPages makes the pages and the guard in front of them.
func (w *wiring) guardPages() (err error) {
	if w.pages, err = server.NewPages(server.PagesConfig{Outputs: w.outputs, Config: page.Config{
		Home:       w.o.home(),
		Base:       w.o.base(),
		OutputTTL:  w.o.OutputTTL,
		Budget:     int64(w.o.OutputBudget),
		Prices:     w.c.prices,
		Limit:      w.o.with(w.c).budget().session,
		NoModel:    []string{offline.Name},
		Models:     modelsOf(w.ctx, w.backends),
		Elsewhere:  []string{mcp.BackendName},
		Editor:     w.c.Editor,
		ConfigFile: w.o.configPath(),
		Unveiled:   w.c.unveiled(),
		Shared:     w.o.Identity != "",
	}}); err != nil {
		return err
	}
	users, err := w.o.users(w.log)
	if err != nil {
		return err
	}
	w.documents = document.Folder(w.dir)
	if w.o.EngineFile != "" {
		if w.opening(); w.notOpened != nil {
			return w.notOpened
		}
		w.documents, w.start = w.engine.Documents(), w.engine.Start()
	}
	if w.guard, err = guard.New(guard.Config{
		Dir:         w.dir,
		Users:       users,
		Documents:   w.documents,
		Start:       w.start,
		TokenFile:   w.o.TokenFile,
		PublicURL:   w.o.PublicURL,
		NoAuth:      w.o.InsecureNoAuth,
		MaxRequests: w.o.MaxRequests,
		MaxStreams:  w.o.MaxStreams,
		Refuse:      w.pages.Refuse,
		Logger:      w.log,
	}); err != nil {
		return err
	}
	w.hub, err = sse.New(sse.Config{Closing: server.Closing})
	return err
}

// lend makes what MCP clients are lent, in the folders that are open.
func (w *wiring) lend() (err error) {
	w.kept = policy.OpenKept(w.documents, w.log)
	if w.open, err = files.NewWorkspaces(files.WorkspacesConfig{
		Documents: w.documents, First: w.folders, Confined: w.cells.fits, Logger: w.log}); err != nil {
		return err
	}
	own := mcp.ServerConfig{
		Watched: func() bool { return w.hub.Streams() > 0 },
		Version: version(),
		Logger:  w.log,
	}
	w.lender, err = mcp.NewLender(mcp.LenderConfig{Guard: w.guard, Folders: w.open,
		Outputs: released.Outputs{Store: w.outputs}, ServerConfig: own})
	return err
}

// makeRoom makes what sessions of a folder work with.
func (w *wiring) makeRoom() error {
	w.snapshots, w.trees = w.o.with(w.c).snapshots(w.dir), w.o.with(w.c).worktrees(w.dir)
	w.inputs = &displaytools.Inputs{}
	w.shown = &released.Releases{
		Outputs: released.Outputs{Store: w.outputs},
		Unread:  w.o.ReadOutput != "on",
		Large:   w.o.LargeResults,
	}
	own := usersOwn{inputs: w.inputs, before: w.before, results: w.results}
	if w.cells != nil {
		w.holder = held.New(held.Config{Dir: filepath.Join(w.dir, heldFolder), Cage: w.cells.Of,
			Leave: consent.Mode(w.o.Permissions) == consent.ModeAllow, Logger: w.log})
		holder := w.holder
		own.held = func(id eventlog.ID) displaytools.Held { return holder.Shown(string(id)) }
	}
	w.room = w.o.with(w.c).room(w.cells, w.dir, w.shown, own, w.kept)
	return nil
}

// manage makes the sessions.
func (w *wiring) manage() (err error) {
	if w.opening(); w.notOpened != nil {
		return w.notOpened
	}
	if w.o.PeerURL != "" {
		w.peers = w.engine
	}
	if day := w.o.with(w.c).budget().day; day != (event.Budget{}) {
		w.day = session.NewDay(day, w.documents, time.Now, w.log)
	}
	choose := func(ctx context.Context) string {
		return w.o.roster(w.c).defaultBackend(ctx, w.backends)
	}
	manager := sessions.Config{
		Log:               measured{w.db, w.metrics},
		Catalog:           w.db,
		Drafts:            w.db,
		Owners:            ownersOf(w.db),
		Backends:          append(slices.Clone(w.backends), w.lender.Backend()),
		Choose:            choose,
		Workspaces:        w.open,
		Room:              w.room,
		Worktrees:         w.trees,
		Snapshots:         w.snapshots,
		Attachments:       outputs.NewUploads(keptAttachments),
		Outputs:           w.shown,
		Permissions:       consent.Mode(w.o.Permissions),
		PermissionTimeout: w.o.PermissionTimeout,
		Budget:            w.o.with(w.c).budget().session,
		Day:               w.day,
		Cost:              w.c.cost,
		AgentIdle:         w.o.AgentIdle,
		Notice:            w.o.roster(w.c).mcpServers().Report,
		Logger:            w.log,
	}
	if w.engine != nil { // each save is a round trip
		manager.DraftPause = time.Second
	}
	if w.holder != nil {
		manager.Holder = w.holder
	}
	if w.sessions, err = sessions.New(manager); err != nil {
		return err
	}
	if w.cells != nil {
		w.cells.ask = w.sessions.AskHost
	}
	w.lender.Sessions = w.sessions
	w.handover = &daemon.Handover{Sessions: w.sessions, Inputs: w.inputs, Flags: w.o.flags}
	_, err = w.sessions.Room(w.open.First()) // a wrong hook fails the start
	return err
}

// answer makes the routes.
func (w *wiring) answer() (err error) {
	w.metrics.read(w.rooms)
	w.server, err = server.New(server.Config{
		Sessions:    w.sessions,
		Outputs:     w.outputs,
		Hub:         w.hub,
		Guard:       w.guard,
		Pages:       w.pages,
		Metrics:     w.metrics.handler(),
		MCP:         w.lender,
		MCPSession:  w.lender.SessionOf,
		Peers:       w.peers,
		Forwarded:   w.metrics.wasForwarded,
		UserServers: userServers{w.o.roster(w.c).mcpServers()},
		Home:        w.o.home(),
		Public:      cage.Public(),
		Version:     version(),
		Consent:     w.o.with(w.c).consent(),
		Grants:      w.kept,
		Logger:      w.log,
		Sandboxes: server.Sandboxes{Any: w.box.shape(),
			Of: w.o.with(w.c).sandboxOf(w.box, w.cells), Reach: w.cells.reach},
		Looks:     looks,
		Stored:    w.db.Size,
		Notice:    w.notice(w.taken),
		Stopping:  w.ctx.Done(),
		Snapshots: w.snapshots,
		Worktrees: w.trees,
	})
	return err
}
