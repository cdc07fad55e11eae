package session

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/policy"
)

// running guards what runners ran: several sessions may have one.
var running sync.Mutex

// runner is a tool that asks about the command it is given and reports what it ran.
func runner(ran *[]string) tool {
	return tool{"run", func(_ context.Context, args json.RawMessage) (agent.Action, error) {
		var a struct{ Command string }
		if err := json.Unmarshal(args, &a); err != nil {
			return agent.Action{}, err
		}
		return agent.Action{
			Digest: agent.Digest(a.Command),
			Ask: &agent.Permission{
				Kind:     agent.KindShell,
				Action:   "run a command",
				Resource: a.Command,
				Cwd:      "/w",
			},
			Run: func(context.Context, agent.Progress) (agent.Result, error) {
				running.Lock()
				defer running.Unlock()
				*ran = append(*ran, a.Command)
				return agent.Result{TextForModel: "ran"}, nil
			},
		}, nil
	}}
}

// THREATS 53: what was approved is what runs, whatever the agent does meanwhile.
func TestThreat53ApprovedIsWhatRuns(t *testing.T) {
	var ran []string
	args := []byte(`{"command":"echo safe"}`)
	var res agent.Result
	play(t, func(r *rig, c *Config) {
		c.Hooks = hookFunc(func(h consent.HookCall, _ func(event.Data) error) (consent.HookVerdict,
			error) {
			if h.Event == consent.BeforeTool {
				copy(args, `{"command":"rm -r ./"}`) // the agent still holds them
			}
			return consent.HookVerdict{Allow: true}, nil
		})
		r.tools.tools = []agent.Tool{runner(&ran)}
		r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) (err error) {
			res, err = h.CallTool(ctx, agent.ToolCall{ID: "c", Name: "run", Arguments: args})
			return err
		}
	}, func(r *rig) {
		id := r.send("go")
		req := r.request()
		p := all[event.PermissionRequested](r)[0]
		equal(t, "shown", p.Resource, "echo safe")
		equal(t, "bound to", p.Digest, agent.Digest("echo safe"))
		copy(args, `{"command":"rm -rf /`)
		if err := r.s.Decide(r.Context(), req, consent.Decision{Decision: event.Allow}); err != nil {
			t.Fatal(err)
		}
		r.wait(id)
		equal(t, "ran", strings.Join(ran, "; "), "echo safe")
		equal(t, "result", res.TextForModel, "ran")
	})
}

// THREATS 53: a call that is not the announced one is denied, and the log says so.
func TestThreat53AnnouncedIsWhatIsCalled(t *testing.T) {
	var ran []string
	allow := true
	play(t, func(r *rig, c *Config) {
		c.Permissions = consent.ModeAllow
		c.Hooks = hookFunc(func(h consent.HookCall, _ func(event.Data) error) (consent.HookVerdict,
			error) {
			if h.Event == consent.BeforeTool && h.RequestID == "rewritten" {
				return consent.HookVerdict{Allow: true, Arguments: []byte(`{"command":"better"}`)}, nil
			}
			return consent.HookVerdict{Allow: allow}, nil
		})
		r.backend.info = agent.Info{Available: true, Intercept: agent.InterceptRewrite}
		r.tools.tools = []agent.Tool{runner(&ran)}
	}, func(r *rig) {
		during(r, func(ctx context.Context, h agent.Host) {
			for _, c := range []struct {
				id, tool, announced, called string
				runs                        bool
			}{
				{"same", "run", `{"command":"ls"}`, ` { "command" : "ls" } `, true},
				{"silent", "run", ``, `{"command":"ls"}`, true},
				{"args", "run", `{"command":"ls"}`, `{"command":"rm"}`, false},
				{"more", "run", `{"command":"ls"}`, `{"command":"ls","cwd":"/"}`, false},
				{"tool", "look", `{"command":"ls"}`, `{"command":"ls"}`, false},
				{"rewritten", "run", `{"command":"worse"}`, `{"command":"better"}`, true},
			} {
				ran = nil
				if err := h.Report(ctx, event.ToolExecutionStart{
					ToolCallID: c.id,
					ToolName:   c.tool,
					Arguments:  json.RawMessage(c.announced),
				}); err != nil {
					t.Fatal(err)
				}
				if c.id == "rewritten" {
					if v, err := h.RunHook(ctx, agent.HookCall{
						RequestID: c.id,
						Event:     "before_tool",
						Tool:      "run",
						Arguments: json.RawMessage(c.announced),
					}); err != nil || v.Arguments == nil {
						t.Errorf("%+v %v", v, err)
					}
				}
				res, err := h.CallTool(ctx, agent.ToolCall{
					ID:        c.id,
					Name:      "run",
					Arguments: json.RawMessage(c.called),
				})
				if err != nil || (len(ran) == 1) != c.runs || (res.Type == agent.Denied) == c.runs {
					t.Errorf("%s: ran %v, %+v, %v", c.id, ran, res, err)
				}
			}
		})
		var codes []string
		for _, d := range all[event.ToolExecutionComplete](r) {
			if d.Error != nil {
				codes = append(codes, d.ToolCallID+" "+d.Error.Code)
			}
		}
		equal(t, "audit", strings.Join(codes, ", "), "args denied, more denied, tool denied")
	})
}

