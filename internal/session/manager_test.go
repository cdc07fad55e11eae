package session

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
)

func TestConfigIsChecked(t *testing.T) {
	mem := newMemory()
	good := Config{Log: mem, Catalog: mem, Backends: []agent.Backend{&scripted{}}, Workspace: t.TempDir()}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Config){
		"no log":      func(c *Config) { c.Log = nil },
		"no catalog":  func(c *Config) { c.Catalog = nil },
		"no backend":  func(c *Config) { c.Backends = nil },
		"two of one":  func(c *Config) { c.Backends = []agent.Backend{&scripted{}, &scripted{}} },
		"default":     func(c *Config) { c.Default = "other" },
		"relative":    func(c *Config) { c.Workspace = "." },
		"permissions": func(c *Config) { c.Permissions = "yes" },
	} {
		c := good
		spoil(&c)
		if _, err := New(c); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCreate(t *testing.T) {
	play(t, nil, func(r *rig) {
		_, err := r.m.Create(r.Context(), Options{Backend: "other"})
		is(t, err, ErrInvalid)
		_, err = r.m.Create(r.Context(), Options{Title: strings.Repeat("x", maxTitle+1)})
		is(t, err, ErrInvalid)
		s, err := r.m.Create(r.Context(), Options{Backend: "scripted", Model: "a", Title: "  My\n\u202esession\u2066 "})
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
		_, err = r.m.Get(r.Context(), "nobody")
		is(t, err, ErrNotFound)
		r.mem.broken(errDisk)
		_, err = r.m.Create(r.Context(), Options{})
		is(t, err, ErrLog)
		r.mem.broken(nil)
		page, err := r.m.List(r.Context(), Query{})
		if err != nil || len(page.Sessions) != 2 {
			t.Error(page, err)
		}
	})
}

func TestUpdate(t *testing.T) {
	play(t, nil, func(r *rig) {
		yes, title, model, blank := true, "\u202dBetter\x1b", "a", " \u200f"
		_, err := r.m.Update(r.Context(), r.s.ID(), Patch{Title: &blank})
		is(t, err, ErrInvalid)
		sum, err := r.m.Update(r.Context(), r.s.ID(), Patch{Title: &title, Model: &model, Pinned: &yes})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "title", sum.Title, "Better")
		equal(t, "model", sum.Model, "a")
		equal(t, "pinned", sum.Pinned, true)
		r.ask("hello") // opens with the model, leaves the title
		equal(t, "opened with", r.backend.opened[0].Model, "a")
		equal(t, "title", r.s.Summary().Title, "Better")
		equal(t, "pinned", r.s.Summary().Pinned, true)
		model, title = "b", "Best"
		if _, err := r.m.Update(r.Context(), r.s.ID(), Patch{Title: &title, Model: &model}); err != nil {
			t.Fatal(err)
		}
		equal(t, "models told", strings.Join(r.backend.models, " "), "b")
		equal(t, "titles told", strings.Join(r.backend.titles, " "), "Best")
		if err := r.backend.host.Report(r.Context(), event.SessionTitleChanged{Title: "The agent's"}); err != nil {
			t.Error(err)
		}
		equal(t, "the user's title stays", r.s.Summary().Title, "Best")
		equal(t, "log", strings.Count(r.types(), "session.model_change"), 2)
		row, _ := r.mem.Summary(r.Context(), r.s.ID())
		equal(t, "row", reflect.DeepEqual(row, r.s.Summary()), true)
	})
}

