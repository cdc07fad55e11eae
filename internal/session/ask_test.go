package session

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/policy"
)

// asker is a rig whose tool "run" asks and counts its effects.
func asker(t *testing.T, change func(*Config, *agent.Permission), test func(r *rig, effects *int)) {
	t.Helper()
	effects := 0
	play(t, func(r *rig, c *Config) {
		ask := asked()
		if change != nil {
			change(c, ask)
		}
		r.tools.tools = []agent.Tool{acts("run", ask,
			func(ctx context.Context, _ json.RawMessage, _ agent.Progress) (agent.Result, error) {
				entries := r.mem.entries(r.s.ID())
				if d, ok := entries[len(entries)-1].Event.Data.(event.PermissionCompleted); !ok ||
					d.Decision != event.Allow {
					t.Errorf("it acts after %s", entries[len(entries)-1].JSON)
				}
				effects++
				return agent.Result{TextForModel: "ran"}, nil
			})}
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			res, err := h.CallTool(ctx, agent.ToolCall{Name: "run", Arguments: []byte(`{}`)})
			if err != nil {
				return err
			}
			return h.Report(ctx, event.AssistantMessage{
				MessageID: "m" + p.MessageID,
				Content:   string(res.Type) + ": " + res.TextForModel,
			})
		}
	}, func(r *rig) { test(r, &effects) })
}

// A tool asks the user something in its call, by a question of the session's.
func TestToolsAsk(t *testing.T) {
	var got agent.Answer
	play(t, func(r *rig, _ *Config) {
		r.tools.tools = []agent.Tool{acts("run", nil,
			func(ctx context.Context, _ json.RawMessage, _ agent.Progress) (agent.Result, error) {
				call := agent.CallFrom(ctx)
				a, err := call.Ask(ctx, agent.Question{
					ToolCallID: call.ToolCallID,
					Question:   "Which?",
					Choices:    []string{"a", "b"},
				})
				got = a
				return agent.Result{TextForModel: "ran"}, err
			})}
		r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) error {
			_, err := h.CallTool(ctx, agent.ToolCall{Name: "run", Arguments: []byte(`{}`)})
			return err
		}
	}, func(r *rig) {
		r.send("go")
		req := r.request()
		equal(t, "status", r.s.Summary().Status, event.Waiting)
		if err := r.s.Answer(r.Context(), req, "b"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		equal(t, "answer", got, agent.Answer{Text: "b", Answered: true})
	})
}

func TestPermissionIsAsked(t *testing.T) {
	asker(t, nil, func(r *rig, effects *int) {
		id := r.send("go")
		req := r.request()
		equal(t, "status", r.s.Summary().Status, event.Waiting)
		equal(t, "pending", r.s.Summary().Pending, 1)
		equal(t, "effects", *effects, 0)
		p := all[event.PermissionRequested](r)[0]
		equal(t, "resource", p.Resource, "make test")
		equal(t, "expires", time.Until(time.Time(p.ExpiresAt)).Round(time.Second), 5*time.Minute)
		for _, d := range []consent.Decision{{}, {Decision: "perhaps"},
			{Decision: event.Allow, Scope: "forever"}, {Decision: event.Deny, Scope: event.Once}} {
			is(t, r.s.Decide(r.Context(), req, d), eventlog.ErrInvalid)
		}
		is(t, r.s.Answer(r.Context(), req, "yes"), eventlog.ErrInvalid)
		if err := r.s.Decide(r.Context(), req, consent.Decision{Decision: event.Allow}); err != nil {
			t.Fatal(err)
		}
		is(t, r.s.Decide(r.Context(), req, consent.Decision{Decision: event.Deny}), consent.ErrAnswered)
		is(t, r.s.Decide(r.Context(), "unknown", consent.Decision{Decision: event.Deny}),
			eventlog.ErrNotFound)
		equal(t, "content", r.wait(id).Content, "success: ran")
		equal(t, "effects", *effects, 1)

		// Once means once.
		id = r.send("again")
		if err := r.s.Decide(r.Context(), r.request(),
			consent.Decision{Decision: event.Deny, Reason: "use make check"}); err != nil {
			t.Fatal(err)
		}
		equal(t, "content", r.wait(id).Content, "denied: The user said no: use make check")
		equal(t, "effects", *effects, 1)
	})
}

