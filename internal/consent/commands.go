package consent

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"webchat/internal/event"
)

// commands are those that agents of a session asked for: one of them that the user repeats is not one
// that the user typed. They are read from the log when they are first needed.
type commands struct {
	mu    sync.Mutex      // guards what follows
	upTo  int64           // the last event that was read
	asked map[string]bool // without the space around them
}

// AskedByAgent reports whether an agent asked for the command among a call's arguments, with any
// tool. A log that cannot be read is taken for a yes.
func (q *Requests) AskedByAgent(ctx context.Context, arguments json.RawMessage) bool {
	command := commandOf(arguments)
	if command == "" {
		return false
	}
	a := &q.commands
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asked == nil {
		a.asked = map[string]bool{}
	}
	err := q.cfg.Log.Scan(ctx, a.upTo, func(e event.Entry) bool {
		a.upTo = e.Seq
		if d, ok := e.Event.Data.(event.ToolExecutionStart); ok && d.By == event.ByAgent {
			a.asked[commandOf(d.Arguments)] = true
		}
		return true
	})
	return err != nil || a.asked[command]
}

// commandOf is the command among a call's arguments; empty if there is none.
func commandOf(arguments json.RawMessage) string {
	var args struct{ Command string }
	if json.Unmarshal(arguments, &args) != nil {
		return ""
	}
	return strings.TrimSpace(args.Command)
}
