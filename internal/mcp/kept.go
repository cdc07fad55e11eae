package mcp

import (
	"context"
	"maps"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/wording"
)

// mostKept is how many lists of tools are kept over a restart.
const mostKept = 200

// kept is what a server offered last that its user allowed, over a restart.
type kept struct {
	Tools     []*mcp.Tool     `json:"tools"`
	Prompts   []*mcp.Prompt   `json:"prompts,omitempty"`
	Resources []*mcp.Resource `json:"resources,omitempty"`
	Completes bool            `json:"completes,omitempty"` // what they are asked for with
	// Instructions are the beginning of what it has for models.
	Instructions string `json:"instructions,omitempty"`
}

// keptAs is what a server's tools are kept by. Another configuration is another server.
func (s *UserServers) keptAs(at place) string { return jsonSum(at.dir, s.cfg.Servers[at.name]) }

// offered asks a connected server for its tools, and judges what it says of them.
func (s *UserServers) offered(ctx context.Context, at place, c *connected) (UserServerStatus,
	error) {
	tools, err := c.tools(ctx)
	if err != nil {
		return UserServerStatus{}, err
	}
	k := kept{Tools: tools}
	if of := c.session.InitializeResult(); of != nil {
		k.Instructions = wording.Cut(oneLine(of.Instructions), 1000)
		k.Completes = of.Capabilities != nil && of.Capabilities.Completions != nil
	}
	k.Prompts, err = c.prompts(ctx)
	if err == nil {
		k.Resources, err = c.resources(ctx)
	}
	if err != nil {
		s.cfg.Logger.Warn("prompts or resources of an MCP server are not listed", "server", at.name,
			"error", withoutAddress(err))
	}
	st, err := s.described(at, k)
	if err != nil {
		return st, err
	}
	if changed := s.changed(at.name, s.cfg.Servers[at.name], st.now); changed != "" {
		st.State, st.Failure = Changed, changed
		k = kept{} // they are looked at again
	}
	if err := s.kept.Change(func(all map[string]kept) map[string]kept {
		if len(all) >= mostKept {
			all = nil
		}
		return with(s.keptAs(at), k)(all)
	}); err != nil {
		s.cfg.Logger.Warn("the tools of an MCP server are not kept", "server", at.name, "error", err)
	}
	return st, nil
}

// described is the status of a server that offers this.
func (s *UserServers) described(at place, k kept) (st UserServerStatus, err error) {
	m := s.cfg.Servers[at.name]
	st = UserServerStatus{Name: at.name, Type: m.Type, Where: m.Where(), State: Ready,
		Tools: []OfferedTool{}, prompts: k.Prompts,
		resources: k.Resources, completes: k.Completes, Instructions: k.Instructions}
	st.offers, st.now, err = describe(at.name, k.Tools)
	for _, o := range st.offers {
		st.Tools = append(st.Tools, OfferedTool{Name: o.name, Tokens: o.price()})
	}
	return st, err
}

// remembered is what an earlier process found of a server that its user allowed; nil if that is not
// known. Whether it holds is seen before the first call.
func (s *UserServers) remembered(at place) *UserServerStatus {
	k := s.kept.Get()[s.keptAs(at)]
	st, err := s.described(at, k)
	if len(k.Tools) == 0 || err != nil {
		return nil
	}
	return &st
}

// with puts one into what a document has by names.
func with[T any](name string, value T) func(map[string]T) map[string]T {
	return func(all map[string]T) map[string]T {
		more := map[string]T{}
		maps.Copy(more, all)
		more[name] = value
		return more
	}
}
