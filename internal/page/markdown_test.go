package page_test

import (
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Prompts stand above what their turns did, not where they were queued.
func TestMarkdownOfQueuedPrompts(t *testing.T) {
	l := newLog().add(
		event.UserMessage{MessageID: "a", Content: "first"},
		event.TurnStart{TurnID: "ta", MessageID: "a"},
		event.UserMessage{MessageID: "b", Content: "second"},
		event.UserMessage{MessageID: "c", Content: "withdrawn"},
		event.UserMessage{MessageID: "d", Content: "steered"},
		event.UserMessage{MessageID: "e", Content: "never sent"},
		event.AssistantMessage{MessageID: "ma", Content: "answer to first"},
		event.UserMessageWithdrawn{MessageID: "c"},
		event.TurnEnd{TurnID: "ta", MessageID: "a", Outcome: event.Completed, Steered: []string{"d"}},
		event.TurnStart{TurnID: "tb", MessageID: "b"},
		event.AssistantMessage{MessageID: "mb", Content: "answer to second"},
		event.TurnEnd{TurnID: "tb", MessageID: "b", Outcome: event.Completed})
	var b strings.Builder
	m := pages(t, 3).Markdown(&b, eventlog.Summary{ID: "s1"})
	if err := m.Take(l.entries...); err != nil {
		t.Fatal(err)
	}
	if err := m.End(); err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, want := range []string{"> first", "answer to first", "*Taken back before it was sent:*",
		"> withdrawn",
		"*Joined the turn above while it ran:*", "> steered", "> second", "answer to second",
		"*Not sent:*", "> never sent"} {
		next := strings.Index(b.String(), want)
		if next <= at || strings.Count(b.String(), want) != 1 {
			t.Errorf("%q is not in its place in\n%s", want, b.String())
		}
		at = next
	}
}
