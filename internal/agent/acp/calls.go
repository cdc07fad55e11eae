package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"webchat/internal/agent/convo"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// call is a tool call of the agent's.
type call struct {
	toolCall
	convo.Call
	content []part
	// it is of one of the session's tools, or looks so: its row begins when it reaches them
	lent   bool
	asked  bool   // as any other: it is shown
	shown  string // the output that was reported
	before string // its text before it ran, such as what it is for
	pieces pieces // of output that comes so

	proposed string // its diff, before it changed anything
	shell    begun
}

// merge takes over what an update says: what it leaves out stays.
func (k *call) merge(u toolCall, content []part) {
	k.CallTitle, k.Name, k.Kind, k.Status = cmp.Or(u.CallTitle, k.CallTitle), cmp.Or(u.Name, k.Name),
		cmp.Or(u.Kind, k.Kind), cmp.Or(u.Status, k.Status)
	if len(u.RawInput) > 0 && string(u.RawInput) != "null" {
		k.RawInput = u.RawInput
	}
	if u.Meta.ClaudeCode.MCPServer.Name != "" {
		k.Meta.ClaudeCode = u.Meta.ClaudeCode
	}
	if m := u.Meta; m.Provenance != "" {
		k.Meta.Provenance, k.Meta.ServerID, k.Meta.ToolName = m.Provenance, m.ServerID, m.ToolName
	}
	k.Meta.MCPToolCall = k.Meta.MCPToolCall || u.Meta.MCPToolCall
	if u.Meta.TerminalExit != nil {
		k.Meta.TerminalExit = u.Meta.TerminalExit
	}
	if len(u.RawOutput) > 0 {
		k.RawOutput = u.RawOutput
	}
	if len(content) > 0 {
		k.content = content
	}
	if len(u.Locations) > 0 {
		k.Locations = u.Locations
	}
}

// take returns the call of an update, which may be the first about it.
func (c *conn) take(u toolCall, content []part) *call {
	k := c.calls.Get(u.ToolCallID)
	if k == nil {
		k = &call{Call: convo.Call{ID: string(event.NewID())}}
		k.ToolCallID = u.ToolCallID
		c.calls.Add(u.ToolCallID, k)
	}
	k.merge(u, content)
	k.lent = !k.asked && (k.lent || c.lent.looksLent(*k))
	c.shell.follow(k)
	return k
}

// reuse forgets a call that is over, for another that begins under its id.
func (c *conn) reuse(id string) {
	if k := c.calls.Get(id); k != nil && k.Done {
		c.calls.Forget(id)
	}
}

func (c *conn) update(t *convo.Turn, u update) {
	var content []part
	_ = json.Unmarshal(u.Content, &content) // anything but such a list shows nothing
	if u.SessionUpdate == "tool_call" {
		c.reuse(u.ToolCallID)
	}
	k := c.take(u.toolCall, content)
	if k.Done || k.ToolCallID == "" || u.Meta.Phase == "preparing" { // its tool is not known yet
		return
	}
	if k.lent {
		c.tallied(t, k)
		return
	}
	if k.unwritten() {
		return
	}
	c.begin(t, k)
	if k.Status == "pending" {
		k.before, k.shown = k.text(), k.text()
	}
	if more := strings.ToValidUTF8(u.Meta.TerminalOutputDelta.Data, "\uFFFD"); more != "" {
		k.pieces.add(more)
		c.Report(event.ToolExecutionPartialResult{ToolCallID: k.ID, PartialOutput: more})
	} else if text := k.text(); text != k.shown && k.pieces.size == 0 {
		more := strings.TrimPrefix(text, k.shown)
		switch {
		case k.shown == k.before:
			more = text
		case !strings.HasPrefix(text, k.shown):
			more = "\n" + text // it replaces what was there
		}
		k.shown = text
		c.Report(event.ToolExecutionPartialResult{ToolCallID: k.ID, PartialOutput: more})
	}
	if k.ended() {
		c.complete(t, k)
	}
}

// tallied ends a call that looks like one of the session's tools, whose row begins when it reaches
// them. One that never did is shown as any other: it failed before, or it is of something else that
// only looks like one.
func (c *conn) tallied(t *convo.Turn, k *call) {
	if !k.ended() {
		return
	}
	if c.lent.reached(k) && !k.Begun {
		k.Done = true
		return
	}
	c.begin(t, k)
	c.complete(t, k)
}

// ended reports whether the agent reported the end of the call.
func (k *call) ended() bool { return k.Status == "completed" || k.Status == "failed" }

