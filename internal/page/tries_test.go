package page_test

import (
	"strings"
	"testing"

	"webchat/internal/event"
)

// A wait for the provider can be ended while it lasts, and only where there is one.
func TestTryNow(t *testing.T) {
	tries := func(waits bool) event.SessionError {
		return event.SessionError{
			Message:   "It is busy.",
			ErrorType: event.ErrorWarning,
			Kind:      event.KindRetrying,
			Waits:     waits,
		}
	}
	pr := pages(t, 3).Projector("s1")
	l := newLog().add(event.SessionStart{SessionID: "s1", Backend: "copilot"},
		event.UserMessage{MessageID: "m1", Content: "hi"},
		event.TurnStart{TurnID: "t1", MessageID: "m1"}, tries(true), tries(false), tries(true),
		event.AssistantMessage{MessageID: "a1", Content: "There."}, tries(true),
		event.TurnEnd{TurnID: "t1", MessageID: "m1", Outcome: event.Completed})
	for i, offered := range []bool{false, false, false, true, false, true, false, true, false} {
		pr.Feed(l.entries[i])
		f, _ := pr.Join(1)
		if got := strings.Contains(string(f.Data()), "try-now"); got != offered {
			t.Errorf("after event %d, %T: offered is %v", i, l.entries[i].Event.Data, got)
		}
	}
}

// Who is refused by a provider may choose another model where there are models to choose.
func TestOtherModel(t *testing.T) {
	for _, c := range []struct {
		backend string
		failed  event.SessionError
		offered bool
	}{
		{"copilot", event.SessionError{ErrorType: "query", Kind: event.KindProvider, StatusCode: 400},
			true},
		{"copilot", event.SessionError{ErrorType: "query", Kind: event.KindProvider, StatusCode: 500},
			true},
		{"copilot", event.SessionError{ErrorType: "rate_limit", Kind: event.KindLimit}, true},
		{"offline", event.SessionError{ErrorType: "query", Kind: event.KindProvider, StatusCode: 500},
			false},
		{"copilot", event.SessionError{ErrorType: event.ErrorHook, Kind: event.KindDenied}, false},
		{"copilot", event.SessionError{ErrorType: "panic", Kind: event.KindInternal}, false},
	} {
		pr := pages(t, 3).Projector("s1")
		c.failed.Message = "It failed."
		pr.Feed(newLog().add(event.SessionStart{SessionID: "s1", Backend: c.backend},
			event.UserMessage{MessageID: "m1", Content: "hi"},
			event.TurnStart{TurnID: "t1", MessageID: "m1"}, c.failed).entries...)
		f, _ := pr.Join(1)
		if got := string(f.Data()); !strings.Contains(got, "It failed.") ||
			strings.Contains(got, "Other model") != c.offered {
			t.Errorf("%s, %+v: offered is %v", c.backend, c.failed, !c.offered)
		}
	}
}
