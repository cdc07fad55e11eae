package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// hookFunc is Hooks made of a function.
type hookFunc func(h consent.HookCall, report func(event.Data) error) (consent.HookVerdict, error)

func (f hookFunc) Run(_ context.Context, h consent.HookCall,
	report func(event.Data) error) (consent.HookVerdict, error) {
	return f(h, report)
}

func (f hookFunc) Demands(consent.Moment) bool { return false }

func TestHooks(t *testing.T) {
	allow := consent.HookVerdict{Allow: true}
	for name, c := range map[string]struct {
		event   consent.Moment
		hook    hookFunc
		outcome agent.ResultType
		says    string
		ran     string // the arguments the tool ran with
	}{
		"allow": {"before_tool", func(consent.HookCall, func(event.Data) error) (consent.HookVerdict,
			error) {
			return allow, nil
		}, agent.Success, "done", `{"a":1}`},
		"veto": {"before_tool", func(consent.HookCall, func(event.Data) error) (consent.HookVerdict,
			error) {
			return consent.HookVerdict{Reason: "not on Sundays"}, nil
		}, agent.Denied, "not on Sundays", ""},
		"zero": {"before_tool", func(consent.HookCall, func(event.Data) error) (consent.HookVerdict,
			error) {
			return consent.HookVerdict{}, nil
		}, agent.Denied, "without a reason", ""},
		"error": {"before_tool", func(consent.HookCall, func(event.Data) error) (consent.HookVerdict,
			error) {
			return allow, errors.New("crashed")
		}, agent.Denied, "crashed", ""},
		"panic": {"before_tool", func(consent.HookCall, func(event.Data) error) (consent.HookVerdict,
			error) {
			panic("x")
		}, agent.Denied, "failed", ""},
		"rewrite": {"before_tool", func(consent.HookCall, func(event.Data) error) (consent.HookVerdict,
			error) {
			return consent.HookVerdict{Allow: true, Arguments: []byte(`{"b":2}`)}, nil
		}, agent.Success, "done", `{"b":2}`},
		"bad keys": {"before_tool", func(consent.HookCall, func(event.Data) error) (consent.HookVerdict,
			error) {
			return consent.HookVerdict{Allow: true, Arguments: []byte(`{"b":2,"B":3}`)}, nil
		}, agent.Denied, "twice", ""},
		"after": {"after_tool", func(h consent.HookCall, _ func(event.Data) error) (consent.HookVerdict,
			error) {
			return consent.HookVerdict{Reason: "secret in " + h.Tool}, nil
		}, agent.Denied, "secret in run", `{"a":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			ran := ""
			play(t, func(r *rig, cfg *Config) {
				r.tools.tools = []agent.Tool{acts("run", nil,
					func(_ context.Context, args json.RawMessage, _ agent.Progress) (agent.Result, error) {
						ran = string(args)
						return agent.Result{TextForModel: "done"}, nil
					})}
				cfg.Hooks = hookFunc(func(h consent.HookCall,
					report func(event.Data) error) (consent.HookVerdict, error) {
					if h.Event != c.event {
						return allow, nil
					}
					if err := report(event.HookStart{HookID: "h", Event: string(h.Event)}); err != nil {
						t.Error(err)
					}
					is(t, report(event.Abort{}), eventlog.ErrInvalid)
					defer report(event.HookEnd{HookID: "h", Event: string(h.Event)})
					return c.hook(h, report)
				})
			}, func(r *rig) {
				during(r, func(ctx context.Context, h agent.Host) {
					res, err := h.CallTool(ctx, agent.ToolCall{ID: "c", Name: "run", Arguments: []byte(`{"a":1}`)})
					if err != nil || res.Type != c.outcome || !strings.Contains(res.TextForModel, c.says) {
						t.Errorf("%+v, %v", res, err)
					}
				})
				equal(t, "ran", ran, c.ran)
				equal(t, "hook runs in the log", strings.Count(r.types(), "hook.start hook.end"), 1)
			})
		})
	}
}

func TestPromptHook(t *testing.T) {
	verdict := consent.HookVerdict{Allow: true, Prompt: "rewritten"}
	play(t, func(r *rig, c *Config) {
		c.Hooks = hookFunc(func(h consent.HookCall, _ func(event.Data) error) (consent.HookVerdict,
			error) {
			if h.Event != consent.PromptSubmitted {
				return consent.HookVerdict{Allow: true}, nil
			}
			equal(t, "prompt", h.Prompt, "original")
			return verdict, nil
		})
	}, func(r *rig) {
		equal(t, "content", r.ask("original").Content, "You said rewritten")
		equal(t, "logged", all[event.UserMessage](r)[0].Content, "original")
		verdict = consent.HookVerdict{Reason: "no swearing"}
		res := r.ask("original")
		equal(t, "outcome", res.Outcome, event.Failed)
		equal(t, "error", res.Error, "A hook refused the prompt: no swearing")
	})
}

// moments is Hooks that allow, tell what they were asked, and demand to be.
type moments struct {
	asked   []consent.HookCall
	demands bool
	verdict func(consent.HookCall) consent.HookVerdict
}

func (m *moments) Run(_ context.Context, c consent.HookCall,
	_ func(event.Data) error) (consent.HookVerdict, error) {
	m.asked = append(m.asked, c)
	if m.verdict != nil {
		return m.verdict(c), nil
	}
	return consent.HookVerdict{Allow: true}, nil
}

func (m *moments) Demands(e consent.Moment) bool { return m.demands && e == consent.BeforeTool }

func (m *moments) events() string {
	var out []string
	for _, c := range m.asked {
		out = append(out, string(c.Event))
	}
	return strings.Join(out, " ")
}

func TestMoments(t *testing.T) {
	m := &moments{}
	play(t, func(r *rig, c *Config) {
		c.Hooks, c.Permissions = m, consent.ModeAsk
		r.tools.tools = []agent.Tool{acts("run", asked(),
			func(context.Context, json.RawMessage, agent.Progress) (agent.Result, error) {
				return agent.Result{TextForModel: "ran"}, nil
			})}
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			if p.Content == "fail" {
				h.Report(ctx, event.SessionError{Message: "quota", ErrorType: "quota"})
				return errors.New("it broke")
			}
			_, err := h.CallTool(ctx, agent.ToolCall{
				ID:        "c",
				Name:      "run",
				Arguments: []byte(`{"command":"make"}`),
			})
			return err
		}
	}, func(r *rig) {
		id := r.send("go")
		if err := r.s.Decide(r.Context(), r.request(),
			consent.Decision{Decision: event.Allow}); err != nil {
			t.Fatal(err)
		}
		r.wait(id)
		r.ask("fail")
		r.stop()
		equal(t, "moments", m.events(),
			"prompt_submitted session_start before_tool permission_requested after_tool prompt_submitted "+
				"error error session_end")
		for _, c := range m.asked {
			equal(t, "session", c.SessionID, string(r.s.ID()))
			switch c.Event {
			case consent.BeforeTool, consent.AfterTool:
				equal(t, "call", c.RequestID+" "+c.Tool+" "+string(c.Arguments), `c run {"command":"make"}`)
			case consent.PermissionRequested:
				equal(t, "act", string(c.Arguments),
					`{"kind":"shell","action":"run a command","resource":"make test","cwd":"/w"}`)
			}
		}
		equal(t, "errors", string(m.asked[6].Result)+string(m.asked[7].Result),
			`{"errorType":"quota","kind":"provider","message":"quota"}{"errorType":"backend","kind":"provider","message":"It broke"}`)
	})
}

func TestSessionStartHookKeepsTheAgentFromStarting(t *testing.T) {
	m := &moments{verdict: func(c consent.HookCall) consent.HookVerdict {
		return consent.HookVerdict{Allow: c.Event != consent.SessionStart, Reason: "not today"}
	}}
	play(t, func(_ *rig, c *Config) { c.Hooks = m }, func(r *rig) {
		equal(t, "error", r.ask("go").Error, "A hook refused to start the agent: not today")
		equal(t, "started", len(r.backend.opened), 0)
		r.stop()
		equal(t, "moments", m.events(), "prompt_submitted session_start error")
	})
}

// The hooks of session_start are asked before the agent starts, also when a later
// process goes on with the session.
func TestSessionStartHookComesFirst(t *testing.T) {
	var order []string
	note := func(r *rig, c *Config) {
		c.Hooks = hookFunc(func(h consent.HookCall, _ func(event.Data) error) (consent.HookVerdict,
			error) {
			if h.Event == consent.SessionStart {
				order = append(order, "hook")
			}
			return consent.HookVerdict{Allow: true}, nil
		})
		r.backend.info = agent.Info{Available: true, CanResume: true}
		r.backend.open = func(o agent.Options) error {
			order = append(order, fmt.Sprint("open, resume ", o.Resume))
			return nil
		}
	}
	play(t, note, func(r *rig) {
		r.ask("go")
		r.ask("on")
		r.stop()
		next := newRig(r.T, r.mem, note)
		var err error
		if next.s, err = next.load(r.Context(), r.s.ID()); err != nil {
			r.Fatal(err)
		}
		next.ask("again")
		next.stop()
	})
	equal(t, "order", strings.Join(order, "; "), "hook; open, resume false; hook; open, resume true")
}

// A before_tool hook that insists keeps sessions from backends it cannot reach.
func TestHooksThatDoNotReach(t *testing.T) {
	for intercept, starts := range map[agent.Intercept]bool{agent.InterceptRewrite: true,
		agent.InterceptAll: true, agent.InterceptAsked: false, agent.InterceptNone: false} {
		for _, demands := range []bool{true, false} {
			m := &moments{}
			play(t, func(r *rig, c *Config) {
				c.Hooks = m
				r.backend.info = agent.Info{Available: true, Intercept: intercept}
			}, func(r *rig) {
				m.demands = demands
				_, err := r.create(r.Context())
				if starts || !demands {
					is(t, err, nil)
				} else {
					is(t, err, agent.ErrUnsupported)
				}
				if res := r.ask("go"); (res.Error == "") != (starts || !demands) {
					t.Errorf("%s, demands %v: %+v", intercept, demands, res)
				}
			})
		}
	}
}

// What an agent does by itself is passed to before_tool hooks by itself, or else when
// it asks for leave; it cannot be rewritten unless the agent says so.
func TestHooksOfForeignTools(t *testing.T) {
	for intercept, want := range map[agent.Intercept]string{agent.InterceptAsked: "before_tool " +
		"permission_requested", agent.InterceptAll: "permission_requested"} {
		m := &moments{}
		play(t, func(r *rig, c *Config) {
			c.Hooks, c.PermissionTimeout = m, 1
			r.backend.info = agent.Info{Available: true, Intercept: intercept}
		}, func(r *rig) {
			during(r, func(ctx context.Context, h agent.Host) {
				m.asked = nil
				if v, err := h.AskPermission(ctx, agent.Permission{
					ToolName: "bash",
					Kind:     agent.KindShell,
					Action:   "run",
					Resource: "ls",
				}); err != nil || v.Decision != event.Deny {
					t.Errorf("%+v %v", v, err)
				}
				equal(t, string(intercept), m.events(), want)
				equal(t, "fixed", m.asked[0].Fixed, m.asked[0].Event == consent.BeforeTool)
				m.verdict = func(c consent.HookCall) consent.HookVerdict {
					return consent.HookVerdict{Reason: "no " + string(c.Event)}
				}
				v, err := h.AskPermission(ctx, agent.Permission{
					ToolName: "bash",
					Kind:     agent.KindShell,
					Action:   "run",
					Resource: "ls",
				})
				if err != nil || v.By != event.DecidedByHook || v.Reason != "no "+strings.Fields(want)[0] {
					t.Errorf("%+v %v", v, err)
				}
				m.asked = nil
				call := agent.HookCall{
					RequestID: "x",
					Event:     "before_tool",
					Tool:      "bash",
					Arguments: []byte(`{"a":1,"A":2}`),
				}
				if v, err := h.RunHook(ctx, call); err != nil || v.Allow || len(m.asked) != 0 {
					t.Errorf("THREATS 54: %+v %v, asked %d", v, err, len(m.asked))
				}
				call.Arguments = []byte(`{"a":1}`)
				if v, err := h.RunHook(ctx, call); err != nil || v.Allow || !m.asked[0].Fixed {
					t.Errorf("%+v %v %+v", v, err, m.asked)
				}
				call.Event = "session_end"
				if _, err := h.RunHook(ctx, call); !errors.Is(err, eventlog.ErrInvalid) {
					t.Error(err)
				}
			})
		})
	}
}

// slowErrors is Hooks that think about errors until they are stopped.
type slowErrors struct{ moments }

func (s *slowErrors) Run(ctx context.Context, c consent.HookCall,
	report func(event.Data) error) (consent.HookVerdict, error) {
	if c.Event == consent.Error {
		<-ctx.Done()
		return consent.HookVerdict{}, ctx.Err()
	}
	return s.moments.Run(ctx, c, report)
}

// A hook about an error does not keep it from being reported, and can be stopped.
func TestErrorHooksComeAfterTheNews(t *testing.T) {
	var asks chan struct{} // of the bubble the test is in
	play(t, func(r *rig, c *Config) {
		asks = make(chan struct{})
		c.Hooks = &slowErrors{}
		r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) error {
			go h.AskPermission(context.Background(), *asked())
			<-asks
			return errors.New("it broke")
		}
	}, func(r *rig) {
		id := r.send("go")
		synctest.Wait()
		close(asks)
		synctest.Wait()
		equal(t, "told", len(all[event.SessionError](r)), 1)
		equal(t, "pending", r.s.Summary().Pending, 0)
		equal(t, "status", r.s.Summary().Status, event.Running)
		if err := r.s.Abort(r.Context(), ""); err != nil {
			t.Fatal(err)
		}
		equal(t, "outcome", r.wait(id).Outcome, event.Failed)
		equal(t, "told once", len(all[event.SessionError](r)), 1)
	})
}
