package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// toy is a backend that obeys, but for its one fault.
type toy struct {
	fault   string
	release chan struct{} // lets what hangs on purpose go
	offered []string
	n       atomic.Int64 // ids: unique in a session, which may be resumed
}

func newToy(t testing.TB, fault string) (*toy, Options) {
	b := &toy{fault: fault, release: make(chan struct{})}
	t.Cleanup(func() { close(b.release) })
	return b, Options{
		Show:    func(path string) string { return "show " + path },
		Run:     func(command string) string { return "run " + command },
		Answer:  "hello",
		Talk:    "talk",
		Ask:     "ask",
		Write:   func(path string) string { return "write " + path },
		Leave:   func(command string) string { return "leave " + command },
		Stray:   "stray",
		Offered: func(testing.TB) []string { return b.offered },
	}
}

func (b *toy) Name() string {
	if b.fault == "bad name" {
		return "Toy Backend"
	}
	return "toy"
}

func (b *toy) Info(context.Context) agent.Info {
	i := agent.Info{Available: b.fault != "unavailable", Intercept: agent.InterceptAll, CanResume: b.fault != "resume denied"}
	if b.fault == "bad intercept" {
		i.Intercept = "some"
	}
	return i
}

func (b *toy) Models(context.Context) ([]agent.Model, error) {
	if b.fault == "bad model" {
		return []agent.Model{{Name: "x"}}, nil
	}
	return []agent.Model{{ID: "m", Name: "M"}}, nil
}

func (b *toy) Open(_ context.Context, o agent.Options, h agent.Host) (agent.Conn, error) {
	if b.fault == "resume broken" && o.Resume {
		return nil, agent.ErrUnsupported
	}
	b.offered = nil
	for _, t := range o.Tools {
		b.offered = append(b.offered, t.Name)
	}
	switch b.fault {
	case "offers view":
		b.offered = append(b.offered, "view")
	case "offers too little":
		b.offered = b.offered[1:]
	}
	c := &toyConn{toy: b, host: h, life: make(chan struct{})}
	if b.fault == "leaks" {
		go func() { <-b.release }()
	}
	return c, nil
}

type toyConn struct {
	*toy
	host agent.Host

	mu     sync.Mutex // guards closed and dead
	closed bool
	dead   bool
	life   chan struct{}
	turns  sync.WaitGroup
	tasks  map[string]func(event.Outcome) // guarded by mu
	mode   string                         // guarded by mu
}

func (c *toyConn) Choices() agent.Choices {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := agent.Choices{Mode: c.mode, Modes: []agent.Mode{{ID: "ask", Name: "Ask"}, {ID: "plan", Name: "Plan"}, {ID: "wild", Name: "Wild", Unasked: true}},
		Efforts: []agent.Effort{{ID: "high", Name: "High"}}, Commands: []agent.Command{{Name: "compact"}}}
	switch c.fault {
	case "nameless mode":
		all.Modes[0].Name = ""
	case "strange mode":
		all.Mode = "other"
	case "slashed command":
		all.Commands[0].Name = "/compact"
	}
	return all
}

func (c *toyConn) SetMode(_ context.Context, id string) error {
	if id == "wild" && c.fault != "stops asking" || id == "no-such-mode" && c.fault != "takes any mode" {
		return agent.ErrUnsupported
	}
	if c.fault == "tells a choice" {
		_ = c.host.Report(context.Background(), event.SessionModeChanged{Mode: id})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault != "keeps its mode" {
		c.mode = id
	}
	return nil
}

func (c *toyConn) SetEffort(_ context.Context, id string) error {
	if id != "high" {
		return agent.ErrUnsupported
	}
	return nil
}

// leave starts a task.
func (c *toyConn) leave(ctx context.Context, title string) error {
	if c.fault == "task without a title" {
		title = ""
	}
	id := c.id()
	if err := c.host.Report(ctx, event.TaskStarted{TaskID: id, Kind: event.ShellTask, Title: title}); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tasks == nil {
		c.tasks = map[string]func(event.Outcome){}
	}
	c.tasks[id] = func(how event.Outcome) {
		_ = c.host.Report(context.Background(), event.TaskCompleted{TaskID: id, Outcome: how})
	}
	return nil
}

func (c *toyConn) AbortTask(_ context.Context, id string) error {
	c.mu.Lock()
	end := c.tasks[id]
	delete(c.tasks, id)
	c.mu.Unlock()
	if end != nil {
		end(event.Aborted)
	}
	return nil
}

// endTasks ends all.
func (c *toyConn) endTasks(how event.Outcome) {
	c.mu.Lock()
	all := c.tasks
	c.tasks = nil
	c.mu.Unlock()
	for _, end := range all {
		end(how)
	}
}

func (c *toyConn) id() string { return fmt.Sprintf("id%d", c.n.Add(1)) }

func (c *toyConn) Prompt(ctx context.Context, p agent.Prompt) error {
	c.mu.Lock()
	if c.closed || c.dead {
		c.mu.Unlock()
		if c.fault == "prompt after close" {
			return nil
		}
		return errors.New("closed")
	}
	c.turns.Add(1)
	c.mu.Unlock()
	defer c.turns.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	c.turns.Go(func() {
		select {
		case <-c.life:
			cancel()
		case <-stop:
		}
	})
	err := c.turn(ctx, p.Content)
	if c.fault == "late report" {
		c.turns.Go(func() {
			_ = c.host.(*Host).Wait(context.Background(), func(h *Host) bool { return !h.isPrompting() })
			_ = c.host.Report(context.Background(), event.AssistantTurnStart{TurnID: "late"})
		})
	}
	if ctx.Err() != nil {
		if c.fault == "stop ends tasks" {
			c.endTasks(event.Aborted)
		}
		c.mu.Lock()
		c.dead = c.fault == "dead after abort"
		c.mu.Unlock()
		if c.fault == "hides abort" || c.fault == "does not talk" { // the latter's turn may be aborted just before it ends
			return nil
		}
		if c.fault == "hangs on abort" {
			<-c.release
		}
		return ctx.Err()
	}
	return err
}

func (h *Host) isPrompting() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.prompting
}

