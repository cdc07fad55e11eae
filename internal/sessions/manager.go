package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/session"
)

// shutdownLimit is how long Run waits for sessions that do not end.
const shutdownLimit = 8 * time.Second

// Manager holds all sessions. It is the [eventlog.Owner] of each. A session is loaded when it is first asked for and
// stays, without its log, a few kilobytes.
type Manager struct {
	choice sync.Once // of chosen
	chosen string    // the backend of sessions that name none

	cfg      Config
	base     session.Config // of every session, but for its backend and its workspace
	rooms    rooms
	backends map[string]agent.Backend
	ready    chan struct{}   // closed when recovery is over
	ctx      context.Context // of what the manager does by itself
	cancel   context.CancelFunc
	wg       sync.WaitGroup // claims, the wait for the log, and what backends forget
	trouble  trouble
	unplaced atomic.Bool // there are sessions whose log does not say where they work

	mu       sync.Mutex // guards what follows
	sessions map[eventlog.ID]*session.Session
	claims   map[eventlog.ID]*claim
	purges   map[eventlog.ID]*time.Timer
	scrubs   int // asked for since the running one began
	started  bool
	closed   bool

	watchMu sync.Mutex // guards watches
	watches map[*Watch]struct{}
}

// New returns a manager that does nothing until Run.
func New(c Config) (*Manager, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	m := &Manager{cfg: c, rooms: rooms{make: c.Room, made: map[string]Room{}}, backends: map[string]agent.Backend{}, ready: make(chan struct{}),
		sessions: map[eventlog.ID]*session.Session{}, claims: map[eventlog.ID]*claim{}, purges: map[eventlog.ID]*time.Timer{}, watches: map[*Watch]struct{}{}}
	for _, b := range c.Backends {
		m.backends[b.Name()] = b
	}
	if m.base, err = c.sessionConfig(m); err != nil {
		return nil, err
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m, nil
}

// Run closes what an earlier process left open and then lets sessions work until
// ctx ends. A turn that runs then ends with outcome interrupted, as do the prompts
// that wait; session.shutdown is logged. When Run returns nil nothing of any
// session is left. It is called once.
func (m *Manager) Run(ctx context.Context) error {
	m.mu.Lock()
	if m.started {
		m.mu.Unlock()
		return errors.New("the sessions run already")
	}
	m.started = true
	m.mu.Unlock()
	m.recover(ctx)
	if ctx.Err() == nil {
		close(m.ready)
		m.look(ctx)
	}
	return m.close()
}

// lookEvery is how often the log is looked at while nobody writes: users are to know
// within a second that it cannot be written.
const lookEvery = 500 * time.Millisecond

// look tells users when the log cannot be written, until ctx ends.
func (m *Manager) look(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		_ = m.Wrote(m.cfg.Log.Writable(ctx, 0), 0) // users are told
	}
}

// recover loads every session that was left unfinished, which closes what is open
// in it, and purges what was deleted long enough ago.
func (m *Manager) recover(ctx context.Context) {
	_ = m.Wrote(m.cfg.Log.Writable(ctx, 0), 0)  // users are told
	if used, err := m.Counts(ctx); err == nil { // else each shows when its sessions are found
		known := map[string]time.Time{}
		for path, w := range used {
			known[path] = w.UpdatedAt
		}
		m.cfg.Workspaces.Add(known)
	}
	err := m.forEach(ctx, QueryUnfinished, func(s eventlog.Summary) {
		if _, err := m.load(ctx, s.ID); err != nil {
			m.cfg.Logger.Error("a session could not be recovered; it is tried again when it is opened", "session", string(s.ID), "error", err)
		}
	})
	if err != nil && ctx.Err() == nil { // a list that cannot be read must not keep everything from starting
		m.cfg.Logger.Error("unfinished sessions were not found; each is recovered when it is opened", "error", err)
	}
	err = m.forEach(ctx, QueryDeleted, func(s eventlog.Summary) {
		m.schedulePurge(s.ID, max(0, UndoDelete-m.cfg.Now().Sub(s.DeletedAt)))
	})
	if err != nil && ctx.Err() == nil {
		m.cfg.Logger.Error("deleted sessions were not found; their logs stay until the next start", "error", err)
	}
}