func TestPermissionForTheSession(t *testing.T) {
	asker(t, func(c *Config, _ *agent.Permission) {
		c.Policy = policy.New(policy.Config{Workspace: "/w"})
	}, func(r *rig, effects *int) {
		id := r.send("go")
		if err := r.s.Decide(r.Context(), r.request(),
			consent.Decision{Decision: event.Allow, Scope: event.ForSession}); err != nil {
			t.Fatal(err)
		}
		r.wait(id)
		r.ask("again") // nobody is asked
		equal(t, "effects", *effects, 2)
		d := all[event.PermissionCompleted](r)[1]
		equal(t, "by", d.By, event.DecidedByGrant)
		equal(t, "scope", d.Scope, event.ForSession)
		// Anything else about it is another question.
		for _, p := range []agent.Permission{
			{ToolName: "run", Kind: agent.KindShell, Resource: "make test ", Cwd: "/w"},
			{ToolName: "run", Kind: agent.KindShell, Resource: "make test", Cwd: "/x"},
			{ToolName: "ru", Kind: agent.KindShell, Resource: "nmake test", Cwd: "/w"},
			{ToolName: "run", Kind: agent.KindWrite, Resource: "make test", Cwd: "/w"},
			{ToolName: "run", Kind: agent.KindShell, Resource: "make test", Cwd: "/w", Sensitive: true},
		} {
			verdict := make(chan agent.Verdict)
			ctx, cancel := context.WithCancel(r.Context())
			go func() {
				v, err := r.s.requests.Ask(ctx, p, event.ByAgent, nil)
				if err != nil {
					t.Error(err)
				}
				verdict <- v
			}()
			r.request() // somebody is asked
			cancel()
			equal(t, "decision", (<-verdict).Decision, event.Deny)
		}
	})
}

// What an agent would change in one of webchat's own secrets shows what is in it, so that no
// diff of it is in the log.
func TestNoDiffOfOwnSecrets(t *testing.T) {
	asker(t, func(c *Config, p *agent.Permission) {
		c.Permissions = consent.ModeAllow
		c.Policy = policy.New(policy.Config{
			Workspace: "/w",
			Secrets:   []policy.Secret{{Path: "/data", What: "webchat's API token"}},
		})
		*p = agent.Permission{
			ToolName: "run",
			Kind:     agent.KindWrite,
			Resource: "a.txt",
			Cwd:      "/w",
			Diff:     "-the token\n",
			Also:     []agent.Resource{{Kind: agent.KindWrite, Resource: "/data/token"}},
		}
	}, func(r *rig, effects *int) {
		id := r.send("go")
		equal(t, "content", r.wait(id).Content,
			"denied: /data/token: token is webchat's API token, which is never shown and never sent to a "+
				"model.")
		equal(t, "effects", *effects, 0)
		equal(t, "the diff in the log", all[event.PermissionRequested](r)[0].Diff, "")
	})
}

func TestPermissionByModeAndRule(t *testing.T) {
	rule := func(r agent.Ruling) func(agent.Permission) agent.Ruling {
		return func(p agent.Permission) agent.Ruling {
			if p.Resource != "make test" {
				return agent.Ruling{}
			}
			r.Reason = "a rule"
			return r
		}
	}
	allow, deny := agent.Ruling{Decision: event.Allow}, agent.Ruling{Decision: event.Deny}
	for name, c := range map[string]struct {
		mode      consent.Mode
		rules     func(agent.Permission) agent.Ruling
		sensitive bool
		asks      bool
		by        event.Decider
		effects   int
	}{
		"ask":   {mode: consent.ModeAsk, asks: true, by: event.DecidedByTimeout},
		"allow": {mode: consent.ModeAllow, by: event.DecidedByMode, effects: 1},
		"deny":  {mode: consent.ModeDeny, by: event.DecidedByMode},
		"allow sensitive": {
			mode:      consent.ModeAllow,
			sensitive: true,
			asks:      true,
			by:        event.DecidedByTimeout,
		},
		"deny sensitive": {mode: consent.ModeDeny, sensitive: true, by: event.DecidedByMode},
		"rule allows": {
			mode:    consent.ModeDeny,
			rules:   rule(allow),
			by:      event.DecidedByRule,
			effects: 1,
		},
		"rule denies": {mode: consent.ModeAllow, rules: rule(deny), by: event.DecidedByRule},
		"rule asks": {
			mode:  consent.ModeAllow,
			rules: rule(agent.Ruling{Ask: true}),
			asks:  true,
			by:    event.DecidedByTimeout,
		},
		"rule asks still": {
			mode:  consent.ModeDeny,
			rules: rule(agent.Ruling{Ask: true}),
			asks:  true,
			by:    event.DecidedByTimeout,
		},
		"found sensitive": {mode: consent.ModeAllow, rules: rule(agent.Ruling{
			Decision:  event.Allow,
			Sensitive: true,
		}), asks: true, by: event.DecidedByTimeout},
		"rule sensitive": {
			mode:      consent.ModeAsk,
			rules:     rule(allow),
			sensitive: true,
			asks:      true,
			by:        event.DecidedByTimeout,
		},
	} {
		t.Run(name, func(t *testing.T) {
			asker(t, func(cfg *Config, p *agent.Permission) {
				cfg.Permissions, cfg.Policy, p.Sensitive = c.mode, ruled(c.rules), c.sensitive
			}, func(r *rig, effects *int) {
				before := time.Now()
				r.ask("go")
				equal(t, "effects", *effects, c.effects)
				equal(t, "asked", time.Since(before) >= 5*time.Minute, c.asks)
				equal(t, "by", all[event.PermissionCompleted](r)[0].By, c.by)
				equal(t, "requested", len(all[event.PermissionRequested](r)), 1)
			})
		})
	}
}

