package consent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/policy"
)

// Cage confines what agents run in the workspace of a session. Its methods may be called
// concurrently.
type Cage interface {
	policy.Cage
	// HostOf returns a host as it is opened: a name or an address, with its port unless it is for 80
	// and 443. One that is never reached is an error.
	HostOf(named string) (string, error)
	// Sync takes over what is kept open for the workspace.
	Sync()
}

// KeptOpen is what is open for the workspace, in all its sessions, until the user closes it.
type KeptOpen interface {
	KeepOpened(id string, o policy.Opening, session string, at time.Time) error
	Opened() []policy.KeptGrant
	TakeBack(id string) (known bool, err error)
}

// Opening is what the user wants to be open.
type Opening struct {
	Kind event.OpenKind `json:"kind"`
	// a path: absolute, from ~ or relative to the workspace; a host, with its port unless it is for 80
	// and 443
	What     string      `json:"what"`
	Scope    event.Scope `json:"scope"`
	ReadOnly bool        `json:"readOnly,omitempty"` // of a path: it is not written to
}

// Opened is what a session opened of its sandbox. The log has it: an opening takes effect once that
// says so. What was opened for the session takes effect again with its next turn after a restart.
// All methods may be called concurrently, but for those that say what has to be held.
type Opened struct {
	session eventlog.ID
	log     *eventlog.Log
	cage    Cage     // nil: nothing is confined
	kept    KeptOpen // nil: nothing is kept for the workspace
	logger  *slog.Logger

	mu       sync.Mutex // guards what follows; never held over a write
	live     map[string]func() error
	waiting  []*untilIdle
	stopped  bool
	settling sync.WaitGroup
}

// NewOpened returns what a session opened. kept may be one that keeps no openings.
func NewOpened(id eventlog.ID, log *eventlog.Log, cage Cage, kept Kept,
	logger *slog.Logger) *Opened {
	o := &Opened{session: id, log: log, cage: cage, logger: logger, live: map[string]func() error{}}
	o.kept, _ = kept.(KeptOpen)
	return o
}

// Confines reports whether there is something to open.
func (o *Opened) Confines() bool { return o.cage != nil }

// List is what is open in the session, the oldest first.
func (o *Opened) List() []eventlog.Opened {
	all := slices.Clone(o.log.Summary().Open.Opened)
	if o.cage == nil || o.kept == nil {
		return all
	}
	for _, g := range o.kept.Opened() {
		d := event.SandboxOpened{
			ID:       g.ID,
			Kind:     event.OpenPath,
			What:     g.Opens.Path,
			ReadOnly: g.Opens.ReadOnly,
			Scope:    event.ForWorkspace,
			By:       event.DecidedByUser,
		}
		if g.Opens.Host != "" {
			d.Kind, d.What = event.OpenHost, g.Opens.Host
		}
		all = append(all, eventlog.Opened{SandboxOpened: d, At: g.At.UnixMilli()})
	}
	slices.SortStableFunc(all, func(a, b eventlog.Opened) int { return int(a.At - b.At) })
	return all
}

// Open opens something for the user. What is open already is returned as it is.
// [eventlog.ErrInvalid] says what cannot be opened, [ErrKeep] that it could not be saved.
func (o *Opened) Open(ctx context.Context, in Opening) (eventlog.Opened, error) {
	scopes := []event.Scope{event.Once, event.ForSession, event.ForWorkspace}
	switch {
	case o.cage == nil:
		return eventlog.Opened{}, fmt.Errorf("%w: nothing is confined here, so nothing can be opened",
			eventlog.ErrInvalid)
	case !slices.Contains(scopes, in.Scope):
		return eventlog.Opened{}, fmt.Errorf("%w: the scope must be once, session or workspace",
			eventlog.ErrInvalid)
	case in.Scope == event.ForWorkspace && o.kept == nil:
		return eventlog.Opened{},
			fmt.Errorf("%w: nothing can be opened for the workspace here; open it for the session",
				eventlog.ErrInvalid)
	}
	d := event.SandboxOpened{
		ID:       string(event.NewID()),
		Kind:     in.Kind,
		What:     in.What,
		ReadOnly: in.ReadOnly,
		Scope:    in.Scope,
		By:       event.DecidedByUser,
	}
	var held *os.File
	switch in.Kind {
	case event.OpenHost:
		var err error
		if d.What, err = o.cage.HostOf(in.What); err != nil {
			return eventlog.Opened{}, fmt.Errorf("%w: %w", eventlog.ErrInvalid, err)
		}
		d.ReadOnly = false
	case event.OpenPath:
		var err error
		if held, err = o.cage.Hold(in.What); err != nil {
			return eventlog.Opened{}, fmt.Errorf("%w: %w", eventlog.ErrInvalid, err)
		}
		d.What = held.Name()
	default:
		return eventlog.Opened{}, fmt.Errorf("%w: the kind must be path or host", eventlog.ErrInvalid)
	}
	for _, is := range o.List() {
		if is.Kind == d.Kind && is.What == d.What && is.ReadOnly == d.ReadOnly && is.Scope == d.Scope {
			if held != nil {
				_ = held.Close() // it was only looked at
			}
			return is, nil
		}
	}
	return o.begin(ctx, d, held)
}

// openHeld opens what was held when the user was asked, until the call ends. It closes held.
func (o *Opened) openHeld(ctx context.Context, held *os.File, write bool, toolCallID string,
	by event.Decider) error {
	d := event.SandboxOpened{
		ID:       string(event.NewID()),
		Kind:     event.OpenPath,
		What:     held.Name(),
		ReadOnly: !write,
		Scope:    event.Once,
		By:       by,
	}
	_, err := o.begin(ctx, d, held, toolCallID)
	return err
}

