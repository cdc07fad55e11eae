package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// shutdownLimit is how long Run waits for sessions that do not end.
const shutdownLimit = 8 * time.Second

// maxTitle is how many characters a title may have.
const maxTitle = 200

// Manager holds all sessions. A session is loaded when it is first asked for and
// stays, without its log, a few kilobytes.
type Manager struct {
	cfg      Config
	backends map[string]agent.Backend
	ready    chan struct{}   // closed when recovery is over
	ctx      context.Context // of everything all sessions do
	cancel   context.CancelCauseFunc
	wg       sync.WaitGroup // purges, and the wait for the log
	trouble  trouble

	loadMu sync.Mutex // one session is loaded or purged at a time

	mu       sync.Mutex // guards what follows
	sessions map[ID]*Session
	purges   map[ID]*time.Timer
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
	m := &Manager{cfg: c, backends: map[string]agent.Backend{}, ready: make(chan struct{}),
		sessions: map[ID]*Session{}, purges: map[ID]*time.Timer{}, watches: map[*Watch]struct{}{}}
	for _, b := range c.Backends {
		m.backends[b.Name()] = b
	}
	m.ctx, m.cancel = context.WithCancelCause(context.Background())
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
		<-ctx.Done()
	}
	return m.close()
}

// recover loads every session that was left unfinished, which closes what is open
// in it, and purges what was deleted long enough ago.
func (m *Manager) recover(ctx context.Context) {
	_ = m.wrote(m.cfg.Log.Writable(ctx, 0), 0) // users are told
	err := m.each(ctx, QueryUnfinished, func(s Summary) {
		if _, err := m.load(ctx, s.ID); err != nil {
			m.cfg.Logger.Error("a session could not be recovered; it is tried again when it is opened", "session", string(s.ID), "error", err)
		}
	})
	if err != nil && ctx.Err() == nil { // a list that cannot be read must not keep everything from starting
		m.cfg.Logger.Error("unfinished sessions were not found; each is recovered when it is opened", "error", err)
	}
	err = m.each(ctx, QueryDeleted, func(s Summary) {
		m.schedulePurge(s.ID, max(0, UndoDelete-m.cfg.Now().Sub(s.DeletedAt)))
	})
	if err != nil && ctx.Err() == nil {
		m.cfg.Logger.Error("deleted sessions were not found; their logs stay until the next start", "error", err)
	}
}

// each collects all sessions of a kind before it calls f, which may change them.
func (m *Manager) each(ctx context.Context, kind QueryKind, f func(Summary)) error {
	var all []Summary
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
	all := make([]*Session, 0, len(m.sessions))
	for _, s := range m.sessions {
		all = append(all, s)
	}
	m.mu.Unlock()
	m.cancel(errShutdown)
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.wg.Wait()
		var wg sync.WaitGroup
		for _, s := range all {
			wg.Go(s.close)
		}
		wg.Wait()
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
		return fmt.Errorf("sessions: %w", ErrClosed)
	case <-ctx.Done():
		return ctx.Err()
	}
	if m.ctx.Err() != nil {
		return fmt.Errorf("sessions: %w", ErrClosed)
	}
	return nil
}

// Create starts a session. Its agent starts with the first prompt. [ErrInvalid]
// for an unknown backend or a title that is too long; [agent.ErrUnsupported] for
// a backend whose tool calls the user's hooks do not reach.
func (m *Manager) Create(ctx context.Context, o Options) (*Session, error) {
	if err := m.await(ctx); err != nil {
		return nil, err
	}
	if o.Backend == "" {
		o.Backend = m.cfg.Default
	}
	backend := m.backends[o.Backend]
	if backend == nil {
		return nil, fmt.Errorf("%w: there is no backend %q", ErrInvalid, o.Backend)
	}
	if err := m.honours(ctx, backend); err != nil {
		return nil, fmt.Errorf("create a session: %w", err)
	}
	title, err := cleanTitle(o.Title)
	if err != nil {
		return nil, err
	}
	s := newSession(m, Summary{ID: ID(event.NewID())})
	s.startedAt, s.placed = m.cfg.Now(), true
	start := event.SessionStart{SessionID: string(s.id), Backend: o.Backend, Model: o.Model, Title: title, Context: gitContext(m.cfg.Workspace)}
	m.tellInstructions(ctx, backend, &start)
	if err := s.append(start); err != nil {
		return nil, fmt.Errorf("create a session: %w", err)
	}
	s.named = title != ""
	return s, m.keep(s)
}

// keep makes a session known.
func (m *Manager) keep(s *Session) error {
	m.mu.Lock()
	if !m.closed {
		m.sessions[s.id] = s
		m.mu.Unlock()
		return nil
	}
	m.mu.Unlock()
	s.close()
	return fmt.Errorf("sessions: %w", ErrClosed)
}

