package session

import (
	"context"
	"fmt"
	"time"

	"webchat/internal/agent"
)

// Delete stops a session and hides it at once. For [UndoDelete] it can be
// restored; then its log, outputs and uploads are gone.
func (m *Manager) Delete(ctx context.Context, id ID) error {
	s, err := m.Get(ctx, id)
	if err != nil {
		return err
	}
	at := m.cfg.Now().UTC()
	if err := m.wrote(m.cfg.Catalog.Mark(ctx, id, Mark{DeletedAt: &at}), 0); err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	s.retire(at)
	m.schedulePurge(id, UndoDelete)
	return nil
}

// Restore brings a deleted session back; [ErrNotFound] when it is gone for good.
func (m *Manager) Restore(ctx context.Context, id ID) (Summary, error) {
	if err := m.await(ctx); err != nil {
		return Summary{}, err
	}
	s, err := m.load(ctx, id)
	if err != nil {
		return Summary{}, err
	}
	if s.ended() {
		return Summary{}, fmt.Errorf("session %s: %w", id, ErrNotFound) // the purge has begun
	}
	m.mu.Lock()
	timer := m.purges[id]
	delete(m.purges, id)
	m.mu.Unlock()
	if s.Summary().DeletedAt.IsZero() {
		return s.Summary(), nil
	}
	if timer == nil || !timer.Stop() {
		return Summary{}, fmt.Errorf("session %s: %w", id, ErrNotFound) // the purge has begun
	}
	if err := m.wrote(m.cfg.Catalog.Mark(ctx, id, Mark{DeletedAt: &time.Time{}}), 0); err != nil {
		m.schedulePurge(id, UndoDelete)
		return Summary{}, fmt.Errorf("restore session %s: %w", id, err)
	}
	s.revive()
	return s.Summary(), nil
}

func (m *Manager) schedulePurge(id ID, in time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.purges[id] != nil {
		return
	}
	m.purges[id] = time.AfterFunc(in, func() {
		m.mu.Lock()
		if m.closed {
			m.mu.Unlock()
			return
		}
		m.wg.Add(1)
		m.mu.Unlock()
		defer m.wg.Done()
		m.purge(id)
	})
}

// purge removes a deleted session for good. What the log refuses is tried again.
func (m *Manager) purge(id ID) {
	m.loadMu.Lock() // nobody loads it again meanwhile
	defer m.loadMu.Unlock()
	if s := m.loaded(id); s != nil {
		s.close()
	}
	if sum, err := m.cfg.Catalog.Summary(m.ctx, id); err == nil {
		defer m.forget(id, sum.Backend)
	}
	if err := m.wrote(m.cfg.Catalog.Delete(context.WithoutCancel(m.ctx), id), 0); err != nil {
		m.cfg.Logger.Error("a deleted session could not be removed; it is tried again", "session", string(id), "error", err)
		m.mu.Lock()
		delete(m.purges, id)
		m.mu.Unlock()
		m.schedulePurge(id, lastRetry)
		return
	}
	if m.cfg.Outputs != nil {
		m.cfg.Outputs.DeleteSession(id)
	}
	if m.cfg.Attachments != nil {
		m.cfg.Attachments.DeleteSession(id)
	}
	m.mu.Lock()
	delete(m.sessions, id)
	delete(m.purges, id)
	m.mu.Unlock()
}

// forget has a backend remove what it keeps of a deleted session. That may take
// the start of a program, so nobody waits for it but the end of the manager.
func (m *Manager) forget(id ID, backend string) {
	f, ok := m.backends[backend].(agent.Forgetter)
	if !ok {
		return
	}
	m.wg.Go(func() {
		ctx, cancel := context.WithTimeout(m.ctx, openLimit)
		defer cancel()
		if err := f.Forget(ctx, string(id)); err != nil && m.ctx.Err() == nil {
			m.cfg.Logger.Warn("a backend keeps something of a deleted session", "session", string(id), "backend", backend, "error", err)
		}
	})
}

// Backends says what was found of each backend, in their order.
func (m *Manager) Backends(ctx context.Context) []BackendInfo {
	out := make([]BackendInfo, 0, len(m.cfg.Backends))
	for _, b := range m.cfg.Backends {
		i, err := guarded(m.cfg.Logger, "looking for "+b.Name(), func() (agent.Info, error) { return b.Info(ctx), nil })
		if err != nil {
			i.Reason = sentence(err) + "."
		}
		out = append(out, BackendInfo{Name: b.Name(), Available: i.Available, Version: i.Version, Reason: i.Reason, Intercept: i.Intercept,
			Default: b.Name() == m.cfg.Default})
	}
	return out
}

// Models lists the models of a backend; empty means the default one.
func (m *Manager) Models(ctx context.Context, backend string) ([]agent.Model, error) {
	if backend == "" {
		backend = m.cfg.Default
	}
	b := m.backends[backend]
	if b == nil {
		return nil, fmt.Errorf("backend %q: %w", backend, ErrNotFound)
	}
	models, err := guarded(m.cfg.Logger, "listing models", func() ([]agent.Model, error) { return b.Models(ctx) })
	if err != nil {
		return nil, fmt.Errorf("list the models of %s: %w", backend, err)
	}
	return models, nil
}
