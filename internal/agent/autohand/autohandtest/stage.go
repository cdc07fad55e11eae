package autohandtest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stage is what a turn of the stand-in happens on.
type stage struct {
	*cli
	ctx   context.Context
	msg   string
	steps int
}

// toolCall is what the model wants.
type toolCall struct {
	id, tool string
	args     object
	after    <-chan struct{} // when it ends; nil: at once
	ends     chan<- struct{} // is closed then
}

// asks are the tools that the CLI asks leave for without a hook.
var asks = map[string]bool{"write_file": true, "run_command": true}

// perform does what a prompt says and returns the last message.
func (s *stage) perform(text string) string {
	verb, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch verb {
	case "show":
		s.step("", toolCall{tool: "mcp__webchat__render_file_contents", args: object{"path": rest}})
	case "run":
		s.step("", toolCall{tool: "mcp__webchat__run_and_display", args: object{"command": rest}})
	case "write":
		s.step("I write it.", toolCall{
			tool: "write_file",
			args: object{"path": rest, "contents": "new\n"},
		})
	case "asks": // the same of a tool that is about files
		tool, path, _ := strings.Cut(rest, " ")
		s.permitted("perm", object{"tool": tool, "description": "Allow it?",
			"context": object{"path": path}})
	case "question": // as if it had not asked its hooks
		if !s.permitted("perm", object{"tool": "run_command", "description": "Allow the command?",
			"context": object{"command": rest}}) {
			return "It was not allowed."
		}
		return "It was allowed."
	case "shell":
		s.step("", toolCall{tool: "run_command", args: object{"command": rest}})
	case "tool": // a tool with its arguments, which does nothing
		name, args, _ := strings.Cut(rest, " ")
		c := toolCall{tool: name}
		if json.Unmarshal([]byte(args), &c.args) != nil {
			panic("no arguments: " + args)
		}
		s.step("", c)
	case "custom":
		s.step("", toolCall{tool: "deploy", args: object{"where": rest}})
	case "leave":
		s.step("", toolCall{tool: "run_command", args: object{"command": rest, "background": true}})
	case "both":
		other := make(chan struct{})
		s.step("Two at once.", toolCall{
			tool:  "run_command",
			args:  object{"command": "echo slow"},
			after: other,
		}, toolCall{tool: "fff_grep", args: object{"query": "x"}, ends: other})
	case "read":
		s.step("", toolCall{tool: "read_file", args: object{"path": rest}},
			toolCall{tool: "no_such_tool", args: object{"a": 1}})
	case "ask":
		return "You said: " + s.step("", toolCall{
			tool: "ask_followup_question",
			args: object{"question": "Which colour?", "suggested_answers": []string{"red"}},
		})[0]
	case "outside":
		s.directory(rest)
	case "helper":
		s.helper()
	case "late":
		s.late()
	case "twice": // it begins and ends its turn again
		turn := object{"turnId": "turn_again"}
		for range 3 {
			s.tell("turnEnd", turn)
			s.tell("turnStart", turn)
			s.tell("turnStart", turn)
		}
	case "talk":
		s.tell("messageUpdate", object{"messageId": s.msg, "delta": "word "})
		<-s.ctx.Done()
	case "fails":
		s.fails(rest)
		return ""
	case "spin":
		for s.ctx.Err() == nil {
			s.tell("ping", object{"status": "processing"})
			s.tell("hook.contextCompacted", object{"croppedCount": 0})
			select {
			case <-s.ctx.Done():
			case <-time.After(5 * time.Millisecond):
			}
		}
	case "die":
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(3)
	case "halfway": // it dies with a write held back
		s.step("", toolCall{tool: "write_file", args: object{"path": rest, "contents": "new\n"}})
		os.Exit(3)
	case "stopped": // it is stopped with a write held back
		s.step("", toolCall{tool: "write_file", args: object{"path": rest, "contents": "new\n"}})
		s.tell("messageUpdate", object{"messageId": s.msg, "delta": "word "})
		<-s.ctx.Done()
	case "huge":
		return strings.Repeat("x", 3<<20)
	case "think":
		s.tell("messageUpdate", object{"messageId": s.msg, "delta": "", "thought": "Hm."})
	}
	return "I heard " + text + "."
}

