package agenttest

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
)

func (c *toyConn) turn(ctx context.Context, content string) error {
	turn := c.id()
	verb, rest, _ := strings.Cut(content, " ")
	name := turn
	switch c.fault {
	case "nameless prompt":
		name = ""
	case "one name for all":
		name = "prompt"
	}
	err := c.host.Report(ctx, event.AssistantTurnStart{TurnID: turn, PromptID: name})
	if c.fault == "forbidden event" {
		_ = c.host.Report(ctx, event.UserMessage{MessageID: "x", Content: "x"})
	}
	if c.fault == "nested step" {
		_ = c.host.Report(ctx, event.AssistantTurnStart{TurnID: "inner"})
	}
	if err == nil {
		err = c.act(ctx, verb, rest)
	}
	if err == nil && c.fault != "open step" {
		err = c.host.Report(ctx, event.AssistantTurnEnd{TurnID: turn})
	}
	return err
}

func (c *toyConn) act(ctx context.Context, verb, rest string) error {
	switch verb {
	case "show":
		return c.call(ctx, "render_file_contents", map[string]string{"path": rest})
	case "run":
		return c.call(ctx, "run_and_display", map[string]string{"command": rest})
	case "write":
		return c.write(ctx, strings.Fields(rest)...)
	case "search":
		text, folder, _ := strings.Cut(rest, " ")
		return c.search(ctx, text, folder)
	case "forge":
		return c.forge(ctx, rest)
	case "ask":
		a, err := c.host.AskUser(ctx, agent.Question{Question: "which?", AllowFreeform: true})
		if err != nil {
			return err
		}
		if c.fault == "deaf" {
			a.Text = ""
		}
		return c.say(ctx, "you", "said", a.Text)
	case "talk":
		return c.talk(ctx)
	case "stray":
		if c.fault != "hides a mode" {
			if err := c.host.Report(ctx, event.SessionModeChanged{Mode: "ask"}); err != nil {
				return err
			}
		}
	case "leave":
		if err := c.leave(ctx, rest); err != nil {
			return err
		}
		if c.fault == "waits for tasks" {
			<-c.release
		}
	}
	return c.say(ctx, "hello", " wörld", "!")
}

func (c *toyConn) call(ctx context.Context, name string, args map[string]string) error {
	b, _ := json.Marshal(args)
	call := agent.ToolCall{ID: c.id(), Name: name, Arguments: b}
	switch {
	case c.fault == "calls view" && args["path"] != "":
		call.Name = "view"
	case c.fault == "wrong file" && args["path"] != "":
		call.Arguments = json.RawMessage(`{"path":"README.md"}`)
	case c.fault == "wrong command" && args["command"] != "":
		call.Arguments = json.RawMessage(`{"command":"go env"}`)
	case c.fault == "runs by itself" && args["command"] != "":
		f, err := os.Create(strings.TrimPrefix(args["command"], "touch "))
		if err == nil {
			f.Close()
		}
	}
	if c.fault == "call detached" {
		ctx = context.WithoutCancel(ctx)
	}
	if _, err := c.host.CallTool(ctx, call); err != nil {
		return err
	}
	if c.fault == "same id" {
		_, _ = c.host.CallTool(ctx, call)
	}
	if c.fault == "completes a call" {
		_ = c.host.Report(ctx, event.ToolExecutionComplete{
			ToolCallID: call.ID,
			Success:    true,
			Result:     &event.ToolResult{},
		})
	}
	if c.fault == "silent" {
		return nil
	}
	return c.say(ctx, "done")
}

// write acts by the agent's own means.
func (c *toyConn) write(ctx context.Context, paths ...string) error {
	id := c.id()
	create := func() {
		for _, path := range paths {
			_ = os.WriteFile(path, nil, 0o600)
		}
	}
	if c.fault == "progress first" {
		_ = c.host.Report(ctx, event.ToolExecutionProgress{ToolCallID: id})
	}
	err := c.host.Report(ctx, event.ToolExecutionStart{
		ToolCallID: id,
		ToolName:   "write",
		Arguments:  json.RawMessage(`{}`),
	})
	if err != nil {
		return err
	}
	switch c.fault {
	case "starts twice":
		_ = c.host.Report(ctx, event.ToolExecutionStart{ToolCallID: id, ToolName: "write"})
	case "acts first":
		create()
	case "never asks":
		create()
		return c.complete(ctx, id, true)
	}
	ask := agent.Permission{
		ToolCallID: id,
		ToolName:   "write",
		Kind:       agent.KindWrite,
		Action:     "write a file",
		Resource:   paths[0],
	}
	if c.fault != "asks about one" {
		for _, path := range paths[1:] {
			ask.Also = append(ask.Also, agent.Resource{Kind: ask.Kind, Action: ask.Action, Resource: path})
		}
	}
	if c.fault == "asks vaguely" {
		ask.Resource = ""
	}
	v, err := c.host.AskPermission(ctx, ask)
	if err != nil {
		v.Decision = event.Deny
	}
	allowed := v.Decision == event.Allow
	if allowed || c.fault == "acts though denied" {
		create()
	}
	return c.complete(ctx, id, allowed)
}

