package eventlog

import (
	"context"
	"sync"

	"webchat/internal/event"
)

// Shown knows which outputs a log showed and which of them the user looked at. Both are read from
// the log when they are first needed. The zero value is ready, and its methods may be called
// concurrently.
type Shown struct {
	mu     sync.Mutex
	upTo   int64           // guarded by mu: the last event that was read
	opened map[string]bool // guarded by mu: by output; false: shown only
}

// Has reads on in the log, and reports whether it holds an output of that id.
func (n *Shown) Has(ctx context.Context, l *Log, outputID string) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.opened == nil {
		n.opened = map[string]bool{}
	}
	err := l.Scan(ctx, n.upTo, func(e event.Entry) bool {
		n.upTo = e.Seq
		switch d := e.Event.Data.(type) {
		case event.ToolExecutionComplete:
			if _, known := n.opened[d.OutputID]; d.OutputID != "" && !known {
				n.opened[d.OutputID] = false
			}
		case event.OutputReread:
			n.opened[d.NewOutputID] = n.opened[d.OutputID]
		case event.OutputOpened:
			n.opened[d.OutputID] = true
		}
		return true
	})
	_, known := n.opened[outputID]
	return known, err
}

// Open notes that an output was opened, and reports whether that is news.
func (n *Shown) Open(outputID string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	was := n.opened[outputID]
	n.opened[outputID] = true
	return !was
}

// Forget takes back what [Shown.Open] noted.
func (n *Shown) Forget(outputID string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.opened[outputID] = false
}
