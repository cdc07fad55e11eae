package displaytools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// Results returns what came of a call of an agent's own tool, as its session's log has it from an
// event on. The error is for the user. It may be called concurrently.
type Results func(ctx context.Context, toolCallID string, from int64) (Returned, error)

// Returned is what an agent's own tool returned, and what it was asked for.
type Returned struct {
	Text      string
	Arguments json.RawMessage
	Secret    string // the file of keys or passwords that the user was asked about; empty: none
}

// resultTool is show_result: the whole of what an agent's own tool returned, whose row holds the
// beginning.
type resultTool struct{ set *Set }

var resultSpec = agent.ToolSpec{Name: ShowResult, UserOnly: true,
	Description: "Show the whole result of a call.",
	Parameters: json.RawMessage(`{"type":"object","properties":{"toolCallId":{"type":"string"},` +
		`"from":{"type":"integer","minimum":1,"description":"the event its turn begins with"},` +
		`"name":{"type":"string","description":"what the output is called"}},` +
		`"required":["toolCallId","from","name"],"additionalProperties":false}`)}

// Spec implements [agent.Tool].
func (resultTool) Spec() agent.ToolSpec { return resultSpec }

// Plan implements [agent.Tool].
func (t resultTool) Plan(ctx context.Context, raw json.RawMessage) (agent.Action, error) {
	args, err := parse(ShowResult, raw, "toolCallId", "from", "name")
	if err != nil {
		return agent.Action{}, err
	}
	id, err1 := args.needed("toolCallId")
	from, err2 := args.line("from")
	name, err3 := args.needed("name")
	if err := errors.Join(err1, err2, err3); err != nil {
		return agent.Action{}, err
	}
	if agent.CallFrom(ctx).By != event.ByUser {
		return agent.Action{}, fmt.Errorf("%s is the user's alone", ShowResult)
	}
	r, err := t.set.results(ctx, id, int64(from))
	if err != nil {
		return agent.Action{}, agent.Errorf(event.KindNotFound, "The result was not shown: %v.", err)
	}
	a := agent.Action{Digest: digest(ShowResult, id, from, name), Run: func(ctx context.Context, report agent.Progress) (agent.Result, error) {
		return t.set.pour(ctx, name, Input{io.NopCloser(strings.NewReader(r.Text)), func(string) {}}, report), nil
	}}
	if secret := cmp.Or(r.Secret, t.set.work.secretIn(ctx, r.Arguments)); secret != "" {
		a.Ask = &agent.Permission{ToolCallID: agent.CallFrom(ctx).ToolCallID, ToolName: ShowResult, Kind: agent.KindRead,
			Action: "show what an agent read, which may hold secrets", Resource: secret, Cwd: t.set.work.real, Digest: a.Digest, Sensitive: true}
	}
	return a, nil
}

// secretIn returns a file of keys or passwords that the arguments of an agent's own tool name as a path
// or in a command; empty: none is known.
func (w *workspace) secretIn(ctx context.Context, arguments json.RawMessage) string {
	var all map[string]any
	_ = json.Unmarshal(arguments, &all) // those of another shape name nothing
	for _, key := range slices.Sorted(maps.Keys(all)) {
		text, ok := all[key].(string)
		if !ok {
			continue
		}
		for _, kind := range []agent.Kind{agent.KindRead, agent.KindShell} {
			if r := w.policy.Rule(ctx, agent.Permission{Kind: kind, Resource: text, Cwd: w.real}); r.Secret != nil {
				return r.Secret.File
			}
		}
	}
	return ""
}
