package session

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"webchat/internal/calls"
	"webchat/internal/consent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// core is what all parts of a session stand on: its log, what the user is asked, what it works on,
// and how far its life in this process is.
type core struct {
	cfg    Config
	id     eventlog.ID
	ctx    context.Context // of everything the session does
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // everything the session started

	events    *eventlog.Log
	requests  *consent.Requests
	opened    *consent.Opened
	heldFiles *Held
	budget    *budget
	beside    *overlap

	// the lock of events; guards what follows, and what the parts say it guards
	mu sync.Locker
	// changes within events.Change only; so do turn, queue and calls, as far as the log says
	state state
	// what an earlier process left open is not closed yet: the log cannot be written
	leftOpen    bool
	startedAt   time.Time // of the work since it began or went on; zero: none yet, or it is over
	lastSeen    time.Time // when earlier processes did something last
	gone        bool      // the conversation ended, and the log does not say so yet
	titleChosen bool      // the user chose the title in this process
	// what the session is called until its first prompt, after what was looked at
	titleOfLook string

	turn      *turn     // nil: none runs, and the queue is empty
	queue     []*prompt // those that wait
	held      bool      // the user's prompts in the queue wait until the user goes on
	rewinding bool      // the agent goes back to an earlier prompt: no turn begins
	// by task: of what is called for it, also while no turn runs; none of an earlier process's
	scopes   map[string]*turn
	bill     bill
	unbilled event.Usage // what models took while no turn ran
}

func newCore(c Config, sum eventlog.Summary) *core {
	s := &core{cfg: c, id: sum.ID, scopes: map[string]*turn{}, bill: newBill(sum.Open)}
	s.budget = &budget{s: s, asking: make(chan struct{}, 1)}
	s.beside = &overlap{core: s}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	if !sum.DeletedAt.IsZero() {
		s.state = stateDeleted
	}
	return s
}

// open opens the log, and what stands on it.
func (s *core) open(hook func(context.Context, consent.HookCall) (consent.HookVerdict, error),
	unsubscribed func(), sum eventlog.Summary) {
	c := s.cfg
	s.events = eventlog.New(eventlog.Config{
		Store:        c.Log,
		Owner:        c.Owner,
		Now:          c.Now,
		Unsubscribed: unsubscribed,
		Applied:      func(d event.Data) { s.opened.Applied(d) },
	}, sum)
	s.mu = s.events
	s.opened = consent.NewOpened(s.id, s.events, c.Cage, c.Kept, c.Logger)
	s.heldFiles = &Held{s: s, holder: c.Holder}
	s.requests = consent.New(consent.Config{
		Session: s.id,
		Log:     s.events,
		Context: s.ctx,
		Mode:    c.Permissions,
		Timeout: c.PermissionTimeout,
		Policy:  c.Policy,
		Kept:    c.Kept,
		Opened:  s.opened,
		Hook:    hook,
		Stopped: stopReason,
		PutBack: s.heldFiles.putBack,
		Drop:    s.heldFiles.drop,
	})
}

func (s *core) log() *slog.Logger { return s.cfg.Logger.With("session", string(s.id)) }

func (s *core) runner() contain.Runner {
	return contain.Runner{Log: s.log(), Running: &s.wg, Grace: stopGrace}
}

