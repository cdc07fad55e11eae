package agent

import "context"

// Rewinder is a Conn whose agent can forget the end of its conversation. At the first
// assistant.turn_start of a prompt it can go back to, it reports its own name of that prompt; a
// prompt without one it cannot go back to.
type Rewinder interface {
	// Rewind has the agent forget a prompt and all that came after it, by its own name of the
	// prompt. Files stay as they are. It is called while no turn runs, also for a prompt of an
	// earlier process. [ErrUnsupported]: the agent does not know that prompt any more.
	Rewind(ctx context.Context, promptID string) error
}
