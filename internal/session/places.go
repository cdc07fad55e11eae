package session

import (
	"context"
	"errors"
	"regexp"

	"webchat/internal/event"
)

// repeatWithin is how many events of earlier processes are searched for a prompt that
// is sent again: its sender lost the reply a moment ago.
const repeatWithin = 5000

// messageID is what a sender may call a prompt.
var messageID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// errRepeated: the prompt is in the log already.
var errRepeated = errors.New("sent before")

// Place returns the sequence after which the log holds a prompt that this session
// accepted lately; false if there is none of that id.
func (s *Session) Place(ctx context.Context, id string) (after int64, known bool, err error) {
	s.mu.Lock()
	after, known = s.places[id]
	complete, last := s.placesComplete, s.events.Summary().LastSeq
	s.mu.Unlock()
	if known || complete {
		return after, known, nil
	}
	found := map[string]int64{}
	err = s.events.Scan(ctx, max(0, last-repeatWithin), func(e event.Entry) bool {
		if m, ok := e.Event.Data.(event.UserMessage); ok {
			found[m.MessageID] = e.Seq - 1
		}
		return e.Seq < last
	})
	if err != nil {
		return 0, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, seq := range found {
		s.places[id] = seq
	}
	s.placesComplete = true
	after, known = s.places[id]
	return after, known, nil
}
