// Package sessions holds all sessions: it creates, lists, loads, deletes, restores and prunes them,
// reports their changes, and says when their log refuses what it is given.
//
// # Guarantees
//
//   - A session has one value: every caller gets the same [session.Session].
//   - What an earlier process left open is closed before a session is returned, or as soon as the
//     log can be written.
//   - A session belongs to one workspace, and works with what is that workspace's alone: its
//     [Room]. Which folders there are says the list of [Manager.Workspaces].
//   - Of a context that names a user ([As]) every method knows that user's sessions only: another's
//     is as one that never was.
//   - A deleted session can be restored for [UndoDelete]; then its log, outputs and uploads are
//     removed for good, after a restart too.
//   - Where several replicas share the log, each session has one of them, see [Owners]: the others
//     return an [*ElsewhereError] for it, and list it and report its changes all the same.
//   - While the log refuses what it is given, every reader of every session and of [Manager.Watch]
//     gets an ephemeral session.error of errorType "log" at once, and one of type "saved" when the
//     log takes as much as it refused. Marks and deletions are refused meanwhile.
//
// # Concurrency
//
// All methods may be called at any time from any goroutine. A session is created, loaded or ended
// by one caller at a time; those of other sessions do not wait, however long an agent takes to
// close. [Manager.Run] returns when everything the sessions started has ended.
//
// # Usage
//
//	m, err := sessions.New(sessions.Config{Log: log, Catalog: log, Backends: backends, Workspaces: list})
//	go m.Run(ctx)
//	s, err := m.Create(ctx, sessions.Options{})
package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/session"
)

const (
	// shutdownLimit is how long Run waits for sessions that do not end.
	shutdownLimit = 8 * time.Second
	// lookEvery is how often the log is looked at while nothing is written: users are to know within a
	// second that it cannot be written.
	lookEvery = 500 * time.Millisecond
)

// Manager holds all sessions. It is the [eventlog.Owner] of each. A session is loaded when it is
// first asked for and stays, without its log, a few kilobytes.
type Manager struct {
	cfg    Config
	base   session.Config  // of every session, but for its backend and what is its workspace's
	ready  chan struct{}   // closed when recovery is over
	ctx    context.Context // of what the manager does by itself
	cancel context.CancelFunc

	backends *backends
	drain    *drain
	purger   *purger
	replica  replica
	rooms    *rooms
	table    *table
	trouble  *trouble
	watches  *watches

	started atomic.Bool
}

// New returns a manager that does nothing until Run.
func New(c Config) (*Manager, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	m := &Manager{
		cfg:     c,
		ready:   make(chan struct{}),
		replica: replica{c.Owners},
		rooms:   &rooms{make: c.Room, made: map[string]Room{}},
		table:   newTable(),
		watches: &watches{now: c.Now, open: map[*Watch]struct{}{}},
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	if m.backends, err = newBackends(m.ctx, c); err == nil {
		m.base, err = c.sessionConfig(m)
		m.base.Beside = &session.Beside{}
	}
	if err != nil {
		m.cancel()
		return nil, err
	}
	m.trouble = &trouble{ctx: m.ctx, log: c.Log, logger: c.Logger, table: m.table, watches: m.watches}
	m.drain = &drain{m.table, m.replica, c.Logger}
	m.purger = &purger{ctx: m.ctx, table: m.table, replica: m.replica, catalog: c.Catalog,
		trouble: m.trouble, backends: m.backends, snapshots: c.Snapshots, holder: c.Holder,
		worktrees: c.Worktrees, shown: c.Outputs, uploads: c.Attachments, logger: c.Logger, now: c.Now,
		scrubbing: make(chan struct{}, 1), timers: map[eventlog.ID]*time.Timer{}}
	return m, nil
}

// Run closes what an earlier process left open and then lets sessions work until ctx ends. A turn
// that runs then ends with outcome interrupted, as do the prompts that wait; session.shutdown is
// logged. When Run returns nil nothing of any session is left. It is called once.
func (m *Manager) Run(ctx context.Context) error {
	if m.started.Swap(true) {
		return errors.New("the sessions run already")
	}
	m.recover(ctx)
	if ctx.Err() == nil {
		close(m.ready)
		if m.cfg.Owners != nil {
			m.table.wg.Go(m.share)
		}
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-tick.C:
				_ = m.Wrote(m.cfg.Log.Writable(ctx, 0), 0) // users see it
			}
		}
	}
	return m.close()
}

