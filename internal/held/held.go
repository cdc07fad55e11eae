// Package held holds what agents made in workspaces that takes effect later by itself, such as a
// hook of git: it is moved aside until the user has decided about it.
//
// What trees of a [cage.Cage] made is found by it, and kept by [files.Aside] below Config.Dir, so
// that it outlives the process. A [Holder] is that of all sessions, and its methods may be called
// concurrently.
//
//	h := held.New(held.Config{Dir: dir, Cage: cages.Of, Logger: logger})
//	h.Run(ctx, ask) // blocks until ctx ends
package held

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"webchat/internal/cage"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/files"
	"webchat/internal/session"
)

const (
	// pause is between two looks of [Holder.Run], and share how much longer at least than a look
	// takes.
	pause = 2 * time.Second
	share = 50
	// undo is how long what was kept or deleted can be taken back.
	undo = 7 * 24 * time.Hour
	// mostShown is how many bytes of what is held are shown.
	mostShown = 16 << 20
)

// Config is what a [Holder] works with. All fields but Leave are needed.
type Config struct {
	Dir    string // what is held, and what was there when sessions began; made when it is needed
	Cage   func(workspace string) (*cage.Cage, error)
	Leave  bool // [Holder.Run] moves nothing
	Logger *slog.Logger
}

// Holder implements [session.Holder] for all sessions.
type Holder struct {
	cfg   Config
	aside files.Aside
	since string // a folder with what was there when sessions began

	mu   sync.Mutex
	last map[string]string // guarded by mu: by workspace, the session that did something last
}

// New returns a holder. It deletes what was decided about longer ago than can be taken back.
func New(c Config) *Holder {
	h := &Holder{cfg: c, aside: files.Aside{Dir: filepath.Join(c.Dir, "files")},
		since: filepath.Join(c.Dir, "since"), last: map[string]string{}}
	if err := h.aside.Clean(time.Now().Add(-undo)); err != nil {
		c.Logger.Warn("what was held and is done could not be deleted", "error", err)
	}
	return h
}

// Begin implements [session.Holder].
func (h *Holder) Begin(workspace, session string) {
	h.mu.Lock()
	h.last[workspace] = session
	h.mu.Unlock()
	name := filepath.Join(h.since, session)
	if _, err := os.Lstat(name); err == nil {
		return
	}
	text, err := json.Marshal(files.Tips(workspace))
	if err == nil {
		err = os.MkdirAll(h.since, 0o700)
	}
	if err == nil {
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		h.cfg.Logger.Warn("what git has when a session begins was not noted", "error", err)
	}
}

// Look implements [session.Holder].
func (h *Holder) Look(ctx context.Context,
	l session.HeldLook) (found session.HeldFound, err error) {
	in, err := h.cfg.Cage(l.Workspace)
	if err != nil || !in.Runs() {
		return found, err
	}
	look := cage.Look{Running: l.Running, Count: l.Count}
	if text, err := os.ReadFile(filepath.Join(h.since, l.Session)); err == nil {
		_ = json.Unmarshal(text, &look.Since) // without it nothing is known to have been there
	}
	taken := map[string]files.Taken{}
	if !l.Leave {
		look.Aside = func(root, name string, was time.Time) (string, error) {
			t, err := h.aside.Take(files.Taken{Session: l.Session, Workspace: l.Workspace,
				Root: root, Path: name, Was: was})
			taken[t.ID] = t
			return t.ID, err
		}
	}
	made, err := in.Look(ctx, look)
	for _, m := range made.Made {
		file := session.HeldFile{Path: m.Path, Stood: m.Stood, Held: heldOf(taken[m.ID])}
		found.Files = append(found.Files, file)
	}
	found.Left = int64(made.Left)
	return found, err
}

func heldOf(t files.Taken) event.Held {
	held := event.Held{ID: t.ID, Folder: t.Folder, Files: t.Files, Bytes: t.Bytes}
	if t.Beside != "" {
		held.Beside = t.Named(filepath.ToSlash(filepath.Join(filepath.Dir(t.Path), t.Beside)))
	}
	return held
}

