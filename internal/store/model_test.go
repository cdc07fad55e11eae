package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/session"
	"webchat/internal/sessions"
)

// fataler is a test, or one run of a model.
type fataler interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// world is a model of a program on a disk with moods: what was accepted, and
// nothing else, is what there is.
type world struct {
	t   *testing.T
	rt  fataler
	dir string
	*program
	readers sync.WaitGroup

	mu       sync.Mutex // guards faults
	faults   []string   // what readers found
	healthy  time.Time  // since when the disk is good; zero: it is not
	accepted map[eventlog.ID][]string
	kept     map[eventlog.ID]int // displays
	pinned   map[eventlog.ID]bool
	deleted  map[eventlog.ID]time.Time
}

func (w *world) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// judge accepts an error that the disk may be the reason of.
func (w *world) judge(what string, err error) (accepted bool) {
	switch {
	case err == nil:
		return true
	case !errors.Is(err, eventlog.ErrLog):
		w.rt.Fatalf("%s: %v", what, err)
	case !w.healthy.IsZero() && time.Since(w.healthy) > 20*time.Second:
		w.rt.Fatalf("%s is refused though the disk is good: %v", what, err)
	}
	return false
}

// some returns one of the sessions that are not deleted.
func (w *world) some(rt *rapid.T) *session.Session {
	ids := slices.Sorted(maps.Keys(w.accepted))
	ids = slices.DeleteFunc(ids, func(id eventlog.ID) bool { return !w.deleted[id].IsZero() })
	if len(ids) == 0 {
		rt.Skip("there is no session")
	}
	return w.get(rapid.SampledFrom(ids).Draw(rt, "session"))
}

func (w *world) get(id eventlog.ID) *session.Session {
	s, err := w.m.Get(context.Background(), id)
	if err != nil {
		w.rt.Fatal(err)
	}
	return s
}

func (w *world) create(*rapid.T) {
	s, err := w.m.Create(context.Background(), sessions.Options{})
	if w.judge("a new session", err) {
		w.accepted[s.ID()] = nil
		w.read(s)
	}
}

// read follows a session and looks each logged event up in the file.
func (w *world) read(s *session.Session) {
	live, db := s.Subscribe(), w.disk.DB
	w.readers.Go(func() {
		defer live.Close()
		for {
			entries, err := live.Next(context.Background())
			for _, e := range entries {
				if e.Event.Ephemeral {
					continue
				}
				got, err := db.After(context.Background(), s.ID(), e.Seq-1, 1)
				if errors.Is(err, ErrClosed) || s.Summary().DeletedAt.IsZero() && err == nil && len(got) == 1 &&
					bytes.Equal(got[0].JSON, e.JSON) {
					continue
				}
				if s.Summary().DeletedAt.IsZero() {
					w.fault("%s of session %s was seen and is not durable: %v", e.Event.Type(), s.ID(), err)
				}
			}
			if err != nil {
				return
			}
		}
	})
}

func (w *world) change(rt *rapid.T) {
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(moods))).Draw(rt, "mood")
	w.disk.set(moods[name])
	switch {
	case name != "good":
		w.healthy = time.Time{}
	case w.healthy.IsZero():
		w.healthy = time.Now()
	}
}

func (w *world) prompt(rt *rapid.T) {
	s := w.some(rt)
	w.say(s, rapid.SampledFrom([]string{"hello you", "wait for me",
		strings.Repeat("long ", 20)}).Draw(rt, "content"))
}

func (w *world) say(s *session.Session, content string) {
	content = fmt.Sprint(content, " ", len(w.accepted[s.ID()]))
	_, err := s.Send(context.Background(), session.Message{Content: content})
	if w.judge("a prompt", err) {
		w.accepted[s.ID()] = append(w.accepted[s.ID()], content)
	} else if w.m.Unsaved() == "" && w.disk.mood().events != nil {
		w.rt.Fatal("a prompt was refused and no page was told")
	}
}

func (w *world) look(rt *rapid.T) { w.show(w.some(rt)) }

func (w *world) show(s *session.Session) {
	res, err := s.Display(context.Background(), "show", nil)
	if err != nil || res.Output == nil {
		w.rt.Fatalf("a look: %+v, %v", res, err)
	}
	if !res.NotKept {
		w.kept[s.ID()]++
	}
}

func (w *world) abort(rt *rapid.T) { w.halt(w.some(rt)) }

func (w *world) halt(s *session.Session) {
	began := time.Now()
	if err := s.Abort(context.Background(), ""); err != nil || time.Since(began) > time.Second {
		w.rt.Fatalf("a stop: %v after %v", err, time.Since(began))
	}
}

func (w *world) pin(rt *rapid.T) { w.mark(w.some(rt), rapid.Bool().Draw(rt, "pinned")) }

func (w *world) mark(s *session.Session, pinned bool) {
	_, err := w.m.Update(context.Background(), s.ID(), sessions.Patch{Pinned: &pinned})
	if w.judge("a pin", err) {
		w.pinned[s.ID()] = pinned
	}
}

func (w *world) delete(rt *rapid.T) { w.drop(w.some(rt)) }

func (w *world) drop(s *session.Session) {
	if w.judge("a deletion", w.m.Delete(context.Background(), s.ID())) {
		w.deleted[s.ID()] = time.Now()
	}
}

