package sessions_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/session"
	"webchat/internal/sessions"
)

// A session whose agent takes its time to close delays no other one.
func TestTheEndOfOneDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		earlier := newRig(t, newDisk(), nil)
		other := earlier.create(sessions.Options{}).ID()
		if err := earlier.stop(); err != nil {
			t.Fatal(err)
		}
		r := newRig(t, earlier.disk, nil)
		release := make(chan struct{})
		r.backend.closes = func() { <-release }
		ending := r.create(sessions.Options{})
		r.ask(ending)
		if err := r.m.Delete(t.Context(), ending.ID()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(sessions.UndoDelete + time.Second) // of fake time: its agent is closing now
		loaded := make(chan error, 2)
		go func() {
			_, err := r.m.Get(context.Background(), other)
			loaded <- err
			_, err = r.m.Create(context.Background(), sessions.Options{})
			loaded <- err
		}()
		synctest.Wait()
		if len(loaded) != 2 {
			t.Error("the other session waits for the end of the first")
		}
		close(release)
		for range 2 {
			is(t, <-loaded, nil)
		}
		synctest.Wait()
		equal(t, "sessions", r.disk.count(t), 2)
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
}

// late is a disk that has written events before it says so.
type late struct {
	*disk
	said chan struct{}
}

func (d *late) Append(ctx context.Context, id eventlog.ID, entries []event.Entry,
	s eventlog.Summary) error {
	err := d.disk.Append(ctx, id, entries, s)
	<-d.said
	return err
}

// A reader that finds a session in the list while it is being created gets the same
// one as its creator.
func TestASessionHasOneValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &late{newDisk(), make(chan struct{})}
		r := newRig(t, d.disk, func(_ *rig, c *sessions.Config) { c.Log = d })
		got := make(chan *session.Session, 2)
		find := func(f func() (*session.Session, error)) {
			s, err := f()
			if err != nil {
				t.Error(err)
			}
			got <- s
		}
		go find(func() (*session.Session, error) {
			return r.m.Create(context.Background(), sessions.Options{})
		})
		synctest.Wait()
		list, err := r.m.List(t.Context(), sessions.Query{})
		if err != nil || len(list.Sessions) != 1 {
			t.Fatal(list, err)
		}
		id := list.Sessions[0].ID
		hasty, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = r.m.Get(hasty, id)
		is(t, err, context.DeadlineExceeded)
		go find(func() (*session.Session, error) { return r.m.Get(context.Background(), id) })
		synctest.Wait()
		close(d.said)
		if a, b := <-got, <-got; a != b {
			t.Error("two values of one session")
		}
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
}