func (h *Host) isClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

func (c *toyConn) turn(ctx context.Context, content string) error {
	turn := c.id()
	verb, rest, _ := strings.Cut(content, " ")
	err := c.host.Report(ctx, event.AssistantTurnStart{TurnID: turn})
	if c.fault == "forbidden event" {
		_ = c.host.Report(ctx, event.UserMessage{MessageID: "x", Content: "x"})
	}
	if c.fault == "nested step" {
		_ = c.host.Report(ctx, event.AssistantTurnStart{TurnID: "inner"})
	}
	if err == nil {
		err = c.act(ctx, verb, rest)
	}
	if err == nil && c.fault != "open step" {
		err = c.host.Report(ctx, event.AssistantTurnEnd{TurnID: turn})
	}
	return err
}

func (c *toyConn) act(ctx context.Context, verb, rest string) error {
	switch verb {
	case "show":
		return c.call(ctx, "render_file_contents", map[string]string{"path": rest})
	case "run":
		return c.call(ctx, "run_and_display", map[string]string{"command": rest})
	case "write":
		return c.write(ctx, rest)
	case "ask":
		a, err := c.host.AskUser(ctx, agent.Question{Question: "which?", AllowFreeform: true})
		if err != nil {
			return err
		}
		if c.fault == "deaf" {
			a.Text = ""
		}
		return c.say(ctx, "you", "said", a.Text)
	case "talk":
		return c.talk(ctx)
	case "stray":
		if c.fault != "hides a mode" {
			if err := c.host.Report(ctx, event.SessionModeChanged{Mode: "ask"}); err != nil {
				return err
			}
		}
	case "leave":
		if err := c.leave(ctx, rest); err != nil {
			return err
		}
		if c.fault == "waits for tasks" {
			<-c.release
		}
	}
	return c.say(ctx, "hello", " wörld", "!")
}

func (c *toyConn) call(ctx context.Context, name string, args map[string]string) error {
	b, _ := json.Marshal(args)
	call := agent.ToolCall{ID: c.id(), Name: name, Arguments: b}
	switch {
	case c.fault == "calls view" && args["path"] != "":
		call.Name = "view"
	case c.fault == "wrong file" && args["path"] != "":
		call.Arguments = json.RawMessage(`{"path":"README.md"}`)
	case c.fault == "wrong command" && args["command"] != "":
		call.Arguments = json.RawMessage(`{"command":"go env"}`)
	case c.fault == "runs by itself" && args["command"] != "":
		f, err := os.Create(strings.TrimPrefix(args["command"], "touch "))
		if err == nil {
			f.Close()
		}
	}
	if c.fault == "call detached" {
		ctx = context.WithoutCancel(ctx)
	}
	if _, err := c.host.CallTool(ctx, call); err != nil {
		return err
	}
	if c.fault == "same id" {
		_, _ = c.host.CallTool(ctx, call)
	}
	if c.fault == "completes a call" {
		_ = c.host.Report(ctx, event.ToolExecutionComplete{ToolCallID: call.ID, Success: true, Result: &event.ToolResult{}})
	}
	if c.fault == "silent" {
		return nil
	}
	return c.say(ctx, "done")
}

