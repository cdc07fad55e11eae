package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
)

// aside is a Holder whose looks find what a test made.
type aside struct {
	mu     sync.Mutex
	made   []HeldFile
	where  map[string]string // by id: held, PATH, deleted
	asked  []string
	looks  []HeldLook
	taken  bool // a name is taken
	broken error
}

func (h *aside) make(names ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.where == nil {
		h.where = map[string]string{}
	}
	for _, name := range names {
		h.made = append(h.made, HeldFile{
			Path:  name,
			Stood: 300 * time.Millisecond,
			Held:  event.Held{ID: "held-" + name, Files: 1, Bytes: 2},
		})
	}
}

func (h *aside) Begin(string, string) {}

func (h *aside) Look(_ context.Context, l HeldLook) (found HeldFound, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looks = append(h.looks, l)
	found.Files, h.made = h.made, nil
	for i, f := range found.Files {
		if h.where[f.ID] = "held"; l.Leave {
			found.Files[i].Held = event.Held{}
		}
	}
	if l.Count {
		found.Left = 7
	}
	return found, nil
}

func (h *aside) PutBack(id string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	name := strings.TrimPrefix(id, "held-")
	if h.taken {
		name += ".new"
	}
	if h.broken == nil {
		h.where[id] = name
	}
	return name, h.broken
}

func (h *aside) Drop(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.where[id] = "deleted"
}

func (h *aside) Again(id, path string) (event.Held, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.where[id] != path {
		return event.Held{}, consent.ErrGone
	}
	h.where[id], h.where["again-"+path] = "moved again", "held"
	return event.Held{ID: "again-" + path}, nil
}

func (h *aside) Unasked(string) (files []HeldFile) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, at := range h.where {
		if at == "held" && !slices.Contains(h.asked, id) {
			files = append(files, HeldFile{Path: strings.TrimPrefix(id, "held-"), Held: event.Held{ID: id}})
		}
	}
	return files
}

func (h *aside) Asked(files []HeldFile) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range files {
		h.asked = append(h.asked, f.ID)
	}
}

// makes has a tool make files.
func makes(h *aside, names ...string) agent.Tool {
	return acts("run", asked(), func(context.Context, json.RawMessage, agent.Progress) (agent.Result,
		error) {
		h.make(names...)
		return agent.Result{TextForModel: "Command completed (exit 0)", Type: agent.Success}, nil
	})
}

func runs(ctx context.Context, h agent.Host, _ agent.Prompt) error {
	_, err := h.CallTool(ctx, agent.ToolCall{
		ID:        string(event.NewID()),
		Name:      "run",
		Arguments: []byte(`{}`),
	})
	return err
}

// held starts a session whose agent makes files, as rules allow it to.
func held(t *testing.T, h *aside, change func(*Config), test func(*rig), names ...string) {
	t.Helper()
	play(t, func(r *rig, c *Config) {
		c.Holder = h
		c.Policy = allows{}
		r.tools.tools = []agent.Tool{makes(h, names...)}
		r.backend.prompt = runs
		if change != nil {
			change(c)
		}
	}, test)
}

// allows is a policy that allows everything.
type allows struct{ Judge }

func (allows) Rule(context.Context, agent.Permission) agent.Ruling {
	return agent.Ruling{Decision: event.Allow, Rule: &event.Rule{Number: 1}}
}
func (allows) Target(agent.Permission) string        { return "" }
func (allows) Grants(agent.Permission) []event.Grant { return nil }

func words(of ...any) string { return strings.TrimSpace(fmt.Sprintln(of...)) }

// about returns the questions about what is held.
func about(r *rig) (asks []event.PermissionRequested) {
	return slices.DeleteFunc(all[event.PermissionRequested](r),
		func(d event.PermissionRequested) bool {
			return d.Kind != event.KindLater
		})
}

