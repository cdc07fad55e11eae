package session

import (
	"fmt"
	"slices"
	"sync"

	"webchat/internal/agent"
	"webchat/internal/contain"
)

// toolbox has the session's tools.
type toolbox struct {
	*core
	toolMu  sync.Mutex    // guards toolset
	toolset agent.Toolset // nil: not needed yet
}

// tools returns the session's tools, made when they are first needed.
func (s *toolbox) tools() ([]agent.Tool, error) {
	s.toolMu.Lock()
	defer s.toolMu.Unlock()
	if s.toolset == nil {
		if s.cfg.Tools == nil {
			return nil, nil
		}
		set, err := contain.Call(s.log(), "making the tools", func() (agent.Toolset, error) {
			return s.cfg.Tools(s.id)
		})
		if err != nil {
			return nil, fmt.Errorf("make the tools of session %s: %w", s.id, err)
		}
		s.toolset = set
	}
	tools := s.toolset.Tools()
	if s.opened.Confines() {
		tools = append(slices.Clip(tools), accessTool{s})
	}
	return tools, nil
}

// tool returns the tool of that name; the error is for the model.
func (s *toolbox) tool(name string) (agent.Tool, error) {
	tools, err := s.tools()
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(tools, func(t agent.Tool) bool { return t.Spec().Name == name }); i >= 0 {
		return tools[i], nil
	}
	return nil, fmt.Errorf("Tool '%s' does not exist", name) //lint:ignore ST1005 the sentence the model reads
}
