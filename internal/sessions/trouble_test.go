package sessions_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/session"
	"webchat/internal/sessions"
)

// full is an error of a disk that says what to do.
type full struct{}

func (full) Error() string  { return "the disk is full" }
func (full) Advice() string { return "Free some space" }
func (full) Lasting() bool  { return false }

// Every reader of a session, or of one opened later, is notified once that nothing can
// be saved, and that it can again; the log says nothing of it.
func TestTroubleIsTold(t *testing.T) {
	play(t, nil, func(r *rig) {
		other := r.create(sessions.Options{})
		live, list := other.Subscribe(), r.m.Watch(r.Context())
		defer live.Close()
		defer list.Close()
		told := func(got []event.Entry, err error, kind, text string) {
			t.Helper()
			if err != nil || len(got) != 1 {
				t.Fatalf("told %v, %v", got, err)
			}
			d, ok := got[0].Event.Data.(event.SessionError)
			if !ok || d.ErrorType != kind || !strings.Contains(d.Message, text) || !got[0].Event.Ephemeral {
				t.Errorf("told %+v", got[0])
			}
		}
		for range 2 {
			r.disk.broken(full{})
			for range 3 {
				_, err := r.s.Send(r.Context(), session.Message{Content: "hi"})
				is(t, err, eventlog.ErrLog)
			}
			now, err := live.Next(r.Context())
			told(now, err, string(event.KindLog), "the disk is full. Free some space")
			snap, err := other.Join(r.Context())
			told(snap.Trouble, err, string(event.KindLog), "the disk is full")
			listed, err := list.Next(r.Context())
			told(listed, err, string(event.KindLog), "the disk is full")
			r.disk.broken(nil)
			time.Sleep(10 * time.Second) // of fake time; nothing is written meanwhile
			now, err = live.Next(r.Context())
			told(now, err, event.ErrorSaved, "saved again")
			if snap, err = other.Join(r.Context()); err != nil || len(snap.Trouble) != 0 ||
				r.m.Unsaved() != "" {
				t.Errorf("%v, %v", snap.Trouble, err)
			}
			listed, err = list.Next(r.Context())
			told(listed, err, event.ErrorSaved, "saved again")
		}
		equal(t, "log", other.Summary().LastSeq, 1)
	})
}

// Marks and deletions are refused like everything else, and a deletion that was
// accepted is finished when it can be.
func TestDeletingWhileTheLogRefuses(t *testing.T) {
	play(t, nil, func(r *rig) {
		other := r.create(sessions.Options{})
		pinned := true
		r.disk.broken(errDisk)
		_, err := r.m.Update(r.Context(), other.ID(), sessions.Patch{Pinned: &pinned})
		is(t, err, eventlog.ErrLog)
		is(t, r.m.Delete(r.Context(), other.ID()), eventlog.ErrLog)
		if sum := other.Summary(); sum.Pinned || !sum.DeletedAt.IsZero() {
			t.Errorf("it is %+v", sum)
		}
		r.disk.broken(nil)
		is(t, r.m.Delete(r.Context(), other.ID()), nil)
		r.disk.broken(errDisk)
		time.Sleep(2 * sessions.UndoDelete)
		equal(t, "sessions", r.disk.count(t), 2)
		_, err = r.m.Restore(r.Context(), other.ID())
		is(t, err, eventlog.ErrNotFound)
		r.disk.broken(nil)
		time.Sleep(20 * time.Second)
		equal(t, "sessions", r.disk.count(t), 1)
	})
}

// A write that fails for what was to be written is no trouble of the log's.
func TestOtherErrorsAreNoTrouble(t *testing.T) {
	play(t, nil, func(r *rig) {
		for _, err := range []error{eventlog.ErrInvalid, eventlog.ErrNotFound, context.Canceled} {
			if got := r.m.Wrote(err, 0); !errors.Is(got, err) || errors.Is(got, eventlog.ErrLog) ||
				r.m.Unsaved() != "" {
				t.Errorf("%v became %v", err, got)
			}
		}
	})
}

// When the manager ends, turns are interrupted, and nothing begins any more.
func TestShutdown(t *testing.T) {
	play(t, func(r *rig, _ *sessions.Config) {
		r.backend.prompt = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	}, func(r *rig) {
		id := r.send(r.s)
		synctest.Wait()
		if err := r.stop(); err != nil {
			t.Error(err)
		}
		res, err := r.s.WaitTurn(r.Context(), id)
		if err != nil || res.Outcome != event.Interrupted {
			t.Errorf("%+v, %v", res, err)
		}
		if !strings.HasSuffix(r.types(r.s.ID()), "turn.end session.shutdown") {
			t.Errorf("log %s", r.types(r.s.ID()))
		}
		_, err = r.m.Create(r.Context(), sessions.Options{})
		is(t, err, eventlog.ErrClosed)
		_, err = r.m.Get(r.Context(), r.s.ID())
		is(t, err, eventlog.ErrClosed)
	})
}

// An agent that does not end is not waited for without end.
func TestShutdownIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(t, newDisk(), nil)
		r.s = r.create(sessions.Options{})
		r.backend.prompt = func(context.Context) error { <-release; return nil }
		r.send(r.s)
		synctest.Wait()
		if err := r.stop(); err == nil {
			t.Error("no error")
		}
		close(release)
		synctest.Wait()
	})
}
