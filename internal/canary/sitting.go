package canary

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"webchat/internal/agent"
	"webchat/internal/canary/scripted"
	"webchat/internal/event"
)

// sittingLimit bounds [Table.Try] and [Asking.Try].
const sittingLimit = 2 * time.Minute

// sitting is a conversation with an agent in a workspace of its own, whose model is in this
// program.
type sitting struct {
	workspace string
	model     *scripted.Model
	backend   agent.Backend
	conn      agent.Conn
	host      *Host
}

// Apart has a model in this program and a folder for an agent's state, which are gone afterwards.
func Apart(ctx context.Context, do func(m *scripted.Model, state string) error) (err error) {
	m, err := scripted.New(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	state, err := os.MkdirTemp("", "webchat-verify-home-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(state)) }()
	return do(m, state)
}

// sit has a conversation with the agent that made makes. Nothing of it is left afterwards.
func sit(ctx context.Context, made func(model, state string) (agent.Backend, error), h *Host,
	do func(sitting) error) error {
	ctx, cancel := context.WithTimeout(ctx, sittingLimit)
	defer cancel()
	return Apart(ctx, func(m *scripted.Model, state string) (err error) {
		s := sitting{model: m, host: h}
		if s.workspace, err = os.MkdirTemp("", "webchat-verify-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(s.workspace)) }()
		if s.backend, err = made(m.URL(), state); err != nil {
			return err
		}
		if s.conn, err = s.backend.Open(ctx, agent.Options{SessionID: "canary", Workspace: s.workspace,
			Tools: h.specs()}, h); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.conn.Close()) }()
		return do(s)
	})
}

func (s sitting) prompt(ctx context.Context) error {
	return s.conn.Prompt(ctx, agent.Prompt{MessageID: "m", Content: "Call the tool."})
}

// Host is a host without a user, which keeps nothing.
type Host struct {
	Tools agent.Toolset // nil: none
	// Decision is its answer to each request for permission; empty means no.
	Decision event.Decision
	asked    atomic.Int64 // requests for permission
}

var errNobody = errors.New("there is no user, and no tool")

// Report implements [agent.Host].
func (*Host) Report(context.Context, event.Data) error { return nil }

// CallTool implements [agent.Host].
func (h *Host) CallTool(ctx context.Context, c agent.ToolCall) (agent.Result, error) {
	for _, t := range h.tools() {
		if t.Spec().Name == c.Name {
			return perform(ctx, t, c)
		}
	}
	return agent.Result{}, errNobody
}

func (h *Host) tools() []agent.Tool {
	if h.Tools == nil {
		return nil
	}
	return h.Tools.Tools()
}

func (h *Host) specs() (all []agent.ToolSpec) {
	for _, t := range h.tools() {
		all = append(all, t.Spec())
	}
	return all
}

// AskPermission implements [agent.Host].
func (h *Host) AskPermission(context.Context, agent.Permission) (agent.Verdict, error) {
	h.asked.Add(1)
	return agent.Verdict{
		Decision: cmp.Or(h.Decision, event.Deny),
		Scope:    event.Once,
		By:       event.DecidedByMode,
	}, nil
}

// AskUser implements [agent.Host].
func (*Host) AskUser(context.Context, agent.Question) (agent.Answer, error) {
	return agent.Answer{}, errNobody
}

// RunTurn implements [agent.Host].
func (*Host) RunTurn(context.Context, string,
	func(context.Context) error) error {
	return errNobody
}

// RunHook implements [agent.Host].
func (*Host) RunHook(context.Context, agent.HookCall) (agent.HookVerdict, error) {
	return agent.HookVerdict{Allow: true}, nil
}
