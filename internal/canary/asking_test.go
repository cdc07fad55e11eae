package canary_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/canary"
	"webchat/internal/event"
)

// doer is an agent with tools of its own, which asks before it uses some.
type doer struct {
	agent.Backend
	model string
	tools []string
	asks  []string
	deaf  bool // it goes on whatever is answered
	idle  bool // it does nothing with a call
}

func (d doer) Info(context.Context) agent.Info { return agent.Info{Version: "3.1"} }

func (d doer) Open(_ context.Context, o agent.Options, h agent.Host) (agent.Conn, error) {
	return doing{doer: d, folder: o.Workspace, host: h}, nil
}

type doing struct {
	agent.Conn
	doer
	folder string
	host   agent.Host
}

func (doing) Close() error { return nil }

func (d doing) Prompt(ctx context.Context, p agent.Prompt) error {
	for told := p.Content; ; {
		name, arguments, err := next(d.model, told, d.tools...)
		if name == "" {
			return err
		}
		if told, err = d.do(ctx, name, arguments); err != nil {
			return err
		}
	}
}

func (d doing) do(ctx context.Context, name, arguments string) (string, error) {
	var a struct {
		Command, Content string
		Path             string `json:"file_path"`
	}
	if err := json.Unmarshal([]byte(arguments), &a); err != nil || d.idle {
		return "", err
	}
	if slices.Contains(d.asks, name) {
		v, err := d.host.AskPermission(ctx, agent.Permission{Resource: a.Command + a.Path})
		if err != nil || v.Decision != event.Allow && !d.deaf {
			return "refused", err
		}
	}
	switch name {
	case "Write":
		return "written", os.WriteFile(a.Path, []byte(a.Content), 0o600)
	case "Read":
		text, err := os.ReadFile(a.Path)
		return string(text), err
	}
	c := exec.CommandContext(ctx, "sh", "-c", a.Command)
	c.Dir = d.folder
	out, err := c.Output()
	return string(out), err
}

func TestAsking(t *testing.T) {
	const yes, no, unknown = agent.AskedYes, agent.AskedNo, agent.NotKnown
	both, all := []string{"Write", "Bash"}, []string{"Write", "Bash", "Read"}
	for name, c := range map[string]struct {
		doer
		want agent.Asking
	}{
		"asks": {doer{tools: all, asks: all},
			agent.Asking{Writes: yes, Runs: yes, Reads: yes}},
		"never asks": {doer{tools: both}, agent.Asking{Writes: no, Runs: no, Reads: no}},
		"reads by a tool": {doer{tools: all, asks: both},
			agent.Asking{Writes: yes, Runs: yes, Reads: no}},
		"runs": {doer{tools: both, asks: []string{"Write"}},
			agent.Asking{Writes: yes, Runs: no, Reads: no}},
		"writes by commands": {doer{tools: []string{"Bash"}},
			agent.Asking{Writes: no, Runs: no, Reads: no}},
		"hears no answer": {doer{tools: both, asks: both, deaf: true},
			agent.Asking{Writes: no, Runs: no, Reads: no}},
		"does nothing": {doer{tools: both, idle: true},
			agent.Asking{Writes: unknown, Runs: unknown, Reads: unknown}},
		"has no tools": {doer{}, agent.Asking{Writes: unknown, Runs: unknown, Reads: unknown}},
	} {
		t.Run(name, func(t *testing.T) {
			found, version, err := canary.Asking{Backend: func(model, _ string) (agent.Backend, error) {
				c.model = model
				return c.doer, nil
			}}.Try(t.Context())
			http.DefaultTransport.(*http.Transport).CloseIdleConnections()
			if err != nil || found != c.want || version != "3.1" {
				t.Errorf("%+v of %q, %v; want %+v", found, version, err, c.want)
			}
		})
	}
}
