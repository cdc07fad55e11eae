package session

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/policy"
)

// ruled is a Policy of rules only.
type ruled func(agent.Permission) agent.Ruling

func (f ruled) Rule(_ context.Context, p agent.Permission) agent.Ruling {
	if f == nil {
		return agent.Ruling{}
	}
	return f(p)
}
func (ruled) Target(agent.Permission) string               { return "" }
func (ruled) Grants(agent.Permission) []event.Grant        { return nil }
func (ruled) File(fs.FileInfo, ...string) (r agent.Ruling) { return r }
func (ruled) Named(*os.File, ...string) (r agent.Ruling)   { return r }
func (ruled) Hidden(string) bool                           { return false }

// heap keeps grants in memory, and fails on request.
type heap struct {
	mu    sync.Mutex // guards what follows
	held  map[string]event.Grant
	fail  error
	given chan struct{}
}

func (h *heap) Held(id string) (event.Grant, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	g, ok := h.held[id]
	return g, ok
}

func (h *heap) Keep(g event.Grant, _ string, _ time.Time) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, held := h.held[g.ID]
	if h.fail == nil {
		h.held[g.ID] = g
		if h.given != nil {
			close(h.given)
			h.given = nil
		}
	}
	return !held && h.fail == nil, h.fail
}

func (h *heap) TakeBack(id string) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, held := h.held[id]
	delete(h.held, id)
	return held, nil
}

func (h *heap) Given() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.given == nil {
		h.given = make(chan struct{})
	}
	return h.given
}

// commands is a session with an agent that runs each prompt as a command in /w.
func commands(t *testing.T, kept consent.Kept, test func(r *rig, ran *[]string)) {
	t.Helper()
	var ran []string
	play(t, func(r *rig, c *Config) {
		c.Policy, c.Kept = policy.New(policy.Config{Workspace: "/w"}), kept
		r.tools.tools = []agent.Tool{runner(&ran)}
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			args, _ := json.Marshal(map[string]string{"command": p.Content})
			_, err := h.CallTool(ctx, agent.ToolCall{Name: "run", Arguments: args})
			return err
		}
	}, func(r *rig) { test(r, &ran) })
}

// last is the newest request or decision in the log.
func last[T event.Data](r *rig) T {
	r.Helper()
	found := all[T](r)
	if len(found) == 0 {
		r.Fatal("none is in the log")
	}
	return found[len(found)-1]
}

func (r *rig) decide(d consent.Decision) {
	r.Helper()
	if err := r.s.Decide(r.Context(), r.request(), d); err != nil {
		r.Fatal(err)
	}
}

// A grant allows what its text says, and the log says which grant allowed it.
func TestGrantOfTheSession(t *testing.T) {
	commands(t, nil, func(r *rig, ran *[]string) {
		id := r.send("go test ./a")
		req := r.request()
		grants := last[event.PermissionRequested](r).Grants
		equal(t, "grants", len(grants), 4)
		is(t, r.s.Decide(r.Context(), req, consent.Decision{
			Decision: event.Allow,
			Grant:    "gnone",
			Scope:    event.ForSession,
		}), eventlog.ErrInvalid)
		is(t, r.s.Decide(r.Context(), req, consent.Decision{Decision: event.Deny, Grant: grants[0].ID}),
			eventlog.ErrInvalid)
		// nothing keeps it
		is(t, r.s.Decide(r.Context(), req, consent.Decision{
			Decision: event.Allow,
			Scope:    event.ForWorkspace,
		}), eventlog.ErrInvalid)
		every := grants[3]
		equal(t, "every command", every.Scope, event.ForSession)
		is(t, r.s.Decide(r.Context(), req, consent.Decision{
			Decision: event.Allow,
			Grant:    every.ID,
			Scope:    event.ForWorkspace,
		}), eventlog.ErrInvalid)
		r.decide(consent.Decision{Decision: event.Allow, Grant: grants[1].ID, Scope: event.ForSession})
		r.wait(id)
		d := last[event.PermissionCompleted](r)
		equal(t, "given", *d.Grant, event.Grant{
			ID:    grants[1].ID,
			Text:  "commands that begin with `go test`, with harmless options, inside this workspace",
			Scope: event.ForSession,
		})
		equal(t, "by", d.By, event.DecidedByUser)

		r.ask("go test ./b") // the user is not asked
		d = last[event.PermissionCompleted](r)
		equal(t, "by", d.By, event.DecidedByGrant)
		equal(t, "allowed by", d.Grant.ID, grants[1].ID)
		equal(t, "ran", len(*ran), 2)

		id = r.send("go test ./... && rm x")
		r.decide(consent.Decision{Decision: event.Deny})
		r.wait(id)

		// Taken back, it holds no more.
		if err := r.s.TakeBack(grants[1].ID); err != nil {
			r.Fatal(err)
		}
		is(t, r.s.TakeBack(grants[1].ID), eventlog.ErrNotFound)
		equal(t, "revoked", last[event.PermissionRevoked](r).Grant.ID, grants[1].ID)
		equal(t, "granted", len(r.s.Summary().Open.Grants), 0)
		id = r.send("go test ./b")
		r.decide(consent.Decision{Decision: event.Deny})
		r.wait(id)
		equal(t, "ran", len(*ran), 2)
	})
}

