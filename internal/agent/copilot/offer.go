package copilot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot/inside"
)

// hidden is the CLI's tool that would send files to the model.
const hidden = "view"

// known are the tools of the CLI that a model may be offered. Each asks before it
// acts, or acts on nothing but the session's own shells and helper agents. What
// the CLI has beside them reaches beyond the session or is not asked about: lsp
// starts programs that the workspace names, session_store_sql reads what was said in
// other sessions, skill loads instructions. sql is there for the agent's list of what
// is to do: without a session store it reaches the session's own database only, and
// refuses ATTACH, VACUUM INTO and extensions, as was tried with 1.0.102.
var known = []string{
	"bash", "read_bash", "stop_bash", "list_bash",
	"powershell", "read_powershell", "stop_powershell", "list_powershell",
	"create", "edit", "apply_patch", "grep", "rg", "glob", "web_fetch", "ask_user",
	"task", "read_agent", "list_agents", "write_agent",
	"sql", "exit_plan_mode", "task_complete",
}

// ToolNames implements [agent.ToolNamer].
func (*Backend) ToolNames() []string { return slices.Clone(known) }

// allowed are the tools of the session in the CLI's words. It keeps to them also
// for helper agents, whose tools cannot be read back.
func (c *conn) allowed() []string {
	var all []string
	for _, name := range known {
		all = append(all, "builtin:"+name)
	}
	for _, t := range c.o.Tools {
		all = append(all, "custom:"+t.Name)
	}
	if len(c.b.cfg.MCPServers) > 0 {
		all = append(all, "mcp:*")
	}
	return all
}

// offer is one of the tools that a model is really offered.
type offer struct {
	Name          string
	MCPServerName string // empty: it is the CLI's, or ours
	InputSchema   struct {
		Properties map[string]struct{ Description string }
	} `json:"input_schema"`
}

// errExposed says that the offered tools are not what they have to be.
var errExposed = errors.New("the session was not started, because")

// inspect reads back which tools are offered, and excludes those that are not
// allowed. The CLI ignores a wrong list in silence, so the list of what it offers is
// the only sign.
func (c *conn) inspect(ctx context.Context) error {
	excess, err := c.look(ctx)
	if err != nil {
		return err
	}
	if len(excess) > 0 {
		c.mu.Lock()
		c.excluded = append(c.excluded, excess...) // it stays so, also in another process
		excluded := slices.Clone(c.excluded)
		c.mu.Unlock()
		c.b.cfg.Logger.Warn("copilot: tools of the CLI are left out", "tools", excess)
		if err := c.ask(ctx, "session.options.update", c.named(map[string]any{"excludedTools": excluded}), nil); err != nil {
			return c.b.cli.Explain(err)
		}
		if excess, err = c.look(ctx); err != nil {
			return err
		}
	}
	if len(excess) > 0 {
		why := "which could act without asking you"
		if excess[0] == hidden {
			why = "which would send files to the model"
		}
		return c.exposed("offers the tool %q, %s, and does not leave it out", excess[0], why)
	}
	for _, t := range c.o.Tools {
		if !slices.Contains(c.tools(), t.Name) {
			return c.exposed("does not offer the display tool %s", t.Name)
		}
	}
	return nil
}

func (c *conn) exposed(format string, args ...any) error {
	return fmt.Errorf("%w: %w GitHub Copilot CLI %s; please report the CLI's version %s", agent.ErrUnavailable, errExposed,
		fmt.Sprintf(format, args...), c.process().Version())
}

// look reads which tools are offered and returns those that may not be.
func (c *conn) look(ctx context.Context) (excess []string, err error) {
	var list struct{ Tools []offer }
	err = inside.Ready(ctx, c.about)
	if err == nil {
		err = c.about(ctx, "session.tools.getCurrentMetadata", nil, &list)
	}
	if err != nil {
		return nil, c.b.cli.Explain(err)
	}
	var names []string
	fresh := false
	for _, t := range list.Tools {
		names = append(names, t.Name)
		_, configured := c.b.cfg.MCPServers[t.MCPServerName]
		switch {
		case t.reachesOut():
			excess = append(excess, t.Name)
		case configured, t.MCPServerName == "" && (slices.Contains(known, t.Name) || c.owns(t.Name)):
		default:
			excess = append(excess, t.Name)
		}
		fresh = fresh || t.freshShell()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offered, c.freshShell = names, fresh
	return excess, nil
}

// tools are the names of what is offered, as it was seen last.
func (c *conn) tools() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.offered)
}

// freshProcess is how versions 1.0.75 to 1.0.102 tell the model that each command
// runs in a process of its own, which begins in the workspace: neither a cd nor a
// shellId that is used again carries a folder over, as was tried with both.
const freshProcess = "runs in a fresh process"

// freshShell reports whether the tool is a shell that keeps no folder.
func (o offer) freshShell() bool {
	if o.Name != "bash" && o.Name != "powershell" {
		return false
	}
	for p := range maps.Values(o.InputSchema.Properties) {
		if strings.Contains(p.Description, freshProcess) {
			return true
		}
	}
	return false
}

// reachesOut reports whether the tool is an sql of another form than the one that is
// known, which may read more than the session's own database.
func (o offer) reachesOut() bool {
	if o.Name != "sql" || o.MCPServerName != "" {
		return false
	}
	for name := range o.InputSchema.Properties {
		if name != "query" && name != "description" {
			return true
		}
	}
	return false
}
