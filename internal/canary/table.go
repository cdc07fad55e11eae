package canary

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"webchat/internal/agent"
	"webchat/internal/canary/scripted"
	"webchat/internal/event"
)

// Table tries which parts of a tool's result an agent hands to its model: an MCP server
// puts a text into each, one after the other, and a model in this program, which wants
// every tool called, keeps what it is sent.
type Table struct {
	// Backend makes the agent, with the model at an address, a folder for its state, and
	// the tools of the MCP server at another address.
	Backend func(model, state, server string) (agent.Backend, error)
	// Whole says that the agent is known to hand its model each result whole, so that
	// webchat puts nothing beside the line for the model.
	Whole bool
}

// TableLimit bounds [Table.Try] and [Asking.Try].
const TableLimit = time.Minute

// Row is what was found of one part.
type Row struct {
	Part    string // as people read it
	Tried   bool   // the agent called the tool that returns it
	Reached bool   // it was sent to the model
	// Lost says that the line for the model did not reach it beside the part.
	Lost bool
	// Relied says that webchat puts into it what is for the user alone.
	Relied bool
}

// Try returns a row for each part. The error wraps [ErrLeaked] if what webchat relies on
// does not hold; any other means that it could not be tried.
func (t Table) Try(ctx context.Context) (rows []Row, err error) {
	err = inPlace(ctx, func(ctx context.Context, at place) (err error) {
		p, err := newProbe(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.close()) }()
		b, err := t.Backend(at.model.URL(), at.state, p.url)
		if err != nil {
			return err
		}
		steps := make([]scripted.Step, 0, len(p.parts))
		for _, part := range p.parts {
			if part.result != nil {
				steps = append(steps, scripted.Step{Tool: probeTool, Arguments: `{"part":"` + part.id + `"}`})
			}
		}
		at.model.Play(steps...)
		if err := prompted(ctx, b, at.workspace); err != nil {
			return err
		}
		rows, err = p.rows(at.model.Requests(), !t.Whole)
		return err
	})
	return rows, err
}

// place is a workspace, a folder for an agent's state, and a model for it.
type place struct {
	workspace, state string
	model            *scripted.Model
}

// inPlace makes a place, which is gone afterwards.
func inPlace(ctx context.Context, do func(context.Context, place) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, TableLimit)
	defer cancel()
	dir, err := os.MkdirTemp("", "webchat-canary-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p := place{workspace: filepath.Join(dir, "workspace"), state: filepath.Join(dir, "state")}
	if err := errors.Join(os.Mkdir(p.workspace, 0o700), os.Mkdir(p.state, 0o700)); err != nil {
		return err
	}
	if p.model, err = scripted.New(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.model.Close()) }()
	return do(ctx, p)
}

// prompted has the agent work on one prompt, and allows whatever it asks for.
func prompted(ctx context.Context, b agent.Backend, workspace string) error {
	conn, err := b.Open(ctx, agent.Options{SessionID: "canary", Workspace: workspace}, willingHost{})
	if err != nil {
		return err
	}
	err = conn.Prompt(ctx, agent.Prompt{MessageID: "m", Content: "Call the tool for each part."})
	return errors.Join(err, conn.Close())
}

// willingHost is a host that allows everything and keeps nothing.
type willingHost struct{ Mute }

// AskPermission implements [agent.Host].
func (willingHost) AskPermission(context.Context, agent.Permission) (agent.Verdict, error) {
	return agent.Verdict{Decision: event.Allow, Scope: event.Once, By: event.DecidedByMode}, nil
}

// RunHook implements [agent.Host].
func (willingHost) RunHook(context.Context, agent.HookCall) (agent.HookVerdict, error) {
	return agent.HookVerdict{Allow: true}, nil
}

// Mute is a host that allows nothing: for a conversation without a prompt.
type Mute struct{}

var errMute = errors.New("nothing happens here")

// Report implements [agent.Host].
func (Mute) Report(context.Context, event.Data) error { return nil }

// CallTool implements [agent.Host].
func (Mute) CallTool(context.Context, agent.ToolCall) (agent.Result, error) {
	return agent.Result{}, errMute
}

// AskPermission implements [agent.Host].
func (Mute) AskPermission(context.Context, agent.Permission) (agent.Verdict, error) {
	return agent.Verdict{}, errMute
}

// AskUser implements [agent.Host].
func (Mute) AskUser(context.Context, agent.Question) (agent.Answer, error) {
	return agent.Answer{}, errMute
}

// RunTurn implements [agent.Host].
func (Mute) RunTurn(context.Context, string, func(context.Context) error) error {
	return errMute
}

// RunHook implements [agent.Host].
func (Mute) RunHook(context.Context, agent.HookCall) (agent.HookVerdict, error) {
	return agent.HookVerdict{}, errMute
}

// rows are what the requests say of each part. relies says that webchat relies on some.
func (p *probe) rows(requests [][]byte, relies bool) ([]Row, error) {
	has := func(text string) bool {
		for _, r := range requests {
			if bytes.Contains(r, []byte(text)) {
				return true
			}
		}
		return false
	}
	called := p.calls()
	rows := make([]Row, 0, len(p.parts))
	var leaked error
	for _, part := range p.parts {
		r := Row{Part: part.name, Tried: part.result == nil || called[part.id], Relied: part.relied && relies, Reached: has(part.canary)}
		r.Lost = part.result != nil && r.Tried && !has(p.line(part))
		rows = append(rows, r)
		if r.Relied && r.Reached {
			leaked = errors.Join(leaked, fmt.Errorf("%w: the agent hands its model %s, where webchat puts what is for you alone", ErrLeaked, part.name))
		}
	}
	switch first := rows[0]; {
	case leaked != nil:
		return rows, leaked
	case !first.Tried || !first.Reached:
		return rows, errors.New("nothing was proven: the model did not get the answer of a tool it had called")
	}
	return rows, nil
}

// secret is a text that is nowhere else.
func secret() string {
	b := make([]byte, 12)
	_, _ = rand.Read(b) // it never fails
	return "canary" + hex.EncodeToString(b)
}
