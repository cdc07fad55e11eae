package page

import (
	"slices"
	"strings"

	"webchat/internal/event"
)

// trim keeps the last turns, and forgets those before them.
type trim struct {
	*core
	shelf    *shelf
	first    int64 // of the first event of the first turn that is kept
	hasFirst bool
	keep     int64      // the turn of this event and those after it are kept, however many; 0: none
	past     [][]uint64 // the ids of the nodes of the turns forgotten last
}

// oldest forgets the oldest turn, unless it is needed.
func (f *trim) oldest() bool {
	old := f.root.Kids[0]
	if old == f.current || old.Turn.State == "queued" || f.keep > 0 &&
		f.root.Kids[1].Turn.from > f.keep {
		return false
	}
	f.remove(old)
	f.forget(old)
	f.past = append(f.past, old.hashes(nil))
	if len(f.past) > keptPast {
		for _, id := range f.past[0] {
			delete(f.ids, id)
		}
		f.past = append(f.past[:0:0], f.past[1:]...)
	}
	f.first = f.root.Kids[0].Turn.from
	f.changed("earlier")
	return true
}

// keptPast is after how many turns more the ids of a forgotten one may be taken
// again: a page that is some turns behind must not mix up the two.
const keptPast = 100

func (n *node) hashes(to []uint64) []uint64 {
	for _, k := range n.Kids {
		to = k.hashes(to)
	}
	return append(to, hash(n.ID))
}

func (f *trim) forget(n *node) {
	for _, k := range n.Kids {
		f.forget(k)
	}
	if n.key() != "" && f.nodes[n.key()] == n {
		delete(f.nodes, n.key())
	}
	if n.Call != nil {
		f.shelf.forget(n.Call)
	}
}

// maxWeight is how heavy the turns of a page may be that is opened, so that it is there
// at once: with what stands around them it has up to 300 kB. What comes while it is open
// makes it larger, as turns of long answers do that a reader loads.
const maxWeight = 268_000

// weightOf is about how many bytes of a page an event makes.
func weightOf(data event.Data) int {
	switch d := data.(type) {
	case event.UserMessage:
		return 1000 + len(d.Content)
	case event.AssistantMessage:
		return 300 + prose(d.Content)
	case event.AssistantReasoning:
		return 600 + prose(d.Content)
	case event.ToolExecutionStart:
		switch toolOf(d.ToolName).Kind {
		case "image":
			return 3000
		case "":
			return 620
		}
		return 8000 // of a card with lines
	case event.PermissionCompleted, event.UserInputCompleted, event.HookEnd, event.SessionError:
		return 900
	}
	return 0
}

// prose is about how many bytes of HTML a Markdown text makes. What is between fences
// is coloured word by word.
func prose(text string) (n int) {
	code := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if code {
			n += 7 * len(line)
			continue
		}
		n += 20 + len(line)
		for i := range len(line) {
			switch line[i] {
			case '*', '_', '`', '[', '|', '<', '&':
				n += 12
			}
		}
	}
	return n
}

// toWeight forgets the oldest turns of what is too much to be opened; entries are what
// was folded.
func (f *trim) toWeight(entries []event.Entry) {
	room := maxWeight
	for _, e := range slices.Backward(entries) {
		if room -= weightOf(e.Event.Data); room < 0 {
			for len(f.root.Kids) > 1 && f.root.Kids[0].Turn.from <= e.Seq && f.oldest() {
			}
			return
		}
	}
}
