package page_test

import (
	"strings"
	"testing"
	"time"

	"webchat/internal/event"
)

// That the log cannot be written is shown for as long as the session says so,
// whatever is logged meanwhile.
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
	if got := tell("log", "the disk is full"); !strings.Contains(got, "the disk is full") || !shown() {
		t.Errorf("trouble is not shown: %s", got)
	}
	log(1)
	if !shown() {
		t.Error("a logged event hides that others are refused")
	}
	if f, _ := pr.Join(1); !strings.Contains(string(f.Data()), "the disk is full") {
		t.Error("who joins is not told")
	}
	if tell("saved", "Everything is saved again."); shown() {
		t.Error("it is saved again and the trouble stays")
	}
}
