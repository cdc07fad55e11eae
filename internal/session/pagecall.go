package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"webchat/internal/agent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// ErrPageCall wraps why a page does not get what it called for, as the page is answered.
var ErrPageCall = errors.New("the call of a page failed")

// ErrPageDenied wraps that it was denied, and is an [ErrPageCall].
var ErrPageDenied = fmt.Errorf("%w", ErrPageCall)

// PageCall calls a tool of an MCP server for the page of that server, and returns the server's
// answer. It takes the way of any call, and rules, grants and the mode decide about it as about an
// agent's. The log has it as the user's: neither it nor what came of it reaches a model. It waits
// as [Session.Display] does. [eventlog.ErrInvalid] for arguments no tool would take.
func (s *viewer) PageCall(ctx context.Context, server, name string,
	args json.RawMessage) (json.RawMessage, error) {
	clean, err := CleanArguments(args)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", eventlog.ErrInvalid, err)
	}
	if _, err := s.prepared(ctx); err != nil {
		return nil, err
	}
	s.toolMu.Lock()
	of, ok := s.toolset.(agent.PageTools)
	s.toolMu.Unlock()
	if !ok {
		return nil, fmt.Errorf("%w: there is no MCP server %q", ErrPageCall, server)
	}
	var answer json.RawMessage // written before the call ends
	tool, err := contain.Call(s.log(), "looking for a tool", func() (agent.Tool, error) {
		return of.PageTool(ctx, server, name, func(raw json.RawMessage) { answer = raw })
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrPageCall, err)
	}
	c := &call{ToolCall: agent.ToolCall{ID: string(event.NewID()), Name: tool.Spec().Name,
		Arguments: clean}, by: event.ByUser, unlogged: true, tool: tool}
	res, err := s.runDisplay(ctx, c, agent.CallInfo{})
	switch {
	case err != nil:
		return nil, err
	case res.Error != nil && res.Error.Kind == event.KindDenied:
		return nil, fmt.Errorf("%w: %s", ErrPageDenied, res.Error.Message)
	case res.Error != nil:
		return nil, fmt.Errorf("%w: %s", ErrPageCall, res.Error.Message)
	}
	return answer, nil
}