// close ends all sessions at once.
func (m *Manager) close() error {
	all := m.table.close()
	m.purger.close()
	m.cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		var wg sync.WaitGroup
		for _, s := range all {
			wg.Go(s.Close)
		}
		wg.Wait()
		m.table.wg.Wait()
		m.rooms.close()
	}()
	limit := time.NewTimer(shutdownLimit)
	defer limit.Stop()
	var err error
	select {
	case <-done:
	case <-limit.C:
		err = fmt.Errorf("sessions did not end within %v: an agent or a tool does not stop",
			shutdownLimit)
	}
	m.watches.close()
	return err
}

// await waits for the end of recovery.
func (m *Manager) await(ctx context.Context) error {
	select {
	case <-m.ready:
	case <-m.ctx.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	if m.ctx.Err() != nil {
		return errClosed
	}
	return nil
}

var errClosed = fmt.Errorf("sessions: %w", eventlog.ErrClosed)

// Create starts a session. Its agent starts with the first prompt. [eventlog.ErrInvalid] for an
// unknown backend, a workspace that is not open or a title that is too long;
// [files.ErrMissingWorkspace] for a workspace that is not there; [worktree.ErrUnfit] for one of
// which no worktree can be made; [agent.ErrUnsupported] for a backend whose tool calls the user's
// hooks do not reach.
func (m *Manager) Create(ctx context.Context, o Options) (*session.Session, error) {
	if err := m.await(ctx); err != nil {
		return nil, err
	}
	o.Backend = cmp.Or(o.Backend, m.backends.chosen())
	if m.backends.named[o.Backend] == nil {
		return nil, fmt.Errorf("%w: there is no backend %q", eventlog.ErrInvalid, o.Backend)
	}
	w, err := m.cfg.Workspaces.Find(o.Workspace)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", eventlog.ErrInvalid, err)
	}
	if err := files.CheckWorkspace(w.Path); err != nil {
		return nil, fmt.Errorf("create a session: %w", err)
	}
	if err := m.backends.check(ctx, o.Backend, o.Model); err != nil {
		return nil, fmt.Errorf("create a session: %w", err)
	}
	if o.Worktree {
		return m.createInCopy(ctx, w.Path, o)
	}
	return m.create(ctx, event.NewID(), w.Path, o)
}

// create starts a session in a folder that fits.
func (m *Manager) create(ctx context.Context, id event.ID, folder string,
	o Options) (*session.Session, error) {
	with, err := m.configFor(UserOf(ctx), o.Backend, folder)
	if err != nil {
		return nil, err
	}
	// callers that find it in the list wait until it is kept
	release, err := m.table.claim(ctx, eventlog.ID(id))
	if err != nil {
		return nil, err
	}
	defer release()
	start := event.SessionStart{
		SessionID: string(id),
		Backend:   o.Backend,
		Model:     o.Model,
		Title:     o.Title,
		User:      UserOf(ctx),
	}
	m.backends.instructions(ctx, m.backends.named[o.Backend], folder, &start)
	s, err := session.Create(ctx, with, start, o.Mode, o.taken...)
	if err != nil {
		return nil, err
	}
	return s, m.table.add(s)
}

// Get returns a session; [eventlog.ErrNotFound] for an unknown or deleted one, and for one that is
// not there for ctx's user, see [As].
func (m *Manager) Get(ctx context.Context, id eventlog.ID) (*session.Session, error) {
	if err := m.await(ctx); err != nil {
		return nil, err
	}
	s, err := m.load(ctx, id)
	if err == nil && !s.Summary().DeletedAt.IsZero() {
		return nil, notFound(id)
	}
	return s, err
}

func notFound(id eventlog.ID) error {
	return fmt.Errorf("session %s: %w", id,
		eventlog.ErrNotFound)
}

// Stats is what sessions do at a moment.
type Stats struct {
	Loaded    int // sessions this process holds
	Turns     int // that run
	Questions int // to users that are open
	Agents    int // conversations with agents that are open
}

