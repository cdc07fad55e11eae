// Package acptest plays an agent that speaks the Agent Client Protocol, with the manners
// that were recorded from six real ones, for tests: a program of theirs calls [Main] and
// is the agent then. It reaches the tools that are lent to it, and does what a prompt
// says instead of asking a model.
//
// A process is one agent; nothing of this package is for use by goroutines.
//
//	if manner := os.Getenv("ACP_STANDIN"); manner != "" {
//		acptest.Main(manner)
//	}
package acptest

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type object = map[string]any

// standIn plays the recorded manners of agents.
type standIn struct {
	manner string
	id     string // of the conversation
	// prompted is the id of the prompt that is worked on.
	prompted json.RawMessage
	signedIn bool
	offered  []byte // what webchat says in initialize that it can do

	mu      sync.Mutex // guards what follows
	tools   *mcp.ClientSession
	cancel  context.CancelFunc // of the running turn
	chosen  map[string]string
	asked   int
	answers map[string]chan message
}

type message struct {
	ID     json.RawMessage    `json:"id,omitempty"`
	Method string             `json:"method,omitempty"`
	Params json.RawMessage    `json:"params,omitempty"`
	Result json.RawMessage    `json:"result,omitempty"`
	Error  struct{ Code int } `json:"error,omitzero"`
}

func (a *standIn) send(v object) {
	v["jsonrpc"] = "2.0"
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, _ = os.Stdout.Write(append(b, '\n')) // webchat may have gone
}

func (a *standIn) update(kind string, more object) {
	more["sessionUpdate"] = kind
	a.send(object{"method": "session/update", "params": object{"sessionId": a.id, "update": more}})
}

func (a *standIn) say(text string) {
	a.update("agent_message_chunk", object{"content": object{"type": "text", "text": text}})
}

// ask asks webchat and waits for the answer; nil if it is an error.
func (a *standIn) ask(ctx context.Context, method string, params object) json.RawMessage {
	return a.request(ctx, method, params).Result
}

func (a *standIn) request(ctx context.Context, method string, params object) (answer message) {
	a.mu.Lock()
	a.asked++
	id := fmt.Sprint("q", a.asked)
	got := make(chan message, 1)
	a.answers[id] = got
	a.mu.Unlock()
	a.send(object{"id": id, "method": method, "params": params})
	if a.manner == "gemini" { // never goes on without its answer
		return <-got
	}
	select {
	case answer = <-got:
	case <-ctx.Done():
	}
	return answer
}

// Main is the agent on standard input and output. Manners are polite, options, banner,
// stubborn, gemini and codex. A file that ACP_OFFERED names gets the tools that its model
// is offered.
func Main(manner string) {
	a := &standIn{manner: manner, answers: map[string]chan message{},
		chosen: map[string]string{"mode": "wild", "model": "small", "effort": "default",
			"allow_all": "off"}}
	if a.manner == "stubborn" || a.manner == "forgetful" {
		signal.Ignore(syscall.SIGTERM)
	}
	if a.manner == "banner" {
		fmt.Println("\x1b[1mWelcome!\x1b[0m this is not JSON")
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var m message
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		a.take(m)
	}
	if a.manner == "stubborn" {
		time.Sleep(time.Hour) // it does not end when it should; without C, Go would end a bare select
	}
	a.mu.Lock()
	tools := a.tools
	a.mu.Unlock()
	if tools != nil {
		_ = tools.Close()
	}
}

func (a *standIn) take(m message) {
	switch m.Method {
	case "":
		var id string
		_ = json.Unmarshal(m.ID, &id)
		a.mu.Lock()
		if got := a.answers[id]; got != nil {
			got <- m
			delete(a.answers, id)
		}
		a.mu.Unlock()
	case "session/cancel":
		a.mu.Lock()
		cancel := a.cancel
		a.mu.Unlock()
		if cancel != nil && a.manner != "stubborn" && a.manner != "forgetful" {
			cancel()
		}
	case "session/prompt":
		var p struct{ Prompt []struct{ Text string } }
		_ = json.Unmarshal(m.Params, &p)
		ctx, cancel := context.WithCancel(context.Background())
		a.mu.Lock()
		a.cancel = cancel
		a.mu.Unlock()
		go func() {
			defer cancel()
			a.prompt(ctx, m.ID, strings.TrimSpace(p.Prompt[0].Text))
		}()
	default:
		a.manage(m)
	}
}