// step is one model call with its tool calls, and waits for leave to go on.
func (s *stage) step(thought string, calls ...toolCall) (outputs []string) {
	s.steps++
	results := make([]object, len(calls))
	var all []object
	ready := make([]bool, len(calls))
	for i := range calls {
		calls[i].id = fmt.Sprint("call_", i) // as providers that repeat them
		all = append(all, object{"id": calls[i].id, "tool": calls[i].tool, "args": calls[i].args})
		if why, kind := s.authorize(&calls[i]); why != "" {
			results[i] = object{"tool": calls[i].tool, "success": false, "kind": kind, "error": why}
		} else {
			ready[i] = true
		}
	}
	var running sync.WaitGroup
	for i := range calls {
		if ready[i] {
			running.Go(func() { results[i] = s.execute(calls[i]) })
		}
	}
	running.Wait()
	for _, r := range results {
		answer := r["error"]
		if answer == nil {
			answer = r["output"]
		}
		outputs = append(outputs, fmt.Sprint(answer))
	}
	id := s.fresh("step")
	got := s.expect(id)
	s.tell("stepEnd", object{"stepId": id, "step": object{"stepNumber": s.steps, "thought": thought,
		"toolCalls": all, "toolResults": results}})
	select {
	case <-got:
	case <-s.ctx.Done():
	}
	return outputs
}

// authorize returns why a call is refused, and the kind of that.
func (s *stage) authorize(c *toolCall) (why, kind string) {
	switch {
	case s.ctx.Err() != nil:
		return "Tool execution aborted", "aborted"
	case c.tool == "no_such_tool":
		return "Tool 'no_such_tool' is not available.", "validation"
	case s.excluded(c.tool):
		return "Tool '" + c.tool + "' was denied by the permission policy.", "authorization"
	case s.manner == "hasty":
		return "", ""
	}
	s.tell("hook.preTool", object{"toolId": c.id, "toolName": c.tool, "args": c.args})
	answer, refused := s.hook("pre-tool", object{"tool_name": c.tool, "tool_use_id": c.id,
		"tool_input": c.args})
	if refused != "" {
		return refused, "authorization"
	}
	maps.Copy(c.args, answer.UpdatedInput)
	if !s.unrestricted && (answer.Decision == "ask" || answer.Decision == "" && asks[c.tool]) {
		s.tell("hook.permissionRequest", object{"tool": c.tool})
		if !s.permitted("perm", object{"tool": c.tool, "description": "Allow it?",
			"context": object{"command": c.args["command"], "path": c.args["path"]}}) {
			return "Tool execution skipped by user.", "authorization"
		}
	}
	return "", ""
}

// permitted asks webchat and waits for its answer.
func (s *stage) permitted(kind string, question object) bool {
	id := s.fresh(kind)
	question["requestId"] = id
	got := s.expect(id)
	s.tell("permissionRequest", question)
	select {
	case answer := <-got:
		var a struct{ Decision string }
		_ = json.Unmarshal(answer, &a)
		if a.Decision != "allow_once" && a.Decision != "deny_once" {
			panic("an answer that is kept: " + a.Decision)
		}
		return a.Decision == "allow_once"
	case <-s.ctx.Done():
		return false
	}
}

func (s *stage) execute(c toolCall) object {
	if name, ok := strings.CutPrefix(c.tool, "mcp__webchat__"); ok {
		return s.lent(c, name)
	}
	args := maps.Clone(c.args)
	args["type"] = c.tool
	s.tell("toolStart", object{"toolId": c.id, "toolName": c.tool, "args": args})
	output, success := "\x1b[32mdone\x1b[0m", true
	switch c.tool {
	case "write_file":
		s.hold(fmt.Sprint(c.args["path"]), fmt.Sprint(c.args["contents"]))
	case "run_command":
		output, success = s.command(c)
	}
	if c.after != nil {
		<-c.after
	}
	s.tell("hook.postTool", object{"toolId": c.id, "toolName": c.tool, "success": success,
		"duration": 3})
	s.hook("post-tool", object{"tool_name": c.tool, "tool_use_id": c.id, "tool_input": c.args,
		"tool_response": output, "tool_success": success})
	end := object{"toolId": c.id, "toolName": c.tool, "success": success}
	result := object{"tool": c.tool, "success": success}
	if success {
		end["output"], result["output"] = output, output
	} else {
		end["error"], result["error"], result["kind"] = output, output, "operational"
	}
	s.tell("toolEnd", end)
	if c.ends != nil {
		close(c.ends)
	}
	return result
}

