package convo

import (
	"cmp"
	"slices"
	"strings"

	"webchat/internal/event"
)

// mostSaid is how many bytes one message has; the rest is another. Sessions take no longer ones
// than 16 MiB.
const mostSaid = 12 << 20

// speech is what an agent says in a turn: texts with ids of the agent's own, several at a time, and
// the one of an agent that says them one after the other. It belongs to the loop.
type speech struct {
	report  func(event.Data)
	open    []*text         // in flight, in the order in which they began
	whole   map[string]bool // ids of texts that ended
	current *text           // of open: what Say adds to; nil: nothing
	theirs  string          // the agent's own id of that
}

// TextKind is what a text of an agent is.
type TextKind int

// The kinds of texts: messages to the user, and the model's thoughts before them.
const (
	Answer TextKind = iota
	Thinking
)

// text is a message or a thought in flight.
type text struct {
	id, parent string // parent is the call whose helper agent says it; empty: the main agent does
	kind       TextKind
	content    []byte
}

// Piece adds to the text that has an id, unique in the session, unless that is whole.
func (s *speech) Piece(id, parent string, kind TextKind, piece string) {
	if id == "" || piece == "" || s.whole[id] {
		return
	}
	x := s.inFlight(id, kind)
	if x == nil {
		x = &text{id: id, parent: parent, kind: kind}
		s.open = append(s.open, x)
	}
	s.grow(x, piece)
}

// Whole reports whether the text that has an id ended. One without an id counts as such.
func (s *speech) Whole(id string) bool { return id == "" || s.whole[id] }

// Thought ends the thought that has an id, once. Its pieces cannot be taken back, so they count.
func (s *speech) Thought(id, parent, content string) {
	if s.Whole(id) {
		return
	}
	x := cmp.Or(s.inFlight(id, Thinking), &text{id: id, parent: parent, kind: Thinking})
	s.end(x, event.AssistantMessage{Content: content})
}

// Message ends the message that has m's id, once. Where it differs from the sum of its pieces,
// these are taken back.
func (s *speech) Message(m event.AssistantMessage) {
	if s.Whole(m.MessageID) {
		return
	}
	x := cmp.Or(s.inFlight(m.MessageID, Answer), &text{id: m.MessageID, parent: m.ParentToolCallID})
	s.end(x, m)
}

// CutOff ends the messages of the main agent that are in flight as far as they came.
func (s *speech) CutOff() {
	for _, x := range slices.Clone(s.open) {
		if x.parent == "" && x.kind == Answer {
			s.end(x, event.AssistantMessage{Content: string(x.content), Partial: true})
		}
	}
}

// Discard takes back what is in flight of the main agent, or of a call's helper: it comes again
// under other ids.
func (s *speech) Discard(parent string) {
	for _, x := range slices.Clone(s.open) {
		switch {
		case x.parent != parent:
		case x.kind == Thinking:
			s.end(x, event.AssistantMessage{})
		default:
			s.drop(x)
			s.report(event.AssistantMessageDiscarded{MessageID: x.id})
		}
	}
}

// Saying reports whether a text of Say is in flight.
func (s *speech) Saying() bool { return s.current != nil }

// Say adds to the text in flight, or begins another if it is of another kind or of another id of
// the agent's.
func (s *speech) Say(kind TextKind, theirs, words string) {
	if x := s.current; x != nil && (x.kind != kind || s.theirs != theirs) {
		s.Quiet()
	}
	for words = strings.ToValidUTF8(words, "\uFFFD"); words != ""; {
		piece := words
		if len(piece) > mostSaid {
			piece = strings.ToValidUTF8(piece[:mostSaid], "") // less a character that is cut in two
		}
		words = words[len(piece):]
		if x := s.current; x != nil && len(x.content)+len(piece) > mostSaid {
			s.Quiet()
		}
		if s.current == nil {
			s.current, s.theirs = &text{id: string(event.NewID()), kind: kind}, theirs
			s.open = append(s.open, s.current)
		}
		s.grow(s.current, piece)
	}
}

// Quiet ends the text of Say, with the calls that the model wished for in it.
func (s *speech) Quiet(wished ...event.ToolRequest) {
	if x := s.current; x != nil {
		s.end(x, event.AssistantMessage{Content: string(x.content), ToolRequests: wished})
	}
}

// inFlight returns the text in flight that has an id; nil if there is none.
func (s *speech) inFlight(id string, kind TextKind) *text {
	if i := slices.IndexFunc(s.open, func(x *text) bool {
		return x.id == id && x.kind == kind
	}); i >= 0 {
		return s.open[i]
	}
	return nil
}

// grow reports the next piece of a text.
func (s *speech) grow(x *text, piece string) {
	offset := int64(len(x.content))
	x.content = append(x.content, piece...)
	if x.kind == Thinking {
		s.report(event.AssistantReasoningDelta{
			ReasoningID:      x.id,
			Offset:           offset,
			DeltaContent:     piece,
			ParentToolCallID: x.parent,
		})
		return
	}
	s.report(event.AssistantMessageDelta{
		MessageID:        x.id,
		Offset:           offset,
		DeltaContent:     piece,
		ParentToolCallID: x.parent,
	})
}

func (s *speech) drop(x *text) {
	if s.current == x {
		s.current = nil
	}
	s.open = slices.DeleteFunc(s.open, func(other *text) bool { return other == x })
}

// end reports the end of a text.
func (s *speech) end(x *text, m event.AssistantMessage) {
	s.drop(x)
	s.whole[x.id] = true
	if x.kind == Thinking {
		s.report(event.AssistantReasoning{
			ReasoningID:      x.id,
			Content:          cmp.Or(string(x.content), m.Content),
			ParentToolCallID: x.parent,
		})
		return
	}
	if len(x.content) > 0 && string(x.content) != m.Content {
		s.report(event.AssistantMessageDiscarded{MessageID: x.id})
	}
	m.MessageID, m.ParentToolCallID = x.id, x.parent
	s.report(m)
}