// What was allowed for the session survives a restart: the log is the only truth.
func TestGrantsSurviveARestart(t *testing.T) {
	commands(t, nil, func(r *rig, _ *[]string) {
		id := r.send("ls sub")
		r.request()
		r.decide(consent.Decision{
			Decision: event.Allow,
			Grant:    last[event.PermissionRequested](r).Grants[1].ID,
			Scope:    event.ForSession,
		})
		r.wait(id)
		id = r.send("make")
		r.decide(consent.Decision{Decision: event.Allow, Scope: event.ForSession}) // exactly this
		r.wait(id)
		session := r.s.ID()
		r.stop() // the program ends
		var ran []string
		again := newRig(r.T, r.mem, func(next *rig, c *Config) {
			c.Policy = policy.New(policy.Config{Workspace: "/w"})
			next.tools.tools = []agent.Tool{runner(&ran)}
			next.backend.prompt = r.backend.prompt
		})
		var err error
		if again.s, err = again.load(r.Context(), session); err != nil {
			r.Fatal(err)
		}
		equal(t, "granted", len(again.s.Summary().Open.Grants), 2)
		again.ask("ls other")
		again.ask("make")
		equal(t, "ran", len(ran), 2)
		id = again.send("make all")
		again.decide(consent.Decision{Decision: event.Deny})
		again.wait(id)
		again.stop()
	})
}

// A grant for the workspace is durable before the decision is, or neither is.
func TestGrantOfTheWorkspace(t *testing.T) {
	kept := &heap{held: map[string]event.Grant{}}
	commands(t, kept, func(r *rig, ran *[]string) {
		id := r.send("make")
		req := r.request()
		kept.fail = errDisk
		is(t, r.s.Decide(r.Context(), req, consent.Decision{
			Decision: event.Allow,
			Scope:    event.ForWorkspace,
		}), consent.ErrKeep)
		kept.fail = nil
		r.mem.broken(errDisk)
		is(t, r.s.Decide(r.Context(), req, consent.Decision{
			Decision: event.Allow,
			Scope:    event.ForWorkspace,
		}), eventlog.ErrLog)
		equal(t, "kept", len(kept.held), 0)
		r.mem.broken(nil)
		r.decide(consent.Decision{Decision: event.Allow, Scope: event.ForWorkspace})
		r.wait(id)
		equal(t, "kept", len(kept.held), 1)
		equal(t, "of the session", len(r.s.Summary().Open.Grants), 0)

		other, err := r.create(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		r.s = other
		r.ask("make")
		d := last[event.PermissionCompleted](r)
		equal(t, "by", d.By, event.DecidedByGrant)
		equal(t, "scope", d.Grant.Scope, event.ForWorkspace)
		clear(kept.held) // taken back, it holds in no session
		id = r.send("make")
		r.decide(consent.Decision{Decision: event.Deny})
		r.wait(id)
		equal(t, "ran", len(*ran), 2)
	})
}

// THREATS 78: a path that leads elsewhere when the user answers is not written.
func TestThreat78SwappedBetweenQuestionAndAnswer(t *testing.T) {
	for _, scope := range []event.Scope{event.Once, event.ForSession} {
		var effects int
		var work string
		play(t, func(r *rig, c *Config) {
			work = c.Workspace
			c.Policy = policy.New(policy.Config{Workspace: work})
			ask := &agent.Permission{Kind: agent.KindWrite, Action: "write a file", Resource: "notes.txt"}
			r.tools.tools = []agent.Tool{acts("edit", ask,
				func(context.Context, json.RawMessage, agent.Progress) (agent.Result, error) {
					effects++
					return agent.Result{TextForModel: "written"}, nil
				})}
			r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) error {
				_, err := h.CallTool(ctx, agent.ToolCall{Name: "edit", Arguments: []byte(`{}`)})
				return err
			}
		}, func(r *rig) {
			id := r.send("go")
			req := r.request()
			real, err := filepath.EvalSymlinks(work)
			if err != nil {
				r.Fatal(err)
			}
			equal(t, "target", last[event.PermissionRequested](r).Target, filepath.Join(real, "notes.txt"))
			if err := os.Symlink(t.TempDir(), filepath.Join(work, "notes.txt")); err != nil {
				r.Skipf("no symbolic links here: %v", err)
			}
			is(t, r.s.Decide(r.Context(), req, consent.Decision{Decision: event.Allow, Scope: scope}),
				consent.ErrGone)
			r.wait(id)
			equal(t, "effects", effects, 0)
			equal(t, "decision", last[event.PermissionCompleted](r).Decision, event.Deny)
			equal(t, "granted", len(r.s.Summary().Open.Grants), 0)
		})
	}
}

