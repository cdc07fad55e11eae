package sessions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"webchat/internal/eventlog"
	"webchat/internal/session"
)

// Owners says which replica has a session, where several share the log.
type Owners interface {
	// Take makes this replica the one that has a session. It is called before the session's row is
	// read, and may be called again. The error is an [*ElsewhereError] while a living replica has it,
	// and wraps [eventlog.ErrNotFound] for an unknown session.
	Take(ctx context.Context, id eventlog.ID) error
	// Alive fails when others may have what this replica took. It is called before what is in memory
	// of a session is used, and does not ask the log.
	Alive() error
	// Yield has Take take nothing from now on that one of the other replicas that [Owners.Others]
	// counts can take, and name that one, also if it fails: then the others do not know.
	Yield(ctx context.Context) error
	// Release gives a session that is closed here to those others. It is called after [Owners.Yield].
	Release(ctx context.Context, id eventlog.ID) error
	// Others is how many other replicas live that can be reached and do not yield.
	Others() int
	// Elsewhere returns the sessions of other replicas that changed within the last minute.
	Elsewhere(ctx context.Context) ([]eventlog.Summary, error)
}

// Peer is a living replica that shares the log.
type Peer struct {
	Number  int64  // of its life; never used again
	URL     string // where the others reach it
	Version string // of its program
}

// ElsewhereError is returned for a session that another living replica has.
type ElsewhereError struct {
	ID    eventlog.ID
	Peer  Peer
	Until time.Time // when the session is free, if that replica is dead
}

func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("session %s: another webchat has it, until %s if that one is dead", e.ID,
		e.Until.Format(time.TimeOnly))
}

const (
	pollEvery  = time.Second // how late a list is about the sessions of other replicas
	sweepEvery = 5 * time.Second
)

// replica is this one of those that share the log.
type replica struct {
	owners Owners // nil: there are no others
}

// take makes this replica the one that has a session.
func (r replica) take(ctx context.Context, id eventlog.ID) error {
	if r.owners == nil {
		return nil
	}
	return r.owners.Take(ctx, id)
}

// alive fails when another replica may have the sessions that are loaded here.
func (r replica) alive() error {
	if r.owners == nil {
		return nil
	}
	return r.owners.Alive()
}

// elsewhere reports whether an error says that another replica has the session.
func elsewhere(err error) bool {
	_, ok := errors.AsType[*ElsewhereError](err)
	return ok
}

// share closes what dead replicas left open, and has the watches see what others change, until the
// manager ends.
func (m *Manager) share() {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	type state struct {
		last    int64
		deleted bool
	}
	seen, failed := map[eventlog.ID]state{}, map[eventlog.ID]bool{}
	for swept := time.Now(); ; {
		select {
		case <-m.ctx.Done():
			return
		case <-tick.C:
		}
		if time.Since(swept) >= sweepEvery {
			m.sweep(m.ctx, failed)
			swept = time.Now()
		}
		others, err := m.cfg.Owners.Elsewhere(m.ctx)
		if err != nil {
			continue // users see what the log's errors come to
		}
		now := make(map[eventlog.ID]state, len(others))
		for _, s := range others {
			if now[s.ID] = (state{s.LastSeq, !s.DeletedAt.IsZero()}); now[s.ID] != seen[s.ID] {
				m.Changed(s)
			}
		}
		seen = now
	}
}

// drainEvery is how often a manager that drains looks what rests.
const drainEvery = 100 * time.Millisecond

// Drain returns when nothing runs in any session, or ctx has ended. Where other replicas share the
// log, each session is closed as soon as it rests, and one of them takes it: then none is left, and
// none can be had here. [Manager.Run] goes on.
func (m *Manager) Drain(ctx context.Context) { m.drain.run(ctx) }

// drain hands the sessions that rest over to other replicas.
type drain struct {
	table   *table
	replica replica
	logger  *slog.Logger
}

func (d *drain) run(ctx context.Context) {
	if d.replica.shared() {
		if err := d.replica.owners.Yield(ctx); err != nil && ctx.Err() == nil {
			d.logger.Warn("other replicas do not know that this one ends", "error", err)
		}
	}
	tick := time.NewTicker(drainEvery)
	defer tick.Stop()
	for ctx.Err() == nil && !d.ended(ctx) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// shared reports whether other replicas can take the sessions of this one.
func (r replica) shared() bool { return r.owners != nil && r.owners.Others() > 0 }

// ended hands over what rests, and reports whether nothing is left that has to end by itself.
func (d *drain) ended(ctx context.Context) bool {
	shared, rest := d.replica.shared(), true
	var closing sync.WaitGroup
	for _, s := range d.table.all() {
		switch {
		case !s.Resting():
			rest = false
		case shared:
			closing.Go(func() { d.handOver(ctx, s) })
		}
	}
	closing.Wait()
	if !shared {
		return rest
	}
	// A prompt may have come to one that rested, and a session may have been made meanwhile.
	return d.table.closeEmpty()
}

// handOver closes a session that rests for another replica to take.
func (d *drain) handOver(ctx context.Context, s *session.Session) {
	release, err := d.table.claim(ctx, s.ID()) // concurrent callers wait for the same result
	if err != nil {
		return
	}
	defer release()
	if d.table.get(s.ID()) != s || !s.CloseResting() {
		return
	}
	d.table.remove(s.ID())
	if err := d.replica.owners.Release(ctx, s.ID()); err != nil && ctx.Err() == nil {
		d.logger.Warn(
			"a session was not handed over: another replica takes it when this one has ended", "session",
			string(s.ID()), "error", err)
	}
}
