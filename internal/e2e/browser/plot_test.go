package browser

import (
	"context"
	"encoding/json"
	"sync"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// plot is what the agent of a house does for one prompt.
type plot func(context.Context, agent.Host) error

// on has the agent follow a plot when it is prompted so.
func (l *liar) on(prompt string, p plot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.plots == nil {
		l.plots = map[string]plot{}
	}
	l.plots[prompt] = p
}

// wish is an act the agent asks permission for, and the call it belongs to.
type wish struct {
	call, tool, arguments string
	agent.Permission
}

// shell is a wish to run a command.
func shell(call, command string) wish {
	return wish{call, "bash", `{"command":` + quote(command) + `}`, agent.Permission{Kind: agent.KindShell, Action: "run a command", Resource: command}}
}

// asking is the plot of an agent that works in a folder and asks for several things
// at once.
func asking(dir string, wishes ...wish) plot {
	return func(ctx context.Context, host agent.Host) error {
		for _, w := range wishes {
			err := host.Report(ctx, event.ToolExecutionStart{ToolCallID: w.call, ToolName: w.tool, Arguments: json.RawMessage(w.arguments), By: event.ByAgent})
			if err != nil {
				return err
			}
		}
		var wg sync.WaitGroup
		for _, w := range wishes {
			wg.Go(func() {
				p := w.Permission
				if p.Cwd == "" {
					p.Cwd = dir
				}
				p.ToolCallID, p.ToolName = w.call, w.tool
				v, err := host.AskPermission(ctx, p)
				if err != nil {
					return
				}
				end := event.ToolExecutionComplete{ToolCallID: w.call, Success: v.Decision == event.Allow}
				if end.Success {
					end.Result = &event.ToolResult{Content: "done: " + p.Resource}
				} else {
					end.Error = &event.ToolError{Message: v.Reason, Code: "denied"}
				}
				_ = host.Report(ctx, end) // the turn may have ended
			})
		}
		wg.Wait()
		return nil
	}
}
