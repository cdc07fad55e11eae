package displaytools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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

// Spec implements [agent.Tool].
func (resultTool) Spec() agent.ToolSpec { return specOf(ShowResult) }

// Plan implements [agent.Tool].
func (t resultTool) Plan(ctx context.Context, raw json.RawMessage) (agent.Action, error) {
	var args struct {
		ID   string `json:"toolCallId"`
		From int64  `json:"from"`
		Name string `json:"name"`
	}
	err := decodeOwn(ctx, ShowResult, raw, &args)
	if err == nil {
		err = errors.Join(needed("toolCallId", args.ID), needed("name", args.Name))
	}
	if err != nil {
		return agent.Action{}, err
	}
	r, err := t.set.results(ctx, args.ID, args.From)
	if err != nil {
		return agent.Action{}, agent.Errorf(event.KindNotFound, "The result was not shown: %v.", err)
	}
	a := agent.Action{
		Digest: digest(ShowResult, args.ID, args.From, args.Name),
		Run: func(ctx context.Context, report agent.Progress) (agent.Result, error) {
			return t.set.pour(ctx, args.Name, Input{io.NopCloser(strings.NewReader(r.Text)),
				func(string) {}}, report), nil
		},
	}
	if secret := cmp.Or(r.Secret, t.set.work.secretIn(ctx, r.Arguments)); secret != "" {
		a.Ask = &agent.Permission{
			ToolCallID: agent.CallFrom(ctx).ToolCallID,
			ToolName:   ShowResult,
			Kind:       agent.KindRead,
			Action:     "show what an agent read, which may hold secrets",
			Resource:   secret,
			Cwd:        t.set.work.Path,
			Digest:     a.Digest,
			Sensitive:  true,
		}
	}
	return a, nil
}

// secretIn returns a file of keys or passwords that the arguments of an agent's own tool name as a
// path or in a command; empty if none is known.
func (w *workplace) secretIn(ctx context.Context, arguments json.RawMessage) string {
	var all map[string]any
	_ = json.Unmarshal(arguments, &all) // those of another shape name nothing
	for _, key := range slices.Sorted(maps.Keys(all)) {
		text, ok := all[key].(string)
		if !ok {
			continue
		}
		for _, kind := range []agent.Kind{agent.KindRead, agent.KindShell} {
			if r := w.policy.Rule(ctx, agent.Permission{
				Kind:     kind,
				Resource: text,
				Cwd:      w.Path,
			}); r.Secret != nil {
				return r.Secret.File
			}
		}
	}
	return ""
}