// THREATS 54: keys that two decoders would read differently are passed to none.
func TestThreat54DuplicateKeys(t *testing.T) {
	for _, args := range []string{
		`{"command":"ls","Command":"rm -rf ~"}`, `{"command":"ls","command":"rm -rf ~"}`,
		`{"command":"ls","\u0063ommand":"rm"}`,
		`{"command":"ls","o":{"K":1,"\u212a":2}}`, `{"command":"ls","l":[{"a":1,"A":2}]}`,
	} {
		var ran []string
		m := &moments{}
		play(t, func(r *rig, c *Config) {
			c.Permissions, c.Hooks = consent.ModeAllow, m
			r.tools.tools = []agent.Tool{runner(&ran)}
		}, func(r *rig) {
			during(r, func(ctx context.Context, h agent.Host) {
				m.asked = nil
				res, err := h.CallTool(ctx, agent.ToolCall{
					ID:        "c",
					Name:      "run",
					Arguments: json.RawMessage(args),
				})
				if err != nil || res.Type != agent.Failed || !strings.Contains(res.TextForModel, "twice") {
					t.Errorf("%s: %+v %v", args, res, err)
				}
			})
			equal(t, "asked hooks", m.events(), "")
			equal(t, "asked the user", len(all[event.PermissionRequested](r)), 0)
			equal(t, "ran", len(ran), 0)
			equal(t, "in the log", all[event.ToolExecutionComplete](r)[0].Error.Code, "failure")
		})
	}
}

// THREATS 52: an allow for the session is for that command, byte by byte.
func TestThreat52AllowForTheSessionIsExact(t *testing.T) {
	var ran []string
	play(t, func(r *rig, c *Config) {
		c.Policy = policy.New(policy.Config{Workspace: "/w"})
		r.tools.tools = []agent.Tool{runner(&ran)}
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			args, _ := json.Marshal(map[string]string{"command": p.Content})
			_, err := h.CallTool(ctx, agent.ToolCall{Name: "run", Arguments: args})
			return err
		}
	}, func(r *rig) {
		id := r.send("git status")
		if err := r.s.Decide(r.Context(), r.request(),
			consent.Decision{Decision: event.Allow, Scope: event.ForSession}); err != nil {
			t.Fatal(err)
		}
		r.wait(id)
		r.ask("git status")
		equal(t, "ran", len(ran), 2)
		for _, tricky := range []string{"git status;x", "git status ${x@P}", "git status\nx",
			"git status ", "git  status", "GIT STATUS", "git"} {
			id := r.send(tricky)
			if err := r.s.Decide(r.Context(), r.request(),
				consent.Decision{Decision: event.Deny}); err != nil {
				t.Errorf("%q: %v", tricky, err)
			}
			r.wait(id)
		}
		equal(t, "ran", len(ran), 2)
	})
}

