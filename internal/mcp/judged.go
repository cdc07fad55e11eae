package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
)

// mostAsking bounds the calls of a [Passed] that are not decided; one more is refused.
const mostAsking = 16

// freeRequests need no permission: they describe the server, or a call that was allowed.
var freeRequests = []string{"initialize", "server/discover", "ping", "tools/list", "resources/list",
	"resources/templates/list", "prompts/list", "logging/setLevel", "tasks/get", "tasks/result",
	"tasks/cancel"}

// pass forwards messages until one side has ended. A message that its client does not read is lost
// for that client only. A request that judge, if any, returns an error for is answered with it.
func (p *Passed) pass(ctx context.Context, from, to mcp.Connection,
	judge func(context.Context, *jsonrpc.Request) error) {
	write := func(m jsonrpc.Message) bool {
		return to.Write(ctx, m) == nil || to.SessionID() != "" // else the program has ended
	}
	for {
		m, err := from.Read(ctx)
		if err != nil {
			return
		}
		r, ok := m.(*jsonrpc.Request)
		switch {
		case judge == nil, !ok, r.IsCall() && slices.Contains(freeRequests, r.Method):
		case !r.IsCall() && strings.HasPrefix(r.Method, "notifications/"):
		case !r.IsCall():
			continue // no answer could be given
		default:
			p.running.Go(func() {
				if err := judge(ctx, r); err != nil {
					refused := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
					_ = from.Write(ctx, &jsonrpc.Response{ID: r.ID, Error: refused}) // its client may have gone
					return
				}
				write(r)
			})
			continue
		}
		if !write(m) {
			return
		}
	}
}

// judge says why a request is not passed on.
func (p *Passed) judge(ctx context.Context, r *jsonrpc.Request) error {
	act, err := p.act(r)
	if err != nil {
		return fmt.Errorf("webchat did not pass this on: %w", err)
	}
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	default:
		return errors.New("webchat did not pass this on: too many calls wait to be allowed")
	}
	if !p.cfg.Allow(ctx, act) {
		return errors.New("the user did not allow this call")
	}
	return nil
}

// act is what a request does.
func (p *Passed) act(r *jsonrpc.Request) (agent.Permission, error) {
	act := agent.Permission{Kind: agent.KindMCP, Server: p.cfg.Name, Confined: true, Cwd: p.cfg.Dir,
		Action: "use a tool of the MCP server " + p.cfg.Name}
	params := map[string]jsontext.Value{}
	if len(r.Params) > 0 { // a name that is there twice is an error
		if err := jsonv2.Unmarshal(r.Params, &params); err != nil {
			return act, err
		}
	}
	for name := range params { // some programs read a name whatever the case of its letters
		for _, read := range []string{"name", "arguments"} {
			if name != read && strings.EqualFold(name, read) {
				return act, fmt.Errorf("it has %q in the place of %q", name, read)
			}
		}
	}
	tool, args := r.Method, jsontext.Value(r.Params)
	if r.Method == "tools/call" {
		if err := jsonv2.Unmarshal(params["name"], &tool); err != nil || tool == "" {
			return act, errors.New("it names no tool")
		}
		args = params["arguments"]
	}
	act.ToolName, act.Resource = p.cfg.Name+"-"+tool, tool
	if len(args) > 0 && string(args) != "null" {
		args = args.Clone()
		if err := args.Compact(); err != nil || args.Kind() != '{' {
			return act, errors.New("its arguments are no object")
		}
		if string(args) != "{}" {
			act.Resource += " " + string(args)
		}
	}
	return act, nil
}