func (s *stage) command(c toolCall) (string, bool) {
	cmd := exec.Command("sh", "-c", fmt.Sprint(c.args["command"]))
	cmd.Dir = s.workspace
	if c.args["background"] == true {
		if err := cmd.Start(); err != nil {
			return err.Error(), false
		}
		return fmt.Sprintf("Started with PID %d", cmd.Process.Pid), true
	}
	out, err := cmd.Output()
	return string(out), err == nil
}

// hold keeps a write back until it is decided.
func (s *stage) hold(name, content string) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.workspace, name)
	}
	old, _ := os.ReadFile(name)
	s.mu.Lock()
	s.writes[name] = content
	id := s.batchID
	s.mu.Unlock()
	s.tell("changesBatchUpdate", object{"batchId": id,
		"change": object{"id": "change_1", "filePath": name, "changeType": "create",
			"originalContent": string(old), "proposedContent": content, "toolId": "", "toolName": ""}})
	s.tell("hook.fileModified", object{"filePath": name})
}

// lent calls one of webchat's tools.
func (s *stage) lent(c toolCall, name string) object {
	s.tell("toolStart", object{"toolId": c.id, "toolName": c.tool, "args": c.args})
	res, err := s.tools.CallTool(s.ctx, &mcp.CallToolParams{Name: name, Arguments: c.args})
	if err != nil || len(res.Content) == 0 {
		s.tell("toolEnd", object{"toolId": c.id, "toolName": c.tool, "success": false,
			"error": fmt.Sprint(err)})
		return object{"tool": c.tool, "success": false, "kind": "operational", "error": fmt.Sprint(err)}
	}
	out, _ := json.Marshal(res)
	s.tell("toolEnd", object{"toolId": c.id, "toolName": c.tool, "success": true,
		"output": string(out)})
	return object{"tool": c.tool, "success": true, "output": string(out)}
}

func (s *stage) directory(path string) {
	id := s.fresh("dir")
	got := s.expect(id)
	s.tell("toolStart", object{"toolId": "call_0", "toolName": "request_directory_access",
		"args": object{"path": path}})
	s.tell("directoryAccessRequest", object{"requestId": id, "path": path, "reason": "to look"})
	granted := false
	select {
	case answer := <-got:
		var a struct{ Granted bool }
		_ = json.Unmarshal(answer, &a)
		granted = a.Granted
	case <-s.ctx.Done():
	}
	s.tell("toolEnd", object{"toolId": "call_0", "toolName": "request_directory_access",
		"success": granted, "output": fmt.Sprint("granted ", granted)})
}

// helper is a helper agent, whose calls only hooks report.
func (s *stage) helper() {
	c := toolCall{id: "helper_1", tool: "run_command", args: object{"command": "echo help"}}
	if why, _ := s.authorize(&c); why == "" {
		out, ok := s.command(c)
		s.hook("post-tool", object{"tool_name": c.tool, "tool_use_id": c.id, "tool_input": c.args,
			"tool_response": out, "tool_success": ok})
	}
	s.tell("hook.subagentStop", object{"subagentId": "1"})
}

// late asks for permission and no longer waits for the answer.
func (s *stage) late() {
	id := s.fresh("perm")
	s.tell("permissionRequest", object{"requestId": id, "tool": "run_command",
		"description": "Allow it?", "context": object{"command": "date"}})
	s.step("", toolCall{tool: "fff_grep", args: object{"query": "x"}})
}

// fails is a provider that fails: the CLI reports it four times.
func (s *stage) fails(why string) {
	s.tell("hook.sessionError", object{"error": why, "code": "rate_limited"})
	s.tell("hook.rateLimit", object{"retryAfterMs": 1000})
	s.tell("hook.sessionError", object{"error": why})
	s.tell("messageUpdate", object{"messageId": s.msg, "delta": "❌ " + why})
	s.tell("error", object{"code": 429, "message": why, "errorType": "rate_limit",
		"recoverable": true})
}