// forEach collects all sessions of a kind before it calls f, which may change them.
func (m *Manager) forEach(ctx context.Context, kind QueryKind, f func(eventlog.Summary)) error {
	var all []eventlog.Summary
	for q := (Query{Kind: kind, Limit: 500}); ; {
		page, err := m.cfg.Catalog.List(ctx, q)
		if err != nil {
			return err
		}
		for _, s := range page.Sessions {
			all = append(all, s.Summary)
		}
		if q.Cursor = page.Cursor; q.Cursor == "" {
			break
		}
	}
	for _, s := range all {
		f(s)
	}
	return nil
}

// close ends all sessions at once.
func (m *Manager) close() error {
	m.mu.Lock()
	m.closed = true
	for _, t := range m.purges {
		t.Stop()
	}
	all := make([]*session.Session, 0, len(m.sessions))
	for _, s := range m.sessions {
		all = append(all, s)
	}
	m.mu.Unlock()
	m.cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		var wg sync.WaitGroup
		for _, s := range all {
			wg.Go(s.Close)
		}
		wg.Wait()
		m.wg.Wait()
		m.rooms.close()
	}()
	limit := time.NewTimer(shutdownLimit)
	defer limit.Stop()
	var err error
	select {
	case <-done:
	case <-limit.C:
		err = fmt.Errorf("sessions did not end within %v: an agent or a tool does not stop", shutdownLimit)
	}
	m.watchMu.Lock()
	for w := range m.watches {
		w.end()
	}
	m.watches = nil
	m.watchMu.Unlock()
	return err
}

// await waits for the end of recovery.
func (m *Manager) await(ctx context.Context) error {
	select {
	case <-m.ready:
	case <-m.ctx.Done():
		return fmt.Errorf("sessions: %w", eventlog.ErrClosed)
	case <-ctx.Done():
		return ctx.Err()
	}
	if m.ctx.Err() != nil {
		return fmt.Errorf("sessions: %w", eventlog.ErrClosed)
	}
	return nil
}

// Create starts a session. Its agent starts with the first prompt. [eventlog.ErrInvalid]
// for an unknown backend, a workspace that is not open or a title that is too long;
// [files.ErrMissing] for a workspace that is not there; [agent.ErrUnsupported] for a
// backend whose tool calls the user's hooks do not reach.
func (m *Manager) Create(ctx context.Context, o Options) (*session.Session, error) {
	return m.create(ctx, o)
}

// create starts a session that begins with what was taken from another.
func (m *Manager) create(ctx context.Context, o Options, taken ...event.Data) (*session.Session, error) {
	if err := m.await(ctx); err != nil {
		return nil, err
	}
	if o.Backend == "" {
		o.Backend = m.fallback(ctx)
	}
	backend := m.backends[o.Backend]
	if backend == nil {
		return nil, fmt.Errorf("%w: there is no backend %q", eventlog.ErrInvalid, o.Backend)
	}
	w, err := m.cfg.Workspaces.Find(o.Workspace)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", eventlog.ErrInvalid, err)
	}
	if err := files.CheckWorkspace(w.Path); err != nil {
		return nil, fmt.Errorf("create a session: %w", err)
	}
	if err := m.checkModel(ctx, o.Backend, o.Model); err != nil {
		return nil, fmt.Errorf("create a session: %w", err)
	}
	with, err := m.configFor(o.Backend, w.Path)
	if err != nil {
		return nil, err
	}
	id := event.NewID()
	release, err := m.claim(ctx, eventlog.ID(id)) // who finds it in the list waits until it is kept
	if err != nil {
		return nil, err
	}
	defer release()
	start := event.SessionStart{SessionID: string(id), Backend: o.Backend, Model: o.Model, Title: o.Title}
	m.logInstructions(ctx, backend, w.Path, &start)
	s, err := session.Create(ctx, with, start, o.Mode, taken...)
	if err != nil {
		return nil, err
	}
	return s, m.register(s)
}

