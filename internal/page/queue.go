package page

// Queue is what the dock shows of the prompts that wait.
type Queue struct {
	Rows []queued // in the order of sending
	Held bool     // they wait until the user goes on
}

// queued is a prompt that waits.
type queued struct{ El, Message, Prompt string }

// Queue is the list as it is now. A prompt that nothing is ahead of is about to start, and
// does not wait.
func (f *State) Queue() Queue {
	var q Queue
	for _, n := range f.root.Kids {
		if t := n.Turn; t.State == "queued" && f.queued[t.Message] == n && (t.Waited || f.held) {
			q.Rows = append(q.Rows, queued{"w-" + n.ID, t.Message, t.Prompt})
		}
	}
	q.Held = f.held && f.current == nil && len(q.Rows) > 0
	return q
}

func (f *State) queueChanged() {
	f.batch.part(nil, "dock-queue", "queue", func() any { return f.Queue() })
}
