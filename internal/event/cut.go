package event

// Cut finds, going back in a log, where its last turns begin, at a place before which nothing is
// open: no turn, no prompt that waits, no task, call, question or hook. What is folded from there
// on needs nothing of what is before. So the end of a long log is read at the cost of that end.
//
// The zero value is ready for an empty log only: NewCut makes one. It is not safe for concurrent
// use.
type Cut struct {
	turns  int             // to be found
	from   int64           // an event
	before int             // turns still to be found that begin not after it
	open   map[string]bool // what started before the last entry taken
	owed   map[byte]int    // how many that have no end are still to be found, by kind

	turnsFound int // turns that were found
	room       int // what may still come before the turns are enough, by weigh
	weighs     func(Data) int
}

// anyTurn is the turn of an event that only a turn has, until its start comes.
const anyTurn = "t:"

// NewCut returns one for the last turns of a log, and for all from the turn of an event on; 0 is
// not an event. Displays of the user's count as turns. There is one turn more behind the cut than
// is asked for, so that readers know that it is not the first.
func NewCut(turns int, from int64) *Cut {
	c := &Cut{turns: turns + 1, from: from, before: 2, open: map[string]bool{}, owed: map[byte]int{}}
	if from == 0 {
		c.before = 0
	}
	return c
}

// Include says how much is open at the end of a log: turns, prompts that wait, calls, tasks and
// questions.
func (c *Cut) Include(turns, prompts, calls, tasks, questions int) {
	c.owed = map[byte]int{'t': turns, 'm': prompts, 'c': calls, 'k': tasks, 'q': questions}
}

// Weigh has the last turns end also where they weigh more than most: the turn that is too much is
// the one more. The last turn of all is never too much.
func (c *Cut) Weigh(most int, weigh func(Data) int) { c.room, c.weighs = most, weigh }

// Take takes the entry before the one it took last, and reports whether the log can be cut before
// it.
func (c *Cut) Take(e Entry) bool {
	begins := c.pair(e.Event.Data)
	if begins {
		c.turnsFound++
		if e.Seq <= c.from {
			c.before--
		}
	}
	if c.weighs != nil {
		c.room -= c.weighs(e.Event.Data)
	}
	enough := c.turnsFound >= c.turns || c.turnsFound > 1 && c.room < 0
	return begins && enough && c.before <= 0 && len(c.open) == 0 && !c.included()
}

func (c *Cut) included() bool {
	for _, n := range c.owed {
		if n > 0 {
			return true
		}
	}
	return false
}

// end says that the item of a kind with that id started before.
func (c *Cut) end(kind byte, id string) { c.open[string(kind)+":"+id] = true }

// start takes that back. What did not end is one of those that are owed.
func (c *Cut) start(kind byte, id string) {
	key := string(kind) + ":" + id
	if !c.open[key] {
		c.owed[kind]--
	}
	delete(c.open, key)
}

// pair keeps what is open, and reports whether a turn or a display begins with d.
func (c *Cut) pair(data Data) (begins bool) {
	switch d := data.(type) {
	case UserMessage:
		c.start('m', d.MessageID)
		return true
	case UserMessageWithdrawn:
		c.end('m', d.MessageID)
	case TurnStart:
		delete(c.open, anyTurn)
		c.start('t', d.TurnID)
		if d.MessageID == "" {
			return true
		}
		c.end('m', d.MessageID)
	case TurnEnd:
		delete(c.open, anyTurn) // what comes after a turn is not in it
		c.end('t', d.TurnID)
		for _, id := range d.Steered {
			c.end('m', id)
		}
	case ToolExecutionStart:
		c.start('c', d.ToolCallID)
		if d.By == ByUser {
			return true
		}
		c.inTurn()
	case ToolExecutionComplete:
		c.end('c', d.ToolCallID)
	case PermissionRequested:
		c.start('q', d.RequestID)
	case PermissionCompleted:
		c.end('q', d.RequestID)
	case UserInputRequested:
		c.start('q', d.RequestID)
	case UserInputCompleted:
		c.end('q', d.RequestID)
	case HookStart:
		c.start('h', d.HookID)
	case HookEnd:
		c.end('h', d.HookID)
	case TaskStarted:
		c.start('k', d.TaskID)
	case TaskCompleted:
		c.end('k', d.TaskID)
	case AssistantTurnStart, AssistantTurnEnd, AssistantMessage, AssistantReasoning:
		c.inTurn()
	}
	return false
}

// inTurn says that a turn is open, unless its end was taken.
func (c *Cut) inTurn() {
	for k := range c.open {
		if len(k) >= len(anyTurn) && k[:len(anyTurn)] == anyTurn {
			return
		}
	}
	c.open[anyTurn] = true
}
