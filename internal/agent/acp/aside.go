package acp

import (
	"encoding/json"
	"slices"
	"strings"

	"webchat/internal/event"
)

// aside takes a text that is not part of an answer: an error of the agent's, or a notice
// that stands before an answer.
func (c *conn) aside(t *turn, text string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(text, prefix) }
	switch {
	case slices.ContainsFunc(c.b.cfg.Failures, begins), failure(text) != "":
		c.quiet(t)
		t.failure = text
	case t.saying.id != "" || !slices.ContainsFunc(c.b.cfg.Notices, begins):
		return false
	case strings.Contains(text, "Retrying"):
		c.report(t.tell, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindRetrying, Message: c.b.cfg.Title + ": " + said(text)})
	case begins("Warning: ") && !c.noticed[text]:
		c.noticed[text] = true // it comes in every turn
		c.report(t.tell, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindProvider, Message: c.b.cfg.Title + ": " + said(text)})
	}
	return true
}

// answers says that what looked like an error was a part of the answer, since more
// follows.
func (c *conn) answers(t *turn) {
	if text := t.failure; text != "" {
		t.failure = ""
		c.say(t, false, "", text)
	}
}

// failure is the message in a provider's error, as its body; empty: it is none.
func failure(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		return ""
	}
	var body struct {
		Type  string
		Error struct{ Message string }
	}
	if json.Unmarshal([]byte(text), &body) != nil || body.Type != "error" {
		return ""
	}
	return body.Error.Message
}

// said is an agent's own sentence about an error, without what it puts before it.
func said(text string) string {
	for _, prefix := range []string{"Internal error: ", "API Error: ", "Error: ", "Warning: ", "Info: "} {
		text = strings.TrimPrefix(strings.TrimSpace(text), prefix)
	}
	if inner := failure(text); inner != "" {
		return inner
	}
	return text
}
