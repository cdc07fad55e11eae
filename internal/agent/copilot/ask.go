package copilot

import (
	"context"
	"encoding/json"

	"webchat/internal/agent"
	"webchat/internal/jsonrpc"
)

// turnOf returns what the CLI asks within: the running turn, or what a helper in the
// background does if that is what mine says is its own. Its end then waits for
// work.Done. nil when nothing runs.
func (c *conn) turnOf(mine func(*turn) bool, also func(*turn)) *turn {
	found := make(chan *turn, 1)
	find := func() {
		t := c.loop.turn
		defer func() { found <- t }()
		for _, h := range c.loop.helpers {
			if t == nil || mine(h) {
				t = h
			}
		}
		if t != nil && t.aborted {
			t = nil
		}
		if t != nil {
			t.work.Add(1)
			also(t)
		}
	}
	c.post(func() {
		if t := c.loop.turn; t != nil && t.pending {
			t.backlog, t.questions = append(t.backlog, find), append(t.questions, find)
			return
		}
		find()
	})
	return <-found // Close waits for us, and the loop ends behind that
}

// none of the helpers asks.
func notHelpers(*turn) bool { return false }

// Request implements [cli.Session].
func (c *conn) Request(ctx context.Context, method string, params json.RawMessage) (answer any, err error) {
	err = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "internal error"}
	c.contained(func() { answer, err = c.request(ctx, method, params) })()
	return answer, err
}

func (c *conn) request(ctx context.Context, method string, params json.RawMessage) (any, error) {
	var q struct {
		userQuestion
		hookRequest
		planRequest
	}
	if method != "userInput.request" && method != "hooks.invoke" && method != "exitPlanMode.request" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no method " + method}
	}
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "not understood"}
	}
	if !c.enter() {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no such session"}
	}
	defer c.turns.Done()
	switch method {
	case "hooks.invoke":
		return c.hook(q.hookRequest)
	case "exitPlanMode.request":
		return c.approve(ctx, q.planRequest)
	}
	return c.answer(ctx, q.userQuestion)
}

// answer puts the agent's question to the user.
func (c *conn) answer(ctx context.Context, q userQuestion) (any, error) {
	a, err := c.consult(ctx, "ask_user", agent.Question{Question: q.Question, Choices: q.Choices, AllowFreeform: q.AllowFreeform})
	switch {
	case err != nil:
		return nil, err
	case !a.Answered:
		return userAnswer{Answer: "(The user did not answer.)", WasFreeform: true}, nil
	}
	return userAnswer{Answer: a.Text, WasFreeform: a.WasFreeform}, nil
}

// consult asks the user for the running call of a tool; ctx ends with the process.
func (c *conn) consult(ctx context.Context, tool string, question agent.Question) (a agent.Answer, err error) {
	t := c.turnOf(notHelpers, func(t *turn) {
		for id, x := range t.tools {
			if x.name == tool && !x.completed {
				question.ToolCallID = id
			}
		}
	})
	if t == nil {
		return a, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no turn runs"}
	}
	defer t.work.Done()
	asking, cancel := context.WithCancel(t.ctx)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	if a, err = c.host.AskUser(asking, question); err != nil {
		return a, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the question was withdrawn"}
	}
	return a, nil
}
