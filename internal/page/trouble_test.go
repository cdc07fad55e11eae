package page_test

import (
	"strings"
	"testing"
	"time"

	"webchat/internal/event"
)

// What is kept in memory only is marked for as long as that lasts, whatever is
// logged meanwhile; an event that could not be logged at all is marked up to the
// next one that could.
func TestTroubleWithTheLog(t *testing.T) {
	p := pages(t, 3)
	pr := p.Projector("s1")
	l := newLog().add(event.SessionStart{SessionID: "s1"}, event.UserMessage{MessageID: "m1", Content: "hi"},
		event.TurnStart{TurnID: "t1", MessageID: "m1"}, event.TurnEnd{TurnID: "t1", MessageID: "m1", Outcome: event.Completed})
	pos := int64(1000)
	tell := func(kind, text string) string {
		pos++
		e := event.New(event.SessionError{ErrorType: kind, Message: text}, "", time.Now())
		e.Ephemeral = true
		f, ok := pr.Feed(event.Entry{Pos: pos, Event: e})
		if !ok {
			t.Fatalf("%s changes nothing", kind)
		}
		return string(f.Data())
	}
	shown := func() bool {
		return strings.Contains(wholePage(t, p, pr), `id="trouble"><`)
	}
	log := func(i int) { e := l.entries[i]; e.Pos = 0; pr.Feed(e) }
	log(0)
	if got := tell("unsaved", "the disk is full"); !strings.Contains(got, "the disk is full") || !shown() {
		t.Errorf("trouble is not shown: %s", got)
	}
	log(1)
	if !shown() {
		t.Error("a logged event hides that it is not saved")
	}
	if f, _ := pr.Join(1); !strings.Contains(string(f.Data()), "the disk is full") {
		t.Error("who joins is not told")
	}
	if tell("saved", "Everything is saved again."); shown() {
		t.Error("it is saved again and the trouble stays")
	}
	if tell("log", "cannot be saved"); !shown() {
		t.Error("trouble is not shown")
	}
	if log(2); shown() {
		t.Error("an event could be logged again and the trouble stays")
	}
}
