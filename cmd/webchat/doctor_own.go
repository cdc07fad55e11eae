package main

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"webchat/internal/agent/acp"
	"webchat/internal/proc"
	"webchat/internal/wording"
)

// git says what goes without git.
func (k checkup) git() {
	if _, err := proc.LookUp(proc.Command{
		Args: []string{"git"},
		Dir:  k.workspace,
		Env:  k.env,
	}); err != nil {
		k.say("git",
			"not installed: no turn can be undone, and a review does not list what commands changed")
	}
}

// worktrees lists those whose sessions are gone.
func (k checkup) worktrees() {
	for _, c := range k.options.with(k.c).worktrees(k.dataPath()).Lost() {
		k.say("worktree", "%s, on the branch %s, is of a session that is gone; delete it with %s",
			c.Root, c.Branch,
			wording.CommandLine("git", "-C", c.Checkout, "worktree", "remove", "--force", c.Root))
	}
}

// servers names the MCP servers of agents' own settings, which have in the sandbox what their
// agent has there.
func (k checkup) servers() {
	for _, b := range k.backends {
		if _, speaks := b.(*acp.Backend); !speaks {
			continue // its settings are webchat's
		}
		p := k.roster(k.c).preset(b.Name())
		own := k.roster(k.c).ownServers(p)
		if len(own) == 0 {
			continue
		}
		move := "move them to mcpServers in " + k.configPath() +
			", and webchat starts and reaches them outside"
		if p.ConfinedMode != "" {
			move = "it gets no others there"
		}
		k.say("mcp",
			"%s: its own settings name %s; in the sandbox they have its files and hosts and no more: %s",
			b.Name(), strings.Join(own, ", "), move)
	}
}

// ownServers are the MCP servers that an agent's settings name, in order.
func (r roster) ownServers(p acp.Preset) (names []string) {
	for _, st := range p.State {
		value, _ := lookup(slices.Concat(r.env, p.Env), st.Var)
		at := cmp.Or(value, filepath.Join(r.home(), st.Path))
		for name, key := range st.Servers {
			file := filepath.Join(at, name)
			if from := st.Copied[name]; from != "" && value == "" {
				file = filepath.Join(r.home(), from)
			}
			text, err := os.ReadFile(file)
			if err == nil && len(text) < 16<<20 {
				names = append(names, serversIn(text, key)...)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// tomlTable is the head of a table in a table.
var tomlTable = regexp.MustCompile(`(?m)^\s*\[\s*([\w-]+)\s*\.\s*("[^"]+"|'[^']+'|[\w-]+)\s*\]`)

// jsonComment is a comment that takes a line.
var jsonComment = regexp.MustCompile(`(?m)^\s*//.*$`)

// serversIn are the names below a key of settings, in JSON or TOML. Of what cannot be read there
// are none.
func serversIn(text []byte, key string) (names []string) {
	for _, m := range tomlTable.FindAllSubmatch(text, -1) {
		if string(m[1]) == key {
			names = append(names, strings.Trim(string(m[2]), `"'`))
		}
	}
	var all map[string]any
	// which JSON is, too
	if err := yaml.Unmarshal(jsonComment.ReplaceAll(text, nil), &all); err != nil {
		return names
	}
	servers, _ := all[key].(map[string]any)
	for name := range servers {
		names = append(names, name)
	}
	return names
}
