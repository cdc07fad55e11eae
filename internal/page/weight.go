package page

import (
	"strings"

	"webchat/internal/event"
)

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
		switch KindOf(d.ToolName) {
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

// trimToWeight forgets the oldest turns of what is too much to be opened.
func (f *State) trimToWeight() {
	for len(f.root.Kids) > 1 && f.weight > maxWeight && f.trimOne() {
	}
}

// addWeight adds what an event weighs to its turn.
func (f *State) addWeight(data event.Data) {
	w := weightOf(data)
	if w == 0 || len(f.root.Kids) == 0 {
		return
	}
	t := f.root.last()
	switch d := data.(type) {
	case event.UserMessage:
	case event.ToolExecutionStart:
		if d.By != event.ByUser && f.current != nil {
			t = f.current
		}
	default:
		if f.current != nil {
			t = f.current
		}
	}
	t.Turn.weight += w
	f.weight += w
}
