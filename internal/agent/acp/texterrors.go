package acp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"webchat/internal/agent/convo"
	"webchat/internal/event"
)

// textErrors are the errors of an agent that come as text, and the notices that stand before its
// answers. It belongs to the loop.
type textErrors struct {
	c      *convo.Conversation
	begin  []string   // how errors begin
	before []string   // how notices do
	known  convo.Once // notices that were reported
	text   string     // an error, if nothing followed
	broke  bool       // the agent's state is that the turn failed, so that its next text says why
}

// renew forgets the errors of the turn before.
func (e *textErrors) renew() { e.text, e.broke = "", false }

// take takes a text that is not part of an answer: an error, or a notice that stands before one.
func (e *textErrors) take(t *convo.Turn, text string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(text, prefix) }
	switch {
	case e.broke:
		t.Quiet()
		e.text += text
	case slices.ContainsFunc(e.begin, begins), failure(text) != "":
		t.Quiet()
		e.text = text
	case t.Saying() || !slices.ContainsFunc(e.before, begins):
		return false
	case strings.Contains(text, "Retrying"):
		// it comes behind the wait (Copilot CLI 1.0.102), so there is none to end
		e.c.Warn(event.KindRetrying, "%s: %s", e.c.Title, sentence(text))
	case begins("Warning: ") && e.known.First(text): // it comes in every turn
		e.c.Warn(event.KindProvider, "%s: %s", e.c.Title, sentence(text))
	}
	return true
}

// follows takes what looked like an error for a part of the answer, since more follows.
func (e *textErrors) follows(t *convo.Turn) {
	if e.broke {
		return
	}
	text := e.text
	e.text = ""
	t.Say(convo.Answer, "", text)
}

// left is the error that ended the turn; nil if none did.
func (e *textErrors) left() error {
	switch {
	case e.text != "":
		return fmt.Errorf("%s failed: %s", e.c.Title, sentence(e.text))
	case e.broke:
		return fmt.Errorf("%s failed, and does not say why", e.c.Title)
	}
	return nil
}

// failure is the message in a provider's error, as its body; empty if it is none.
func failure(text string) string {
	var body struct {
		Type  string
		Error struct{ Message string }
	}
	if json.Unmarshal([]byte(text), &body) != nil || body.Type != "error" {
		return ""
	}
	return body.Error.Message
}

// sentence is an agent's own sentence about an error, without what it puts before it.
func sentence(text string) string {
	for _, prefix := range []string{"Internal error: ", "API Error: ", "Error: ", "Warning: ",
		"Info: "} {
		text = strings.TrimPrefix(strings.TrimSpace(text), prefix)
	}
	if inner := failure(text); inner != "" {
		return inner
	}
	return text
}
