package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// AccessSpec is how an agent asks for what the sandbox does not give it.
var AccessSpec = agent.ToolSpec{Name: "ask_for_access",
	Description: "Ask the user to open a path or a network host outside the workspace sandbox, " +
		"until this session ends.",
	Parameters: json.RawMessage(
		`{"type":"object","properties":{"path":{"type":"string"},"host":{"type":"string"},` +
			`"write":{"type":"boolean"},"why":{"type":"string"}},"required":["why"]}`)}

// mostWhy is how many characters of an agent's reason the user reads.
const mostWhy = 300

// accessTool opens what an agent asks for, once the user has agreed.
type accessTool struct{ s *toolbox }

// Spec implements [agent.Tool].
func (accessTool) Spec() agent.ToolSpec { return AccessSpec }

// Plan implements [agent.Tool].
func (t accessTool) Plan(ctx context.Context, raw json.RawMessage) (agent.Action, error) {
	var args struct {
		Path, Host, Why string
		Write           bool
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(&args)
	args.Why = wording.Cut(wording.Line(args.Why), mostWhy)
	switch {
	case err != nil:
	case (args.Path == "") == (args.Host == ""):
		err = errors.New("it takes either a path or a host")
	case args.Why == "":
		err = errors.New("why is missing")
	}
	if err != nil {
		return agent.Action{}, agent.Errorf(event.KindBadArguments, "Nothing was asked: %v.", err)
	}
	open := consent.Opening{Kind: event.OpenHost, What: args.Host, Scope: event.ForSession}
	p := agent.Permission{
		ToolCallID: agent.CallFrom(ctx).ToolCallID,
		ToolName:   AccessSpec.Name,
		Kind:       agent.KindURL,
		Action:     "reach a host until this session ends",
		Resource:   args.Host,
		Sensitive:  true,
		Says:       args.Why,
		Why:        "The sandbox does not give it.",
	}
	if args.Path != "" {
		p.Kind, p.Action = agent.KindRead, "read this until the session ends"
		if args.Write {
			p.Kind, p.Action = agent.KindWrite, "read and change this until the session ends"
		}
		p.Resource, p.Cwd = args.Path, t.s.cfg.Workspace
		open = consent.Opening{
			Kind:     event.OpenPath,
			What:     t.s.cfg.realPath(p),
			Scope:    event.ForSession,
			ReadOnly: !args.Write,
		}
	}
	p.Digest = agent.Digest(AccessSpec.Name, string(p.Kind), open.What)
	return agent.Action{
		Ask:    &p,
		Digest: p.Digest,
		Run: func(ctx context.Context, _ agent.Progress) (agent.Result, error) {
			if _, err := t.s.opened.Open(ctx, open); err != nil {
				return agent.Failure(event.KindOutside, "It cannot be opened: %v", err), nil
			}
			return agent.Result{Type: agent.Success, TextForModel: "Opened until this session ends."}, nil
		},
	}, nil
}

// realPath is where the path of an act leads.
func (c *Config) realPath(p agent.Permission) string {
	if c.Policy != nil {
		if to := c.Policy.Target(p); to != "" {
			return to
		}
	}
	if filepath.IsAbs(p.Resource) || strings.HasPrefix(p.Resource, "~/") {
		return p.Resource
	}
	return filepath.Join(c.Workspace, p.Resource)
}
