package convo

import (
	"encoding/json"
	"slices"

	"webchat/internal/event"
)

// Call is a tool call of the agent's own. ID is unique in the session.
type Call struct {
	ID, Tool string
	Parent   string          // the call whose helper agent makes it; empty: the main agent does
	Args     json.RawMessage // an object; empty: it has none
	Begun    bool            // it was reported
	Done     bool            // its end was reported
}

// Begin reports the start of a call, once. An agent that works on one may be silent for long.
func (t *Turn) Begin(k *Call) {
	if k.Begun {
		return
	}
	k.Begun = true
	t.worksOn(1)
	if len(k.Args) == 0 {
		k.Args = json.RawMessage("{}")
	}
	t.c.Report(event.ToolExecutionStart{
		ToolCallID:       k.ID,
		ToolName:         k.Tool,
		Arguments:        k.Args,
		By:               event.ByAgent,
		ParentToolCallID: k.Parent,
	})
}

// Complete reports the end of a call, once.
func (t *Turn) Complete(k *Call, d event.ToolExecutionComplete) {
	if k.Done {
		return
	}
	t.Begin(k)
	k.Done = true
	t.worksOn(-1)
	d.ToolCallID = k.ID
	t.c.Report(d)
}

// Calls are the calls of a turn, in order, which a backend knows by the agent's own ids. Its zero
// value is ready; it belongs to the loop.
type Calls[K comparable] struct {
	all  []K
	byID map[string]K
}

// Add adds a call under an id. One that had the id before no longer has it.
func (c *Calls[K]) Add(id string, k K) {
	if c.byID == nil {
		c.byID = map[string]K{}
	}
	c.all, c.byID[id] = append(c.all, k), k
}

// Get returns the call that has an id; the zero value if none has.
func (c *Calls[K]) Get(id string) K { return c.byID[id] }

// Forget forgets a call's id.
func (c *Calls[K]) Forget(id string) { delete(c.byID, id) }

// All returns the calls in the order in which they came, also those whose ids others have.
func (c *Calls[K]) All() []K { return c.all }

// Last returns the last call that fits; the zero value if none does.
func (c *Calls[K]) Last(fits func(K) bool) (none K) {
	for _, k := range slices.Backward(c.all) {
		if fits(k) {
			return k
		}
	}
	return none
}