func TestDeleteAndRestore(t *testing.T) {
	outputs, uploads := &dropped{}, &dropped{}
	play(t, func(r *rig, c *Config) {
		c.Outputs, c.Attachments = outputs, uploads
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error { <-ctx.Done(); return ctx.Err() }
	}, func(r *rig) {
		keep := r.s
		s, err := r.m.Create(r.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		id, err := s.Send(r.Context(), Message{Content: "go"})
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
		is(t, err, ErrNotFound)
		is(t, r.m.Delete(r.Context(), s.ID()), ErrNotFound)
		_, err = s.Send(r.Context(), Message{Content: "go"})
		is(t, err, ErrNotFound)

		time.Sleep(UndoDelete - time.Second)
		if _, err := r.m.Restore(r.Context(), s.ID()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if back, err := r.m.Get(r.Context(), s.ID()); err != nil || back != s {
			t.Fatal(back, err)
		}
		checkLog(t, r.mem.entries(s.ID()), true)

		if err := r.m.Delete(r.Context(), s.ID()); err != nil {
			t.Fatal(err)
		}
		live := s.Subscribe()
		time.Sleep(UndoDelete + time.Second)
		_, err = r.m.Restore(r.Context(), s.ID())
		is(t, err, ErrNotFound)
		equal(t, "log", len(r.mem.entries(s.ID())), 0)
		equal(t, "outputs dropped", outputs.id, s.ID())
		equal(t, "uploads dropped", uploads.id, s.ID())
		for err = nil; err == nil; {
			_, err = live.Next(r.Context())
		}
		is(t, err, ErrClosed)
		if len(r.mem.entries(keep.ID())) == 0 {
			t.Error("the other session is gone too")
		}
	})
}

// dropped notes whose things were dropped.
type dropped struct{ id ID }

func (d *dropped) DeleteSession(id ID)                                       { d.id = id }
func (d *dropped) Put(context.Context, ID, agent.Attachment) (string, error) { return "", nil }
func (d *dropped) Get(context.Context, ID, string) (agent.Attachment, error) {
	return agent.Attachment{}, ErrNotFound
}
func (d *dropped) Read(_ context.Context, _ ID, id, lines string) (agent.Attachment, error) {
	return agent.Attachment{Name: id, Data: []byte("lines " + lines)}, nil
}

// A session deleted before a restart is gone when its time is over.
func TestPurgeAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newMemory(), nil)
		s, err := r.m.Create(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.m.Delete(t.Context(), s.ID()); err != nil {
			t.Fatal(err)
		}
		r.stop()
		time.Sleep(10 * time.Second)
		next := newRig(t, r.mem, nil)
		if _, err := next.m.Get(t.Context(), s.ID()); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		time.Sleep(19 * time.Second)
		equal(t, "rows", r.mem.count(), 1)
		time.Sleep(2 * time.Second)
		equal(t, "rows", r.mem.count(), 0)
		next.stop()
	})
}

func TestWatch(t *testing.T) {
	play(t, nil, func(r *rig) {
		w := r.m.Watch()
		for range 3 {
			r.ask("hello")
		}
		other, err := r.m.Create(r.Context(), Options{Title: "other"})
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
		is(t, err, ErrClosed)
		last := r.m.Watch()
		r.stop()
		for err = nil; err == nil; {
			_, err = last.Next(r.Context())
		}
		is(t, err, ErrClosed)
		_, err = r.m.Watch().Next(r.Context())
		is(t, err, ErrClosed)
	})
}

func TestBackendsAndModels(t *testing.T) {
	play(t, func(r *rig, _ *Config) {
		r.backend.info = agent.Info{Available: true, Version: "1", Intercept: agent.InterceptAll}
	}, func(r *rig) {
		b, err := json.Marshal(r.m.Backends(r.Context()))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "backends", string(b), `[{"name":"scripted","available":true,"version":"1","reason":"","intercept":"all"}]`)
		models, err := r.m.Models(r.Context(), "")
		if err != nil || len(models) != 1 {
			t.Error(models, err)
		}
		_, err = r.m.Models(r.Context(), "other")
		is(t, err, ErrNotFound)
	})
}

