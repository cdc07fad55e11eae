package copilot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"webchat/internal/agent"
)

// hiddenTool is the CLI's tool that would send files to the model.
const hiddenTool = "view"

// knownTools are the tools of the CLI that a model may be offered. Each asks before it acts, or
// acts on nothing but the session's own shells and helper agents. What the CLI has beside them
// reaches beyond the session or is not asked about: lsp starts programs that the workspace names,
// session_store_sql reads other sessions' conversations, skill loads instructions. sql is there
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

// allowedTools are the tools of a session in the CLI's words: its own, and some of ours. It keeps
// to them also for helper agents, whose tools cannot be read back.
func allowedTools(lent []agent.ToolSpec) (all []string) {
	for _, name := range knownTools {
		all = append(all, "builtin:"+name)
	}
	for _, t := range lent {
		all = append(all, "custom:"+t.Name)
	}
	return all
}

// definitionsOf are tools in the CLI's words.
func definitionsOf(tools []agent.ToolSpec) (all []toolDefinition) {
	for _, t := range tools {
		if t.Final {
			t.Parameters = withFinal(t.Parameters)
		}
		all = append(all, toolDefinition{
			Name:           t.Name,
			Description:    t.Description,
			Parameters:     t.Parameters,
			SkipPermission: true,
			server:         t.Server != "",
		})
	}
	return all
}

// definitions is what the tools and the guide add to each call of a model.
func (b *Backend) definitions(tools []agent.ToolSpec) (n int64) {
	if b.cfg.Count == nil {
		return 0
	}
	n = int64(b.cfg.Count(guide))
	for _, t := range definitionsOf(tools) {
		if t.server {
			continue // the user set it up
		}
		n += int64(b.cfg.Count(t.Name + "\n" + t.Description + "\n" + string(t.Parameters)))
	}
	return n
}

// toolbox is what a model is offered in a conversation: the session's tools, as far as the CLI has
// them, and the CLI's own. Its methods may be called concurrently.
type toolbox struct {
	b    *Backend
	ask  asker
	lent []agent.ToolSpec

	mu         sync.Mutex // guards what follows
	given      []string   // tools of ours that the CLI has
	cost       int64      // tokens of their definitions in one model call
	offered    []string
	excluded   []string // tools that were offered and may not be
	freshShell bool     // each command of the CLI's shell begins in the workspace
}

// owns reports whether a tool is the session's.
func (x *toolbox) owns(tool string) bool {
	return slices.ContainsFunc(x.lent, func(t agent.ToolSpec) bool { return t.Name == tool })
}

// needed are those of the session's tools that can be of use now.
func (x *toolbox) needed() []agent.ToolSpec {
	return slices.DeleteFunc(slices.Clone(x.lent), func(t agent.ToolSpec) bool {
		return t.Needed != nil && !t.Needed()
	})
}

// give notes which tools the CLI has, and returns those that it is to leave out.
func (x *toolbox) give(tools []agent.ToolSpec) (excluded []string) {
	cost := x.b.definitions(tools)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.given, x.cost = namesOf(tools), cost
	return append([]string{hiddenTool}, x.excluded...)
}

func namesOf(tools []agent.ToolSpec) (names []string) {
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}

// add gives the CLI the tools that are needed now, if it has others. The next model call has them,
// also within a turn, as was tried with 1.0.102.
func (x *toolbox) add(ctx context.Context) error {
	tools := x.needed()
	x.mu.Lock()
	given := x.given
	x.mu.Unlock()
	if slices.Equal(namesOf(tools), given) {
		return nil
	}
	err := x.ask(ctx, "session.tools.set", map[string]any{"tools": definitionsOf(tools)}, nil)
	if err == nil {
		x.give(tools)
	}
	return err
}

// tokens is what our definitions cost in one model call.
func (x *toolbox) tokens() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.cost
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
func (x *toolbox) allowed(o offeredTool) bool {
	if o.Name == "sql" {
		for name := range o.InputSchema.Properties {
			if name != "query" && name != "description" {
				return false
			}
		}
	}
	return o.MCPServerName == "" && (slices.Contains(knownTools, o.Name) || x.owns(o.Name))
}

// inspect reads back which tools are offered, and excludes those that are not allowed. The CLI
// ignores a wrong list in silence, so the list of what it offers is the only sign.
func (x *toolbox) inspect(ctx context.Context, version string) error {
	excess, err := x.look(ctx)
	if len(excess) > 0 {
		x.mu.Lock()
		x.excluded = append(x.excluded, excess...) // it stays so, also in another process
		excluded := slices.Clone(x.excluded)
		x.mu.Unlock()
		x.b.cfg.Logger.Warn("copilot: tools of the CLI are left out", "tools", excess)
		if err = x.ask(ctx, "session.options.update", map[string]any{"excludedTools": excluded},
			nil); err == nil {
			excess, err = x.look(ctx)
		}
	}
	exposed := func(format string, args ...any) error {
		return fmt.Errorf(
			"%w: the session was not started, because GitHub Copilot CLI %s; please report the CLI's "+
				"version %s",
			agent.ErrUnavailable, fmt.Sprintf(format, args...), version)
	}
	switch {
	case err != nil:
		return x.b.cli.Explain(err)
	case slices.Contains(excess, hiddenTool):
		return exposed(
			"offers the tool %q, which would send files to the model, and does not leave it out", hiddenTool)
	case len(excess) > 0:
		return exposed(
			"offers the tool %q, which could act without asking you, and does not leave it out", excess[0])
	}
	offered := x.now()
	for _, t := range x.lent {
		// Others may be needed only now, or are not ours to see to.
		if t.Needed == nil && t.Server == "" && !slices.Contains(offered, t.Name) {
			return exposed("does not offer the display tool %s", t.Name)
		}
	}
	return nil
}

// now are the tools that were last seen to be offered.
func (x *toolbox) now() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.offered)
}

// look reads which tools are offered and returns those that may not be. The CLI has to set the
// session up before, as it does before a model call: until then it reports no tools.
func (x *toolbox) look(ctx context.Context) (excess []string, err error) {
	var list struct{ Tools []offeredTool }
	if err = x.ask(ctx, "session.tools.initializeAndValidate", nil, nil); err == nil {
		err = x.ask(ctx, "session.tools.getCurrentMetadata", nil, &list)
	}
	if err != nil {
		return nil, err
	}
	var names []string
	fresh := false
	for _, t := range list.Tools {
		names = append(names, t.Name)
		fresh = fresh || t.freshShell()
		if !x.allowed(t) {
			excess = append(excess, t.Name)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.offered, x.freshShell = names, fresh
	return excess, nil
}

// knowsFolder reports whether commands are known to begin in the workspace.
func (x *toolbox) knowsFolder() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.freshShell
}
