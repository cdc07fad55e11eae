// Package autohandtest plays Autohand CLI 0.8.2 as it was recorded, for tests: a program
// of theirs calls [Main] and is the CLI then. It reads its settings, reaches the tools
// that are lent to it, runs its hooks by a shell, holds back what it writes, and does
// what a prompt says instead of asking a model.
//
// A process is one CLI; nothing of this package is for use by goroutines.
//
//	if manner := os.Getenv("AUTOHAND_STANDIN"); manner != "" {
//		autohandtest.Main(manner)
//	}
package autohandtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type object = map[string]any

// cli plays Autohand CLI 0.8.2 as it was recorded.
type cli struct {
	manner    string
	workspace string
	state     string
	config    struct {
		Auth            struct{ Token string }
		CustomProviders map[string]struct{ BaseURL string }
		Hooks           struct {
			Enabled bool
			Hooks   []struct{ Event, Command string }
		}
		Permissions struct{ ExcludedTools []struct{ Kind string } }
		MCP         struct {
			Servers []struct {
				Name, Transport, URL string
				Headers              map[string]string
			}
		}
	}
	tools  *mcp.ClientSession
	offers []string // names of tools the model is offered

	unrestricted bool

	mu      sync.Mutex // guards what follows
	id      string     // of the stored session
	turn    context.CancelFunc
	stuck   bool
	n       int
	waiting map[string]chan json.RawMessage // by the id of a question or a step
	acked   map[string]bool
	batchID string
	writes  map[string]string // that are held back
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func (a *cli) send(v object) {
	v["jsonrpc"] = "2.0"
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	before := ""
	if a.manner == "escapes" {
		before = "\x1b[2J\x1b[H"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, _ = os.Stdout.WriteString(before + string(b) + "\n") // webchat may have gone
}

func (a *cli) tell(method string, params object) {
	params["timestamp"] = "2026-01-01T00:00:00.000Z"
	a.send(object{"method": "autohand." + method, "params": params})
}

func (a *cli) fresh(kind string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.n++
	return fmt.Sprint(kind, "_", a.n)
}

// expect makes a place for the answer to a question.
func (a *cli) expect(id string) chan json.RawMessage {
	got := make(chan json.RawMessage, 1)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting[id] = got
	return got
}

// Main is the CLI on standard input and output. Manners are polite, escapes, broken, dies, stuck
// and refuses; modelled, which asks the model of its settings what to do, and hasty, which does so
// and asks neither hooks nor users before it acts. A file that AUTOHAND_OFFERED names gets the
// tools that its model is offered.
func Main(manner string) {
	a := &cli{
		manner:  manner,
		waiting: map[string]chan json.RawMessage{},
		acked:   map[string]bool{},
		writes:  map[string]string{},
		state:   os.Getenv("AUTOHAND_HOME"),
	}
	config := ""
	for i, arg := range os.Args {
		switch arg {
		case "--version":
			fmt.Println("0.8.2 (stand-in)")
			return
		case "--config":
			config = os.Args[i+1]
		case "--path":
			a.workspace = os.Args[i+1]
		}
	}
	text, err := os.ReadFile(config)
	if err != nil || json.Unmarshal(text, &a.config) != nil {
		panic(fmt.Sprint("no settings: ", err))
	}
	a.local()
	for _, name := range []string{"tools", "memory/events"} {
		// a workspace that cannot be written has none
		_ = os.MkdirAll(filepath.Join(a.workspace, ".autohand", name), 0o755)
	}
	_ = os.WriteFile(filepath.Join(a.workspace, ".autohand", "memory", "index.json"), []byte("{}"),
		0o600)
	fail := func(code int, why string) {
		a.send(object{"error": object{"code": code, "message": why, "data": object{"stage": "startup"}},
			"id": nil})
		os.Exit(1)
	}
	switch {
	case a.config.Auth.Token == "":
		fail(-32011, "Authentication required")
	case manner == "broken":
		fail(-32603, "Workspace is not safe.")
	case manner == "dies":
		fmt.Fprintln(os.Stderr, "cannot find module")
		os.Exit(1)
	}
	if err := a.connect(); err != nil {
		fail(-32603, err.Error())
	}
	a.id = fmt.Sprintf("00000000-%d", os.Getpid())
	_ = os.MkdirAll(filepath.Join(a.state, "sessions", a.id), 0o700)
	a.tell("agentStart", object{"sessionId": "session_1_2", "model": "fake", "workspace": a.workspace,
		"contextPercent": 100})
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var m message
		if json.Unmarshal(line, &m) == nil {
			a.take(m)
		}
	}
	a.tell("agentEnd", object{"sessionId": "session_1_2", "reason": "aborted"})
	a.mu.Lock()
	stuck := a.stuck
	a.mu.Unlock()
	if stuck {
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Hour) // without C, Go would end a bare select
	}
	os.Exit(0) // it does not tell the MCP server that it leaves
}

