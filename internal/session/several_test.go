package session

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/policy"
)

// writing is an act that writes each of the files.
func writing(names ...string) agent.Permission {
	p := agent.Permission{
		ToolName: "edit",
		Kind:     agent.KindWrite,
		Action:   "write a file",
		Resource: names[0],
	}
	for _, n := range names[1:] {
		p.Also = append(p.Also, agent.Resource{
			Kind:     agent.KindWrite,
			Action:   "write a file",
			Resource: n,
		})
	}
	return p
}

// sensitive is an act that its agent calls so.
func sensitive(p agent.Permission) agent.Permission {
	p.Sensitive = true
	return p
}

// copying is an act that reads one file and writes another.
func copying(from, to string) agent.Permission {
	p := agent.Permission{
		ToolName: "copy",
		Kind:     agent.KindRead,
		Action:   "copy a file",
		Resource: from,
	}
	p.Also = []agent.Resource{{Kind: agent.KindWrite, Action: "write the copy", Resource: to}}
	return p
}

// searching is an act that searches two folders.
func searching(one, other string) agent.Permission {
	in := func(folder string) *agent.Search { return &agent.Search{Pattern: "x", Path: folder} }
	p := agent.Permission{
		ToolName: "grep",
		Kind:     agent.KindRead,
		Action:   "search",
		Resource: one,
		Search:   in(one),
	}
	p.Also = []agent.Resource{{
		Kind:     agent.KindRead,
		Action:   "search",
		Resource: other,
		Search:   in(other),
	}}
	return p
}

// THREATS 53: an act is allowed only if everything it is about is, in any order.
func TestThreat53EveryPathIsJudged(t *testing.T) {
	deny := policy.Rule{Kind: agent.KindWrite, Path: "no/**", Decision: event.Deny}
	docs := policy.Rule{Kind: agent.KindWrite, Path: "docs/**", Decision: event.Allow}
	ask := policy.Rule{Kind: agent.KindWrite, Path: "ask/**", Decision: policy.Ask}
	for name, c := range map[string]struct {
		act   agent.Permission
		mode  consent.Mode
		given string        // the grants held, by the files they are about
		by    event.Decider // empty: the user is asked
		why   string
		offer string
	}{
		"two inside": {
			act:   writing("a.txt", "b.txt"),
			offer: "edits of files inside this workspace",
		},
		"two inside, allow": {
			act:  writing("a.txt", "b.txt"),
			mode: consent.ModeAllow,
			by:   event.DecidedByMode,
		},
		"one outside": {
			act:  writing("a.txt", "../b.txt"),
			mode: consent.ModeAllow,
			why:  "../b.txt: It leads outside the workspace, so you are asked each time.",
		},
		"the first outside": {
			act:  writing("../b.txt", "a.txt"),
			mode: consent.ModeAllow,
			why:  "../b.txt: It leads outside the workspace, so you are asked each time.",
		},
		"both outside": {
			act:  writing("../b.txt", "../c.txt"),
			mode: consent.ModeAllow,
			why:  "It leads outside the workspace, so you are asked each time.",
		},
		"two of three outside": {
			act:  writing("a.txt", "../b.txt", "../c.txt"),
			mode: consent.ModeAllow,
			why:  "../b.txt and 1 more: It leads outside the workspace, so you are asked each time.",
		},
		"one sensitive": {
			act:  writing("a.txt", ".env"),
			mode: consent.ModeAllow,
			why:  ".env: It may hold keys or passwords, so you are always asked.",
		},
		"one sensitive, a rule": {
			act: writing("docs/a.md", "docs/.env"),
			why: "docs/.env: It may hold keys or passwords, so you are always asked.",
		},
		"one of a rule, keys": {
			act: writing("a.txt", "docs/.env"),
			why: "docs/.env: It may hold keys or passwords, so you are always asked.",
		},
		"the second outside": {
			act: writing("a.txt", "../b.txt", "c.txt"),
			why: "../b.txt: It leads outside the workspace, so you are asked each time.",
		},
		"said to be sensitive": {
			act:   sensitive(writing("a.txt", "b.txt")),
			mode:  consent.ModeAllow,
			given: "a.txt b.txt",
			why:   "It may hold keys or passwords, so you are always asked.",
		},
		"one denied": {
			act:  writing("a.txt", "no/b.txt"),
			mode: consent.ModeAllow,
			by:   event.DecidedByRule,
		},
		"one to be asked": {
			act:   writing("a.txt", "ask/b.txt"),
			mode:  consent.ModeAllow,
			why:   "ask/b.txt: Rule 3 of the user's configuration says ask.",
			offer: "edits of files inside this workspace",
		},
		"all by a rule": {act: writing("docs/a.md", "docs/b.md"), by: event.DecidedByRule},
		"one by a rule": {
			act:   writing("docs/a.md", "a.txt"),
			offer: "edits of `a.txt`; edits of files inside this workspace",
		},
		"one by a rule, allow": {
			act:  writing("docs/a.md", "a.txt"),
			mode: consent.ModeAllow,
			by:   event.DecidedByMode,
		},
		"one granted": {
			act:   writing("a.txt", "b.txt"),
			given: "a.txt",
			offer: "edits of files inside this workspace",
		},
		"each granted": {
			act:   writing("a.txt", "b.txt"),
			given: "a.txt b.txt",
			by:    event.DecidedByGrant,
		},
		"granted and a rule": {
			act:   writing("docs/a.md", "a.txt"),
			given: "a.txt",
			by:    event.DecidedByGrant,
		},
		"granted and outside": {
			act:   writing("a.txt", "../b.txt"),
			given: "a.txt",
			why:   "../b.txt: It leads outside the workspace, so you are asked each time.",
		},
		"a copy": {
			act:   copying("a.txt", "b.txt"),
			offer: "edits of `b.txt`; edits of files inside this workspace",
		},
		"a copy of keys": {
			act:  copying(".env", "b.txt"),
			mode: consent.ModeAllow,
			why:  ".env: It may hold keys or passwords, so you are always asked.",
		},
		"a copy from outside": {
			act:   copying("../x", "b.txt"),
			given: "b.txt",
			why:   "../x: It leads outside the workspace, so you are asked each time.",
		},
		"a search of secrets": {
			act:  searching("plain", "holds"),
			mode: consent.ModeAllow,
			why:  "holds: It can show holds/.env, which may hold keys or passwords.",
		},
		"a search": {act: searching("plain", "plain/sub"), by: event.DecidedByRule},
	} {
		t.Run(name, func(t *testing.T) {
			kept := &heap{held: map[string]event.Grant{}}
			var told json.RawMessage
			var v agent.Verdict
			play(t, func(r *rig, cfg *Config) {
				for _, dir := range []string{"plain/sub", "holds"} {
					if err := os.MkdirAll(filepath.Join(cfg.Workspace, dir), 0o700); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.WriteFile(filepath.Join(cfg.Workspace, "holds", ".env"), []byte("x"),
					0o600); err != nil {
					t.Fatal(err)
				}
				p := policy.New(policy.Config{
					Workspace: cfg.Workspace,
					Reading:   true,
					Rules:     []policy.Rule{deny, docs, ask},
				})
				for _, f := range strings.Fields(c.given) {
					g := p.Grants(agent.Permission{Kind: agent.KindWrite, Resource: f})[0]
					kept.held[g.ID] = g
				}
				cfg.Policy, cfg.Kept, cfg.Permissions = p, kept, c.mode
				cfg.Hooks = hookFunc(func(h consent.HookCall, _ func(event.Data) error) (consent.HookVerdict,
					error) {
					if h.Event == consent.PermissionRequested {
						told = h.Arguments
					}
					return consent.HookVerdict{Allow: true}, nil
				})
				r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) (err error) {
					v, err = h.AskPermission(ctx, c.act)
					return err
				}
			}, func(r *rig) {
				id := r.send("go")
				if c.by == "" {
					r.decide(consent.Decision{Decision: event.Allow})
				}
				r.wait(id)
				asked, done := last[event.PermissionRequested](r), last[event.PermissionCompleted](r)
				by := c.by
				if by == "" {
					by = event.DecidedByUser
				}
				equal(t, "by", done.By, by)
				equal(t, "why", asked.Why, c.why)
				equal(t, "resources", len(asked.Resources), 1+len(c.act.Also))
				if by != event.DecidedByRule {
					for _, f := range asked.Resources {
						if !strings.Contains(string(told), `"resource":"`+f.Resource+`"`) {
							t.Errorf("hooks are told %s, without %s", told, f.Resource)
						}
					}
				}
				var offered []string
				for _, g := range asked.Grants {
					offered = append(offered, g.Text)
				}
				equal(t, "offered", strings.Join(offered, "; "), c.offer)
				equal(t, "allowed", v.Decision == event.Allow, name != "one denied")
				if name == "one denied" && !strings.HasPrefix(v.Reason, "no/b.txt: ") {
					t.Errorf("the reason %q does not name the path", v.Reason)
				}
			})
		})
	}
}

