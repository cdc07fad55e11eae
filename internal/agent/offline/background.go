package offline

import (
	"context"
	"encoding/json"
	"log/slog"

	"webchat/internal/agent"
	"webchat/internal/contain"
	"webchat/internal/displays"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// backgroundTool is what the call is named that leaves a command running: an act of this backend,
// not a tool of the session.
const backgroundTool = "background"

// background runs a command beside the turns: a task, in which the session's tool is called. At its
// end the agent goes on by itself.
func (t *turn) background(command string) {
	id, args, ok := t.request(displays.RunCommand, backgroundTool,
		map[string]string{"command": command})
	if !ok {
		return
	}
	t.report(event.ToolExecutionStart{
		ToolCallID: id,
		ToolName:   backgroundTool,
		Arguments:  args,
		By:         event.ByAgent,
	}, true)
	t.report(event.ToolExecutionComplete{
		ToolCallID: id,
		Success:    true,
		Result:     &event.ToolResult{Content: "Started in the background."},
	}, true)
	if t.err != nil {
		return
	}
	t.err = t.startTask(id, command, args)
	t.say("It runs in the background. I will say when it has ended.")
}

// startTask starts the task of a call.
func (c *conn) startTask(call, command string, args json.RawMessage) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	if err := c.host.Report(c.life, event.TaskStarted{
		TaskID:     call,
		Kind:       event.ShellTask,
		Title:      command,
		ToolCallID: call,
	}); err != nil {
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

// work is a task, from its start to the report of its end.
func (c *conn) work(ctx context.Context, call, command string, args json.RawMessage) {
	res, err := c.host.CallTool(ctx, agent.ToolCall{
		ID:               call + "-run",
		Name:             displays.RunCommand,
		Arguments:        args,
		ParentToolCallID: call,
	})
	done := event.TaskCompleted{TaskID: call, Outcome: event.Completed}
	switch {
	case c.life.Err() != nil:
		done.Outcome = event.Interrupted
	case ctx.Err() != nil:
		done.Outcome = event.Aborted
	case err != nil || res.Type != agent.Success:
		done.Outcome = event.Failed
	case res.Telemetry != nil:
		done.ExitCode = res.Telemetry.ExitCode
	}
	c.mu.Lock()
	delete(c.tasks, call)
	c.mu.Unlock()
	if c.host.Report(context.WithoutCancel(ctx), done) != nil || done.Outcome == event.Interrupted ||
		done.Outcome == event.Aborted {
		return
	}
	cause := "The background command “" + wording.Cut(oneLine(command), 60) + "” ended."
	_ = c.host.RunTurn(c.life, cause, func(ctx context.Context) error {
		t := &turn{conn: c, ctx: ctx, prompt: agent.Prompt{MessageID: call + "-end"}}
		t.say("The command " + quote(command) + " ended.")
		t.repeat(res, true)
		return t.end()
	}) // a session that has ended does not take it, which is not a failure
}

func (c *conn) AbortTask(_ context.Context, taskID string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stop := c.tasks[taskID]; stop != nil {
		stop()
	}
	return nil
}
