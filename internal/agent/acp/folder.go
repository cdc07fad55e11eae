package acp

import (
	"slices"

	"webchat/internal/policy"
)

// shell is the shell of an agent's commands, which may keep its folder from one to the next. Where
// it is, is known until something may have moved it.
type shell struct {
	begin string // where it began; empty: not known
	moved *call  // the first call that may have moved it; nil: there is none
}

// begun is what was read of the command of a call.
type begun struct {
	command string // the last that was read
	// the folders that any report of the call named: OpenCode's question leaves out its own
	named []string
	other bool // some report had a field that may change where it runs or what it means
}

// plainInput are fields of a command's input that change neither where it runs nor what it means.
var plainInput = fieldSet(`description timeout timeout_ms run_in_background is_background`)

// follow notes whether a call may move the agent's shell.
func (s *shell) follow(k *call) {
	if k.lent || k.Kind == "think" || s.moved != nil {
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
	}
	k.shell.command = command
	if command == "" || in.odd || !policy.Stays(command) { // a tool of no known kind may do anything
		s.moved = k
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
		known := commandFields[name] || folderFields[name] || plainInput[name]
		idle := v == nil || v == "" || slices.Contains([]any{false, 0.0}, v)
		b.other = b.other || !known && !idle
	}
}

// folder is where a call's command begins, if no report of it named one; empty if it is not known.
func (s *shell) folder(k *call) string {
	if k.shell.other || s.moved != nil && s.moved != k {
		return ""
	}
	return s.begin
}
