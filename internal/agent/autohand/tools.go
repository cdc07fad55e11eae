package autohand

import "webchat/internal/agent"

// act is what a tool of the CLI does, and what its arguments name.
type act struct {
	kind   agent.Kind // of what is asked about where no path is named
	action string
	paths  []use
	fixed  string   // the file it is about whatever the arguments say
	query  []string // what a search looks for, or an address; the first that is there counts
	search bool     // it returns what it finds in files, or their names
	names  bool     // names only, no contents
	plain  []string // arguments that name nothing outside of the call
}

// use is what becomes of the path, or of each of the paths, in an argument.
type use struct {
	arg    string
	kind   agent.Kind
	action string
}

// acts are the tools whose calls are about commands, files or addresses, with the arguments that
// version 0.8.2 reads (its source: toolManager.ts, actionExecutor.ts). The CLI writes and moves
// files when it is asked to at the end of a turn, but formats, checks out and applies patches with
// git at once. Tools that are neither here nor in free are asked about as such.
var acts = map[string]act{
	"run_command": {
		kind:   agent.KindShell,
		action: "run a command",
		plain:  []string{"command", "args", "directory", "description", "background", "interactive"},
	},
	"shell": {
		kind:   agent.KindShell,
		action: "run a command",
		plain:  []string{"command", "args", "directory", "description", "background", "interactive"},
	},
	"git_worktree_run_parallel": {
		kind:   agent.KindShell,
		action: "run a command in all worktrees",
		plain:  []string{"command", "timeout", "max_concurrent"},
	},

	"write_file":  writes("write a file", "path", "contents", "content"),
	"append_file": writes("add to a file", "path", "contents", "content"),
	// further files that the patch names: patched
	"apply_patch":    writes("change a file", "path", "patch", "diff"),
	"search_replace": writes("change a file", "path", "blocks"),
	"notebook_edit": writes("change a file", "path", "cell_index", "cell_id", "new_source",
		"cell_type", "edit_mode"),
	"multi_file_edit":  writes("change a file", "file_path", "edits"),
	"format_file":      writes("format a file", "path", "formatter"), // by a program: formatter
	"create_directory": writes("make a folder", "path"),
	"delete_path":      writes("delete a file", "path"),
	"git_checkout":     writes("take back the changes of a file", "path"),
	"git_add":          writes("stage a file", "paths"),
	// whose files: patched
	"git_apply_patch": {
		kind:   agent.KindWrite,
		action: "change a file",
		plain:  []string{"patch", "diff"},
	},
	"git_worktree_add":    writes("make a worktree", "path", "ref"),
	"git_worktree_remove": writes("delete a worktree", "path", "force"),
	"add_dependency": {
		kind:   agent.KindWrite,
		action: "change a file",
		fixed:  "package.json",
		plain:  []string{"name", "version", "dev"},
	},
	"remove_dependency": {
		kind:   agent.KindWrite,
		action: "change a file",
		fixed:  "package.json",
		plain:  []string{"name", "dev"},
	},
	"todo_write": {
		kind:   agent.KindWrite,
		action: "keep its list of what to do",
		fixed:  ".autohand/agents/tasks/todos.json",
		plain:  []string{"tasks"},
	},
	"copy_path": {kind: agent.KindWrite, paths: []use{{"from", agent.KindRead, "copy a file"},
		{"to", agent.KindWrite, "write the copy"}}},
	"rename_path": {kind: agent.KindWrite, paths: []use{{"from", agent.KindRead, "move a file"},
		{"from", agent.KindWrite, "take it away from its place"},
		{"to", agent.KindWrite, "write it in its new place"}}},

	"fff_grep": searches("search", "exclude", "caseSensitive", "beforeContext",
		"afterContext", "classifyDefinitions", "limit"),
	"search":              searches("search", "limit", "context", "window", "mode"),
	"search_with_context": searches("search", "limit", "context", "window", "mode"),
	"semantic_search":     searches("search", "limit", "context", "window", "mode"),
	"find":                searches("search", "limit", "context", "window", "mode"),
	"fff_find":            lists("look for files", "limit"),
	"glob":                lists("look for files", "limit"),
	"list_tree":           lists("list a folder", "depth"),
	"file_stats": {
		kind:  agent.KindRead,
		paths: []use{{"path", agent.KindRead, "look at a file"}},
	},
	"checksum": {kind: agent.KindRead, paths: []use{{"path", agent.KindRead,
		"look at a file"}}, plain: []string{"algorithm"}},
	"git_status":         {kind: agent.KindRead, action: "ask git what changed"},
	"git_list_untracked": {kind: agent.KindRead, action: "look for files"},
	"git_log": {
		kind:   agent.KindRead,
		action: "read the history",
		plain:  []string{"max_count", "oneline", "graph", "all"},
	},
	"git_diff": {
		kind:   agent.KindRead,
		action: "read changes",
		search: true,
		paths:  []use{{"path", agent.KindRead, "read changes"}},
	},
	"git_diff_range": {
		kind:   agent.KindRead,
		action: "read changes",
		search: true,
		paths:  []use{{"paths", agent.KindRead, "read changes"}},
		query:  []string{"range"},
		plain:  []string{"staged"},
	},

	"fetch_url": {
		kind:   agent.KindURL,
		action: "open an address",
		query:  []string{"url"},
		plain:  []string{"selector", "max_length"},
	},
	"web_search": {
		kind:   agent.KindURL,
		action: "search the web",
		query:  []string{"query"},
		plain:  []string{"max_results", "search_type"},
	},
	// a path there
	"web_repo": {
		kind:   agent.KindURL,
		action: "read a repository on the web",
		query:  []string{"repo"},
		plain:  []string{"operation", "path", "branch"},
	},

	askFolder: {kind: agent.KindRead, paths: []use{{"path", agent.KindRead,
		"read in a folder outside of the workspace"}, {"path", agent.KindWrite,
		"write in it"}}, plain: []string{"reason"}},
}

func writes(action, path string, plain ...string) act {
	return act{kind: agent.KindWrite, paths: []use{{path, agent.KindWrite, action}}, plain: plain}
}

func searches(action string, plain ...string) act {
	return act{
		kind:   agent.KindRead,
		action: action,
		search: true,
		paths:  []use{{"path", agent.KindRead, action}},
		query:  []string{"query", "pattern", "patterns"},
		plain:  plain,
	}
}

// lists are searches of names only, which return no contents.
func lists(action string, plain ...string) act {
	a := searches(action, plain...)
	a.names = true
	return a
}

// free are tools that stay within the CLI: they read and change what it keeps of a conversation, of
// its memory and of its own tasks. The calls of helpers ask the same hooks.
var free = map[string]bool{"tool_search": true, "tools_registry": true, "plan": true,
	"exit_plan_mode": true, "task_get": true,
	"task_list": true, "task_update": true, "task_output": true, "create_task": true,
	"task_stop": true, "team_status": true, "sleep": true, "skill": true,
	"smart_context_cropper": true, "recall_memory": true, "inspect_memory": true,
	"list_schedules": true, "cancel_schedule": true,
	"delegate_task": true, "delegate_parallel": true}

// askFolder is the tool with which the CLI asks for a folder outside of the workspace, by a
// question of its own.
const askFolder = "request_directory_access"

// askUser is the tool with which the CLI asks the user, which it cannot by its protocol.
const askUser = "ask_followup_question"
