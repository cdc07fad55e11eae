package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/document"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/policy"
	"webchat/internal/proc"
)

// cell is a [consent.Cage] that notes what is open.
type cell struct {
	mu   sync.Mutex
	open []string
	fail error
}

func (c *cell) Hold(name string) (*os.File, error) {
	if strings.HasSuffix(name, "gone") {
		return nil, os.ErrNotExist
	}
	fd, err := syscall.Open(os.DevNull, syscall.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(name) {
		name = "/home/" + name
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (c *cell) Open(held *os.File, as proc.Access) (func() error, error) {
	name := held.Name()
	if as == proc.Writable {
		name += " w"
	}
	return c.begin(name)
}

func (c *cell) HostOf(named string) (string, error) {
	if named == "localhost" {
		return "", errors.New("it is this machine")
	}
	return strings.ToLower(named), nil
}

func (c *cell) OpenHost(host string) (func() error, error) { return c.begin(host) }

func (c *cell) begin(name string) (func() error, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail != nil {
		return nil, c.fail
	}
	c.open = append(c.open, name)
	return func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if i := slices.Index(c.open, name); i >= 0 {
			c.open = slices.Delete(c.open, i, i+1)
		}
		return nil
	}, nil
}

func (c *cell) Sync() {}

func (c *cell) is(t *testing.T, want ...string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Equal(c.open, want) {
		t.Errorf("%q is open, not %q", c.open, want)
	}
}

func opens(kind event.OpenKind, what string, scope event.Scope) consent.Opening {
	return consent.Opening{Kind: kind, What: what, Scope: scope}
}

// What is opened for the session is in its log, holds over a restart from the next turn on, and is
// closed at once.
func TestOpenedForTheSession(t *testing.T) {
	c := &cell{}
	play(t, func(r *rig, cfg *Config) { cfg.Cage = c }, func(r *rig) {
		host, err := r.s.Opened().Open(r.Context(), opens(event.OpenHost, "Registry.example",
			event.ForSession))
		equal(t, "error", err, nil)
		equal(t, "what", host.What, "registry.example")
		again, err := r.s.Opened().Open(r.Context(), opens(event.OpenHost, "registry.EXAMPLE",
			event.ForSession))
		equal(t, "error", err, nil)
		equal(t, "id", again.ID, host.ID)
		_, err = r.s.Opened().Open(r.Context(), opens(event.OpenPath, "notes", event.ForSession))
		equal(t, "error", err, nil)
		c.is(t, "registry.example", "/home/notes w")
		for _, bad := range []consent.Opening{opens("port", "1", event.ForSession),
			opens(event.OpenHost, "localhost", event.Once), opens(event.OpenPath, "gone", event.Once),
			opens(event.OpenHost, "a.example", ""), opens(event.OpenHost, "a.example", event.ForWorkspace)} {
			_, err := r.s.Opened().Open(r.Context(), bad)
			is(t, err, eventlog.ErrInvalid)
		}
		equal(t, "opened", len(all[event.SandboxOpened](r)), 2)

		r.s.Close()
		r.s, err = r.keep(Load(r.Context(), r.cfg, r.s.Summary()))
		equal(t, "error", err, nil)
		c.is(t)
		r.ask("hello")
		c.is(t, "registry.example", "/home/notes w")
		equal(t, "closed", r.s.Opened().Close(r.Context(), host.ID), nil)
		c.is(t, "/home/notes w")
		is(t, r.s.Opened().Close(r.Context(), host.ID), eventlog.ErrNotFound)
		equal(t, "by", last[event.SandboxClosed](r).By, event.ClosedByUser)
		equal(t, "left", len(r.s.Opened().List()), 1)

		c.fail = errors.New("the tree is gone")
		_, err = r.s.Opened().Open(r.Context(), opens(event.OpenHost, "b.example", event.ForSession))
		is(t, err, eventlog.ErrInvalid)
		equal(t, "left", len(r.s.Opened().List()), 1)
	})
	play(t, nil, func(r *rig) {
		_, err := r.s.Opened().Open(r.Context(), opens(event.OpenHost, "a.example", event.ForSession))
		is(t, err, eventlog.ErrInvalid) // nothing is confined
	})
}

// What is opened once ends with the calls that ran then and what they left running, and with the
// program.
func TestOpenedOnce(t *testing.T) {
	c := &cell{}
	report := func(h agent.Host, d event.Data) {
		if err := h.Report(context.Background(), d); err != nil {
			t.Error(err)
		}
	}
	starts := func(h agent.Host, id string) {
		report(h, event.ToolExecutionStart{ToolCallID: id, ToolName: "bash", By: event.ByAgent})
	}
	ends := func(h agent.Host, id string) {
		report(h, event.ToolExecutionComplete{ToolCallID: id, Success: true})
	}
	play(t, func(r *rig, cfg *Config) {
		cfg.Cage = c
		once := func() {
			if _, err := r.s.Opened().Open(r.Context(), opens(event.OpenHost, "a.example",
				event.Once)); err != nil {
				t.Error(err)
			}
			c.is(t, "a.example")
		}
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			switch p.Content {
			case "calls":
				starts(h, "one")
				starts(h, "two")
				once()
				starts(h, "three")
				report(h, event.TaskStarted{
					TaskID:     "task",
					ToolCallID: "one",
					Kind:       event.ShellTask,
					Title:      "t",
				})
				ends(h, "one")
				ends(h, "two")
				c.is(t, "a.example")
				report(h, event.TaskCompleted{TaskID: "task", Outcome: event.Completed})
				synctest.Wait()
				c.is(t)
				ends(h, "three")
			case "turn":
				once()
			}
			return nil
		}
	}, func(r *rig) {
		r.ask("calls")
		equal(t, "by", last[event.SandboxClosed](r).By, event.ClosedByEnd)
		r.ask("turn")
		synctest.Wait()
		equal(t, "closed", len(all[event.SandboxClosed](r)), 2)
		c.is(t)
	})
}

// What is opened for the workspace is in every session of it, until one closes it, and is among the
// grants.
func TestOpenedForTheWorkspace(t *testing.T) {
	c, kept := &cell{}, policy.OpenKept(document.Folder(t.TempDir()), nil)
	dir := t.TempDir()
	play(t, func(r *rig, cfg *Config) {
		cfg.Cage, cfg.Workspace, cfg.Kept = c, dir, kept.Workspace(dir, "")
	}, func(r *rig) {
		o, err := r.s.Opened().Open(r.Context(), opens(event.OpenPath, "notes", event.ForWorkspace))
		equal(t, "error", err, nil)
		other, err := r.create(r.Context())
		equal(t, "error", err, nil)
		if list := other.Opened().List(); len(list) != 1 || list[0].ID != o.ID ||
			list[0].What != "/home/notes" || list[0].Scope != event.ForWorkspace {
			t.Errorf("%+v", list)
		}
		equal(t, "kept", kept.Opened(dir)[0], policy.Opening{Path: "/home/notes"})
		equal(t, "text", kept.List("")[0].Text, "reading and changing `/home/notes`")
		equal(t, "closed", other.Opened().Close(r.Context(), o.ID), nil)
		equal(t, "left", len(r.s.Opened().List())+len(kept.List("")), 0)
	})
}