// THREATS 78: any path that leads elsewhere when the user answers ends the act.
func TestThreat78AnyOfSeveralSwapped(t *testing.T) {
	var work string
	var v agent.Verdict
	play(t, func(r *rig, c *Config) {
		work = c.Workspace
		c.Policy = policy.New(policy.Config{Workspace: work})
		r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) (err error) {
			v, err = h.AskPermission(ctx, writing("a.txt", "b.txt"))
			return err
		}
	}, func(r *rig) {
		id := r.send("go")
		req := r.request()
		asked := last[event.PermissionRequested](r)
		if !strings.HasSuffix(asked.Resources[1].Target, string(filepath.Separator)+"b.txt") {
			t.Errorf("the target of the second is %q", asked.Resources[1].Target)
		}
		if err := os.Symlink(t.TempDir(), filepath.Join(work, "b.txt")); err != nil {
			r.Skipf("no symbolic links here: %v", err)
		}
		is(t, r.s.Decide(r.Context(), req, consent.Decision{Decision: event.Allow}), consent.ErrGone)
		r.wait(id)
		equal(t, "decision", v.Decision, event.Deny)
	})
}

// What is asked is bound to everything the act is about.
func TestDigestCoversEveryResource(t *testing.T) {
	digests := map[string]bool{}
	for _, given := range []string{"", "of the agent"} {
		for _, act := range []agent.Permission{writing("a.txt"), writing("a.txt", "b.txt"),
			writing("a.txt", "c.txt"), copying("a.txt", "b.txt")} {
			play(t, func(r *rig, c *Config) {
				c.Permissions = consent.ModeAllow
				act.Digest = given
				r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) error {
					_, err := h.AskPermission(ctx, act)
					return err
				}
			}, func(r *rig) {
				r.wait(r.send("go"))
				digests[last[event.PermissionRequested](r).Digest] = true
			})
		}
	}
	equal(t, "digests", len(digests), 8)
}
