package acp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/event"
)

var withdrawn = object{"outcome": object{"outcome": "cancelled"}}

// permission answers the agent's question: by ourselves about the session's tools,
// which ask by themselves, else as the session decides.
func (c *conn) permission(ctx context.Context, t *turn, raw json.RawMessage) (any, error) {
	var q permission
	if t == nil || !decode(raw, &q) {
		return withdrawn, nil
	}
	pick := func(kind string) any {
		for _, o := range q.Options {
			if o.Kind == kind {
				return object{"outcome": object{"outcome": "selected", "optionId": o.OptionID}}
			}
		}
		return withdrawn
	}
	c.told.Lock()
	c.reuse(q.ToolCall.ToolCallID)
	k := c.take(q.ToolCall.toolCall, q.ToolCall.Content)
	own, over, plan := k.ours, t.over, k.Kind == "switch_mode"
	if !own && !over {
		c.quiet(t)
		c.begin(t, k)
	}
	k.proposed = k.proposal(c.o.Workspace)
	act := k.permission(c.o.Workspace)
	c.told.Unlock()
	switch {
	case over:
		return withdrawn, nil
	case own:
		return pick("allow_once"), nil
	}
	decide := func(ctx context.Context) (bool, error) {
		v, err := c.host.AskPermission(ctx, act)
		return v.Decision == event.Allow, err
	}
	if plan {
		decide = func(ctx context.Context) (bool, error) { return c.approved(ctx, act) }
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return withdrawn, nil
	}
	t.busy++
	c.uses.Add(1)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		t.busy--
		c.mu.Unlock()
		c.uses.Done()
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	allowed, err := decide(ctx)
	switch {
	case err != nil || ctx.Err() != nil:
		return withdrawn, nil
	case allowed:
		if !slices.ContainsFunc(q.Options, func(o permissionOption) bool { return o.Kind == "allow_once" }) {
			c.report(t.tell, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindProvider,
				Message: c.b.cfg.Title + " offers to be allowed this for good only, which webchat does not say for you, so it was refused. Change it in the agent's own settings."})
		}
		return pick("allow_once"), nil
	}
	return pick("reject_once"), nil
}

// approved asks the user whether the plan is to be carried out with which the agent
// wants to leave its mode. That is the user's to say, whatever is allowed.
func (c *conn) approved(ctx context.Context, act agent.Permission) (bool, error) {
	const yes, no = "Carry it out", "Keep planning"
	a, err := c.host.AskUser(ctx, agent.Question{ToolCallID: act.ToolCallID, Choices: []string{yes, no},
		Question: fmt.Sprintf("%s has a plan. Should it carry it out?\n\n%s", c.b.cfg.Title, act.Resource)})
	return a.Answered && a.Text == yes, err
}

// permission is what the agent asks for, as the session understands it.
func (k *call) permission(workspace string) agent.Permission {
	var in struct{ Command, Cwd, Path, FilePath, FileName, URL, Plan string }
	_ = json.Unmarshal(k.RawInput, &in) // what is not there is not known
	p := agent.Permission{ToolCallID: k.id, ToolName: k.name(), Diff: k.proposed}
	switch k.Kind {
	case "execute":
		p.Kind, p.Action, p.Resource = agent.KindShell, "run a command", cmp.Or(in.Command, k.CallTitle)
		p.Cwd, p.CwdUnknown = cmp.Or(in.Cwd, workspace), in.Cwd == ""
	case "edit", "delete", "move":
		p.Kind, p.Action, p.Resource = agent.KindWrite, k.Kind+" a file", cmp.Or(k.file(), in.Path, in.FilePath, in.FileName, k.CallTitle)
	case "read", "search":
		p.Kind, p.Action, p.Resource = agent.KindRead, k.Kind, cmp.Or(in.Path, in.FilePath, k.file(), k.CallTitle)
	case "switch_mode":
		p.Kind, p.Action, p.Resource = agent.KindMCP, "leave its mode", cmp.Or(in.Plan, k.output(), k.CallTitle)
	case "fetch":
		p.Kind, p.Action, p.Resource = agent.KindURL, "open an address", cmp.Or(in.URL, k.CallTitle)
	default:
		p.Kind, p.Action, p.Resource = agent.KindMCP, "use a tool", cmp.Or(k.CallTitle, k.Name)
		p.Server = k.Meta.ClaudeCode.MCPServer.Name
	}
	sum := sha256.Sum256([]byte(string(p.Kind) + "\x00" + p.Resource + "\x00" + p.Cwd + "\x00" + p.Diff + "\x00" + string(k.RawInput)))
	p.Digest = hex.EncodeToString(sum[:])
	return p
}

// file is the file that a call is about, as its diff or its location says.
func (k *call) file() string {
	for _, p := range k.content {
		if p.Type == "diff" {
			return p.Path
		}
	}
	if len(k.Locations) == 1 {
		return k.Locations[0].Path
	}
	return ""
}