// local takes over what the CLI does of the settings in the workspace: they replace ours.
func (a *cli) local() {
	text, err := os.ReadFile(filepath.Join(a.workspace, ".autohand", "settings.local.json"))
	if err != nil {
		return
	}
	var s struct {
		Permissions struct {
			Mode          string
			ExcludedTools *[]struct{ Kind string }
		}
	}
	_ = json.Unmarshal(text, &s)
	a.unrestricted = s.Permissions.Mode == "unrestricted"
	if s.Permissions.ExcludedTools != nil {
		a.config.Permissions.ExcludedTools = *s.Permissions.ExcludedTools
	}
}

// wrapper is what the CLI writes around every prompt, as far as its filter of MCP tools
// looks at it.
const wrapper = "workspace: git status: recent files: options: instruction: "

// connect reaches the tools over MCP, and offers those that the filter selects: a word of
// their description has to be in the conversation.
func (a *cli) connect() error {
	s := a.config.MCP.Servers[0]
	client := mcp.NewClient(&mcp.Implementation{Name: "autohand", Version: "0.8.2"}, nil)
	session, err := client.Connect(context.Background(),
		&mcp.StreamableClientTransport{
			Endpoint:             s.URL,
			HTTPClient:           &http.Client{Transport: headers(s.Headers)},
			MaxRetries:           -1,
			DisableStandaloneSSE: true,
		}, nil)
	if err != nil {
		return err
	}
	list, err := session.ListTools(context.Background(), nil)
	if err != nil {
		return err
	}
	a.tools = session
	a.offers = []string{"read_file", "write_file", "run_command", "tool_search"}
	for _, t := range list.Tools {
		for word := range strings.FieldsFuncSeq(strings.ToLower(t.Description), func(r rune) bool {
			return r < 'a' || r > 'z'
		}) {
			if len(word) >= 5 && strings.Contains(wrapper, word) {
				a.offers = append(a.offers, t.Name)
				break
			}
		}
	}
	if name := os.Getenv("AUTOHAND_OFFERED"); name != "" {
		return os.WriteFile(name, []byte(strings.Join(a.offers, "\n")), 0o600)
	}
	return nil
}

type headers map[string]string

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range h {
		r.Header.Set(k, v)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func (a *cli) take(m message) {
	reply := func(result any) { a.send(object{"id": m.ID, "result": result}) }
	fail := func(why string) {
		a.send(object{"id": m.ID, "error": object{"code": -32603, "message": why}})
	}
	if string(m.ID) == "0" || string(m.ID) == "null" {
		panic("a request without a usable id")
	}
	var p struct {
		Message   string
		SessionID string `json:"sessionId"`
		StepID    string `json:"stepId"`
		RequestID string `json:"requestId"`
		BatchID   string `json:"batchId"`
		Action    string
		StopWhen  struct{ Mode string }
		Decision  string
		Granted   bool
		Images    []object
	}
	_ = json.Unmarshal(m.Params, &p)
	answered := func(id string) bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		got := a.waiting[id]
		if got != nil {
			got <- m.Params
			delete(a.waiting, id)
		}
		return got != nil
	}
	switch strings.TrimPrefix(m.Method, "autohand.") {
	case "prompt":
		if p.StopWhen.Mode != "host" {
			panic("the texts beside calls would be lost")
		}
		a.prompt(m, p.Message)
	case "abort":
		a.mu.Lock()
		cancel := a.turn
		stuck := a.stuck
		a.mu.Unlock()
		reply(object{"success": cancel != nil})
		if cancel != nil && !stuck {
			cancel()
		}
	case "stepDecision":
		reply(object{"success": answered(p.StepID)})
	case "permissionAcknowledged", "directoryAccessAcknowledged":
		a.mu.Lock()
		a.acked[p.RequestID] = true
		a.mu.Unlock()
		reply(object{"success": true})
	case "permissionResponse", "directoryAccessResponse":
		a.mu.Lock()
		acked := a.acked[p.RequestID]
		a.mu.Unlock()
		if !acked && !strings.HasPrefix(p.RequestID, "own") {
			panic("answered and never acknowledged")
		}
		reply(object{"success": answered(p.RequestID)})
	case "changesDecision":
		reply(a.decision(p.BatchID, p.Action))
	case "getState":
		reply(object{"status": "processing"})
	case "getHistory":
		entries, _ := os.ReadDir(filepath.Join(a.state, "sessions"))
		var all []object
		for _, e := range entries {
			all = append(all, object{"sessionId": e.Name()})
		}
		reply(object{"sessions": all, "currentPage": 1})
	case "session.attach":
		if _, err := os.Stat(filepath.Join(a.state, "sessions", p.SessionID)); err != nil ||
			p.SessionID == "" {
			fail("Session not found: " + p.SessionID)
			return
		}
		reply(object{"success": true, "sessionId": p.SessionID})
	default:
		a.send(object{"id": m.ID, "error": object{"code": -32601, "message": "Method not found"}})
	}
}

