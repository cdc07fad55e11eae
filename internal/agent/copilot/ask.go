package copilot

import (
	"context"

	"webchat/internal/agent"
	"webchat/internal/jsonrpc"
)

// turnOf returns the running turn, whose end then waits for work.Done; nil when
// none runs.
func (c *conn) turnOf(also func(*turn)) *turn {
	found := make(chan *turn, 1)
	c.post(func() {
		t := c.loop.turn
		if t != nil && t.aborted {
			t = nil
		}
		if t != nil {
			t.work.Add(1)
			also(t)
		}
		found <- t
	})
	return <-found // Close waits for us, and the loop ends behind that
}

// answer puts the agent's question to the user; ctx ends with the process.
func (c *conn) answer(ctx context.Context, q nativeQuestion) (any, error) {
	question := agent.Question{Question: q.Question, Choices: q.Choices, AllowFreeform: q.AllowFreeform}
	t := c.turnOf(func(t *turn) {
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
		return nativeAnswer{Answer: "(The user did not answer.)", WasFreeform: true}, nil
	}
	return nativeAnswer{a.Text, a.WasFreeform}, nil
}
