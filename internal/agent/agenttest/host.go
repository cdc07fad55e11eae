package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// DisplayTools are specs of the three tools every agent is offered, as a Host
// without others takes them.
func DisplayTools() []agent.ToolSpec {
	schema := func(name string) json.RawMessage {
		return json.RawMessage(`{"type":"object","properties":{"` + name +
			`":{"type":"string"}},"required":["` + name + `"]}`)
	}
	return []agent.ToolSpec{
		{
			Name:        "render_file_contents",
			Description: "Show a file to the user.",
			Parameters:  schema("path"),
		},
		{
			Name:        "run_and_display",
			Description: "Run a command and show its output to the user.",
			Parameters:  schema("command"),
		},
		{Name: "display_image", Description: "Show an image to the user.", Parameters: schema("path")},
	}
}

// Host implements [agent.Host]: it records everything, does nothing, and notes
// each broken rule. Set its funcs before a Conn has it.
type Host struct {
	// Tool answers CallTool; nil means a confirmation, as of a tool that did it.
	Tool func(ctx context.Context, c agent.ToolCall) agent.Result
	// Permit answers AskPermission; nil means allow.
	Permit func(p agent.Permission) agent.Verdict
	// Reply answers AskUser; nil means "yes".
	Reply func(q agent.Question) agent.Answer
	// Fault is called at each call of a method, with what it is about, and may panic; nil means none.
	Fault func(what string)

	mu        sync.Mutex // guards what follows
	offered   map[string]bool
	prompting bool
	closed    bool
	rules     rules
	events    []event.Data
	calls     []agent.ToolCall
	asked     []agent.Permission
	questions []agent.Question
	broken    []string
	changed   chan struct{} // closed and replaced at each change
}

// NewHost returns a Host that knows the tools of specs.
func NewHost(specs []agent.ToolSpec) *Host {
	h := &Host{offered: map[string]bool{}, changed: make(chan struct{}), rules: newRules()}
	for _, s := range specs {
		h.offered[s.Name] = true
	}
	return h
}

// enter locks h and notes a call that must not be.
func (h *Host) enter(what string) (unlock func()) {
	if h.Fault != nil {
		h.Fault(what)
	}
	h.mu.Lock()
	if h.closed {
		h.note("%s after Close", what)
	}
	return h.unlock
}

// unlock unlocks h and wakes the callers of Wait.
func (h *Host) unlock() {
	close(h.changed)
	h.changed = make(chan struct{})
	h.mu.Unlock()
}

// wake has the callers of Wait look again.
func (h *Host) wake() {
	h.mu.Lock()
	h.unlock()
}

func (h *Host) note(format string, args ...any) {
	h.broken = append(h.broken, fmt.Sprintf(format, args...))
}