// unwritten reports whether the model still writes the call's arguments. Claude Code and OpenCode
// report a call before, and a row that begun then would not say what it is about.
func (k *call) unwritten() bool {
	var in map[string]json.RawMessage
	if k.Begun || k.Status != "pending" || json.Unmarshal(k.RawInput, &in) != nil || in == nil {
		return false
	}
	delete(in, "cwd")
	return len(in) == 0
}

// begin reports the start of a call, once.
func (c *conn) begin(t *convo.Turn, k *call) {
	if k.Begun {
		return
	}
	if !k.ended() {
		k.proposed = k.proposal(c.Options.Workspace)
	}
	k.Tool, k.Args = k.name(), k.RawInput
	if len(k.Args) == 0 || k.Args[0] != '{' {
		k.Args, _ = json.Marshal(map[string]string{"title": k.CallTitle}) // a string
	}
	t.Begin(&k.Call)
}

// name is what the call's tool is called.
func (k *call) name() string {
	if k.Name != "" {
		return wording.Cut(wording.Line(k.Name), mostName)
	}
	if k.Kind != "" && k.Kind != "other" {
		return k.Kind
	}
	return cmp.Or(wording.Cut(wording.Line(k.CallTitle), mostName), "tool")
}

// mostName is how many characters the name of a tool has.
const mostName = 200

// output is what the call shows so far, less the middle of very much.
func (k *call) output() string {
	if k.pieces.size > 0 {
		return k.pieces.text()
	}
	var p pieces
	p.add(k.text())
	return p.text()
}

// text is the text of its content.
func (k *call) text() string {
	var b strings.Builder
	for _, p := range k.content {
		if p.Type == "content" && p.Content.Type == "text" {
			b.WriteString(p.Content.Text)
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// read is what the model read of the call, where the agent reports that as it stands: Claude Code
// shows 30 kB of a large output, of which its model reads 2. Empty: it is not known.
func (k *call) read() string {
	var text string
	if json.Unmarshal(k.RawOutput, &text) == nil {
		return text
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(k.RawOutput, &parts) != nil {
		return "" // most have another shape
	}
	for _, p := range parts {
		if p.Type != "text" {
			return ""
		}
		text += p.Text
	}
	return text
}

// exit is the exit code of a command, where the agent reports it beside the output.
func (k *call) exit() int {
	if e := k.Meta.TerminalExit; e != nil && e.ExitCode != nil {
		return *e.ExitCode
	}
	var out struct{ Metadata struct{ Exit int } }
	_ = json.Unmarshal(k.RawOutput, &out) // most have another shape
	return out.Metadata.Exit
}

// complete reports the end of a call.
func (c *conn) complete(t *convo.Turn, k *call) {
	text := k.output()
	if text == "" || text == k.before {
		text = "(The agent showed no output.)"
	}
	read := k.read()
	if code := k.exit(); code != 0 {
		text, read = strings.TrimRight(text, "\n")+fmt.Sprintf("\n(exit %d)", code), ""
	}
	d := event.ToolExecutionComplete{Success: k.Status == "completed"}
	if d.Success {
		d.Result = &event.ToolResult{Content: text, DetailedContent: k.outcome(c.Options.Workspace)}
		if read != "" && len(read) < len(text) {
			d.Result.Content = read
			if !strings.Contains(text, read) {
				d.Result.DetailedContent = cmp.Or(d.Result.DetailedContent, text)
			}
		}
	} else {
		d.Error = &event.ToolError{Message: text, Code: "failure", Kind: event.KindProvider}
	}
	t.Complete(&k.Call, d)
}

// mostKept is how many bytes of an output are kept of its begin, and of its end.
const mostKept = 2 << 20

// pieces is an output that comes in pieces. Of very much only the begin and the end are kept.
type pieces struct {
	head, tail []byte
	size       int64 // of all that came
}

func (p *pieces) add(text string) {
	p.size += int64(len(text))
	n := min(len(text), mostKept-len(p.head))
	p.head = append(p.head, text[:n]...)
	p.tail = append(p.tail, text[n:]...)
	if over := len(p.tail) - 2*mostKept; over > 0 { // now and then, so that it is not moved each time
		p.tail = append(p.tail[:0], p.tail[len(p.tail)-mostKept:]...)
	}
}

func (p *pieces) text() string {
	tail := p.tail[max(0, len(p.tail)-mostKept):]
	left := p.size - int64(len(p.head)) - int64(len(tail))
	if left == 0 {
		return string(p.head) + string(tail)
	}
	return strings.ToValidUTF8(string(p.head), "") + "\n… " + wording.Size(left) + " left out …\n" +
		strings.ToValidUTF8(string(tail), "")
}