// begin logs an opening and has it take effect: once, until calls end, or what runs now.
func (o *Opened) begin(ctx context.Context, d event.SandboxOpened, held *os.File,
	calls ...string) (eventlog.Opened, error) {
	owned := held // not the cage's yet
	defer func() {
		if owned != nil {
			_ = owned.Close() // it was only looked at
		}
	}()
	var at time.Time
	effect := func() (err error) {
		var end func() error
		switch {
		case d.Scope == event.ForWorkspace:
			if err := o.kept.KeepOpened(d.ID, openingOf(d), string(o.session), at); err != nil {
				return fmt.Errorf("%w: %w", ErrKeep, err)
			}
			o.cage.Sync()
			return nil
		case d.Kind == event.OpenHost:
			end, err = o.cage.OpenHost(d.What)
		default:
			owned = nil
			end, err = o.cage.Open(held, openingOf(d).Access())
		}
		if err != nil {
			return fmt.Errorf("%w: %w", eventlog.ErrInvalid, err)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.stopped {
			return errors.Join(end(), eventlog.ErrClosed)
		}
		o.live[d.ID] = end
		return nil
	}
	err := o.log.Change(ctx, func() error {
		at = o.log.Now()
		if err := o.log.Append(d); err != nil {
			return err
		}
		if err := o.log.Aside(effect); err != nil {
			return errors.Join(err, o.log.Append(event.SandboxClosed{ID: d.ID, By: event.ClosedByEnd}))
		}
		if d.Scope == event.Once {
			o.untilIdleLocked(calls, func() { o.end(d.ID) })
		}
		return nil
	})
	return eventlog.Opened{SandboxOpened: d, At: at.UnixMilli()}, err
}

// Close closes what is open for the user, at once; [eventlog.ErrNotFound] if nothing of that id is.
func (o *Opened) Close(ctx context.Context, id string) error {
	i := slices.IndexFunc(o.List(), func(is eventlog.Opened) bool { return is.ID == id })
	if i < 0 {
		return fmt.Errorf("nothing is open under %s: %w", id, eventlog.ErrNotFound)
	}
	if o.List()[i].Scope == event.ForWorkspace {
		known, err := o.kept.TakeBack(id)
		if o.cage.Sync(); err != nil {
			return fmt.Errorf("%w: %w", ErrKeep, err)
		}
		if !known {
			return fmt.Errorf("nothing is open under %s: %w", id, eventlog.ErrNotFound)
		}
	}
	return o.closeBy(ctx, id, event.ClosedByUser)
}

// closeBy ends an opening, and logs that.
func (o *Opened) closeBy(ctx context.Context, id string, by event.Closer) error {
	if err := o.take(id)(); err != nil {
		o.logger.Warn("what was opened of a sandbox was not closed in all that runs", "session",
			string(o.session), "error", err)
	}
	return o.log.Change(ctx, func() error { return o.log.Append(event.SandboxClosed{ID: id, By: by}) })
}

// take returns what ends an opening, once.
func (o *Opened) take(id string) (end func() error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	end = o.live[id]
	delete(o.live, id)
	if end == nil {
		return func() error { return nil }
	}
	return end
}

// end closes what was opened for as long as something ran.
func (o *Opened) end(id string) {
	if o.isOpen(id) {
		if err := o.closeBy(context.Background(), id, event.ClosedByEnd); err != nil {
			o.logger.Warn("the end of what was opened of a sandbox was not logged", "session",
				string(o.session), "error", err)
		}
	}
}

func (o *Opened) isOpen(id string) bool {
	return slices.ContainsFunc(o.log.Summary().Open.Opened, func(is eventlog.Opened) bool {
		return is.ID == id
	})
}

// Resume has what is open for the session take effect, where it does not yet. What cannot be
// opened is closed again.
func (o *Opened) Resume() {
	if o.cage == nil {
		return
	}
	for _, is := range o.log.Summary().Open.Opened {
		o.mu.Lock()
		_, live := o.live[is.ID]
		o.mu.Unlock()
		if live || is.Scope != event.ForSession {
			continue
		}
		end, err := openingOf(is.SandboxOpened).In(o.cage)
		if err != nil {
			o.logger.Warn("what was opened of a sandbox cannot be opened again", "session",
				string(o.session), "what", is.What, "error", err)
			o.end(is.ID)
			continue
		}
		o.mu.Lock()
		if o.live[is.ID] == nil && !o.stopped && o.isOpen(is.ID) {
			o.live[is.ID], end = end, func() error { return nil }
		}
		o.mu.Unlock()
		_ = end() // it was closed meanwhile
	}
}

// openingOf is what an event says is open.
func openingOf(d event.SandboxOpened) policy.Opening {
	if d.Kind == event.OpenHost {
		return policy.Opening{Host: d.What}
	}
	return policy.Opening{Path: d.What, ReadOnly: d.ReadOnly}
}

// Suspend ends the effect of what is open, until [Opened.Resume].
func (o *Opened) Suspend() {
	o.mu.Lock()
	live := o.live
	o.live = map[string]func() error{}
	o.mu.Unlock()
	for _, end := range live {
		_ = end() // its trees end as well
	}
}

// Stop is [Opened.Suspend] for good. It returns when nothing of it is left.
func (o *Opened) Stop() {
	o.mu.Lock()
	o.stopped = true
	o.mu.Unlock()
	o.Suspend()
	o.settling.Wait()
}