// Report implements [agent.Host].
func (h *Host) Report(ctx context.Context, d event.Data) error {
	defer h.enter(fmt.Sprintf("Report of %s", event.TypeOf(d)))()
	if !reportable(d) {
		h.note("reported %s, which is not a Conn's to report", event.TypeOf(d))
		return fmt.Errorf("%s is not a Conn's to report", event.TypeOf(d))
	}
	if !h.prompting && ofTurn(d) && !h.rules.helps(h.rules.parent(d)) {
		h.note("reported %s outside a Prompt", event.TypeOf(d))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	h.events = append(h.events, d)
	h.broken = append(h.broken, h.rules.see(d)...)
	return nil
}

// CallTool implements [agent.Host].
func (h *Host) CallTool(ctx context.Context, c agent.ToolCall) (agent.Result, error) {
	unlock := h.enter("CallTool")
	h.calls = append(h.calls, c)
	h.broken = append(h.broken, h.rules.call(c)...)
	known := h.offered[c.Name]
	if !known {
		h.note("called the tool %s, which was not offered", c.Name)
	}
	if !h.prompting && !h.rules.helps(c.ParentToolCallID) {
		h.note("called the tool %s outside a Prompt", c.Name)
	}
	unlock()

	res := agent.Failure(event.KindUnknownTool, "there is no tool %s", c.Name)
	switch {
	case known && h.Tool != nil:
		res = h.Tool(ctx, c)
	case known:
		res = agent.Result{Type: agent.Success, TextForModel: "Displayed it to user (3 lines)"}
	}

	defer h.enter("a tool call was still running")()
	h.rules.returned(c)
	return res, ctx.Err()
}

// AskPermission implements [agent.Host].
func (h *Host) AskPermission(ctx context.Context, p agent.Permission) (agent.Verdict, error) {
	defer h.enter("AskPermission")()
	if p.Kind == agent.KindTool && ctx.Err() == nil { // no rule has anything against it
		return agent.Verdict{Decision: event.Allow, Scope: event.Once, By: event.DecidedByMode}, nil
	}
	h.asked = append(h.asked, p)
	if err := ctx.Err(); err != nil {
		return agent.Verdict{
			Decision: event.Deny,
			Reason:   "the turn was stopped",
			By:       event.DecidedByAbort,
		}, err
	}
	if h.Permit != nil {
		return h.Permit(p), nil
	}
	return agent.Verdict{Decision: event.Allow, Scope: event.Once, By: event.DecidedByUser}, nil
}

// AskUser implements [agent.Host].
func (h *Host) AskUser(ctx context.Context, q agent.Question) (agent.Answer, error) {
	defer h.enter("AskUser")()
	h.questions = append(h.questions, q)
	if err := ctx.Err(); err != nil {
		return agent.Answer{}, err
	}
	if h.Reply != nil {
		return h.Reply(q), nil
	}
	return agent.Answer{Text: "yes", WasFreeform: true, Answered: true}, nil
}

// RunTurn implements [agent.Host]: one turn of the agent's own at a time, and none
// while a Prompt runs.
func (h *Host) RunTurn(ctx context.Context, cause string, work func(context.Context) error) error {
	unlock := h.enter("RunTurn")
	if cause == "" {
		h.note("a turn of the agent's own has no cause")
	}
	unlock()
	for began := false; !began; {
		idle := func(h *Host) bool { h.mu.Lock(); defer h.mu.Unlock(); return !h.prompting || h.closed }
		if err := h.Wait(ctx, idle); err != nil {
			return err
		}
		h.mu.Lock()
		if began = !h.prompting && !h.closed; began {
			h.prompting = true
		}
		closed := h.closed
		h.unlock()
		if closed {
			return errors.New("the session is closed")
		}
	}
	err := work(ctx)
	h.End(err)
	return err
}

// RunHook implements [agent.Host]: there are no hooks, it allows.
func (h *Host) RunHook(ctx context.Context, _ agent.HookCall) (agent.HookVerdict, error) {
	defer h.enter("RunHook")()
	return agent.HookVerdict{Allow: true}, ctx.Err()
}

// Begin says that Prompt is about to be called.
func (h *Host) Begin() {
	h.mu.Lock()
	defer h.unlock()
	h.prompting = true
}

// End says that Prompt returned err, and notes what it left open.
func (h *Host) End(err error) {
	h.mu.Lock()
	defer h.unlock()
	h.prompting = false
	h.broken = append(h.broken, h.rules.end(err == nil)...)
}

// Closed says that Close returned: from now on every call breaks a rule.
func (h *Host) Closed() {
	h.mu.Lock()
	defer h.unlock()
	h.closed = true
	h.broken = append(h.broken, h.rules.left()...)
}

// Broken returns the rules broken so far, in words.
func (h *Host) Broken() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.broken)
}

// Events returns what was reported so far.
func (h *Host) Events() []event.Data {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.events)
}

// Calls returns the tool calls so far.
func (h *Host) Calls() []agent.ToolCall {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.calls)
}

// Asked returns the permissions asked for so far.
func (h *Host) Asked() []agent.Permission {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

// Questions returns the questions to the user so far.
func (h *Host) Questions() []agent.Question {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.questions)
}

// Said returns the whole messages so far.
func (h *Host) Said() []string {
	var messages []string
	for _, d := range h.Events() {
		if m, ok := d.(event.AssistantMessage); ok && m.Content != "" {
			messages = append(messages, m.Content)
		}
	}
	return messages
}

// Wait returns when seen is true of h, or with ctx's error. It asks again
// whenever the Conn called a method of h.
func (h *Host) Wait(ctx context.Context, seen func(*Host) bool) error {
	for {
		h.mu.Lock()
		changed := h.changed
		h.mu.Unlock()
		if seen(h) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