// contained calls what others wrote: a panic in it is an error.
func (s *core) contained(what string, f func() error) error {
	_, err := contain.Call(s.log(), what, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// checkUsable returns why nothing new may begin, or nil. The caller holds s.mu.
func (s *core) checkUsable() error {
	switch {
	case s.state == stateOpen && s.leftOpen:
		return fmt.Errorf("session %s is not recovered yet: %w", s.id, eventlog.ErrLog)
	case s.state == stateOpen:
		return nil
	case s.state == stateDeleted:
		return fmt.Errorf("session %s is deleted: %w", s.id, eventlog.ErrNotFound)
	}
	return fmt.Errorf("session %s: %w", s.id, eventlog.ErrClosed)
}

// change is [eventlog.Log.Change] for what may not begin in every state.
func (s *core) change(ctx context.Context, f func() error) error {
	return s.events.Change(ctx, func() error {
		if err := s.checkUsable(); err != nil {
			return err
		}
		return f()
	})
}

// join has the session's end wait for the caller, which calls leave. The context it returns ends
// with the session, too.
func (s *core) join(ctx context.Context) (_ context.Context, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkUsable(); err != nil {
		return nil, nil, err
	}
	s.wg.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	return ctx, func() { stop(); cancel(nil); s.wg.Done() }, nil
}

// beginLocked appends data behind what opens the work, if it is over or has not begun in this
// process.
func (s *core) beginLocked(data ...event.Data) error {
	if err := s.restLocked(); err != nil {
		return err
	}
	if s.startedAt.IsZero() {
		sum := s.events.Summary()
		data = append([]event.Data{event.SessionResume{
			SessionID: string(s.id),
			Workspace: s.cfg.Workspace,
			Backend:   sum.Backend,
			Model:     sum.Model,
			Context:   s.cfg.Context(),
		}}, data...)
		if sum.Open.Work != 0 { // the process that began it was killed
			data = append([]event.Data{event.SessionShutdown{
				SessionID:  string(s.id),
				Workspace:  s.cfg.Workspace,
				DurationMs: max(0, s.lastSeen.UnixMilli()-sum.Open.Work),
			}}, data...)
		}
	}
	if err := s.events.Append(data...); err != nil {
		return err
	}
	if s.startedAt.IsZero() {
		s.startedAt = s.cfg.Now()
	}
	return nil
}

// restLocked logs the end of the work if the conversation is gone and no turn runs. The end of a
// turn, and [Session.Close], come to it by themselves.
func (s *core) restLocked() error {
	if !s.gone || s.state >= stateClosing || s.turn != nil && s.turn.started {
		return nil
	}
	return s.shutDownLocked()
}

// shutDownLocked logs the end of the work, once for each beginning.
func (s *core) shutDownLocked() error {
	if s.startedAt.IsZero() {
		return nil
	}
	d := s.cfg.Now().Sub(s.startedAt)
	err := s.events.Append(event.SessionShutdown{SessionID: string(s.id), Workspace: s.cfg.Workspace,
		DurationMs: max(0, d.Milliseconds()), Usage: s.unbilled})
	if err == nil {
		s.startedAt, s.unbilled, s.gone = time.Time{}, event.Usage{}, false
	}
	return err
}

// rest is [Session.restLocked] for those whose work a failing log does not stop: whatever begins
// next comes to it again.
func (s *core) rest() {
	if err := s.events.Change(context.Background(), s.restLocked); err != nil {
		s.log().Warn("session.shutdown was not logged", "error", err)
	}
}

// missing says of something that does not run whether the log ever had it: [consent.ErrGone], or
// [eventlog.ErrNotFound].
func (s *core) missing(ctx context.Context, what string, starts func(*calls.Index) bool) error {
	known := false
	err := s.events.Index(ctx, func(x *calls.Index) { known = starts(x) })
	switch {
	case err != nil:
		return err
	case known:
		return fmt.Errorf("%s has ended: %w", what, consent.ErrGone)
	}
	return fmt.Errorf("%s: %w", what, eventlog.ErrNotFound)
}

// report logs a line for the user.
func (s *core) report(ctx context.Context, d event.SessionError) {
	if err := s.events.Persist(ctx, func() error { return s.events.Append(d) }); err != nil {
		s.log().Warn("a line for the user was not logged", "line", d.Message, "error", err)
	}
}

// addLater logs what the log refuses now as soon as it takes it.
func (s *core) addLater(d event.Data) {
	s.wg.Go(func() {
		if err := s.events.Persist(s.ctx, func() error { return s.events.Append(d) }); err != nil {
			s.log().Error("an event was not logged", "type", event.TypeOf(d), "error", err)
		}
	})
}

// running is the turn that runs; nil: none does.
func (s *core) running() *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn
}