func (a *standIn) manage(m message) {
	reply := func(result object) { a.send(object{"id": m.ID, "result": result}) }
	switch m.Method {
	case "initialize":
		var p struct{ ClientCapabilities json.RawMessage }
		_ = json.Unmarshal(m.Params, &p)
		a.offered = p.ClientCapabilities
		version := map[string]int{"newer": 2}[a.manner]
		reply(object{"protocolVersion": max(1, version),
			"agentInfo": object{"name": "stand-in", "version": "1.2.3"},
			"agentCapabilities": object{"loadSession": true,
				"sessionCapabilities": object{"delete": object{}}, "mcpCapabilities": object{"http": true},
				"promptCapabilities": object{"image": true}}})
	case "authenticate":
		a.signedIn = strings.Contains(string(m.Params), `"the-key"`)
		reply(object{})
	case "session/new", "session/load":
		if a.manner == "locked" && !a.signedIn {
			a.send(object{"id": m.ID, "error": object{"code": -32000, "message": "Authentication required"}})
			return
		}
		var p struct {
			SessionID  string `json:"sessionId"`
			MCPServers []struct {
				URL     string
				Headers []struct{ Name, Value string }
			}
		}
		_ = json.Unmarshal(m.Params, &p)
		if p.SessionID == "gone" || p.SessionID != "" && a.manner == "forgetful" {
			a.send(object{"id": m.ID, "error": object{"code": -32603, "message": "no rollout found"}})
			return
		}
		if a.id = "conversation-1"; a.manner == "nameless" {
			a.id = ""
		}
		if m.Method == "session/load" {
			a.id = p.SessionID
			a.update("user_message_chunk", object{"content": object{"type": "text", "text": "replayed"}})
			a.say("replayed")
		}
		if a.manner == "apart" { // it does not reach them, and reports nothing
			reply(a.offer(object{"sessionId": a.id}))
			return
		}
		if err := a.connect(p.MCPServers[0].URL, p.MCPServers[0].Headers[0].Name,
			p.MCPServers[0].Headers[0].Value); err != nil {
			a.send(object{"id": m.ID, "error": object{"code": -32603, "message": err.Error()}})
			return
		}
		reply(a.offer(object{"sessionId": a.id}))
		a.update("available_commands_update", object{"availableCommands": []any{object{"name": "compact",
			"description": "Sum it up.",
			"input":       object{"hint": "what to keep"}}, object{"name": "allow-all", "input": nil}}})
	case "session/set_mode", "session/set_model", "session/set_config_option":
		var p struct{ ModeID, ModelID, ConfigID, Value string }
		_ = json.Unmarshal(m.Params, &p)
		a.mu.Lock()
		a.chosen[cmp.Or(p.ConfigID, map[bool]string{
			true:  "mode",
			false: "model",
		}[p.ModeID != ""])] = p.Value + p.ModeID + p.ModelID
		a.mu.Unlock()
		if p.ModeID != "" {
			// before the answer, as some do
			a.update("current_mode_update", object{"currentModeId": p.ModeID})
		}
		reply(a.offer(object{}))
	case "session/delete":
		reply(object{})
		_ = os.WriteFile(os.Getenv("ACP_OFFERED")+".deleted", m.Params, 0o600)
	default:
		a.send(object{"id": m.ID, "error": object{"code": -32601, "message": "no such method"}})
	}
}

// offer adds what may be chosen: as options, or as modes and models.
func (a *standIn) offer(to object) object {
	a.mu.Lock()
	defer a.mu.Unlock()
	modes := []any{object{"id": "wild", "name": "Wild"},
		object{"id": "https://modes.example#ask", "name": "Ask"},
		object{"id": "https://modes.example#plan", "name": "Plan"}}
	if a.manner != "options" {
		if to["sessionId"] != nil {
			to["modes"] = object{"currentModeId": a.chosen["mode"], "availableModes": modes}
			to["models"] = object{"currentModelId": a.chosen["model"],
				"availableModels": []any{object{"modelId": "small", "name": "Small"},
					object{"modelId": "large"}}}
		}
		return to
	}
	of := func(id, category string, values ...string) object {
		var list []any
		for _, v := range values {
			list = append(list, object{"value": v, "name": v})
		}
		return object{"id": id, "category": category, "type": "select", "currentValue": a.chosen[id],
			"options": list}
	}
	models := of("model", "model", "small")
	models["options"] = []any{object{"group": "acme", "name": "Acme",
		"options": []any{object{"value": "small", "name": "Small"},
			object{"value": "large", "name": "Large"}}}}
	to["configOptions"] = []any{of("mode", "mode", "wild", "https://modes.example#ask",
		"https://modes.example#plan"), models,
		of("effort", "thought_level", "default", "high"), of("allow_all", "permissions", "on", "off"),
		object{"id": "fast", "category": "model_config", "type": "boolean", "currentValue": true}}
	return to
}

type withHeader struct{ name, value string }

func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(h.name, h.value)
	return http.DefaultTransport.RoundTrip(r)
}

// connect reaches the tools, and writes down which there are.
func (a *standIn) connect(url, name, value string) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "stand-in", Version: "1"}, nil)
	s, err := client.Connect(context.Background(),
		&mcp.StreamableClientTransport{
			Endpoint:   url,
			HTTPClient: &http.Client{Transport: withHeader{name, value}},
			MaxRetries: -1,
		},
		&mcp.ClientSessionOptions{ProtocolVersion: "2026-07-28"})
	if err != nil {
		return err
	}
	list, err := s.ListTools(context.Background(), nil)
	if err != nil {
		return err
	}
	var names []string
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	a.mu.Lock()
	a.tools = s
	a.mu.Unlock()
	if os.Getenv("ACP_OFFERED") == "" {
		return nil
	}
	return os.WriteFile(os.Getenv("ACP_OFFERED"), []byte(strings.Join(names, "\n")), 0o600)
}

