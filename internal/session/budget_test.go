package session

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/document"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// spender is a rig whose agent takes 60 tokens, and then runs a tool, asks for an act, or asks the
// user, by what the prompt says; it may take 100. In the mode in which everything is allowed a
// budget is asked about all the same.
func spender(t *testing.T, change func(*rig, *Config), test func(r *rig, ran *int)) {
	t.Helper()
	ran := 0
	play(t, func(r *rig, c *Config) {
		c.Budget, c.Permissions = event.Budget{Tokens: 100}, consent.ModeAllow
		r.tools.tools = []agent.Tool{acts("run", nil,
			func(context.Context, json.RawMessage, agent.Progress) (agent.Result, error) {
				ran++
				return agent.Result{TextForModel: "ran"}, nil
			})}
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			if err := h.Report(ctx, event.AssistantUsage{InputTokens: 50, OutputTokens: 10}); err != nil {
				return err
			}
			switch p.Content {
			case "run":
				if _, err := h.CallTool(ctx, agent.ToolCall{Name: "run", Arguments: []byte(`{}`)}); err != nil {
					return err
				}
			case "act":
				v, err := h.AskPermission(ctx, agent.Permission{
					ToolName: "bash",
					Kind:     agent.KindShell,
					Resource: "ls",
					Cwd:      "/w",
				})
				if err != nil {
					return err
				}
				if v.Decision == event.Allow {
					ran++
				}
			case "question":
				if _, err := h.AskUser(ctx, agent.Question{Question: "Which?"}); err != nil {
					return err
				}
			}
			return h.Report(ctx, event.AssistantMessage{MessageID: "m" + p.MessageID, Content: "done"})
		}
		if change != nil {
			change(r, c)
		}
	}, func(r *rig) { test(r, &ran) })
}

func decide(r *rig, request string, d event.Decision) {
	r.Helper()
	if err := r.s.Decide(r.Context(), request, consent.Decision{Decision: d}); err != nil {
		r.Fatal(err)
	}
}

// At the first place after the budget is passed the turn waits: before a tool, an act and a
// question in a turn, and before the next prompt.
func TestBudgetPausesTheTurn(t *testing.T) {
	for _, place := range []string{"run", "act", "question", "prompt"} {
		t.Run(place, func(t *testing.T) {
			spender(t, nil, func(r *rig, ran *int) {
				r.ask("take 60")
				if place == "prompt" {
					r.ask("take 60 again")
				}
				id := r.send(place)
				req := r.requests(1)[0]
				equal(t, "kind", req.Kind, event.KindBudget)
				equal(t, "resource", req.Resource, "120 of 100 tokens")
				equal(t, "reached", all[event.BudgetReached](r)[0].Used, event.Budget{Tokens: 120})
				equal(t, "ran", *ran, 0)
				decide(r, req.RequestID, event.Allow) // once: for this turn
				if place == "question" {
					if err := r.s.Answer(r.Context(), r.request(), "this"); err != nil {
						t.Fatal(err)
					}
				}
				equal(t, "content", r.wait(id).Content, "done")
				id = r.send("run") // the next one asks again, here with its prompt
				decide(r, r.request(), event.Deny)
				if got := r.wait(id).Error; !strings.HasPrefix(got,
					"Stopped at the budget of this session, after ") {
					t.Errorf("the turn ended with %q", got)
				}
			})
		})
	}
}

// To stop ends the turn before its tool runs; so does no answer.
func TestBudgetStops(t *testing.T) {
	for _, answer := range []bool{true, false} {
		spender(t, nil, func(r *rig, ran *int) {
			r.ask("take 60")
			id := r.send("run")
			req := r.request()
			if answer {
				decide(r, req, event.Deny)
			} else {
				time.Sleep(6 * time.Minute)
			}
			res := r.wait(id)
			if all[event.SessionError](r)[0].Kind != event.KindLimit || *ran != 0 {
				t.Errorf("the turn ended with %q, after %d runs", res.Error, *ran)
			}
		})
	}
}