// register makes a session known.
func (m *Manager) register(s *session.Session) error {
	m.mu.Lock()
	if !m.closed {
		m.sessions[s.ID()] = s
		m.mu.Unlock()
		return nil
	}
	m.mu.Unlock()
	s.Close()
	return fmt.Errorf("sessions: %w", eventlog.ErrClosed)
}

// Get returns a session; [eventlog.ErrNotFound] for an unknown or deleted one.
func (m *Manager) Get(ctx context.Context, id eventlog.ID) (*session.Session, error) {
	if err := m.await(ctx); err != nil {
		return nil, err
	}
	s, err := m.load(ctx, id)
	if err != nil {
		return nil, err
	}
	if !s.Summary().DeletedAt.IsZero() {
		return nil, fmt.Errorf("session %s: %w", id, eventlog.ErrNotFound)
	}
	return s, nil
}

func (m *Manager) loaded(id eventlog.ID) *session.Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sessions[id]
}

// load returns the one value of a session, closing first what is open in it.
func (m *Manager) load(ctx context.Context, id eventlog.ID) (*session.Session, error) {
	if s := m.loaded(id); s != nil {
		return s, nil
	}
	release, err := m.claim(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	if s := m.loaded(id); s != nil {
		return s, nil
	}
	sum, err := m.cfg.Catalog.Summary(ctx, id)
	if err != nil {
		return nil, err // it names the session
	}
	with, err := m.configFor(sum.Backend, m.workspaceOf(sum))
	if err != nil {
		return nil, err
	}
	s, err := session.Load(ctx, with, sum)
	if err != nil {
		return nil, err
	}
	return s, m.register(s)
}

// workspaceOf is where a session works: an older log may not say.
func (m *Manager) workspaceOf(s eventlog.Summary) string {
	return cmp.Or(s.Workspace, m.cfg.Workspaces.First())
}

// List returns one page of the sessions that are not deleted and whose workspace is not
// closed, unless the query names it.
func (m *Manager) List(ctx context.Context, q Query) (Page, error) {
	if err := m.await(ctx); err != nil {
		return Page{}, err
	}
	q.Kind = QueryPresent
	q.Limit = min(max(q.Limit, 0), 200)
	if len(q.Workspaces) == 0 {
		for _, w := range m.cfg.Workspaces.Closed() {
			q.Hidden = append(q.Hidden, w.Path)
		}
	} else if m.unplaced.Load() && slices.Contains(q.Workspaces, m.cfg.Workspaces.First()) {
		q.Workspaces = append(slices.Clone(q.Workspaces), "") // whose log does not say
	}
	page, err := m.cfg.Catalog.List(ctx, q)
	for i := range page.Sessions {
		page.Sessions[i].Workspace = m.workspaceOf(page.Sessions[i].Summary)
	}
	return page, err
}

// Update changes a session. Title and model become events; a model counts from
// the next turn on. A backend that cannot change its model refuses with
// [agent.ErrUnsupported].
func (m *Manager) Update(ctx context.Context, id eventlog.ID, p Patch) (eventlog.Summary, error) {
	s, err := m.Get(ctx, id)
	if err != nil {
		return eventlog.Summary{}, err
	}
	if p.Title != nil {
		if err := s.Rename(ctx, *p.Title); err != nil {
			return eventlog.Summary{}, err
		}
	}
	if p.Model != nil {
		if err := m.checkModel(ctx, s.Summary().Backend, *p.Model); err != nil {
			return eventlog.Summary{}, fmt.Errorf("change the model: %w", err)
		}
		if err := s.SetModel(ctx, *p.Model); err != nil {
			return eventlog.Summary{}, err
		}
	}
	if p.Mode != nil {
		if err := s.SetMode(ctx, *p.Mode); err != nil {
			return eventlog.Summary{}, err
		}
	}
	if p.Effort != nil {
		if err := s.SetEffort(ctx, *p.Effort); err != nil {
			return eventlog.Summary{}, err
		}
	}
	if p.Pinned != nil {
		if err := m.Wrote(m.cfg.Catalog.Mark(ctx, id, Mark{Pinned: p.Pinned}), 0); err != nil {
			return eventlog.Summary{}, fmt.Errorf("pin session %s: %w", id, err)
		}
		s.Pin(*p.Pinned)
	}
	return s.Summary(), nil
}
