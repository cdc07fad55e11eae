package page_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"webchat/internal/event"
	"webchat/internal/page"
)

// That the log cannot be written is shown for as long as the session says so,
// whatever is logged meanwhile.
func TestTroubleWithTheLog(t *testing.T) {
	p := pages(t, 3)
	pr := p.Projector("s1")
	l := newLog().add(event.SessionStart{SessionID: "s1"},
		event.UserMessage{MessageID: "m1", Content: "hi"},
		event.TurnStart{TurnID: "t1", MessageID: "m1"},
		event.TurnEnd{TurnID: "t1", MessageID: "m1", Outcome: event.Completed})
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
		f, _ := pr.Join(1)
		return strings.Contains(string(f.Data()), "the disk is full")
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
	if tell("saved", "Everything is saved again."); shown() {
		t.Error("it is saved again and the trouble stays")
	}
}

// A page says what is wrong when it is written, whatever its session's projector heard last:
// after the report that the log can be written again, the next page shows no trouble.
func TestTroubleIsOfNow(t *testing.T) {
	p := pages(t, 3)
	for _, now := range []string{"the disk is full", ""} {
		pr := p.Projector("s1")
		pr.Feed(newLog().add(event.SessionStart{SessionID: "s1"}).entries...)
		e := event.New(event.SessionError{ErrorType: "log", Message: "the disk was full"}, "", time.Now())
		e.Ephemeral = true
		pr.Feed(event.Entry{Pos: 1000, Event: e})
		var b bytes.Buffer
		if err := p.Session(&b, page.View{Trouble: now}, pr); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); strings.Contains(got, "was full") ||
			strings.Contains(got, `id="trouble" hidden`) != (now == "") || !strings.Contains(got, now) {
			t.Errorf("while %q is wrong the page has %s", now, got)
		}
	}
}