// write acts by the agent's own means.
func (c *toyConn) write(ctx context.Context, path string) error {
	id := c.id()
	create := func() { _ = os.WriteFile(path, nil, 0o600) }
	if c.fault == "progress first" {
		_ = c.host.Report(ctx, event.ToolExecutionProgress{ToolCallID: id})
	}
	err := c.host.Report(ctx, event.ToolExecutionStart{ToolCallID: id, ToolName: "write", Arguments: json.RawMessage(`{}`)})
	if err != nil {
		return err
	}
	switch c.fault {
	case "starts twice":
		_ = c.host.Report(ctx, event.ToolExecutionStart{ToolCallID: id, ToolName: "write"})
	case "acts first":
		create()
	case "never asks":
		create()
		return c.complete(ctx, id, true)
	}
	ask := agent.Permission{ToolCallID: id, ToolName: "write", Kind: agent.KindWrite, Action: "write a file", Resource: path}
	if c.fault == "asks vaguely" {
		ask.Resource = ""
	}
	v, err := c.host.AskPermission(ctx, ask)
	if err != nil {
		v.Decision = event.Deny
	}
	allowed := v.Decision == event.Allow
	if allowed || c.fault == "acts though denied" {
		create()
	}
	return c.complete(ctx, id, allowed)
}

func (c *toyConn) complete(ctx context.Context, id string, ok bool) error {
	d := event.ToolExecutionComplete{ToolCallID: id, Success: ok}
	if ok {
		d.Result = &event.ToolResult{Content: "written"}
	} else {
		d.Error = &event.ToolError{Message: "denied", Code: "denied"}
	}
	if c.fault == "success and error" {
		d.Result, d.Error = &event.ToolResult{}, &event.ToolError{}
	}
	if c.fault != "no completion on abort" || ctx.Err() == nil {
		// The completion is owed even if the turn was stopped meanwhile.
		if err := c.host.Report(context.WithoutCancel(ctx), d); err != nil {
			return err
		}
	}
	if c.fault == "completes twice" {
		_ = c.host.Report(ctx, d)
	}
	return c.say(ctx, "done")
}

func (c *toyConn) say(ctx context.Context, pieces ...string) error {
	id, all := c.id(), ""
	if c.fault == "cut rune" {
		pieces = []string{"w\xc3", "\xb6rld"}
	}
	for _, p := range pieces {
		at := int64(len(all))
		if c.fault == "offset in runes" {
			at = int64(len([]rune(all)))
		}
		if c.fault == "no offset" {
			at = 0
		}
		if err := c.host.Report(ctx, event.AssistantMessageDelta{MessageID: id, Offset: at, DeltaContent: p}); err != nil {
			return err
		}
		all += p
	}
	m := event.AssistantMessage{MessageID: id, Content: all}
	switch c.fault {
	case "other whole":
		m.Content += " "
	case "no whole":
		return nil
	case "whole twice":
		_ = c.host.Report(ctx, m)
	}
	err := c.host.Report(ctx, m)
	if c.fault == "delta after whole" {
		_ = c.host.Report(ctx, event.AssistantMessageDelta{MessageID: id, Offset: int64(len(all)), DeltaContent: "x"})
	}
	return err
}

// talk streams one word, waits to be stopped, and says no more.
func (c *toyConn) talk(ctx context.Context) error {
	if err := c.host.Report(ctx, event.AssistantMessageDelta{MessageID: c.id(), DeltaContent: "well"}); err != nil {
		return err
	}
	if c.fault == "does not talk" {
		return nil
	}
	if c.fault == "ignores abort" {
		<-c.release
	}
	<-ctx.Done()
	return ctx.Err()
}

func (c *toyConn) Steer(context.Context, agent.Prompt) error {
	if c.fault == "steer fails" {
		return errors.New("cannot")
	}
	return agent.ErrUnsupported
}

func (c *toyConn) SetModel(context.Context, string) error { return nil }
func (c *toyConn) SetTitle(context.Context, string) error { return nil }

func (c *toyConn) Close() error {
	c.mu.Lock()
	again := c.closed
	c.closed = true
	if !again {
		close(c.life)
	}
	c.mu.Unlock()
	if again && c.fault == "close once" {
		return errors.New("closed already")
	}
	if c.fault == "close hangs" {
		<-c.release
	}
	c.turns.Wait()
	if c.fault != "keeps tasks" {
		c.endTasks(event.Interrupted)
	}
	if c.fault == "host after close" {
		go func() {
			h := c.host.(*Host)
			_ = h.Wait(context.Background(), func(h *Host) bool { return h.isClosed() })
			_ = h.Report(context.Background(), event.SessionError{Message: "late"})
		}()
	}
	return nil
}