// Several questions at once are questions of their own: an answer settles one.
func TestQuestionsDoNotBlockEachOther(t *testing.T) {
	commands(t, nil, func(r *rig, ran *[]string) {
		r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) error {
			errs := make(chan error, 3)
			for _, command := range []string{"make a", "make b", "make c"} {
				go func() {
					args, _ := json.Marshal(map[string]string{"command": command})
					_, err := h.CallTool(ctx, agent.ToolCall{Name: "run", Arguments: args})
					errs <- err
				}()
			}
			return errors.Join(<-errs, <-errs, <-errs)
		}
		id := r.send("go")
		open := r.requests(3)
		for _, q := range open[1:] {
			decision := event.Allow
			if q.Resource == open[1].Resource {
				decision = event.Deny
			}
			if err := r.s.Decide(r.Context(), q.RequestID,
				consent.Decision{Decision: decision}); err != nil {
				r.Fatal(err)
			}
		}
		left := r.requests(1)
		equal(t, "left", left[0].RequestID, open[0].RequestID)
		equal(t, "ran meanwhile", len(*ran), 1)
		r.decide(consent.Decision{Decision: event.Allow})
		r.wait(id)
		equal(t, "ran", len(*ran), 2)
		equal(t, "decisions", len(all[event.PermissionCompleted](r)), 3)
	})
}

// What waits and is covered by a grant is answered by it at once; the rest stays open.
func TestGrantAnswersWhatWaits(t *testing.T) {
	for _, scope := range []event.Scope{event.ForSession, event.ForWorkspace} {
		commands(t, &heap{held: map[string]event.Grant{}}, func(r *rig, ran *[]string) {
			r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) error {
				errs := make(chan error)
				acts := []agent.Permission{{Resource: "go test ./a"}, {Resource: "go test ./b"},
					{Resource: "go test ./c"},
					{Resource: "make"}, {Resource: "go test ./d", Sensitive: true}}
				for _, p := range acts {
					p.ToolName, p.Kind, p.Action, p.Cwd = "bash", agent.KindShell, "run a command", "/w"
					go func() {
						v, err := h.AskPermission(ctx, p)
						if v.Decision == event.Allow {
							r.mem.mu.Lock()
							*ran = append(*ran, p.Resource)
							r.mem.mu.Unlock()
						}
						errs <- err
					}()
				}
				return errors.Join(<-errs, <-errs, <-errs, <-errs, <-errs)
			}
			id := r.send("go")
			open := r.requests(5)
			first := open[slices.IndexFunc(open, func(q event.PermissionRequested) bool {
				return q.Resource == "go test ./b"
			})]
			err := r.s.Decide(r.Context(), first.RequestID,
				consent.Decision{Decision: event.Allow, Grant: first.Grants[1].ID, Scope: scope})
			if err != nil {
				t.Fatal(err)
			}
			left := r.requests(2)
			for _, q := range left {
				equal(t, q.Resource+" may wait", q.Resource == "make" || q.Sensitive, true)
			}
			by := map[event.Decider]int{}
			for _, d := range all[event.PermissionCompleted](r) {
				by[d.By]++
				equal(t, "grant", d.Grant.ID, first.Grants[1].ID)
				equal(t, "scope", d.Scope, scope)
			}
			equal(t, "by the user", by[event.DecidedByUser], 1)
			equal(t, "by the grant", by[event.DecidedByGrant], 2)
			for _, q := range left {
				if err := r.s.Decide(r.Context(), q.RequestID,
					consent.Decision{Decision: event.Deny}); err != nil {
					t.Fatal(err)
				}
			}
			r.wait(id)
			equal(t, "ran", len(*ran), 3)
		})
	}
}

