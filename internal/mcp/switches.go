package mcp

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/eventlog"
	"webchat/internal/tokens"
	"webchat/internal/wording"
)

// In is where servers are asked about: a workspace, and a session in it if there is one. Without
// a workspace it is [UserServersConfig.First].
type In struct {
	Workspace string
	Session   eventlog.ID
}

// Off is how far something is switched off; empty: it is on.
type Off string

// How far.
const (
	OffHere Off = "session"
	OffAll  Off = "workspace" // in all sessions of the workspace
)

// OfferedTool is a tool of a server's.
type OfferedTool struct {
	Name string `json:"name"`
	// Tokens is about what its definition adds to each call of a model.
	Tokens int `json:"tokens"`
	Off    Off `json:"off,omitempty"`
}

// price is what a tool's definition adds to each call of a model.
func (o offer) price() int {
	if o.ui.Only {
		return 0
	}
	t := o.spec
	n, _ := tokens.Count(t.Name + "\n" + t.Description + "\n" + string(t.Parameters))
	return n
}

// switched is what a server or one of its tools is called where it is noted as off.
func switched(server, tool string) string { return server + "\n" + tool }

// off says how far a tool is off, by itself or with its server; without a tool, its server.
func (s *UserServers) off(in In, server, tool string) Off {
	all := s.switches.Get()
	for _, of := range []struct {
		key string
		far Off
	}{{s.workspace(in), OffAll}, {string(in.Session), OffHere}} {
		list := all[of.key]
		if of.key != "" && (slices.Contains(list, switched(server, "")) ||
			slices.Contains(list, switched(server, tool))) {
			return of.far
		}
	}
	return ""
}

// Switch is what is to be off, or on again.
type Switch struct {
	In            // the session if there is one, else the workspace
	Server string // by name
	Tool   string // empty: all of the server
	Off    bool
}

// mostSwitched is how many sessions and workspaces are remembered in which something is off.
const mostSwitched = 1000

// Switch has agents go without a server or one of its tools, or with it again: from the next prompt
// or conversation on, as their backend can; until then calls are refused. What is off in a
// workspace is off in its sessions.
func (s *UserServers) Switch(w Switch) error {
	if _, ok := s.cfg.Servers[w.Server]; !ok {
		return fmt.Errorf("%s: %w", w.Server, ErrUnknown)
	}
	key, name := cmp.Or(string(w.Session), w.Workspace, s.cfg.First), switched(w.Server, w.Tool)
	return s.switches.Change(func(all map[string][]string) map[string][]string {
		list := slices.DeleteFunc(slices.Clone(all[key]), func(x string) bool { return x == name })
		if w.Off {
			list = append(list, name)
		}
		now := with(key, list)(all)
		maps.DeleteFunc(now, func(_ string, list []string) bool { return len(list) == 0 })
		for _, old := range slices.Sorted(maps.Keys(now)) { // ids of sessions are in order of time
			if len(now) > mostSwitched && !filepath.IsAbs(old) && old != key {
				delete(now, old)
			}
		}
		return now
	})
}

// dear is of how many tokens all definitions are at most without a word about it.
const dear = 2000

// Dear says that the definitions of tools cost each call of a model much, and which are the three
// dearest; empty where they do not. What is off costs nothing.
func Dear(all []UserServerStatus) string {
	type tool struct {
		name   string
		tokens int
	}
	var costly []tool
	sum := 0
	for _, server := range all {
		for _, t := range server.Tools {
			if server.State == Ready && t.Off == "" {
				sum += t.Tokens
				costly = append(costly, tool{server.Name + "-" + t.Name, t.Tokens})
			}
		}
	}
	if sum <= dear {
		return ""
	}
	slices.SortStableFunc(costly, func(a, b tool) int { return b.tokens - a.tokens })
	var words []string
	for _, t := range costly[:min(3, len(costly))] {
		words = append(words, t.name+" "+wording.Count(t.tokens))
	}
	return fmt.Sprintf("Their tools add %s tokens to each call of a model. The dearest: %s.",
		wording.Count(sum), strings.Join(words, ", "))
}