// A new budget that is enough answers the question, and holds in the same turn.
func TestNewBudget(t *testing.T) {
	spender(t, nil, func(r *rig, ran *int) {
		r.ask("take 60")
		id := r.send("run")
		r.request()
		set := func(b event.Budget) {
			t.Helper()
			if err := r.s.SetBudget(r.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		set(event.Budget{Tokens: 110})
		r.request() // it is not enough
		set(event.Budget{Tokens: 150})
		r.wait(id)
		equal(t, "ran", *ran, 1)
		equal(t, "budget", r.s.Budget(), event.Budget{Tokens: 150})
		r.ask("take 60") // 180, which is noticed next
		id = r.send("x")
		r.request()
		set(event.Budget{}) // none
		r.wait(id)
		for _, b := range []event.Budget{{Tokens: -1}, {Money: -1}, {Tokens: 1, Money: 1}, {Money: 3}} {
			is(t, r.s.SetBudget(r.Context(), b), eventlog.ErrInvalid)
		}
	})
}

// A budget in money counts by the prices of the model.
func TestBudgetInMoney(t *testing.T) {
	spender(t, func(_ *rig, c *Config) {
		c.Budget = event.Budget{Money: 1.5}
		c.Cost = func(_ string, u event.Usage) (float64, bool) {
			return float64(u.InputTokens+u.OutputTokens) / 60, true
		}
	}, func(r *rig, ran *int) {
		r.ask("take 60")
		id := r.send("run")
		equal(t, "resource", r.requests(1)[0].Resource, "$2.00 of $1.50")
		if err := r.s.SetBudget(r.Context(), event.Budget{Money: 3}); err != nil {
			t.Fatal(err)
		}
		r.wait(id)
		equal(t, "ran", *ran, 1)
	})
}

// The budget of a day counts what all sessions took today, also before a restart, and ends with the
// day.
func TestBudgetOfADay(t *testing.T) {
	kept := document.Folder(t.TempDir())
	spender(t, func(_ *rig, c *Config) {
		c.Budget = event.Budget{}
		now := func() time.Time { return time.Now() } // of the bubble
		before := NewDay(event.Budget{Tokens: 100}, kept, now, slog.Default())
		before.add(event.Budget{Tokens: 50, Money: 3})
		if err := before.Close(); err != nil {
			t.Fatal(err)
		}
		c.Day = NewDay(event.Budget{Tokens: 100}, kept, now, slog.Default())
	}, func(r *rig, ran *int) {
		id := r.send("run")
		req := r.requests(1)[0]
		equal(t, "question", req.Action+": "+req.Resource,
			"go on past the budget of today: 110 of 100 tokens")
		equal(t, "of", all[event.BudgetReached](r)[0].Of, event.BudgetOfDay)
		decide(r, req.RequestID, event.Deny)
		if got := r.wait(id).Error; !strings.HasPrefix(got, "Stopped at the budget of today, after 110") {
			t.Errorf("the turn ended with %q", got)
		}
		time.Sleep(24 * time.Hour)
		r.ask("take 60")
		equal(t, "questions", len(all[event.PermissionRequested](r)), 1)
		if err := r.s.cfg.Day.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// An agent that asks nothing while it works is stopped where it passed its budget.
func TestBudgetOfAnAgentThatAsksNothing(t *testing.T) {
	spender(t, func(r *rig, _ *Config) {
		r.backend.info.Intercept = agent.InterceptNone
		r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) error {
			if err := h.Report(ctx, event.AssistantUsage{InputTokens: 200}); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}
	}, func(r *rig, _ *int) {
		res := r.ask("go")
		if res.Error != "Scripted was stopped at the budget of this session, after 200 of 100 tokens: "+
			"it asks nothing while it works" {
			t.Errorf("the turn ended with %q", res.Error)
		}
		equal(t, "reached", len(all[event.BudgetReached](r)), 1)
	})
}