// A sensitive act is allowed once, also when it was allowed for the session.
func TestSensitiveIsAllowedOnce(t *testing.T) {
	asker(t, func(_ *Config, p *agent.Permission) { p.Sensitive = true }, func(r *rig, effects *int) {
		for i := range 2 {
			id := r.send("go")
			if err := r.s.Decide(r.Context(), r.request(),
				consent.Decision{Decision: event.Allow, Scope: event.ForSession}); err != nil {
				t.Fatal(err)
			}
			r.wait(id)
			equal(t, "effects", *effects, i+1)
			equal(t, "scope", all[event.PermissionCompleted](r)[i].Scope, event.Once)
			equal(t, "why", all[event.PermissionRequested](r)[i].Why,
				"It may hold keys or passwords, so you are always asked.")
		}
	})
}

// THREATS 55: two people at the same time; one of them decides.
func TestThreat55FirstAnswerWins(t *testing.T) {
	asker(t, nil, func(r *rig, effects *int) {
		for i := range 50 {
			id := r.send("go")
			req := r.request()
			errs := make(chan error, 8)
			for range cap(errs) {
				go func() { errs <- r.s.Decide(r.Context(), req, consent.Decision{Decision: event.Allow}) }()
			}
			synctest.Wait()
			won := 0
			for range cap(errs) {
				if err := <-errs; err == nil {
					won++
				} else {
					is(t, err, consent.ErrAnswered)
				}
			}
			r.wait(id)
			equal(t, "won", won, 1)
			equal(t, "effects", *effects, i+1)
		}
	})
}

// THREATS 55: once Abort has returned, what was asked before can no longer be allowed.
func TestThreat55AnswerAfterAbort(t *testing.T) {
	asker(t, nil, func(r *rig, effects *int) {
		for range 50 {
			id := r.send("go")
			req := r.request()
			if err := r.s.Abort(r.Context(), ""); err != nil {
				t.Fatal(err)
			}
			is(t, r.s.Decide(r.Context(), req, consent.Decision{Decision: event.Allow}), consent.ErrGone)
			equal(t, "pending", r.s.Summary().Pending, 0)
			r.wait(id)
		}
		equal(t, "effects", *effects, 0)
		equal(t, "by", all[event.PermissionCompleted](r)[0].By, event.DecidedByAbort)
	})
}

// THREATS 55: the same for the stop of one call.
func TestThreat55AnswerAfterAbortOfTheCall(t *testing.T) {
	asker(t, nil, func(r *rig, effects *int) {
		id := r.send("go")
		req := r.request()
		if err := r.s.AbortTool(r.Context(), all[event.ToolExecutionStart](r)[0].ToolCallID); err != nil {
			t.Fatal(err)
		}
		is(t, r.s.Decide(r.Context(), req, consent.Decision{Decision: event.Allow}), consent.ErrGone)
		r.wait(id)
		equal(t, "effects", *effects, 0)
	})
}

