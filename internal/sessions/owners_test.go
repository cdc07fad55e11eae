package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/session"
	"webchat/internal/sessions"
)

// replicas are some that share a disk.
type replicas struct {
	mu    sync.Mutex // guards what follows
	owner map[eventlog.ID]*replica
}

// replica is one of them. Until it is dead it has what it took.
type replica struct {
	*disk
	all    *replicas
	number int64
	others int
	leaves bool
	dead   bool
}

func (r *replica) Take(_ context.Context, id eventlog.ID) error {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	is := r.all.owner[id]
	if is != nil && is != r && !is.dead {
		return &sessions.ElsewhereError{ID: id, Peer: sessions.Peer{Number: is.number}}
	}
	if is != r && r.leaves {
		return &sessions.ElsewhereError{ID: id, Peer: sessions.Peer{Number: 2}}
	}
	r.all.owner[id] = r
	return nil
}

func (r *replica) Yield(context.Context) error {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	r.leaves = true
	return nil
}

func (r *replica) Release(_ context.Context, id eventlog.ID) error {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	r.all.owner[id] = nil
	return nil
}

func (r *replica) Others() int { return r.others }

func (r *replica) of(keep func(*replica) bool, found []sessions.Found) (kept []sessions.Found) {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	for _, s := range found {
		if keep(r.all.owner[s.ID]) {
			kept = append(kept, s)
		}
	}
	return kept
}

func (r *replica) Elsewhere(ctx context.Context) (all []eventlog.Summary, err error) {
	page, err := r.disk.List(ctx, sessions.Query{})
	for _, s := range r.of(func(o *replica) bool { return o != nil && o != r }, page.Sessions) {
		all = append(all, s.Summary)
	}
	return all, err
}

func (r *replica) List(ctx context.Context, q sessions.Query) (sessions.Page, error) {
	page, err := r.disk.List(ctx, q)
	if q.Kind != sessions.QueryPresent {
		page.Sessions = r.of(func(o *replica) bool { return o == nil || o == r || o.dead }, page.Sessions)
	}
	return page, err
}

func (r *replica) Append(ctx context.Context, id eventlog.ID, entries []event.Entry,
	s eventlog.Summary) error {
	r.all.mu.Lock()
	if r.all.owner[id] == nil {
		r.all.owner[id] = r
	}
	r.all.mu.Unlock()
	if err := r.fenced(); err != nil {
		return err
	}
	return r.disk.Append(ctx, id, entries, s)
}

func (r *replica) Delete(ctx context.Context, id eventlog.ID) error {
	if err := r.fenced(); err != nil {
		return err
	}
	return r.disk.Delete(ctx, id)
}

func (r *replica) Alive() error { return r.fenced() }

func (r *replica) fenced() error {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	if r.dead {
		return fmt.Errorf("fenced: %w", eventlog.ErrClosed)
	}
	return nil
}

