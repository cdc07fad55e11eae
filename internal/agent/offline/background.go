package offline

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/contain"
	"webchat/internal/event"
)

// backgroundTool is what the call is named that leaves a command running: an act of
// this backend, not a tool of the session.
const backgroundTool = "background"

// background runs a command beside the turns: a task, in which the session's tool is
// called. At its end the agent goes on by itself.
func (t *turn) background(command string) {
	if !t.offered[runTool] {
		t.say("This session offers no tool " + code(runTool) + ", so I cannot.")
		return
	}
	args, err := json.Marshal(runArgs{command})
	if err != nil {
		t.err = err
		return
	}
	t.begin()
	t.calls++
	id := t.id("call", t.calls)
	t.endStep([]event.ToolRequest{{ToolCallID: id, Name: backgroundTool, Arguments: args}})
	t.report(event.ToolExecutionStart{ToolCallID: id, ToolName: backgroundTool, Arguments: args, By: event.ByAgent}, true)
	t.report(event.ToolExecutionComplete{ToolCallID: id, Success: true, Result: &event.ToolResult{Content: "Started in the background."}}, true)
	if t.err != nil {
		return
	}
	t.err = t.leave(id, command, args)
	t.say("It runs in the background. I will say when it has ended.")
}

// leave starts the task of a call.
func (c *conn) leave(call, command string, args json.RawMessage) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	if err := c.host.Report(c.life, event.TaskStarted{TaskID: call, Kind: event.ShellTask, Title: command, ToolCallID: call}); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.life)
	c.tasks[call] = stop
	fence := contain.Fence{Log: slog.Default(), What: "a task", Break: func(error) { stop() }}
	c.turns.Go(fence.Contained(func() {
		defer stop()
		c.work(ctx, call, command, args)
	}))
	return nil
}

// work is a task, from its start to what is said about its end.
func (c *conn) work(ctx context.Context, call, command string, args json.RawMessage) {
	res, err := c.host.CallTool(ctx, agent.ToolCall{ID: call + "-run", Name: runTool, Arguments: args, ParentToolCallID: call})
	done := event.TaskCompleted{TaskID: call, Outcome: event.Completed}
	switch m := exitStatus.FindStringSubmatch(res.TextForModel); {
	case c.life.Err() != nil:
		done.Outcome = event.Interrupted
	case ctx.Err() != nil:
		done.Outcome = event.Aborted
	case err != nil || res.Type != agent.Success:
		done.Outcome = event.Failed
	case m != nil:
		if n, err := strconv.Atoi(m[1]); err == nil {
			done.ExitCode = &n
		}
	}
	c.mu.Lock()
	delete(c.tasks, call)
	c.mu.Unlock()
	if c.host.Report(context.WithoutCancel(ctx), done) != nil || done.Outcome == event.Interrupted || done.Outcome == event.Aborted {
		return
	}
	_ = c.host.RunTurn(c.life, "The background command “"+short(command)+"” ended.", func(ctx context.Context) error {
		t := &turn{conn: c, ctx: ctx, prompt: agent.Prompt{MessageID: call + "-end"}}
		if !t.refused(res) {
			t.say("The command " + quote(command) + " ended. All I was told of it: “" + oneLine(res.TextForModel) + "”.")
		}
		t.endStep(nil)
		t.report(event.AssistantTurnEnd{TurnID: t.id("turn", t.steps)}, t.steps > 0)
		return t.err
	}) // a session that has ended does not take it, which is not a failure
}

// AbortTask implements [agent.Tasker].
func (c *conn) AbortTask(_ context.Context, taskID string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stop := c.tasks[taskID]; stop != nil {
		stop()
	}
	return nil
}

// behind cuts "in the background" off a command.
func behind(command string) (string, bool) {
	for _, end := range []string{" in the background", " in background"} {
		if cut := len(command) - len(end); cut > 0 && strings.EqualFold(command[cut:], end) {
			return strings.TrimSpace(command[:cut]), true
		}
	}
	return command, false
}

func short(s string) string {
	if s = oneLine(s); len([]rune(s)) > 60 {
		return string([]rune(s)[:60]) + "…"
	}
	return s
}