// What a call made is asked about, one question for each file; the agent reads once that it is
// held, and its turn goes on. A yes puts it back, a no deletes it, and both can be undone.
func TestHeldIsAskedAbout(t *testing.T) {
	h := &aside{}
	held(t, h, nil, func(r *rig) {
		r.ask("do it")
		asks := about(r)
		equal(t, "questions", len(asks), 2)
		equal(t, "first", words(asks[0].Resource, asks[0].Held[0].ID, asks[0].Held[0].StoodMs,
			asks[0].Digest != ""), "a held-a 300 true")
		equal(t, "expires", time.Time(asks[0].ExpiresAt).IsZero(), true)
		equal(t, "the agent reads", all[event.ToolExecutionComplete](r)[0].Result.Content,
			"Command completed (exit 0). Held until the user has seen them: a and 1 more")
		equal(t, "status", r.s.Summary().Status, event.Waiting)
		equal(t, "rests", r.s.Resting(), true)
		equal(t, "left", all[event.TurnEnd](r)[0].NotHeld, 7)
		h.taken = true
		for i, decision := range []event.Decision{event.Allow, event.Deny} {
			if err := r.s.Decide(r.Context(), asks[i].RequestID,
				consent.Decision{
					Decision: decision,
					Scope:    map[event.Decision]event.Scope{event.Allow: event.Once}[decision],
				}); err != nil {
				t.Error(err)
			}
			is(t, r.s.Decide(r.Context(), asks[i].RequestID, consent.Decision{Decision: decision}),
				consent.ErrAnswered)
		}
		equal(t, "where", words(h.where), "map[held-a:a.new held-b:deleted]")
		for _, d := range all[event.PermissionCompleted](r) {
			if d.RequestID == asks[0].RequestID {
				equal(t, "kept", words(d.Kept), "[a.new]")
			}
		}
		for _, a := range asks {
			if err := r.s.Held().Again(r.Context(), a.RequestID); err != nil {
				t.Error(err)
			}
			is(t, r.s.Held().Again(r.Context(), a.RequestID), consent.ErrGone)
		}
		asks = about(r)
		equal(t, "asked again", words(len(asks), asks[2].Resource, asks[2].Held[0].ID, asks[3].Resource,
			asks[3].Held[0].ID), "4 a.new again-a.new b held-b")
		h.taken, h.broken = false, errors.New("the disk is full")
		is(t, r.s.Decide(r.Context(), asks[3].RequestID, consent.Decision{Decision: event.Allow}),
			h.broken)
		h.broken = nil
		if err := r.s.Decide(r.Context(), asks[3].RequestID,
			consent.Decision{Decision: event.Allow}); err != nil {
			t.Error(err)
		}
	}, "a", "b")
}

// Very many files are one question, and --permissions allow keeps them, which is logged.
func TestHeldByMode(t *testing.T) {
	var names []string
	for i := range 1000 {
		names = append(names, strconv.Itoa(i))
	}
	h := &aside{}
	held(t, h, func(c *Config) { c.Permissions = consent.ModeAllow }, func(r *rig) {
		r.ask("do it")
		asks := about(r)
		equal(t, "questions", words(len(asks), len(asks[0].Resources), len(asks[0].Held)), "1 1000 1000")
		done := all[event.PermissionCompleted](r)
		last := done[len(done)-1]
		equal(t, "decided", words(last.By, last.Decision, len(last.Kept), h.looks[0].Leave),
			"mode allow 1000 true")
		equal(t, "the agent reads", all[event.ToolExecutionComplete](r)[0].Result.Content,
			"Command completed (exit 0)")
		equal(t, "status", r.s.Summary().Status, event.Idle)
	}, names...)
}

// A restart finds what is held, also what was moved and not logged, and answers it.
func TestHeldOverARestart(t *testing.T) {
	h := &aside{}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newMemory(), func(r *rig, c *Config) {
			c.Holder, c.Policy = h, allows{}
			r.tools.tools = []agent.Tool{makes(h, "a")}
			r.backend.prompt = runs
		})
		var err error
		if r.s, err = r.create(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.ask("do it")
		id := r.s.ID()
		h.where["held-b"] = "held"
		next := newRig(t, r.mem.prefix(id, len(r.mem.entries(id))), func(_ *rig, c *Config) {
			c.Holder = h
		})
		if next.s, err = next.load(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		asks := about(next)
		equal(t, "asked", words(len(asks), asks[1].Resource), "2 b")
		for _, a := range asks {
			if err := next.s.Decide(t.Context(), a.RequestID,
				consent.Decision{Decision: event.Allow}); err != nil {
				t.Error(err)
			}
		}
		equal(t, "where", words(h.where), "map[held-a:a held-b:b]")
		equal(t, "status", next.s.Summary().Status, event.Idle)
	})
}
