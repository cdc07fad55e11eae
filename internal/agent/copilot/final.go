package copilot

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"webchat/internal/agent"
)

// finals is a message of the agent whose calls all show something that nothing has to follow. The
// CLI ends a turn behind a message one of whose results is of the type "rejected", and has the
// model read the result's text all the same, as was tried with 1.0.102: later prompts hold it as
// they hold any other. A tool's isTerminal would end the turn also where another call failed.
type finals struct {
	mu      sync.Mutex // guards what follows
	left    int        // calls without a result
	failed  bool
	decided chan struct{} // closed when the results may go
}

// withFinal adds the argument final to the schema of a tool that takes it.
func withFinal(schema json.RawMessage) json.RawMessage {
	return bytes.Replace(schema, []byte(`"properties":{`),
		[]byte(`"properties":{"final":{"type":"boolean","description":"nothing to do or say after"},`), 1)
}

// finalCalls returns what ends the turn behind a message; nil if the turn goes on.
func (x *toolbox) finalCalls(d nativeMessage) *finals {
	for _, r := range d.ToolRequests {
		var args struct{ Final bool }
		takes := func(t agent.ToolSpec) bool { return t.Final && t.Name == r.Name }
		if !slices.ContainsFunc(x.lent, takes) || json.Unmarshal(r.Arguments, &args) != nil ||
			!args.Final {
			return nil
		}
	}
	if len(d.ToolRequests) == 0 {
		return nil
	}
	return &finals{left: len(d.ToolRequests), decided: make(chan struct{})}
}

// end notes the result of a call. Once it is known whether all succeed it reports whether the turn
// ends with them.
func (f *finals) end(ctx context.Context, r agent.Result) bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	f.left--
	open := !f.failed
	f.failed = f.failed || r.Type != agent.Success
	if open && (f.failed || f.left == 0) {
		close(f.decided)
	}
	f.mu.Unlock()
	select {
	case <-f.decided:
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.failed && f.left == 0
}
