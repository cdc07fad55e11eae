package agenttest

import (
	"context"
	"errors"

	"webchat/internal/agent"
	"webchat/internal/event"
)

func (c *toyConn) Compact(ctx context.Context, _ string) error {
	c.mu.Lock()
	c.dead = c.fault == "dead after a summary"
	c.mu.Unlock()
	switch c.fault {
	case "unable to sum up":
		return errors.New("no")
	case "silent summary":
		return nil
	}
	return errors.Join(c.host.Report(ctx, event.SessionCompactionStart{}),
		c.host.Report(ctx, event.SessionCompactionComplete{}))
}

func (c *toyConn) Clear(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cleared++
	switch c.fault {
	case "forgets once":
		if c.cleared > 1 {
			return errors.New("nothing to forget")
		}
	case "dead after forgetting":
		c.dead = true
	case "view after forgetting":
		c.offered = append(c.offered, "view")
	}
	return nil
}

func (c *toyConn) Describe(context.Context) (agent.Inside, error) {
	all := agent.Inside{
		Context: &agent.Context{
			Used:  5,
			Limit: 10,
			Parts: []agent.Part{{Name: "System prompt", Tokens: 2}, {Name: "Conversation", Tokens: 3}},
		},
		Instructions: []agent.Instruction{{Path: "AGENTS.md"}},
		Skills:       []agent.Skill{},
	}
	switch c.fault {
	case "tells less":
		all.Skills = nil
	case "tells more":
		all.Helpers = []agent.Helper{{Name: "explore"}}
	case "odd sum":
		all.Context.Used = 7
	case "nameless file":
		all.Instructions[0].Path = ""
	}
	return all, nil
}