func TestResumeOfTheConversation(t *testing.T) {
	for _, refuses := range []string{"", "resume"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, newMemory(), nil)
			r.s, _ = r.m.Create(t.Context(), Options{})
			r.ask("one")
			equal(t, "resume", r.backend.opened[0].Resume, false)
			r.stop()
			next := newRig(t, r.mem, nil)
			next.backend.info.CanResume = true
			next.backend.open = func(o agent.Options) error {
				if o.Resume && refuses != "" {
					return agent.ErrUnsupported
				}
				return nil
			}
			s, err := next.m.Get(t.Context(), r.s.ID())
			if err != nil {
				t.Fatal(err)
			}
			next.s = s
			equal(t, "no resume by reading", strings.HasSuffix(next.types(), "session.shutdown"), true)
			next.ask("two")
			equal(t, "resume", next.backend.opened[0].Resume, true)
			equal(t, "opened", len(next.backend.opened), 1+len(refuses)/6)
			if !strings.Contains(next.types(), "session.shutdown session.resume user.message turn.start") {
				t.Error(next.types())
			}
			next.stop()
		})
	}
}

func TestAttachments(t *testing.T) {
	play(t, func(r *rig, c *Config) {
		c.Attachments, c.Outputs = NewUploads(100), &dropped{}
		if err := os.WriteFile(filepath.Join(c.Workspace, "a.txt"), []byte("hi"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/etc/passwd", filepath.Join(c.Workspace, "link")); err != nil {
			t.Skip(err)
		}
	}, func(r *rig) {
		id, err := r.s.Attach(r.Context(), agent.Attachment{Name: "p.png", MimeType: "image/png", Data: []byte("png"), Path: "/etc/passwd"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.s.Attach(r.Context(), agent.Attachment{})
		is(t, err, ErrInvalid)
		_, err = r.s.Attach(r.Context(), agent.Attachment{Data: make([]byte, 101)})
		is(t, err, ErrInvalid)
		dir := r.m.cfg.Workspace
		message, err := r.s.Send(r.Context(), Message{Attachments: []event.Attachment{{ID: id}, {Path: "a.txt"}, {Path: filepath.Join(dir, "a.txt")}, {OutputID: "out_1", Lines: "1-2"}}})
		if err != nil {
			t.Fatal(err)
		}
		r.wait(message)
		got := r.backend.prompts[0].Attachments
		equal(t, "upload", string(got[0].Data)+got[0].MimeType+got[0].Path, "pngimage/png")
		equal(t, "file", got[1].Path, filepath.Join(dir, "a.txt"))
		equal(t, "absolute", got[2].Path, filepath.Join(dir, "a.txt"))
		equal(t, "output", string(got[3].Data), "lines 1-2")
		for _, path := range []string{"link", "/etc/passwd", "..", ".", "a.txt/../../x", "a\x00"} {
			if _, err := r.s.Send(r.Context(), Message{Content: "x", Attachments: []event.Attachment{{Path: path}}}); !errors.Is(err, ErrInvalid) {
				t.Errorf("%q: %v", path, err)
			}
		}
		other, err := r.m.Create(r.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = other.Send(r.Context(), Message{Content: "x", Attachments: []event.Attachment{{ID: id}}})
		is(t, err, ErrNotFound)
	})
}

func TestUploadsHaveABudget(t *testing.T) {
	u := NewUploads(10)
	put := func(s ID, n int) string {
		id, err := u.Put(t.Context(), s, agent.Attachment{Data: make([]byte, n)})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	a, b := put("s", 6), put("s", 4)
	c := put("t", 1)
	_, err := u.Get(t.Context(), "s", a)
	is(t, err, ErrNotFound)
	for s, id := range map[ID]string{"s": b, "t": c} {
		if _, err := u.Get(t.Context(), s, id); err != nil {
			t.Error(err)
		}
	}
	u.DeleteSession("s")
	_, err = u.Get(t.Context(), "s", b)
	is(t, err, ErrNotFound)
	if _, err := u.Get(t.Context(), "t", c); err != nil {
		t.Error(err)
	}
	equal(t, "size", u.size, 1)
}
