package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
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

// prepared returns the tools when all are known that an agent is to be offered.
func (s *toolbox) prepared(ctx context.Context) ([]agent.Tool, error) {
	tools, err := s.tools()
	if err != nil {
		return nil, err
	}
	s.toolMu.Lock()
	set := s.toolset
	s.toolMu.Unlock()
	p, ok := set.(agent.Preparer)
	if !ok {
		return tools, nil
	}
	if err := s.contained("preparing the tools", func() error { return p.Prepare(ctx) }); err != nil {
		return nil, fmt.Errorf("prepare the tools of session %s: %w", s.id, err)
	}
	return s.tools()
}

// mostName is how long a tool's name is that agents are offered. Models take 64 characters, of
// which some agents use up to 14 for the name of webchat's server.
const mostName = 50

// plainName are the names that all models take.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,` + strconv.Itoa(mostName) + `}$`)

// offeredName is what agents call a tool; of a name that not all models take, the beginning with a
// sum of all of it.
func offeredName(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	short := strings.Map(func(r rune) rune {
		if r < 128 && plainName.MatchString(string(r)) {
			return r
		}
		return '_'
	}, name)
	return short[:min(len(short), mostName-9)] + "-" + hex.EncodeToString(sum[:4])
}

// called is the name of the tool that agents call by a name.
func (s *toolbox) called(name string) string {
	s.toolMu.Lock()
	set := s.toolset
	s.toolMu.Unlock()
	if set == nil {
		return name
	}
	for _, t := range set.Tools() {
		if full := t.Spec().Name; full != name && offeredName(full) == name {
			return full
		}
	}
	return name
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
	return nil, fmt.Errorf("Tool '%s' does not "+
		"exist", name) //lint:ignore ST1005 the sentence the model reads
}