// Stats returns what the loaded sessions do.
func (m *Manager) Stats() Stats {
	all := m.table.all()
	n := Stats{Loaded: len(all)}
	for _, s := range all {
		sum := s.Summary()
		n.Questions += sum.Pending
		if sum.Open.Turn != "" {
			n.Turns++
		}
		if s.AgentOpen() {
			n.Agents++
		}
	}
	return n
}

// load returns the one value of a session that is there for ctx's user, closing first what is open
// in it. Every look-up of a session by its id comes here.
func (m *Manager) load(ctx context.Context, id eventlog.ID) (*session.Session, error) {
	if err := m.Sees(ctx, id); err != nil { // whose it is never changes
		return nil, err
	}
	if err := m.replica.alive(); err != nil {
		return nil, err
	}
	// one that is handed over is waited for
	if s := m.table.get(id); s != nil && (m.cfg.Owners == nil || !s.Ended()) {
		return s, nil
	}
	release, err := m.table.claim(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	if s := m.table.get(id); s != nil {
		return s, nil
	}
	if err := m.replica.take(ctx, id); err != nil {
		return nil, err // it names the session
	}
	sum, err := m.cfg.Catalog.Summary(ctx, id)
	if err != nil {
		return nil, err // it names the session
	}
	// a damaged log may not say
	with, err := m.configFor(sum.User, sum.Backend, cmp.Or(sum.Workspace, m.cfg.Workspaces.First()))
	if err != nil {
		return nil, err
	}
	s, err := session.Load(ctx, with, sum)
	if err != nil {
		return nil, err
	}
	if !sum.DeletedAt.IsZero() {
		m.purger.schedule(id, m.purger.left(sum))
	}
	return s, m.table.add(s)
}

// List returns one page of the sessions that are not deleted and whose workspace is not closed,
// unless the query names it.
func (m *Manager) List(ctx context.Context, q Query) (Page, error) {
	if err := m.await(ctx); err != nil {
		return Page{}, err
	}
	q.Kind, q.User = QueryPresent, UserOf(ctx)
	q.Limit = min(max(q.Limit, 0), 200)
	if len(q.Workspaces) == 0 {
		for _, w := range m.cfg.Workspaces.Closed() {
			q.Hidden = append(q.Hidden, w.Path)
		}
	}
	return m.cfg.Catalog.List(ctx, q)
}

// Update changes a session. Title and model become events; a model counts from the next turn on. A
// backend that cannot change its model refuses with [agent.ErrUnsupported].
func (m *Manager) Update(ctx context.Context, id eventlog.ID, p Patch) (eventlog.Summary, error) {
	s, err := m.Get(ctx, id)
	if err != nil {
		return eventlog.Summary{}, err
	}
	setModel := func(ctx context.Context, model string) error {
		if err := m.backends.check(ctx, s.Summary().Backend, model); err != nil {
			return fmt.Errorf("change the model: %w", err)
		}
		return s.SetModel(ctx, model)
	}
	for _, property := range []struct {
		to  *string
		set func(context.Context, string) error
	}{{p.Title, s.Rename}, {p.Model, setModel}, {p.Mode, s.SetMode}, {p.Effort, s.SetEffort}} {
		if property.to != nil {
			if err := property.set(ctx, *property.to); err != nil {
				return eventlog.Summary{}, err
			}
		}
	}
	if p.Budget != nil {
		if err := s.SetBudget(ctx, *p.Budget); err != nil {
			return eventlog.Summary{}, err
		}
	}
	if p.Pinned != nil {
		if err := m.Wrote(m.cfg.Catalog.Mark(ctx, id, Mark{Pinned: p.Pinned}), 0); err != nil {
			return eventlog.Summary{}, fmt.Errorf("pin session %s: %w", id, err)
		}
		if *p.Pinned {
			s.Pin()
		} else {
			s.Unpin()
		}
	}
	return s.Summary(), nil
}

// Branch creates a session that begins with all that another has before a prompt;
// its agent is given that with its first prompt. The other stays as it is. Errors as of
// [Manager.Create]; [eventlog.ErrNotFound] for an unknown prompt, [eventlog.ErrInvalid] for one
// that joined another's turn or still waits.
func (m *Manager) Branch(ctx context.Context, id eventlog.ID,
	messageID string) (*session.Session, error) {
	from, err := m.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	o, err := branch(ctx, from, messageID)
	if err != nil {
		return nil, err
	}
	return m.Create(ctx, o)
}
