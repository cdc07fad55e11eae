// Package opening opens an agent's conversation for a session.
//
//	opened, err := opening.Open(ctx, backend, agent.Options{Resume: true}, host)
package opening

import (
	"context"
	"errors"
	"log/slog"

	"webchat/internal/agent"
	"webchat/internal/contain"
)

// Opened is a conversation that opened, as the one before or anew.
type Opened struct {
	agent.Conn
	Resumed bool
}

// Open resumes where that was asked for and is possible.
func Open(ctx context.Context, b agent.Backend, o agent.Options, h agent.Host) (Opened, error) {
	if o.Resume {
		if o.Resume = b.Info(ctx).CanResume; o.Resume {
			c, err := b.Open(ctx, o, h)
			if !errors.Is(err, agent.ErrUnsupported) {
				return Opened{c, true}, err
			}
			o.Resume = false
		}
	}
	c, err := b.Open(ctx, o, h)
	return Opened{Conn: c}, err
}

// Specs are a session's tools as an agent is offered them, without those that are
// the user's alone.
func Specs(log *slog.Logger, tools []agent.Tool) ([]agent.ToolSpec, error) {
	return contain.Call(log, "describing the tools", func() ([]agent.ToolSpec, error) {
		specs := make([]agent.ToolSpec, 0, len(tools))
		for _, t := range tools {
			if spec := t.Spec(); !spec.UserOnly {
				specs = append(specs, spec)
			}
		}
		return specs, nil
	})
}