func TestPermissionTimesOut(t *testing.T) {
	asker(t, nil, func(r *rig, effects *int) {
		id := r.send("go")
		req := r.request()
		res := r.wait(id)
		if !strings.HasPrefix(res.Content, "denied: No answer within 5 minutes, so") {
			t.Errorf("content %q", res.Content)
		}
		is(t, r.s.Decide(r.Context(), req, consent.Decision{Decision: event.Allow}), consent.ErrGone)
		equal(t, "effects", *effects, 0)
	})
}

func TestPermissionAborted(t *testing.T) {
	asker(t, nil, func(r *rig, effects *int) {
		id := r.send("go")
		req := r.request()
		r.s.Abort(r.Context(), "")
		is(t, func() error {
			r.wait(id)
			return r.s.Decide(r.Context(), req, consent.Decision{Decision: event.Allow})
		}(), consent.ErrGone)
		equal(t, "effects", *effects, 0)
	})
}

// A hook's no counts also where a rule, the mode or an earlier answer would allow.
func TestPermissionHook(t *testing.T) {
	for _, mode := range []consent.Mode{consent.ModeAsk, consent.ModeAllow} {
		asker(t, func(c *Config, _ *agent.Permission) {
			c.Permissions = mode
			c.Hooks = hookFunc(func(h consent.HookCall, _ func(event.Data) error) (consent.HookVerdict,
				error) {
				return consent.HookVerdict{Allow: h.Event != consent.PermissionRequested, Reason: "never"}, nil
			})
		}, func(r *rig, effects *int) {
			equal(t, "content", r.ask("go").Content, "denied: never")
			equal(t, "by", all[event.PermissionCompleted](r)[0].By, event.DecidedByHook)
			equal(t, "effects", *effects, 0)
		})
	}
}

// A decision the log does not take is not made.
func TestDecisionNeedsTheLog(t *testing.T) {
	asker(t, nil, func(r *rig, effects *int) {
		id := r.send("go")
		req := r.request()
		r.mem.broken(errDisk)
		is(t, r.s.Decide(r.Context(), req, consent.Decision{Decision: event.Allow}), eventlog.ErrLog)
		synctest.Wait()
		equal(t, "effects", *effects, 0)
		r.mem.broken(nil)
		if err := r.s.Decide(r.Context(), req, consent.Decision{Decision: event.Allow}); err != nil {
			t.Error(err)
		}
		r.wait(id)
		equal(t, "effects", *effects, 1)
	})
}

func TestQuestions(t *testing.T) {
	play(t, nil, func(r *rig) {
		var got agent.Answer
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) (err error) {
			got, err = h.AskUser(ctx, agent.Question{Question: "Which?", Choices: []string{"a", "b"}})
			return err
		}
		id := r.send("go")
		req := r.request()
		is(t, r.s.Decide(r.Context(), req, consent.Decision{Decision: event.Allow}), eventlog.ErrInvalid)
		is(t, r.s.Answer(r.Context(), req, "c"), eventlog.ErrInvalid)
		is(t, r.s.Answer(r.Context(), req, ""), eventlog.ErrInvalid)
		if err := r.s.Answer(r.Context(), req, "b"); err != nil {
			t.Fatal(err)
		}
		is(t, r.s.Answer(r.Context(), req, "a"), consent.ErrAnswered)
		r.wait(id)
		equal(t, "answer", got, agent.Answer{Text: "b", Answered: true})
	})
}
