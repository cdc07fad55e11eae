package sessions_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/session"
	"webchat/internal/sessions"
)

func TestConfigIsChecked(t *testing.T) {
	mem := newDisk()
	good := sessions.Config{
		Log:        mem,
		Catalog:    mem,
		Backends:   []agent.Backend{&scripted{}},
		Workspaces: folder(t),
	}
	if _, err := sessions.New(good); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*sessions.Config){
		"no log":     func(c *sessions.Config) { c.Log = nil },
		"no catalog": func(c *sessions.Config) { c.Catalog = nil },
		"no backend": func(c *sessions.Config) { c.Backends = nil },
		"two of one": func(c *sessions.Config) { c.Backends = []agent.Backend{&scripted{}, &scripted{}} },
		"no folder":  func(c *sessions.Config) { c.Workspaces = nil },
	} {
		c := good
		spoil(&c)
		if _, err := sessions.New(c); !errors.Is(err, eventlog.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCreate(t *testing.T) {
	play(t, nil, func(r *rig) {
		_, err := r.m.Create(r.Context(), sessions.Options{Backend: "other"})
		is(t, err, eventlog.ErrInvalid)
		_, err = r.m.Create(r.Context(), sessions.Options{Title: strings.Repeat("x", 201)})
		is(t, err, eventlog.ErrInvalid)
		s, err := r.m.Create(r.Context(), sessions.Options{
			Backend: "scripted",
			Model:   "a",
			Title:   "  My\n\u202esession\u2066 ",
		})
		if err != nil {
			t.Fatal(err)
		}
		sum := s.Summary()
		equal(t, "title", sum.Title, "My session")
		equal(t, "model", sum.Model, "a")
		equal(t, "id", string(sum.ID), string(s.ID()))
		same, err := r.m.Get(r.Context(), s.ID())
		if err != nil || same != s {
			t.Error(same, err)
		}
		_, err = r.m.Get(r.Context(), "unknown")
		is(t, err, eventlog.ErrNotFound)
		r.disk.broken(errDisk)
		_, err = r.m.Create(r.Context(), sessions.Options{})
		is(t, err, eventlog.ErrLog)
		r.disk.broken(nil)
		page, err := r.m.List(r.Context(), sessions.Query{})
		if err != nil || len(page.Sessions) != 2 {
			t.Error(page, err)
		}
	})
}

func TestUpdate(t *testing.T) {
	play(t, nil, func(r *rig) {
		yes, title, model, blank := true, "\u202dBetter\x1b", "a", " \u200f"
		_, err := r.m.Update(r.Context(), r.s.ID(), sessions.Patch{Title: &blank})
		is(t, err, eventlog.ErrInvalid)
		sum, err := r.m.Update(r.Context(), r.s.ID(),
			sessions.Patch{Title: &title, Model: &model, Pinned: &yes})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "title", sum.Title, "Better")
		equal(t, "model", sum.Model, "a")
		equal(t, "pinned", sum.Pinned, true)
		r.ask(r.s) // opens with the model, leaves the title
		equal(t, "opened with", r.backend.opened[0].Model, "a")
		equal(t, "title", r.s.Summary().Title, "Better")
		equal(t, "pinned", r.s.Summary().Pinned, true)
		model, title = "b", "Best"
		if _, err := r.m.Update(r.Context(), r.s.ID(),
			sessions.Patch{Title: &title, Model: &model}); err != nil {
			t.Fatal(err)
		}
		equal(t, "models told", strings.Join(r.backend.models, " "), "b")
		equal(t, "titles told", strings.Join(r.backend.titles, " "), "Best")
		if err := r.backend.host.Report(r.Context(),
			event.SessionTitleChanged{Title: "The agent's"}); err != nil {
			t.Error(err)
		}
		equal(t, "the user's title stays", r.s.Summary().Title, "Best")
		equal(t, "log", strings.Count(r.types(r.s.ID()), "session.model_change"), 2)
		row, _ := r.disk.Summary(r.Context(), r.s.ID())
		equal(t, "row", reflect.DeepEqual(row, r.s.Summary()), true)
	})
}

func TestDeleteAndRestore(t *testing.T) {
	outputs, uploads, snapshots := &dropped{}, &dropped{}, &unkept{}
	play(t, func(r *rig, c *sessions.Config) {
		c.Outputs, c.Attachments, c.Snapshots = outputs, uploads, snapshots
		r.backend.prompt = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	}, func(r *rig) {
		keep := r.s
		s, err := r.m.Create(r.Context(), sessions.Options{})
		if err != nil {
			t.Fatal(err)
		}
		id, err := s.Send(r.Context(), session.Message{Content: "go"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := r.m.Delete(r.Context(), s.ID()); err != nil {
			t.Fatal(err)
		}
		res, err := s.WaitTurn(r.Context(), id)
		if err != nil || res.Outcome != event.Aborted {
			t.Error(res, err)
		}
		_, err = r.m.Get(r.Context(), s.ID())
		is(t, err, eventlog.ErrNotFound)
		is(t, r.m.Delete(r.Context(), s.ID()), eventlog.ErrNotFound)
		_, err = s.Send(r.Context(), session.Message{Content: "go"})
		is(t, err, eventlog.ErrNotFound)

		time.Sleep(sessions.UndoDelete - time.Second)
		if _, err := r.m.Restore(r.Context(), s.ID()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if back, err := r.m.Get(r.Context(), s.ID()); err != nil || back != s {
			t.Fatal(back, err)
		}

		if err := r.m.Delete(r.Context(), s.ID()); err != nil {
			t.Fatal(err)
		}
		live := s.Subscribe()
		time.Sleep(sessions.UndoDelete + time.Second)
		_, err = r.m.Restore(r.Context(), s.ID())
		is(t, err, eventlog.ErrNotFound)
		equal(t, "log", len(r.disk.entries(t, s.ID())), 0)
		equal(t, "outputs dropped", outputs.id, string(s.ID()))
		equal(t, "uploads dropped", uploads.id, string(s.ID()))
		equal(t, "snapshots dropped", snapshots.of, s.Summary().Workspace+" "+string(s.ID()))
		for err = nil; err == nil; {
			_, err = live.Next(r.Context())
		}
		is(t, err, eventlog.ErrClosed)
		if len(r.disk.entries(t, keep.ID())) == 0 {
			t.Error("the other session is gone too")
		}
	})
}

// dropped notes whose things were dropped.
type dropped struct{ id string }

func (d *dropped) DeleteSession(session string)                      { d.id = session }
func (d *dropped) Put(string, string, []byte) (id string, err error) { return "", nil }
func (d *dropped) Get(string, string) (mediaType string, data []byte, err error) {
	return "", nil, errDisk
}
func (d *dropped) Read(context.Context, eventlog.ID, string, string,
	string) (agent.Attachment, error) {
	return agent.Attachment{}, errDisk
}

// unkept notes whose snapshots were deleted, and keeps none.
type unkept struct {
	sessions.Snapshots
	of string
}

func (u *unkept) Unsettled() []string { return nil }

func (u *unkept) Warm(context.Context, string) error                 { return errDisk }
func (u *unkept) Take(context.Context, string, string, string) error { return errDisk }
func (u *unkept) Count(context.Context, string, string, string, string) (files.Counted, error) {
	return files.Counted{}, errDisk
}
func (u *unkept) DeleteSession(_ context.Context, workspace, session string) error {
	u.of = workspace + " " + session
	return nil
}

// A session deleted before a restart is gone when its time is over.
func TestPurgeAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newDisk(), nil)
		s, err := r.m.Create(t.Context(), sessions.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.m.Delete(t.Context(), s.ID()); err != nil {
			t.Fatal(err)
		}
		r.stop()
		time.Sleep(10 * time.Second)
		next := newRig(t, r.disk, nil)
		if _, err := next.m.Get(t.Context(), s.ID()); !errors.Is(err, eventlog.ErrNotFound) {
			t.Error(err)
		}
		time.Sleep(19 * time.Second)
		equal(t, "rows", r.disk.count(t), 1)
		time.Sleep(2 * time.Second)
		equal(t, "rows", r.disk.count(t), 0)
		next.stop()
	})
}

func TestWatch(t *testing.T) {
	play(t, nil, func(r *rig) {
		w := r.m.Watch(r.Context())
		for range 3 {
			r.ask(r.s)
		}
		other, err := r.m.Create(r.Context(), sessions.Options{Title: "other"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		entries, err := w.Next(r.Context())
		if err != nil || len(entries) != 2 {
			t.Fatal(entries, err)
		}
		first := entries[0].Event.Data.(event.SessionChanged)
		equal(t, "first", first.SessionID, string(r.s.ID()))
		equal(t, "status", first.Status, event.Idle)
		equal(t, "last event", first.LastEvent, r.s.Summary().LastSeq)
		equal(t, "second", entries[1].Event.Data.(event.SessionChanged).Title, "other")
		if !strings.Contains(string(entries[1].JSON), `"ephemeral":true,"type":"session.changed"`) {
			t.Errorf("%s", entries[1].JSON)
		}
		if err := r.m.Delete(r.Context(), other.ID()); err != nil {
			t.Fatal(err)
		}
		entries, err = w.Next(r.Context())
		if err != nil || !entries[0].Event.Data.(event.SessionChanged).Deleted {
			t.Error(entries, err)
		}
		w.Close()
		_, err = w.Next(r.Context())
		is(t, err, eventlog.ErrClosed)
		last := r.m.Watch(r.Context())
		r.stop()
		for err = nil; err == nil; {
			_, err = last.Next(r.Context())
		}
		is(t, err, eventlog.ErrClosed)
		_, err = r.m.Watch(r.Context()).Next(r.Context())
		is(t, err, eventlog.ErrClosed)
	})
}

func TestBackendsAndModels(t *testing.T) {
	play(t, func(r *rig, _ *sessions.Config) {
		r.backend.info = agent.Info{Available: true, Version: "1", Intercept: agent.InterceptAll}
	}, func(r *rig) {
		got := r.m.Backends(r.Context())
		if len(got) != 1 || !reflect.DeepEqual(got[0],
			sessions.BackendInfo{Info: r.backend.info, Name: "scripted", Default: true}) {
			t.Errorf("%+v", got)
		}
		models, err := r.m.Models(r.Context(), "")
		if err != nil || len(models) != 2 {
			t.Error(models, err)
		}
		_, err = r.m.Models(r.Context(), "other")
		is(t, err, eventlog.ErrNotFound)
	})
}