func (w *world) wait(rt *rapid.T) {
	time.Sleep(time.Duration(rapid.IntRange(1, 60).Draw(rt, "seconds")) * time.Second)
	synctest.Wait()
	if text := w.m.Unsaved(); text != "" && !w.healthy.IsZero() &&
		time.Since(w.healthy) > 20*time.Second {
		rt.Fatalf("the disk is good and it is said: %s", text)
	}
}

// restart ends the program, whatever the disk is like, and starts it again.
func (w *world) restart(rt *rapid.T) {
	_ = w.stop() // a slow disk may not let it end in time
	w.readers.Wait()
	w.program = start(w.t, w.dir, w.disk.mood())
	if !w.healthy.IsZero() {
		w.healthy = time.Now()
	}
	for id := range w.accepted {
		if s, err := w.m.Get(context.Background(), id); err == nil {
			w.read(s)
		} else if w.deleted[id].IsZero() {
			rt.Fatalf("session %s is gone: %v", id, err)
		}
	}
}

func (w *world) check(*rapid.T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.faults) > 0 {
		w.rt.Fatal(strings.Join(w.faults, "\n"))
	}
}

// settle lets everything end on a good disk, and compares the file with the model.
func (w *world) settle() {
	rt := w.rt
	w.disk.set(mood{})
	time.Sleep(time.Minute)
	for id := range w.accepted {
		if s, err := w.m.Get(context.Background(), id); err == nil {
			if err := s.Abort(context.Background(), ""); err != nil { // some wait to be stopped
				rt.Fatal(err)
			}
		}
	}
	time.Sleep(time.Minute)
	if err := w.stop(); err != nil {
		rt.Fatal(err)
	}
	w.readers.Wait()
	w.check(nil)
	db, err := Open(Config{Dir: w.dir})
	if err != nil {
		rt.Fatal(err)
	}
	defer db.Close()
	if err := db.Check(context.Background()); err != nil {
		rt.Fatal(err)
	}
	for id, accepted := range w.accepted {
		if sum, err := db.Summary(context.Background(), id); !w.deleted[id].IsZero() {
			if !errors.Is(err, eventlog.ErrNotFound) {
				rt.Fatalf("the deleted session %s: %v", id, err)
			}
		} else {
			waiting := sum.Open.Queued // they wait for the user after a stop or a restart
			sum.Open.Queued = 0
			if err != nil || sum.Unfinished() || sum.Pinned != w.pinned[id] {
				rt.Fatalf("session %s is left as %+v, %v", id, sum, err)
			}
			w.compare(db, id, accepted, waiting)
		}
	}
}

// compare checks that the log has each accepted prompt once, with one end unless it
// is one of those that wait, and every display that is kept.
func (w *world) compare(db *DB, id eventlog.ID, accepted []string, waiting int) {
	rt := w.rt
	entries, err := db.After(context.Background(), id, 0, 100_000)
	if err != nil {
		rt.Fatal(err)
	}
	var said []string
	ends, looks := map[string]int{}, 0
	for _, e := range entries {
		switch d := e.Event.Data.(type) {
		case event.UserMessage:
			said = append(said, d.Content)
			ends[d.MessageID] += 0
		case event.TurnEnd:
			ends[d.MessageID]++
		case event.ToolExecutionStart:
			if d.By == event.ByUser {
				looks++
			}
		}
	}
	if !slices.Equal(said, accepted) || looks < w.kept[id] {
		rt.Fatalf("the log of %s has %q and %d looks; accepted were %q and %d", id, said, looks, accepted,
			w.kept[id])
	}
	for id, n := range ends {
		if n == 0 {
			waiting--
		} else if n != 1 {
			rt.Fatalf("message %s ended %d times", id, n)
		}
	}
	if waiting != 0 {
		rt.Fatalf("%s: the number of prompts without an end is not that of those that wait, by %d", id,
			waiting)
	}
}

// newWorld starts a program with one session on a good disk, of which one write is
// to fail; 0 means none.
func newWorld(t *testing.T, rt fataler, fails int) *world {
	w := &world{
		t:        t,
		rt:       rt,
		dir:      t.TempDir(),
		accepted: map[eventlog.ID][]string{},
		kept:     map[eventlog.ID]int{},
		pinned:   map[eventlog.ID]bool{},
		deleted:  map[eventlog.ID]time.Time{},
	}
	w.program = start(t, w.dir, mood{})
	w.disk.fails = fails
	return w
}

func (w *world) end() { _ = w.stop(); w.readers.Wait() }

// TestDiskModel drives full, read-only, slow and recovering disks through prompts,
// drafts, displays, marks, stops, deletions and restarts.
func TestDiskModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var failure any
		// rapid reports by panics, which have to leave the bubble's own goroutine.
		synctest.Test(t, func(t *testing.T) {
			defer func() { failure = recover() }()
			w := newWorld(t, rt, 0)
			defer w.end()
			w.healthy = time.Now()
			w.create(rt)
			rt.Repeat(map[string]func(*rapid.T){"create": w.create, "change": w.change,
				"change again": w.change, "prompt": w.prompt, "look": w.look,
				"abort": w.abort, "pin": w.pin, "delete": w.delete, "wait": w.wait, "restart": w.restart,
				"": w.check})
			w.settle()
		})
		if failure != nil {
			panic(failure)
		}
	})
}
