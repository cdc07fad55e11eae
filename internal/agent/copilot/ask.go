package copilot

import (
	"context"
	"encoding/json"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot/wire"
	"webchat/internal/jsonrpc"
)

// turnOf returns what the CLI asks within: the running turn, or what a helper in the
// background does if that is what mine says is its own. Its end then waits for
// work.Done. nil when nothing runs.
func (c *conn) turnOf(mine func(*turn) bool, also func(*turn)) *turn {
	found := make(chan *turn, 1)
	find := func() {
		t := c.loop.turn
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
		found <- t
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
func (c *conn) Request(ctx context.Context, method string, params json.RawMessage) (any, error) {
	var q struct {
		wire.Question
		wire.Hook
	}
	if method != "userInput.request" && method != "hooks.invoke" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no method " + method}
	}
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "not understood"}
	}
	if !c.enter() {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no such session"}
	}
	defer c.turns.Done()
	if method == "hooks.invoke" {
		return c.hook(q.Hook)
	}
	return c.answer(ctx, q.Question)
}

// answer puts the agent's question to the user; ctx ends with the process.
func (c *conn) answer(ctx context.Context, q wire.Question) (any, error) {
	question := agent.Question{Question: q.Question, Choices: q.Choices, AllowFreeform: q.AllowFreeform}
	t := c.turnOf(notHelpers, func(t *turn) {
		for id, x := range t.tools {
			if x.name == "ask_user" && !x.completed {
				question.ToolCallID = id
			}
		}
	})
	if t == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no turn runs"}
	}
	defer t.work.Done()
	asking, cancel := context.WithCancel(t.ctx)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	a, err := c.host.AskUser(asking, question)
	switch {
	case err != nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the question was withdrawn"}
	case !a.Answered:
		return wire.Answer{Answer: "(The user did not answer.)", WasFreeform: true}, nil
	}
	return wire.Answer{Answer: a.Text, WasFreeform: a.WasFreeform}, nil
}
