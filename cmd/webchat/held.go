package main

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
	"webchat/internal/displaytools"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/session"
	"webchat/internal/sessions"
)

const (
	// heldPause is between two looks while something confined runs, and heldShare how much longer at
	// least than a look takes.
	heldPause = 2 * time.Second
	heldShare = 50
	// heldUndo is how long what was kept or deleted can be taken back.
	heldUndo = 7 * 24 * time.Hour
)

// holder holds what agents made in workspaces that takes effect later by itself.
type holder struct {
	cells *cages
	aside files.Aside
	since string // a folder with what was there when sessions began
	leave bool   // nothing is moved
	log   *slog.Logger

	mu   sync.Mutex
	last map[string]string // guarded by mu: by workspace, the session that did something last
}

// holder returns what holds; nil where nothing is confined.
func (o *options) holder(cells *cages, dir string, log *slog.Logger) *holder {
	if cells == nil {
		return nil
	}
	h := &holder{cells: cells, aside: files.Aside{Dir: filepath.Join(dir, heldFolder, "files")}, since: filepath.Join(dir, heldFolder, "since"),
		leave: consent.Mode(o.Permissions) == consent.ModeAllow, log: log, last: map[string]string{}}
	if err := h.aside.Clean(time.Now().Add(-heldUndo)); err != nil {
		log.Warn("what was held and is done could not be deleted", "error", err)
	}
	return h
}

// Begin implements [session.Holder].
func (h *holder) Begin(workspace, session string) {
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
		h.log.Warn("what git has when a session begins was not noted", "error", err)
	}
}

// Look implements [session.Holder].
func (h *holder) Look(ctx context.Context, l session.HeldLook) (session.HeldFound, error) {
	return h.look(ctx, l, false)
}

func (h *holder) look(ctx context.Context, l session.HeldLook, running bool) (found session.HeldFound, err error) {
	in, err := h.cells.of(l.Workspace)
	if err != nil || !in.Runs() {
		return found, err
	}
	look := cage.Look{Running: running, Count: l.Count}
	if text, err := os.ReadFile(filepath.Join(h.since, l.Session)); err == nil {
		_ = json.Unmarshal(text, &look.Since) // without it nothing is known to have been there
	}
	taken := map[string]files.Taken{}
	if !l.Leave {
		look.Aside = func(root, name string, was time.Time) (string, error) {
			t, err := h.aside.Take(files.Taken{Session: l.Session, Workspace: l.Workspace, Root: root, Path: name, Was: was})
			taken[t.ID] = t
			return t.ID, err
		}
	}
	made, err := in.Look(ctx, look)
	for _, m := range made.Made {
		found.Files = append(found.Files, session.HeldFile{Path: m.Path, Stood: m.Stood, Held: heldOf(taken[m.ID])})
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
func (h *holder) PutBack(id string) (string, error) {
	as, err := h.aside.Put(id)
	if err != nil {
		return "", err
	}
	t, err := h.aside.Get(id)
	if err != nil {
		return "", err
	}
	if in, err := h.cells.of(t.Workspace); err == nil {
		if err := in.Kept(t.Root, as); err != nil {
			h.log.Warn("what was put back may be held again", "error", err)
		}
	}
	return t.Named(as), h.aside.Change(id, func(t *files.Taken) { t.Done = time.Now() })
}

// Drop implements [session.Holder].
func (h *holder) Drop(id string) {
	err := h.aside.Change(id, func(t *files.Taken) { t.Done = time.Now() })
	if t, bad := h.aside.Get(id); bad == nil && t.Beside != "" {
		err = h.aside.Remove(id)
	}
	if err != nil {
		h.log.Warn("what was held was not deleted", "error", err)
	}
}

// Again implements [session.Holder].
func (h *holder) Again(id, path string) (event.Held, error) {
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
	again, err := h.aside.Take(files.Taken{Session: t.Session, Workspace: t.Workspace, Root: t.Root, Path: filepath.ToSlash(name)})
	if err != nil {
		return event.Held{}, consent.ErrGone
	}
	return heldOf(again), nil
}

// Unasked implements [session.Holder].
func (h *holder) Unasked(id string) (all []session.HeldFile) {
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
func (h *holder) Asked(all []session.HeldFile) {
	for _, f := range all {
		if f.ID == "" {
			continue // it was not moved
		}
		if err := h.aside.Change(f.ID, func(t *files.Taken) { t.Asked, t.Done = true, time.Time{} }); err != nil {
			h.log.Warn("what is held may be asked about twice", "error", err)
		}
	}
}

// mostShown is how many bytes of what is held are shown.
const mostShown = 16 << 20

// shown returns what is held for a session, to be shown.
func (h *holder) shown(session eventlog.ID) displaytools.Held {
	return func(_ context.Context, ids string) (path string, text []byte, err error) {
		all := strings.Fields(ids)
		for _, id := range all {
			t, err := h.aside.Get(id)
			if err != nil || t.Session != string(session) {
				return "", nil, files.ErrMissing
			}
			one, err := h.aside.Text(id, max(0, mostShown-int64(len(text))))
			if err != nil {
				return "", nil, err
			}
			if path = t.Named(t.Path); len(all) > 1 {
				text = fmt.Appendf(text, "==> %s <==\n", path)
			}
			if text = append(text, one...); len(all) > 1 {
				text = append(text, '\n')
			}
		}
		if len(all) > 1 {
			path = fmt.Sprintf("%d files that are held", len(all))
		}
		return path, text, nil
	}
}

// DeleteSession implements [sessions.Holder].
func (h *holder) DeleteSession(id string) error {
	if strings.ContainsAny(id, `/\`) {
		return nil
	}
	_ = os.Remove(filepath.Join(h.since, id)) // it may have none
	return h.aside.DeleteSession(id)
}

// run looks at workspaces while something confined runs there, until ctx ends. The session that did
// something last is asked.
func (h *holder) run(ctx context.Context, all *sessions.Manager) {
	if h == nil {
		return
	}
	for pause := heldPause; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		began := time.Now()
		h.mu.Lock()
		last := maps.Clone(h.last)
		h.mu.Unlock()
		for workspace, id := range last {
			found, err := h.look(ctx, session.HeldLook{Workspace: workspace, Session: id, Leave: h.leave}, true)
			if err != nil && ctx.Err() == nil {
				h.log.Warn("what was made was not all found, or not all held", "error", err)
			}
			if len(found.Files) == 0 {
				continue
			}
			if one, err := all.Get(ctx, eventlog.ID(id)); err == nil { // else the next start of it asks
				one.Held().Ask("", found.Files)
			}
		}
		pause = max(heldPause, heldShare*time.Since(began))
	}
}
