package page

import (
	"strconv"

	"webchat/internal/event"
)

// Place is the address of the page that shows an event: from its turn on, with
// the id of the element that stands for it. What has none leads to the turn.
func Place(sessionID string, seq int64, d event.Data) string {
	address := "/sessions/" + sessionID + "?from=" + strconv.FormatInt(seq, 10)
	id := ""
	switch d := d.(type) {
	case event.UserMessage:
		id = elementID("t-", d.MessageID)
	case event.AssistantMessage:
		id = elementID("m-", d.MessageID)
	case event.AssistantReasoning:
		id = elementID("r-", d.ReasoningID)
	case event.ToolExecutionStart:
		id = elementID("c-", d.ToolCallID)
	default:
		return address
	}
	return address + "#" + id
}
