package mcpserver

import (
	"context"
	"errors"

	"webchat/internal/agent"
)

// BackendName is what sessions of clients have in the place of an agent's name.
const BackendName = "mcp"

// Backend is the agent of clients' sessions: it runs elsewhere and is never told
// anything from here.
type Backend struct{}

// errElsewhere says what to do instead of a prompt.
var errElsewhere = errors.New("the agent of this session runs in another program, which asks by itself: write there")

// Name implements [agent.Backend].
func (Backend) Name() string { return BackendName }

// Info implements [agent.Backend]. Of such an agent only the calls of the session's
// own tools are seen, and hooks reach all of those.
func (Backend) Info(context.Context) agent.Info {
	return agent.Info{Reason: "Such a session begins when a program that speaks MCP shows something. Run \"webchat mcp install\" to connect one.", Intercept: agent.InterceptRewrite}
}

// Models implements [agent.Backend]: there is no choice.
func (Backend) Models(context.Context) ([]agent.Model, error) { return nil, nil }

// Open implements [agent.Backend].
func (Backend) Open(context.Context, agent.Options, agent.Host) (agent.Conn, error) {
	return nil, errElsewhere
}