// prompt works on a prompt and answers it.
func (a *standIn) prompt(ctx context.Context, id json.RawMessage, text string) {
	verb, rest, _ := strings.Cut(text, " ")
	a.prompted = id
	reason, failure := a.do(ctx, verb, rest)
	if failure != nil {
		a.send(object{"id": id, "error": failure})
		return
	}
	if ctx.Err() != nil {
		reason = "cancelled"
	}
	a.send(object{"id": id, "result": object{"stopReason": reason,
		"usage": object{"inputTokens": 100, "outputTokens": 7}}})
}

func (a *standIn) do(ctx context.Context, verb, rest string) (reason string, failure object) {
	switch verb {
	case "show":
		a.own(ctx, "render_file_contents", object{"path": rest})
	case "run":
		a.own(ctx, "run_and_display", object{"command": rest})
	case "write":
		return a.write(ctx, strings.Fields(rest)...), nil
	case "talk":
		for i := 0; ctx.Err() == nil; i++ {
			a.say(fmt.Sprintf("word %d ", i))
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	default:
		if f := manners[verb]; f != nil {
			return f(a, ctx, rest)
		}
		for _, w := range []string{"I ", "heard ", "you", "."} {
			a.say(w)
		}
	}
	return "end_turn", nil
}

// own calls a tool of webchat's over MCP, as agents do that do not ask about it.
func (a *standIn) own(ctx context.Context, tool string, args object) {
	begun := object{"toolCallId": "own-1", "title": "mcp__webchat__" + tool, "kind": "other",
		"status": "pending"}
	a.update("tool_call", begun)
	res, err := a.tools.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil || len(res.Content) == 0 {
		return
	}
	text := res.Content[0].(*mcp.TextContent).Text
	a.update("tool_call_update", object{"toolCallId": "own-1", "status": "completed",
		"content": []any{content(text)}})
	a.say("It said: " + text)
}

func content(text string) object {
	return object{"type": "content", "content": object{"type": "text", "text": text}}
}

// options have ids that say nothing, and two of one kind.
var options = []any{
	object{"optionId": "proceed_always_server", "name": "Always, server", "kind": "allow_always"},
	object{"optionId": "proceed_always_tool", "name": "Always, tool", "kind": "allow_always"},
	object{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
	object{"optionId": "cancel", "name": "No", "kind": "reject_once"},
}

// write creates files by the agent's own means, in one call.
func (a *standIn) write(ctx context.Context, paths ...string) string {
	var locations, diffs []any
	for _, path := range paths {
		locations = append(locations, object{"path": path})
		diffs = append(diffs, object{"type": "diff", "path": path, "oldText": nil, "newText": "new\n"})
	}
	call := object{"toolCallId": "write-1", "title": "Write " + paths[0], "kind": "edit",
		"status": "pending", "rawInput": object{"path": paths[0]},
		"locations": locations, "content": diffs}
	if a.manner != "gemini" { // which reports calls only when they were allowed
		a.update("tool_call", call)
	}
	got := a.outcome(ctx, call)
	if got.OptionID != "yes" && a.manner == "codex" {
		return "cancelled" // with no word about the call
	}
	if got.OptionID != "yes" {
		if a.manner != "gemini" {
			a.update("tool_call_update", object{"toolCallId": "write-1", "status": "failed",
				"content": []any{content("denied")}})
		}
		a.say("It was not allowed: " + got.Outcome + " " + got.OptionID)
		return "end_turn"
	}
	status := "completed"
	for _, path := range paths {
		if err := os.WriteFile(path, []byte("new\n"), 0o600); err != nil {
			status = "failed"
		}
	}
	a.update("tool_call_update", object{"toolCallId": "write-1", "status": status, "content": []any{}})
	a.say("Written.")
	return "end_turn"
}

type outcome struct{ Outcome, OptionID string }

// outcome asks about a call.
func (a *standIn) outcome(ctx context.Context, call object) outcome {
	var got struct{ Outcome outcome }
	_ = json.Unmarshal(a.ask(ctx, "session/request_permission",
		object{"sessionId": a.id, "toolCall": call, "options": options}), &got)
	return got.Outcome
}

// does asks about a call of the agent's own, and shows its text if that is allowed.
func (a *standIn) does(ctx context.Context, call object,
	text func() string) (reason string, failure object) {
	a.update("tool_call", call)
	end := object{"toolCallId": call["toolCallId"], "status": "failed"}
	if a.outcome(ctx, call).OptionID == "yes" {
		end = object{"toolCallId": call["toolCallId"], "status": "completed",
			"content": []any{content(text())}}
	}
	a.update("tool_call_update", end)
	a.say("Done.")
	return "end_turn", nil
}