// Get returns a session; [ErrNotFound] for an unknown or deleted one.
func (m *Manager) Get(ctx context.Context, id ID) (*Session, error) {
	if err := m.await(ctx); err != nil {
		return nil, err
	}
	s, err := m.load(ctx, id)
	if err != nil {
		return nil, err
	}
	if !s.Summary().DeletedAt.IsZero() {
		return nil, fmt.Errorf("session %s: %w", id, ErrNotFound)
	}
	return s, nil
}

func (m *Manager) loaded(id ID) *Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sessions[id]
}

// load returns the one value of a session, closing first what is open in it.
func (m *Manager) load(ctx context.Context, id ID) (*Session, error) {
	if s := m.loaded(id); s != nil {
		return s, nil
	}
	m.loadMu.Lock()
	defer m.loadMu.Unlock()
	if s := m.loaded(id); s != nil {
		return s, nil
	}
	sum, err := m.cfg.Catalog.Summary(ctx, id)
	if err != nil {
		return nil, err // it names the session
	}
	s := newSession(m, sum)
	s.past = sum.LastSeq > 1
	if sum.Unfinished() {
		switch err := s.recover(ctx); {
		case errors.Is(err, ErrLog): // it can be read all the same
			s.recoverLater()
		case err != nil:
			return nil, err
		}
	}
	return s, m.keep(s)
}

// List returns one page of the sessions that are not deleted.
func (m *Manager) List(ctx context.Context, q Query) (Page, error) {
	if err := m.await(ctx); err != nil {
		return Page{}, err
	}
	q.Kind = QueryPresent
	q.Limit = min(max(q.Limit, 0), 200)
	return m.cfg.Catalog.List(ctx, q)
}

// Update changes a session. Title and model become events; a model counts from
// the next turn on. A backend that cannot change its model refuses with
// [agent.ErrUnsupported].
func (m *Manager) Update(ctx context.Context, id ID, p Patch) (Summary, error) {
	s, err := m.Get(ctx, id)
	if err != nil {
		return Summary{}, err
	}
	if p.Title != nil {
		if err := s.rename(ctx, *p.Title); err != nil {
			return Summary{}, err
		}
	}
	if p.Model != nil {
		if err := s.setModel(ctx, *p.Model); err != nil {
			return Summary{}, err
		}
	}
	if p.Pinned != nil {
		mark := Mark{Pinned: p.Pinned}
		if err := m.wrote(m.cfg.Catalog.Mark(ctx, id, mark), 0); err != nil {
			return Summary{}, fmt.Errorf("pin session %s: %w", id, err)
		}
		s.mu.Lock()
		s.markLocked(mark)
		s.mu.Unlock()
	}
	return s.Summary(), nil
}

// titleLine returns text as a title may show it: one line, without control
// characters and without the invisible ones that reorder what follows.
func titleLine(text string) string {
	return strings.Join(strings.Fields(visible(strings.ToValidUTF8(text, ""))), " ")
}

func cleanTitle(title string) (string, error) {
	title = titleLine(title)
	if utf8.RuneCountInString(title) > maxTitle {
		return "", fmt.Errorf("%w: the title is longer than %d characters", ErrInvalid, maxTitle)
	}
	return title, nil
}

func (s *Session) rename(ctx context.Context, title string) error {
	title, err := cleanTitle(title)
	if err != nil {
		return err
	}
	if title == "" {
		return fmt.Errorf("%w: the title is empty", ErrInvalid)
	}
	var conn *liveConn
	err = s.change(ctx, func() error {
		conn = s.conn
		err := s.usable()
		if err == nil && title != s.summary.Load().Title {
			err = s.appendLocked(event.SessionTitleChanged{Title: title})
		}
		s.named = s.named || err == nil
		return err
	})
	if err != nil || conn == nil {
		return err
	}
	_, err = guarded(s.log(), "telling the agent its title", func() (struct{}, error) { return struct{}{}, conn.SetTitle(ctx, title) })
	if err != nil && !errors.Is(err, agent.ErrUnsupported) {
		s.log().Warn("the agent did not take the title", "error", err)
	}
	return nil
}

func (s *Session) setModel(ctx context.Context, model string) error {
	s.mu.Lock()
	err := s.usable()
	conn, same := s.conn, model == s.summary.Load().Model
	s.mu.Unlock()
	if err != nil || same {
		return err
	}
	if conn != nil {
		_, err := guarded(s.log(), "changing the model", func() (struct{}, error) { return struct{}{}, conn.SetModel(ctx, model) })
		if err != nil {
			return fmt.Errorf("change the model to %q: %w", model, err)
		}
	}
	return s.change(ctx, func() error {
		if model == s.summary.Load().Model { // the agent reported it already
			return nil
		}
		return s.appendLocked(event.SessionModelChange{NewModel: model})
	})
}
