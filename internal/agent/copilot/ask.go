package copilot

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/jsonrpc"
	"webchat/internal/wording"
)

func (c *conn) Request(ctx context.Context, method string,
	params json.RawMessage) (answer any, err error) {
	leave, err := c.Enter()
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no such session"}
	}
	defer leave()
	err = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "internal error"}
	c.Contained(func() {
		switch method {
		case "hooks.invoke":
			answer, err = answered(params, func(h hookRequest) (hookAnswer, error) {
				return hookAnswer{c.hooks.ask(h)}, nil
			})
		case "exitPlanMode.request":
			answer, err = answered(params, func(p planRequest) (planAnswer, error) {
				return c.dialog.approve(ctx, p)
			})
		case "userInput.request":
			answer, err = answered(params, func(q userQuestion) (userAnswer, error) {
				return c.dialog.answer(ctx, q)
			})
		default:
			err = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no method " + method}
		}
	})()
	return answer, err
}

// answered has a request answered once it is decoded.
func answered[Q, A any](params json.RawMessage, answer func(Q) (A, error)) (any, error) {
	var q Q
	if json.Unmarshal(params, &q) != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "not understood"}
	}
	return answer(q)
}

// dialog asks the user for the agent. Its methods may be called concurrently.
type dialog struct {
	host    agent.Host
	turns   *turns
	unasked bool // the agent may go on without asking
}

// answer puts the agent's question to the user.
func (d *dialog) answer(ctx context.Context, q userQuestion) (userAnswer, error) {
	a, err := d.consult(ctx, "ask_user", agent.Question{
		Question:      q.Question,
		Choices:       q.Choices,
		AllowFreeform: q.AllowFreeform,
	})
	if !a.Answered {
		return userAnswer{Answer: "(The user did not answer.)", WasFreeform: true}, err
	}
	return userAnswer{Answer: a.Text, WasFreeform: a.WasFreeform}, err
}

// consult asks the user for the running call of a tool; ctx ends with the process.
func (d *dialog) consult(ctx context.Context, tool string,
	question agent.Question) (a agent.Answer, err error) {
	t, done := d.turns.within(func(t *turn) bool {
		for _, x := range t.calls.All() {
			if x.Tool == tool && x.open() && t == d.turns.now { // helpers do not ask
				question.ToolCallID = x.ID
			}
		}
		return false
	})
	if t == nil {
		return a, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no turn runs"}
	}
	defer done()
	asking, cancel := context.WithCancel(t.Ctx)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	if a, err = d.host.AskUser(asking, question); err != nil {
		return a, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the question was withdrawn"}
	}
	return a, nil
}

// What may become of a plan, in words of the user.
const (
	carryOut      = "Carry it out"
	carryOutAlone = "Carry it out on autopilot, without asking me"
	onlyEnd       = "Leave plan mode and wait"
)

// maxPlan is how many characters of a plan are shown.
const maxPlan = 60_000

// approve shows the user a plan before the agent carries it out. An answer of theirs is what they
// want to have changed.
func (d *dialog) approve(ctx context.Context, p planRequest) (planAnswer, error) {
	q := agent.Question{
		Question:      "Carry out this plan? Or write what should change in it.",
		Choices:       []string{carryOut},
		AllowFreeform: true,
		Detail:        wording.Cut(cmp.Or(p.PlanContent, p.Summary, "The agent wrote no plan."), maxPlan),
	}
	actions := map[string]string{carryOut: interactive, onlyEnd: "exit_only"}
	if d.unasked && slices.Contains(p.Actions, autopilot) {
		q.Choices = append(q.Choices, carryOutAlone)
		actions[carryOutAlone] = autopilot
	}
	q.Choices = append(q.Choices, onlyEnd)
	a, err := d.consult(ctx, "exit_plan_mode", q)
	switch action, chosen := actions[a.Text]; {
	case err != nil:
		return planAnswer{}, err
	case !a.Answered:
		return planAnswer{Feedback: "The user did not answer."}, nil
	case chosen:
		return planAnswer{Approved: true, SelectedAction: action}, nil
	}
	return planAnswer{Feedback: a.Text}, nil
}