// search looks for a text in the files of a folder.
func (c *toyConn) search(ctx context.Context, text, folder string) error {
	id := c.id()
	if err := c.host.Report(ctx, event.ToolExecutionStart{
		ToolCallID: id,
		ToolName:   "grep",
		Arguments:  json.RawMessage(`{}`),
	}); err != nil {
		return err
	}
	ask := agent.Permission{
		ToolCallID: id,
		ToolName:   "grep",
		Kind:       agent.KindRead,
		Action:     "search",
		Resource:   folder,
		Search:     &agent.Search{Pattern: text, Path: folder},
	}
	if c.fault == "searches vaguely" {
		ask.Search = nil
	}
	v := agent.Verdict{Decision: event.Allow}
	if c.fault != "searches unasked" {
		var err error
		if v, err = c.host.AskPermission(ctx, ask); err != nil {
			return err
		}
	}
	if v.Decision != event.Allow {
		return c.complete(ctx, id, false)
	}
	found, _ := os.ReadFile(folder + "/.env")
	return c.host.Report(ctx, event.ToolExecutionComplete{
		ToolCallID: id,
		Success:    true,
		Result:     &event.ToolResult{Content: string(found)},
	})
}

// forge does something under the name of a tool of the session.
func (c *toyConn) forge(ctx context.Context, tool string) error {
	id := c.id()
	if c.fault == "hides what looks like ours" {
		_, err := c.host.AskPermission(ctx, agent.Permission{
			ToolName:  tool,
			Kind:      agent.KindMCP,
			Action:    "use a tool",
			Resource:  tool,
			Sensitive: true,
		})
		return err
	}
	if err := c.host.Report(ctx, event.ToolExecutionStart{
		ToolCallID: id,
		ToolName:   tool,
		Arguments:  json.RawMessage(`{}`),
	}); err != nil {
		return err
	}
	if c.fault == "passes as ours" {
		return c.complete(ctx, id, true)
	}
	v, err := c.host.AskPermission(ctx, agent.Permission{
		ToolCallID: id,
		ToolName:   tool,
		Kind:       agent.KindMCP,
		Action:     "use a tool",
		Resource:   tool,
		Sensitive:  true,
	})
	if err != nil {
		return err
	}
	return c.complete(ctx, id, v.Decision == event.Allow)
}

func (c *toyConn) complete(ctx context.Context, id string, ok bool) error {
	d := event.ToolExecutionComplete{ToolCallID: id, Success: ok}
	if ok {
		d.Result = &event.ToolResult{Content: "written"}
	} else {
		d.Error = &event.ToolError{Message: "denied", Code: "denied"}
	}
	if c.fault == "success and error" {
		d.Result, d.Error = &event.ToolResult{}, &event.ToolError{}
	}
	if err := c.host.Report(context.WithoutCancel(ctx), d); err != nil {
		return err
	}
	if c.fault == "completes twice" {
		_ = c.host.Report(ctx, d)
	}
	return c.say(ctx, "done")
}

func (c *toyConn) say(ctx context.Context, pieces ...string) error {
	id, all := c.id(), ""
	if c.fault == "cut rune" {
		pieces = []string{"w\xc3", "\xb6rld"}
	}
	for _, p := range pieces {
		at := int64(len(all))
		if c.fault == "offset in runes" {
			at = int64(len([]rune(all)))
		}
		if c.fault == "no offset" {
			at = 0
		}
		if err := c.host.Report(ctx, event.AssistantMessageDelta{
			MessageID:    id,
			Offset:       at,
			DeltaContent: p,
		}); err != nil {
			return err
		}
		all += p
	}
	m := event.AssistantMessage{MessageID: id, Content: all}
	switch c.fault {
	case "other whole":
		m.Content += " "
	case "no whole":
		return nil
	case "whole twice":
		_ = c.host.Report(ctx, m)
	}
	err := c.host.Report(ctx, m)
	if c.fault == "delta after whole" {
		_ = c.host.Report(ctx, event.AssistantMessageDelta{
			MessageID:    id,
			Offset:       int64(len(all)),
			DeltaContent: "x",
		})
	}
	return err
}

// talk streams one word, waits to be stopped, and says no more.
func (c *toyConn) talk(ctx context.Context) error {
	err := c.host.Report(ctx, event.AssistantMessageDelta{
		MessageID:    c.id(),
		DeltaContent: "well",
	})
	if c.fault == "hangs when its session was busy" {
		<-c.release
	}
	if err != nil {
		return err
	}
	if c.fault == "does not talk" {
		return nil
	}
	if c.fault == "ignores abort" {
		<-c.release
	}
	<-ctx.Done()
	return ctx.Err()
}
