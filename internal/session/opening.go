package session

import (
	"context"
	"errors"
	"log/slog"

	"webchat/internal/agent"
	"webchat/internal/contain"
)

// openedConn is a conversation that opened, as the one before or anew.
type openedConn struct {
	agent.Conn
	Resumed bool
}

// openConn resumes where that was asked for and is possible.
func openConn(ctx context.Context, b agent.Backend, o agent.Options, h agent.Host) (openedConn, error) {
	if o.Resume {
		if o.Resume = b.Info(ctx).CanResume; o.Resume {
			c, err := b.Open(ctx, o, h)
			if !errors.Is(err, agent.ErrUnsupported) {
				return openedConn{c, true}, err
			}
			o.Resume = false
		}
	}
	c, err := b.Open(ctx, o, h)
	return openedConn{Conn: c}, err
}

// toolSpecs are a session's tools as an agent is offered them, without those that are
// the user's alone.
func toolSpecs(log *slog.Logger, tools []agent.Tool) ([]agent.ToolSpec, error) {
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
