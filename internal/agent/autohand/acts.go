package autohand

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"webchat/internal/agent"
)

// act is what a tool of the CLI does.
type act struct {
	kind   agent.Kind
	action string
}

// acts are the tools whose calls are about a command, a file or an address. Tools that
// are neither here nor in free are asked about as such.
var acts = map[string]act{
	"run_command": {agent.KindShell, "run a command"}, "shell": {agent.KindShell, "run a command"},

	"write_file": {agent.KindWrite, "write a file"}, "append_file": {agent.KindWrite, "add to a file"},
	"apply_patch": {agent.KindWrite, "change a file"}, "search_replace": {agent.KindWrite, "change a file"},
	"notebook_edit": {agent.KindWrite, "change a file"}, "format_file": {agent.KindWrite, "format a file"},
	"create_directory": {agent.KindWrite, "make a folder"}, "delete_path": {agent.KindWrite, "delete a file"},
	"copy_path": {agent.KindWrite, "write a file"}, "rename_path": {agent.KindWrite, "move a file"},

	"fff_grep": {agent.KindRead, "search"}, "search": {agent.KindRead, "search"}, "search_with_context": {agent.KindRead, "search"},
	"semantic_search": {agent.KindRead, "search"}, "fff_find": {agent.KindRead, "look for files"}, "find": {agent.KindRead, "look for files"},
	"glob": {agent.KindRead, "look for files"}, "list_tree": {agent.KindRead, "list a folder"}, "file_stats": {agent.KindRead, "look at a file"},
	"checksum": {agent.KindRead, "look at a file"}, "git_status": {agent.KindRead, "ask git what changed"}, "git_diff": {agent.KindRead, "read changes"},
	"git_diff_range": {agent.KindRead, "read changes"}, "git_log": {agent.KindRead, "read the history"}, "git_list_untracked": {agent.KindRead, "look for files"},

	"fetch_url": {agent.KindURL, "open an address"}, "web_search": {agent.KindURL, "search the web"}, "web_repo": {agent.KindURL, "read a repository on the web"},
}

// folders are asked for with this act.
var folders = act{agent.KindRead, "read and write in a folder outside of the workspace"}

// names are searches of names only, which return no contents.
var names = map[string]bool{"fff_find": true, "find": true, "glob": true, "list_tree": true}

// free are tools that stay within the CLI.
var free = map[string]bool{"tool_search": true, "tools_registry": true, "plan": true, "exit_plan_mode": true, "todo_write": true, "task_get": true,
	"task_list": true, "task_update": true, "task_output": true, "create_task": true, "task_stop": true, "team_status": true, "sleep": true, "skill": true,
	"smart_context_cropper": true, "recall_memory": true, "inspect_memory": true, "list_schedules": true, "cancel_schedule": true,
	"delegate_task": true, "delegate_parallel": true} // whose calls ask the same hooks

// askFolder is the tool with which the CLI asks for a folder outside of the workspace,
// by a question of its own.
const askFolder = "request_directory_access"

// askUser is the tool with which the CLI asks the user, which it cannot by its protocol.
const askUser = "ask_followup_question"

// input is what the arguments of the CLI's tools are called.
type input struct {
	Command, Directory, Path, FilePath, From, To string
	Args                                         []string
	Background                                   bool
	Contents, Query, Pattern, URL, Glob          string
	Question                                     string
	SuggestedAnswers                             []string `json:"suggested_answers"`
}

func (k *call) input() (in input) {
	_ = json.Unmarshal(k.args, &in) // what is not there is not known
	return in
}

// paths are the files a call is about.
func (k *call) paths() (all []string) {
	in := k.input()
	for _, p := range []string{in.Path, in.FilePath, in.From, in.To} {
		if p != "" {
			all = append(all, p)
		}
	}
	return all
}

// permission is what a call asks for, as the session understands it.
func (c *conn) act(k *call, r permissionRequest) agent.Permission {
	in, a := k.input(), acts[k.tool]
	if k.tool == askFolder {
		a = folders
	}
	p := agent.Permission{ToolCallID: k.id, ToolName: k.tool, Kind: a.kind, Action: a.action}
	command := strings.TrimSpace(strings.Join(append([]string{in.Command}, in.Args...), " "))
	path := cmp.Or(in.To, in.Path, in.FilePath, r.Context.Path)
	switch a.kind {
	case agent.KindShell:
		p.Resource, p.Cwd = cmp.Or(command, r.Context.Command), c.absolute(in.Directory)
		if in.Background {
			p.Action = "run a command in the background"
		}
	case agent.KindWrite:
		p.Resource, p.Diff = path, c.proposal(k.tool, in)
		if in.From != "" {
			p.Action += " from " + in.From
		}
	case agent.KindRead:
		p.Resource = cmp.Or(path, ".")
		if query := cmp.Or(in.Query, in.Pattern); query != "" {
			p.Search = &agent.Search{Pattern: query, Path: path, Glob: in.Glob, Names: names[k.tool]}
		}
	case agent.KindURL:
		p.Resource = cmp.Or(in.URL, in.Query)
	}
	if line := c.lineOf(k); a.kind == "" && line != "" {
		p.Kind, p.Action, p.Resource, p.Cwd = agent.KindShell, "run the command of a tool that this folder defines", line, c.o.Workspace
	}
	if p.Kind == "" || p.Resource == "" {
		p.Kind, p.Action, p.Resource = agent.KindMCP, "use a tool", k.tool+" "+string(k.args)
		if rest, ok := strings.CutPrefix(k.tool, "mcp__"); ok {
			p.Server, _, _ = strings.Cut(rest, "__")
		}
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{string(p.Kind), p.Resource, p.Cwd, p.Diff, k.tool, string(k.args)}, "\x00")))
	p.Digest = hex.EncodeToString(sum[:])
	return p
}

// mostDiffed is the size up to which a file is read for a diff, in bytes.
const mostDiffed = 1 << 20

// proposal is what a write would change, where its arguments say so.
func (c *conn) proposal(tool string, in input) string {
	path := cmp.Or(in.Path, in.FilePath)
	if path == "" || tool != "write_file" && tool != "append_file" {
		return ""
	}
	var old string
	name := c.absolute(path)
	if st, err := os.Stat(name); err == nil {
		text, err := os.ReadFile(filepath.Clean(name))
		if err != nil || !st.Mode().IsRegular() || st.Size() > mostDiffed {
			return ""
		}
		old = string(text)
	}
	now := in.Contents
	if tool == "append_file" {
		now = old + in.Contents
	}
	return diff(path, old, now)
}
