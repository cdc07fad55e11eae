package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/released"
	"webchat/internal/wording"
)

// readTools are the tools that return what the user released.
func readTools() (tools []Tool) {
	titles := map[string]string{released.ReadOutput: "Read an output", released.SearchOutput: "Search an output"}
	for _, spec := range released.Specs() {
		tools = append(tools, Tool{ToolSpec: spec, Title: titles[spec.Name], ReadOnly: true})
	}
	return tools
}

// Prompt implements [agent.Conn]. A prompt's attachments are what the user releases; its text is
// not shown.
func (c *conn) Prompt(ctx context.Context, p agent.Prompt) error {
	if len(p.Attachments) == 0 {
		return errElsewhere
	}
	c.mu.Lock()
	client, reads := c.client, c.reads
	var lines []string
	for _, a := range p.Attachments {
		if reads && a.Data != nil {
			number := strconv.Itoa(c.released.Add(a.Name, a.Data))
			lines = append(lines, fmt.Sprintf("Use webchat's %s with output %q: %s", released.ReadOutput, number, oneLine(a.Name)))
		}
	}
	c.mu.Unlock()
	text := fmt.Sprintf("Released. Paste this in %s:\n\n```\n%s\n```", client, strings.Join(lines, "\n"))
	switch {
	case !reads:
		text = client + " is connected without a workspace, so it cannot read what you release. Connect it with `webchat mcp install`."
	case len(lines) == 0:
		text = "Nothing was released: only outputs that were shown here can be."
	}
	return c.host.Report(ctx, event.AssistantMessage{MessageID: newID(), Content: text})
}

// oneLine is a name as it may be pasted into a prompt.
func oneLine(name string) string {
	name = strings.Join(strings.Fields(strings.Map(printable, strings.ReplaceAll(name, "`", "'"))), " ")
	if r := []rune(name); len(r) > mostName {
		name = string(r[:mostName-1]) + "…"
	}
	return name
}

// reading serves the calls of a tool of readTools for a peer.
func (s *Server) reading(p *peer, tool string) mcp.ToolHandler {
	return s.bounded(p, func(ctx context.Context, req *mcp.CallToolRequest, id string) *mcp.CallToolResult {
		defer s.signs(ctx, req, id, new(place))()
		var text string
		_, err := s.lend(ctx, p, clientName(req.ClientInfo()), func(c *conn) (err error) {
			text, err = c.read(ctx, id, tool, req.Params.Arguments)
			return err
		})
		if err != nil {
			return failure(strings.ToUpper(err.Error()[:1]) + err.Error()[1:] + ".")
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	})
}

// read returns what a call asks for, and shows the call in the session, without what
// it returned.
func (c *conn) read(ctx context.Context, id, tool string, raw json.RawMessage) (text string, err error) {
	var args released.Arguments
	if len(raw) > 0 && json.Unmarshal(raw, &args) != nil {
		return "", errors.New("the arguments have to be strings")
	}
	shown, err := json.Marshal(released.Arguments{Output: cmp.Or(args.Output, "latest"), Lines: args.Lines, Pattern: args.Pattern})
	if err != nil {
		return "", err
	}
	if err := c.host.Report(ctx, event.ToolExecutionStart{ToolCallID: id, ToolName: tool, Arguments: shown}); err != nil {
		return "", err
	}
	text, name, err := c.released.Call(tool, args)
	end := event.ToolExecutionComplete{ToolCallID: id, Success: err == nil}
	if err == nil {
		end.Result = &event.ToolResult{Content: fmt.Sprintf("The agent read %s of %s.", wording.Size(int64(len(text))), oneLine(name))}
	} else {
		end.Error = &event.ToolError{Message: err.Error(), Code: "failure", Kind: event.KindBadArguments}
		if errors.Is(err, released.ErrNot) {
			end.Error.Kind = event.KindDenied
		}
	}
	return text, errors.Join(err, c.host.Report(ctx, end))
}