// A replica that drains hands over what rests at once, and what runs when it has ended by itself;
// the last one only waits. Nothing is interrupted.
func TestDrain(t *testing.T) {
	for _, others := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			disk, all := newDisk(), &replicas{owner: map[eventlog.ID]*replica{}}
			work := make(chan struct{})
			start := func(number int64) (*rig, *replica) {
				one := &replica{disk: disk, all: all, number: number, others: others}
				r := newRig(t, disk, func(r *rig, c *sessions.Config) {
					c.Log, c.Catalog, c.Owners = one, one, one
					r.backend.prompt = func(context.Context) error { <-work; return nil }
				})
				return r, one
			}
			first, _ := start(1)
			second, _ := start(2)
			running, idle := first.create(sessions.Options{}), first.create(sessions.Options{})
			first.send(running)
			done := make(chan struct{})
			go func() { first.m.Drain(t.Context()); close(done) }()
			time.Sleep(time.Second)
			_, here := first.m.Get(t.Context(), idle.ID())
			_, there := second.m.Get(t.Context(), idle.ID())
			if others == 0 && (here != nil || there == nil) || others > 0 && (here == nil || there != nil) {
				t.Errorf("with %d others the session that rests: %v, %v", others, here, there)
			}
			if _, err := second.m.Get(t.Context(), running.ID()); err == nil {
				t.Error("a session was handed over while a turn ran")
			}
			select {
			case <-done:
				t.Error("it did not wait for the turn")
			default:
			}
			close(work)
			<-done
			if got := first.types(running.ID()); !strings.Contains(got, "turn.end") {
				t.Errorf("the log has %s", got)
			}
			for _, e := range disk.entries(t, running.ID()) {
				if end, ok := e.Event.Data.(event.TurnEnd); ok && end.Outcome != event.Completed {
					t.Errorf("the turn ended as %s", end.Outcome)
				}
			}
			if _, err := second.m.Get(t.Context(), running.ID()); others > 0 && err != nil {
				t.Errorf("when the turn has ended: %v", err)
			}
			// What it took from here on would be interrupted.
			if _, err := first.m.Create(t.Context(), sessions.Options{}); (others > 0) != errors.Is(err,
				eventlog.ErrClosed) {
				t.Errorf("with %d others a session that is made after that: %v", others, err)
			}
			if err := errors.Join(first.stop(), second.stop()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A session that another living replica has is left alone and listed all the same; what a dead one
// left open is closed by another within seconds, though no page is open.
func TestReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk, all := newDisk(), &replicas{owner: map[eventlog.ID]*replica{}}
		start := func(number int64) (*rig, *replica) {
			one := &replica{disk: disk, all: all, number: number}
			r := newRig(t, disk, func(r *rig, c *sessions.Config) {
				c.Log, c.Catalog, c.Owners = one, one, one
				r.backend.prompt = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
			})
			return r, one
		}
		first, one := start(1)
		second, _ := start(2)
		watch := second.m.Watch(t.Context())
		defer watch.Close()

		running, idle, gone := first.create(sessions.Options{}),
			first.create(sessions.Options{Title: "idle"}), first.create(sessions.Options{})
		first.send(running)
		if err := first.m.Delete(t.Context(), gone.ID()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		seen := map[string]event.SessionChanged{}
		changes, err := watch.Next(t.Context())
		for _, e := range changes {
			d := e.Event.Data.(event.SessionChanged)
			seen[d.SessionID] = d
		}
		if err != nil || seen[string(running.ID())].Status != event.Running ||
			seen[string(idle.ID())].Title != "idle" {
			t.Errorf("the second one heard of %+v, %v", seen, err)
		}
		var elsewhere *sessions.ElsewhereError
		_, get := second.m.Get(t.Context(), running.ID())
		_, restore := second.m.Restore(t.Context(), gone.ID())
		for what, err := range map[string]error{"get": get, "restore": restore,
			"delete": second.m.Delete(t.Context(), idle.ID())} {
			if !errors.As(err, &elsewhere) || elsewhere.Peer.Number != 1 {
				t.Errorf("%s: %v", what, err)
			}
		}
		if p, err := second.m.Prune(t.Context(), time.Now().Add(time.Hour)); err != nil ||
			p != (sessions.Pruned{Elsewhere: 1}) {
			t.Errorf("pruned %+v, %v", p, err)
		}
		time.Sleep(10 * time.Second)
		if strings.Contains(first.types(running.ID()), "turn.end") {
			t.Error("the second one ended a turn of the first")
		}

		all.mu.Lock()
		one.dead = true
		all.mu.Unlock()
		time.Sleep(6 * time.Second)
		if !strings.HasSuffix(second.types(running.ID()), "turn.end") {
			t.Errorf("after the death of the first its session has %s", second.types(running.ID()))
		}
		if _, err := running.Send(t.Context(), session.Message{Content: "x"}); !errors.Is(err,
			eventlog.ErrClosed) {
			t.Errorf("the first one gets %v", err)
		}
		if _, err := first.m.Get(t.Context(), running.ID()); !errors.Is(err, eventlog.ErrClosed) {
			t.Errorf("the first one answers from its memory: %v", err)
		}
		if first.m.Unsaved() != "" {
			t.Errorf("the first one says %q", first.m.Unsaved())
		}
		if _, err := second.m.Restore(t.Context(), gone.ID()); err != nil {
			t.Error(err)
		}
		if err := second.m.Delete(t.Context(), idle.ID()); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * sessions.UndoDelete)
		equal(t, "sessions", disk.count(t), 2)
		if err := errors.Join(first.stop(), second.stop()); err != nil {
			t.Error(err)
		}
	})
}