// What needs no permission by itself, such as a tool of the agent's own that reaches nothing beyond
// the session, is denied or asked about where a rule says so.
func TestRulesAboutReading(t *testing.T) {
	for name, c := range map[string]struct {
		rule  agent.Ruling
		asked int
		by    event.Decider
		runs  bool
	}{
		"none":      {agent.Ruling{}, 0, "", true},
		"allow":     {agent.Ruling{Decision: event.Allow}, 0, "", true},
		"deny":      {agent.Ruling{Decision: event.Deny, Reason: "no"}, 1, event.DecidedByRule, false},
		"ask":       {agent.Ruling{Ask: true}, 1, event.DecidedByTimeout, false},
		"sensitive": {agent.Ruling{Sensitive: true}, 1, event.DecidedByTimeout, false},
	} {
		t.Run(name, func(t *testing.T) {
			ran := false
			play(t, func(r *rig, cfg *Config) {
				cfg.Policy = ruled(func(p agent.Permission) agent.Ruling {
					equal(t, "resource", p.Resource, "go.mod")
					return c.rule
				})
				r.tools.tools = []agent.Tool{tool{"show", func(context.Context, json.RawMessage) (agent.Action,
					error) {
					return agent.Action{Digest: "d", About: &agent.Permission{
						Kind:     agent.KindRead,
						Action:   "show a file",
						Resource: "go.mod",
					},
						Run: func(context.Context, agent.Progress) (agent.Result, error) {
							ran = true
							return agent.Result{}, nil
						}}, nil
				}}}
			}, func(r *rig) {
				during(r, func(ctx context.Context, h agent.Host) {
					if _, err := h.CallTool(ctx, agent.ToolCall{ID: "c", Name: "show"}); err != nil {
						t.Error(err)
					}
					v, err := h.AskPermission(ctx, agent.Permission{
						ToolName: "list",
						Kind:     agent.KindTool,
						Resource: "go.mod",
					})
					equal(t, "its own", v.Decision == event.Allow, c.runs)
					equal(t, "error", err, nil)
				})
				equal(t, "ran", ran, c.runs)
				done := all[event.PermissionCompleted](r)
				equal(t, "asked", len(done), 2*c.asked)
				if c.asked > 0 {
					equal(t, "by", done[0].By, c.by)
				}
				ran = false
				if _, err := r.s.Display(r.Context(), "show", nil); err != nil {
					t.Error(err)
				}
				equal(t, "the user's own", ran, true)
			})
		})
	}
}

// stubborn opens out_1 and does not hear that it is stopped.
func stubborn() agent.Tool {
	return acts("stubborn", nil, func(_ context.Context, _ json.RawMessage,
		p agent.Progress) (agent.Result, error) {
		p(agent.ProgressReport{OutputID: "out_1"})
		time.Sleep(never)
		return agent.Result{}, nil
	})
}

// What a command showed until it was stopped stays, also when it is left behind.
func TestStopKeepsPartialOutput(t *testing.T) {
	for _, whole := range []bool{true, false} {
		play(t, func(r *rig, _ *Config) {
			r.tools.tools = []agent.Tool{stubborn()}
		}, func(r *rig) {
			during(r, func(ctx context.Context, h agent.Host) {
				time.AfterFunc(time.Second, func() {
					var err error
					if whole {
						err = r.s.Abort(ctx, "")
					} else {
						err = r.s.AbortTool(ctx, "c")
					}
					if err != nil {
						t.Error(err)
					}
				})
				_, err := h.CallTool(ctx, agent.ToolCall{ID: "c", Name: "stubborn"})
				if (err != nil) != whole {
					t.Error(err)
				}
			})
			d := all[event.ToolExecutionComplete](r)
			equal(t, "completions", len(d), 1)
			equal(t, "output", d[0].OutputID, "out_1")
			equal(t, "telemetry", string(d[0].ToolTelemetry), `{"outputId":"out_1"}`)
			equal(t, "code", d[0].Error.Code, "aborted")
		})
	}
}

// A display that is left knows its output, too.
func TestStopOfADisplayKeepsItsOutput(t *testing.T) {
	play(t, func(r *rig, _ *Config) {
		r.tools.tools = []agent.Tool{stubborn()}
	}, func(r *rig) {
		time.AfterFunc(time.Second, func() {
			if err := r.s.AbortTool(r.Context(),
				all[event.ToolExecutionStart](r)[0].ToolCallID); err != nil {
				t.Error(err)
			}
		})
		res, err := r.s.Display(r.Context(), "stubborn", nil)
		if err != nil || res.Output == nil || res.Output.ID != "out_1" || res.Error == nil ||
			res.Error.Code != "aborted" {
			t.Errorf("%+v, %v", res, err)
		}
		equal(t, "telemetry", string(res.Telemetry), `{"outputId":"out_1"}`)
	})
}

const never = 5 * time.Second