// A grant for the workspace answers what waits and is covered in its other sessions, too; one for
// the session answers nothing there.
func TestGrantAnswersOtherSessions(t *testing.T) {
	commands(t, &heap{held: map[string]event.Grant{}}, func(r *rig, ran *[]string) {
		first := r.s
		waits := r.send("go test ./a")
		other, err := r.create(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		r.s = other
		for _, scope := range []event.Scope{event.ForSession, event.ForWorkspace} {
			id := r.send("go build ./b")
			q := r.requests(1)[0]
			program := q.Grants[len(q.Grants)-2] // the last is for a session only
			if err := r.s.Decide(r.Context(), q.RequestID,
				consent.Decision{Decision: event.Allow, Grant: program.ID, Scope: scope}); err != nil {
				t.Fatal(err)
			}
			r.wait(id)
			if scope == event.ForSession {
				r.s = first
				r.requests(1) // it answers nothing there
				r.s = other
				if err := r.s.TakeBack(program.ID); err != nil {
					t.Fatal(err)
				}
				continue
			}
			r.s = first
			r.wait(waits)
			d := last[event.PermissionCompleted](r)
			equal(t, "by", d.By, event.DecidedByGrant)
			equal(t, "grant", *d.Grant, event.Grant{
				ID:    program.ID,
				Text:  program.Text,
				Scope: event.ForWorkspace,
			})
		}
		equal(t, "ran", len(*ran), 3)
	})
}

// slowHeap keeps a grant, and lets all that wait for one act before it says so.
type slowHeap struct{ *heap }

func (h slowHeap) Keep(g event.Grant, session string, at time.Time) (bool, error) {
	defer synctest.Wait()
	return h.heap.Keep(g, session, at)
}

// The grant that a decision keeps for the workspace does not answer the question before it.
func TestDecisionComesBeforeItsGrant(t *testing.T) {
	commands(t, slowHeap{&heap{held: map[string]event.Grant{}}}, func(r *rig, _ *[]string) {
		id := r.send("make")
		r.decide(consent.Decision{Decision: event.Allow, Scope: event.ForWorkspace})
		r.wait(id)
		equal(t, "by", last[event.PermissionCompleted](r).By, event.DecidedByUser)
	})
}

// racedHeap lets another decision about the same question begin while a grant is kept.
type racedHeap struct {
	*heap
	race func()
}

func (h racedHeap) Keep(g event.Grant, session string, at time.Time) (bool, error) {
	defer synctest.Wait()
	defer h.race()
	return h.heap.Keep(g, session, at)
}

// Of two decisions the first wins, and a grant for the workspace of one that did not allows
// nothing: neither is in between, nor does what waits in another session take it meanwhile.
func TestGrantOfALostDecision(t *testing.T) {
	kept := &racedHeap{heap: &heap{held: map[string]event.Grant{}}}
	commands(t, kept, func(r *rig, _ *[]string) {
		r.send("make")
		first := r.s
		other, err := r.create(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		r.s = other
		r.send("make")
		id, denied := r.request(), make(chan error, 1)
		kept.race = func() {
			go func() { denied <- other.Decide(r.Context(), id, consent.Decision{Decision: event.Deny}) }()
		}
		err = other.Decide(r.Context(), id, consent.Decision{
			Decision: event.Allow,
			Scope:    event.ForWorkspace,
		})
		is(t, errors.Join(err, <-denied), consent.ErrAnswered)
		synctest.Wait()
		decided := last[event.PermissionCompleted](r).Decision
		equal(t, "no grant, or the answer that gave it", len(kept.held) == 0, decided == event.Deny)
		r.s = first
		equal(t, "allowed in the other session", len(all[event.PermissionCompleted](r)) == 1,
			decided == event.Allow)
	})
}

// THREATS 78: what leads outside is asked about under --permissions allow, too, and an
// answer for the session counts once.
func TestThreat78OutsideIsAskedInEveryMode(t *testing.T) {
	for _, mode := range []consent.Mode{consent.ModeAsk, consent.ModeAllow} {
		outside := t.TempDir()
		play(t, func(r *rig, c *Config) {
			c.Permissions, c.Policy = mode, policy.New(policy.Config{Workspace: c.Workspace, Reading: true})
			if err := os.Symlink(outside, filepath.Join(c.Workspace, "link")); err != nil {
				r.Skipf("no symbolic links here: %v", err)
			}
			r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
				v, err := h.AskPermission(ctx, agent.Permission{
					ToolName: "edit",
					Kind:     agent.Kind(p.Content),
					Action:   "do it",
					Resource: filepath.Join(c.Workspace, "link", "notes.txt"),
				})
				equal(t, "decision", v.Decision, event.Allow)
				return err
			}
		}, func(r *rig) {
			for _, kind := range []agent.Kind{agent.KindWrite, agent.KindRead, agent.KindWrite,
				agent.KindRead} {
				id := r.send(string(kind))
				r.decide(consent.Decision{Decision: event.Allow, Scope: event.ForSession})
				r.wait(id)
				asked := last[event.PermissionRequested](r)
				if !asked.Sensitive || len(asked.Grants) != 0 ||
					filepath.Base(filepath.Dir(asked.Target)) != filepath.Base(outside) {
					t.Errorf("%s %s: %+v", mode, kind, asked)
				}
				equal(t, "scope", last[event.PermissionCompleted](r).Scope, event.Once)
			}
		})
	}
}