// prompt takes a prompt, one at a time.
func (a *cli) prompt(m message, text string) {
	ctx, cancel := context.WithCancel(context.Background())
	a.mu.Lock()
	busy := a.turn != nil
	if !busy {
		a.turn = cancel
	}
	clear(a.writes)
	a.mu.Unlock()
	if busy {
		cancel()
		a.send(object{"id": m.ID, "error": object{"code": -32603,
			"message": "Agent is already processing a request"}})
		return
	}
	a.send(object{"id": m.ID, "result": object{"success": true}})
	go func() {
		defer cancel()
		a.run(ctx, text)
	}()
}

// decision writes what was held back.
func (a *cli) decision(id, action string) object {
	a.mu.Lock()
	defer a.mu.Unlock()
	if id != a.batchID || a.manner == "refuses" {
		return object{"success": false, "appliedCount": 0,
			"errors": []object{{"changeId": "unknown", "error": "No space left."}}}
	}
	n := 0
	for name, content := range a.writes {
		if action == "accept_all" && os.WriteFile(name, []byte(content), 0o600) == nil {
			n++
		}
	}
	clear(a.writes)
	return object{"success": true, "appliedCount": n}
}

// run is one turn.
func (a *cli) run(ctx context.Context, text string) {
	turn, msg := a.fresh("turn"), a.fresh("msg")
	a.mu.Lock()
	a.batchID = fmt.Sprint("batch_", a.n)
	a.mu.Unlock()
	a.tell("turnStart", object{"turnId": turn})
	a.tell("messageStart", object{"messageId": msg, "role": "assistant"})
	a.tell("changesBatchStart", object{"batchId": a.batchID})
	a.tell("hook.prePrompt", object{"instruction": text})
	s := &stage{cli: a, ctx: ctx, msg: msg}
	if strings.HasPrefix(strings.TrimSpace(text), "/") || a.manner == "stuck" && text == "panel" {
		a.mu.Lock()
		a.stuck = true // a panel that waits for a key
		a.mu.Unlock()
		select {}
	}
	perform := s.perform
	if a.manner == "modelled" || a.manner == "hasty" {
		perform = s.obey
	}
	content := perform(strings.TrimPrefix(text, "\u200b"))
	end := object{"messageId": msg, "content": content}
	reason := "completed"
	if ctx.Err() != nil {
		end["aborted"], reason = true, "aborted"
	} else {
		if content != "" {
			a.tell("messageUpdate", object{"messageId": msg, "delta": content})
		}
		a.mu.Lock()
		n := len(a.writes)
		a.mu.Unlock()
		a.tell("changesBatchEnd", object{"batchId": a.batchID, "changeCount": n})
		a.tell("hook.stop", object{})
	}
	a.tell("messageEnd", end)
	a.mu.Lock()
	a.turn = nil
	a.mu.Unlock()
	a.tell("turnEnd", object{"turnId": turn, "reason": reason, "durationMs": 1, "tokensUsed": 240})
}

// hook runs the hooks of a moment as the CLI does, by a shell.
func (a *cli) hook(moment string, input object) (answer struct {
	Decision, Reason string
	UpdatedInput     object
}, refused string) {
	if !a.config.Hooks.Enabled {
		return answer, ""
	}
	input["hook_event_name"] = moment
	in, _ := json.Marshal(input)
	for _, h := range a.config.Hooks.Hooks {
		if h.Event != moment {
			continue
		}
		cmd := exec.Command("sh", "-c", h.Command)
		var stderr strings.Builder
		cmd.Stdin, cmd.Stderr, cmd.Dir = strings.NewReader(string(in)), &stderr, a.workspace
		out, err := cmd.Output()
		if err != nil {
			return answer, strings.TrimSpace(stderr.String())
		}
		_ = json.Unmarshal(out, &answer)
	}
	if answer.Decision == "deny" || answer.Decision == "block" {
		return answer, answer.Reason
	}
	return answer, ""
}

func (a *cli) excluded(tool string) bool {
	return slices.ContainsFunc(a.config.Permissions.ExcludedTools, func(t struct{ Kind string }) bool {
		return t.Kind == tool
	})
}
