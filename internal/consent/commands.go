package consent

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"strings"
	"sync"

	"webchat/internal/event"
)

// commands are those that agents of a session asked for, so that one that the user
// repeats is told from one that the user typed. They are read from the log when they
// are first needed.
type commands struct {
	mu   sync.Mutex
	upTo int64                      // guarded by mu: the last event that was read
	sums map[[sha256.Size]byte]bool // guarded by mu
}

// AskedByAgent reports whether an agent asked for the command among a call's arguments,
// with any tool. A log that cannot be read is taken for a yes.
func (q *Requests) AskedByAgent(ctx context.Context, arguments json.RawMessage) bool {
	command := commandOf(arguments)
	if command == "" {
		return false
	}
	a := &q.commands
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sums == nil {
		a.sums = map[[sha256.Size]byte]bool{}
	}
	err := q.cfg.Log.Scan(ctx, a.upTo, func(e event.Entry) bool {
		a.upTo = e.Seq
		if d, ok := e.Event.Data.(event.ToolExecutionStart); ok && d.By == event.ByAgent {
			if command := commandOf(d.Arguments); command != "" {
				a.sums[sum(command)] = true
			}
		}
		return true
	})
	return err != nil || a.sums[sum(command)]
}

// sum is the same for commands that differ in the space around them.
func sum(command string) [sha256.Size]byte { return sha256.Sum256([]byte(strings.TrimSpace(command))) }

// commandOf is the command among a call's arguments; empty: there is none.
func commandOf(arguments json.RawMessage) string {
	var args struct{ Command string }
	if json.Unmarshal(arguments, &args) != nil {
		return ""
	}
	return args.Command
}
