package copilot

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"webchat/internal/agent/copilot/cli"
)

// remote is the session that a conversation has in the CLI. Its methods may be called concurrently.
type remote struct {
	id  string // its name in the CLI
	log *slog.Logger

	mu sync.Mutex   // guards p
	p  *cli.Process // changes between turns only
}

func (r *remote) process() *cli.Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.p
}

// move notes that another process has the session.
func (r *remote) move(to *cli.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.p = to
}

// asker calls a method of the CLI about a session.
type asker func(ctx context.Context, method string, params map[string]any, result any) error

// ask calls a method of the CLI about the session, whose name is added; see [cli.Process.Call].
func (r *remote) ask(ctx context.Context, method string, params map[string]any, result any) error {
	named := map[string]any{"sessionId": r.id}
	maps.Copy(named, params)
	return r.process().Call(ctx, method, named, result)
}

// processing asks whether the CLI works on the session.
func (r *remote) processing(ctx context.Context) bool {
	var is struct{ Processing bool }
	return r.ask(ctx, "session.metadata.isProcessing", nil, &is) != nil || is.Processing
}

// reply answers an event that asks. An answer that is no longer awaited ({"success":false}) is not
// an error, and the end of the process is reported elsewhere.
func (r *remote) reply(ctx context.Context, method, requestID string, result any) {
	err := r.ask(ctx, method, map[string]any{"requestId": requestID, "result": result}, nil)
	if err != nil && ctx.Err() == nil {
		r.log.Warn("copilot: an answer was refused", "method", method, "error", err)
	}
}

// respondsTo reports whether the CLI responds to a method, whatever it says.
func (r *remote) respondsTo(method string, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return r.ask(ctx, method, nil, nil) == nil || ctx.Err() == nil
}

// destroy has the CLI let go of the session; what it kept on disk stays. It reports whether the CLI
// is of use to others: one that takes long over it may work on them, one that responds to nothing
// at all is not.
func (r *remote) destroy(patience time.Duration) bool {
	return r.respondsTo("session.destroy", patience) || r.respondsTo("ping", patience)
}
