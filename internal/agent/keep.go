package agent

import "context"

// Keeper is a Host that keeps the whole of a result of which an agent's program lets its model read
// the beginning only.
type Keeper interface {
	// Keep makes the call, which has to be a running one of the agent's own tools, a display of
	// w.Data, which it owns then. It returns with which tools of the session the model can read
	// more, in words that go on after "with"; empty: with none. An error says that nothing was
	// kept.
	Keep(ctx context.Context, w Whole) (readers string, err error)
}

// Whole is all that a tool returned.
type Whole struct {
	ToolCallID string
	Name       string // the command, else the name of the tool
	Cwd        string // where a command ran
	ExitCode   *int   // of a command that ended by itself
	Data       []byte
}
