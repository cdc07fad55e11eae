package copilot

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
)

// shell is a call of the CLI's shell, whose command may outlive it.
type shell struct {
	call, theirs    string // its id, ours and the CLI's
	command, native string
	done            bool   // the call is
	text            []byte // the last it printed
	task            *background
}

const (
	maxShells    = 50       // that are remembered behind their calls
	maxShellText = 64 << 10 // bytes of what a command printed
)

// shellID is how the CLI's tools name a command they leave running: one started in
// the background, or one that was still running after 30 seconds (1.0.102).
var shellID = regexp.MustCompile(`<command (?:started in (?:detached )?background )?with shellId: (\S+?)(?:>| is still running)`)

// beginCommand remembers a call of the CLI's shell.
func (c *conn) beginCommand(ours, theirs string, x *execution) {
	if x.name != "bash" && x.name != "powershell" {
		return
	}
	var a struct{ Command string }
	if json.Unmarshal(x.arguments, &a) != nil {
		return
	}
	if c.loop.shells = append(c.loop.shells, &shell{call: ours, theirs: theirs, command: a.Command}); len(c.loop.shells) > maxShells {
		c.loop.shells = slices.Delete(c.loop.shells, 0, 1)
	}
}

// endCommand notes that a call of the shell has ended, and what it left running.
func (c *conn) endCommand(ours, said string) {
	s := c.shell(ours)
	if s == nil {
		return
	}
	s.done = true
	if m := shellID.FindStringSubmatch(said); m != nil {
		s.native = m[1]
		c.onTasksChanged(cli.Event{})
	}
}

func (c *conn) shell(call string) *shell {
	for _, s := range c.loop.shells {
		if s.call == call {
			return s
		}
	}
	return nil
}

// onShellOutput hands on what a command prints behind the end of its call.
func (c *conn) onShellOutput(e cli.Event) {
	d, ok := decode[struct{ ToolCallID, Text string }](c, e)
	if !ok || d.Text == "" {
		return
	}
	var s *shell
	for _, x := range c.loop.shells { // the last one: a provider may count from 0 in each answer
		if x.theirs == d.ToolCallID {
			s = x
		}
	}
	if s == nil {
		return
	}
	s.text = append(s.text, d.Text...)
	if over := len(s.text) - maxShellText; over > 0 {
		s.text = []byte(strings.ToValidUTF8(string(s.text[over:]), ""))
	}
	if s.task != nil && !s.task.ended {
		c.report(event.TaskOutput{TaskID: s.task.id, Text: d.Text})
	}
}