// PutBack implements [session.Holder].
func (h *Holder) PutBack(id string) (string, error) {
	t, err := h.aside.Get(id)
	if err != nil {
		return "", err
	}
	var as string
	var unput error
	put := func() (string, error) {
		as, unput = h.aside.Put(id)
		return as, unput
	}
	in, err := h.cfg.Cage(t.Workspace)
	if err == nil {
		err = in.Restore(t.Root, put, func(name string) bool { return h.aside.Is(id, name) })
	} else { // no look is there
		_, err = put()
	}
	if unput != nil {
		return "", unput
	}
	if err != nil {
		h.cfg.Logger.Warn("what was put back may be held again", "error", err)
	}
	return t.Named(as), h.aside.Change(id, func(t *files.Taken) { t.Done = time.Now() })
}

// Drop implements [session.Holder].
func (h *Holder) Drop(id string) {
	err := h.aside.Change(id, func(t *files.Taken) { t.Done = time.Now() })
	if t, bad := h.aside.Get(id); bad == nil && t.Beside != "" {
		err = h.aside.Remove(id)
	}
	if err != nil {
		h.cfg.Logger.Warn("what was held was not deleted", "error", err)
	}
}

// Again implements [session.Holder].
func (h *Holder) Again(id, path string) (event.Held, error) {
	t, err := h.aside.Get(id)
	if err != nil {
		return event.Held{}, consent.ErrGone
	}
	name := path
	if filepath.IsAbs(path) {
		if name, err = filepath.Rel(t.Root, path); err != nil {
			return event.Held{}, err
		}
	}
	again, err := h.aside.Take(files.Taken{Session: t.Session, Workspace: t.Workspace,
		Root: t.Root, Path: filepath.ToSlash(name)})
	if err != nil {
		return event.Held{}, consent.ErrGone
	}
	return heldOf(again), nil
}

// Unasked implements [session.Holder].
func (h *Holder) Unasked(id string) (all []session.HeldFile) {
	for _, t := range h.aside.OfSession(id) {
		if !t.Asked {
			f := session.HeldFile{Path: t.Named(t.Path), Held: heldOf(t)}
			if !t.Was.IsZero() {
				f.Stood = t.At.Sub(t.Was)
			}
			all = append(all, f)
		}
	}
	return all
}

// Asked implements [session.Holder].
func (h *Holder) Asked(all []session.HeldFile) {
	for _, f := range all {
		if f.ID == "" {
			continue // it was not moved
		}
		err := h.aside.Change(f.ID, func(t *files.Taken) { t.Asked, t.Done = true, time.Time{} })
		if err != nil {
			h.cfg.Logger.Warn("what is held may be asked about twice", "error", err)
		}
	}
}

// Shown returns what is held for a session, to be shown to the user: of several files their texts,
// each below its name. ids are separated by spaces.
func (h *Holder) Shown(session string) func(ids string) (path string, text []byte, err error) {
	return func(ids string) (path string, text []byte, err error) {
		all := strings.Fields(ids)
		for _, id := range all {
			t, err := h.aside.Get(id)
			if err != nil || t.Session != session {
				return "", nil, files.ErrMissing
			}
			part, err := h.aside.Text(id, max(0, mostShown-int64(len(text))))
			if err != nil {
				return "", nil, err
			}
			if path = t.Named(t.Path); len(all) > 1 {
				text = fmt.Appendf(text, "==> %s <==\n", path)
			}
			if text = append(text, part...); len(all) > 1 {
				text = append(text, '\n')
			}
		}
		if len(all) > 1 {
			path = fmt.Sprintf("%d files that are held", len(all))
		}
		return path, text, nil
	}
}

// DeleteSession deletes what is held for a session.
func (h *Holder) DeleteSession(id string) error {
	if strings.ContainsAny(id, `/\`) {
		return nil
	}
	_ = os.Remove(filepath.Join(h.since, id)) // it may have none
	return h.aside.DeleteSession(id)
}

// Run looks at workspaces while something confined runs there, until ctx ends. It has the session
// that did something last in one, by its id, ask about what was found.
func (h *Holder) Run(ctx context.Context, ask func(context.Context, string, []session.HeldFile)) {
	for wait := pause; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		began := time.Now()
		h.mu.Lock()
		last := maps.Clone(h.last)
		h.mu.Unlock()
		for workspace, id := range last {
			found, err := h.Look(ctx, session.HeldLook{Workspace: workspace, Session: id,
				Leave: h.cfg.Leave, Running: true})
			if err != nil && ctx.Err() == nil {
				h.cfg.Logger.Warn("what was made was not all found, or not all held", "error", err)
			}
			if len(found.Files) > 0 {
				ask(ctx, id, found.Files)
			}
		}
		wait = max(pause, share*time.Since(began))
	}
}
