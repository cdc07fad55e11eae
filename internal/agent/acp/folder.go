package acp

import (
	"slices"
	"strings"

	"webchat/internal/policy"
)

// shell is the shell of an agent's commands, which may keep its folder from one to the next. It is
// followed from the first call of a process on.
type shell struct {
	begin  string // where it began
	folder string // where it is; empty: not known
	mover  *call  // the call that may have moved it, while its end is not reported; nil: there is none
	helped bool   // a helper agent may run commands, too, in a shell of its own
}

// begun is how the shell of a call stood before it.
type begun struct {
	command string // the last that was read of the call
	from    string
	to      string   // where the command leads if it succeeds
	named   []string // the folders that any report of the call named: OpenCode's question leaves out its own
	other   bool     // some report had a field that may change where it runs or what it means
}

// plainInput are fields of a command's input that change neither where it runs nor what it means.
var plainInput = fieldSet(`description timeout timeout_ms run_in_background is_background`)

// follow reads where a call leads the agent's shell. Of an agent that was never run with webchat
// nothing is known.
func (c *conn) follow(k *call) {
	if k.ours || c.b.cfg.Untried {
		return
	}
	if k.Kind == "think" {
		if c.shell.helped = true; c.shell.folder != c.shell.begin {
			c.shell.folder = ""
		}
		return
	}
	server, _ := k.mcpTool()
	in := inputOf(k.RawInput)
	k.shell.read(&in)
	command := in.command()
	switch {
	case server != "" || command == k.shell.command && command != "":
		return
	case command == "" && k.Kind != "other":
		return
	case k.shell.command == "":
		k.shell.from = c.shell.folder
	}
	k.shell.command, k.shell.to = command, ""
	if command != "" && !in.odd {
		k.shell.to = policy.Follow(command, k.shell.from)
	}
	if k.shell.to == "" || k.shell.to != k.shell.from { // a tool of no known kind may do anything
		c.shell.folder, c.shell.mover = "", k
	}
}

// read takes note of the fields of one report.
func (b *begun) read(in *input) {
	for _, name := range in.texts(folderFields) {
		if !slices.Contains(b.named, name) {
			b.named = append(b.named, name)
		}
	}
	for name, v := range in.fields {
		b.other = b.other || !commandFields[name] && !folderFields[name] && !plainInput[name] && v != nil && v != "" && !slices.Contains([]any{false, 0.0}, v)
	}
}

// moved takes note of the end of a call.
func (c *conn) moved(k *call) {
	if c.shell.mover != k {
		return
	}
	c.shell.mover = nil
	// Outside of the workspace Claude Code goes back to where it began.
	inside := strings.HasPrefix(k.shell.to+"/", strings.TrimSuffix(c.shell.begin, "/")+"/")
	if c.b.cfg.Keeps && inside && !c.shell.helped && k.Status == "completed" && k.exit() == 0 {
		c.shell.folder = k.shell.to
	}
}

// folder is where a call's command begins, if no report of it named one; empty if it is not known.
func (c *conn) folder(k *call) string {
	if !k.shell.other && (c.shell.mover == k || c.shell.mover == nil && c.shell.folder == k.shell.from) {
		return k.shell.from
	}
	return ""
}
