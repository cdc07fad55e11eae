package copilot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"webchat/internal/agent"
)

// hiddenTool is the CLI's tool that would send files to the model.
const hiddenTool = "view"

// knownTools are the tools of the CLI that a model may be offered. Each asks before it acts, or
// acts on nothing but the session's own shells and helper agents. What the CLI has beside them
// reaches beyond the session or is not asked about: lsp starts programs that the workspace names,
// session_store_sql reads what was said in other sessions, skill loads instructions. sql is there
// for the agent's list of what is to do: without a session store it reaches the session's own
// database only, and refuses ATTACH, VACUUM INTO and extensions, as was tried with 1.0.102.
var knownTools = []string{
	"bash", "read_bash", "stop_bash", "list_bash",
	"powershell", "read_powershell", "stop_powershell", "list_powershell",
	"create", "edit", "apply_patch", "grep", "rg", "glob", "web_fetch", "ask_user",
	"task", "read_agent", "list_agents", "write_agent",
	"sql", "exit_plan_mode", "task_complete",
}

func (*Backend) ToolNames() []string { return slices.Clone(knownTools) }

// allowedTools are the tools of a session in the CLI's words: its own, some of ours, and those of
// the user's servers where there are any. It keeps to them also for helper agents, whose tools
// cannot be read back.
func allowedTools(ours []agent.ToolSpec, servers bool) (all []string) {
	for _, name := range knownTools {
		all = append(all, "builtin:"+name)
	}
	for _, t := range ours {
		all = append(all, "custom:"+t.Name)
	}
	if servers {
		all = append(all, "mcp:*")
	}
	return all
}

// neededTools are those of the session's tools that can be of use now.
func (c *conn) neededTools() []agent.ToolSpec {
	return slices.DeleteFunc(slices.Clone(c.Options.Tools), func(t agent.ToolSpec) bool { return t.Needed != nil && !t.Needed() })
}

// definitionsOf are tools in the CLI's words.
func definitionsOf(tools []agent.ToolSpec) (all []toolDefinition) {
	for _, t := range tools {
		if t.Final {
			t.Parameters = withFinal(t.Parameters)
		}
		all = append(all, toolDefinition{Name: t.Name, Description: t.Description, Parameters: t.Parameters, SkipPermission: true})
	}
	return all
}

// give notes which tools the CLI has. The caller holds mu.
func (c *conn) give(tools []agent.ToolSpec) {
	c.given, c.cost = len(tools), c.b.definitions(tools)
}

// addTools gives the CLI the tools that are needed since it got its list. The next model call has
// them, also within a turn, as was tried with 1.0.102.
func (c *conn) addTools(ctx context.Context) error {
	tools := c.neededTools()
	c.mu.Lock()
	given := c.given
	c.mu.Unlock()
	if len(tools) == given {
		return nil
	}
	if err := c.ask(ctx, "session.tools.set", map[string]any{"tools": definitionsOf(tools)}, nil); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.give(tools)
	return nil
}

// definitionTokens is what our definitions cost in one model call.
func (c *conn) definitionTokens() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cost
}

// offeredTool is one of the tools that a model is really offered.
type offeredTool struct {
	Name          string
	MCPServerName string // empty: it is the CLI's, or ours
	InputSchema   struct {
		Properties map[string]struct{ Description string }
	} `json:"input_schema"`
}

// freshShell reports whether the tool is a shell that keeps no folder: it tells the model that each
// command runs in a process of its own, which begins in the workspace. Neither a cd nor a shellId
// that is used again carries a folder over, as was tried with 1.0.102.
func (o offeredTool) freshShell() bool {
	if !isShell(o.Name) {
		return false
	}
	for _, p := range o.InputSchema.Properties {
		if strings.Contains(p.Description, "runs in a fresh process") {
			return true
		}
	}
	return false
}

// allowed reports whether a model may be offered a tool. An sql of another form than the one that
// is known may read more than the session's own database.
func (c *conn) allowed(o offeredTool) bool {
	_, configured := c.b.cfg.MCPServers[o.MCPServerName]
	switch {
	case o.MCPServerName != "":
		return configured
	case o.Name == "sql":
		for name := range o.InputSchema.Properties {
			if name != "query" && name != "description" {
				return false
			}
		}
	}
	return slices.Contains(knownTools, o.Name) || c.owns(o.Name)
}

// inspect reads back which tools are offered, and excludes those that are not allowed. The CLI
// ignores a wrong list in silence, so the list of what it offers is the only sign.
func (c *conn) inspect(ctx context.Context) error {
	excess, err := c.look(ctx)
	if len(excess) > 0 {
		c.mu.Lock()
		c.excluded = append(c.excluded, excess...) // it stays so, also in another process
		excluded := slices.Clone(c.excluded)
		c.mu.Unlock()
		c.Logger.Warn("copilot: tools of the CLI are left out", "tools", excess)
		if err = c.ask(ctx, "session.options.update", map[string]any{"excludedTools": excluded}, nil); err == nil {
			excess, err = c.look(ctx)
		}
	}
	switch {
	case err != nil:
		return c.b.cli.Explain(err)
	case slices.Contains(excess, hiddenTool):
		return c.exposed("offers the tool %q, which would send files to the model, and does not leave it out", hiddenTool)
	case len(excess) > 0:
		return c.exposed("offers the tool %q, which could act without asking you, and does not leave it out", excess[0])
	}
	c.mu.Lock()
	offered := c.offered
	c.mu.Unlock()
	for _, t := range c.Options.Tools {
		if t.Needed == nil && !slices.Contains(offered, t.Name) { // others may be needed only now
			return c.exposed("does not offer the display tool %s", t.Name)
		}
	}
	return nil
}

func (c *conn) exposed(format string, args ...any) error {
	return fmt.Errorf("%w: the session was not started, because GitHub Copilot CLI %s; please report the CLI's version %s",
		agent.ErrUnavailable, fmt.Sprintf(format, args...), c.process().Version())
}

// look reads which tools are offered and returns those that may not be. The CLI has to set the
// session up before, as it does before a model call: until then, and again from when an MCP server
// came up or went, it reports no tools.
func (c *conn) look(ctx context.Context) (excess []string, err error) {
	var list struct{ Tools []offeredTool }
	if err = c.ask(ctx, "session.tools.initializeAndValidate", nil, nil); err == nil {
		err = c.ask(ctx, "session.tools.getCurrentMetadata", nil, &list)
	}
	if err != nil {
		return nil, err
	}
	var names []string
	servers, fresh := map[string]string{}, false
	for _, t := range list.Tools {
		names = append(names, t.Name)
		if t.MCPServerName != "" {
			servers[t.Name] = t.MCPServerName
		}
		fresh = fresh || t.freshShell()
		if !c.allowed(t) {
			excess = append(excess, t.Name)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offered, c.servers, c.freshShell = names, servers, fresh
	return excess, nil
}

// knowsFolder reports whether commands are known to begin in the workspace.
func (c *conn) knowsFolder() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.freshShell
}
