package agent

import "context"

// Lent is where an agent reaches the session's tools over the Model Context Protocol, streamable
// HTTP.
type Lent struct {
	URL    string
	Header string // name of the header that holds the key
	Value  string
	// Listed reports whether the agent has asked which tools there are. nil: it is not known.
	Listed func() bool
}

// Lender lends a session's tools to its agent: call is called for each call of one, until end is.
type Lender func(sessionID string, tools []ToolSpec,
	call func(context.Context, ToolCall) (Result, error)) (at Lent, end func(), err error)

// MCPServer is a server of the Model Context Protocol that a user set up for their agents.
type MCPServer struct {
	Type    string // stdio, http or sse
	Command string
	Args    []string
	Env     map[string]string
	Cwd     string
	URL     string
	Headers map[string]string
}

// Where is what the server is reached by, as people read it: without arguments, variables and
// headers, which may hold secrets.
func (m MCPServer) Where() string {
	if m.Type == "stdio" {
		return m.Command
	}
	return m.URL
}
