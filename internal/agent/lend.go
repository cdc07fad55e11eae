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
type Lender func(sessionID string, call func(context.Context, ToolCall) (Result, error)) (at Lent, end func(), err error)
