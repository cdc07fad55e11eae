package eventlog

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"webchat/internal/event"
)

// Prompt is where a log holds a prompt.
type Prompt struct {
	Seq  int64  // of its user.message
	Turn int64  // the sequence of the start of its turn; 0: it has none of its own
	Name string // the agent's name of it; empty: the agent cannot go back to it
	// Waited are the sequences of the prompts that waited when its turn began, and its own.
	Waited []int64
}

// Prompt finds a prompt that was not left behind. [ErrNotFound]: there is none of that id.
func (l *Log) Prompt(ctx context.Context, messageID string) (p Prompt, err error) {
	var turn string // the message of the one that runs
	waits := map[string]int64{}
	err = l.Scan(ctx, 0, func(e event.Entry) bool {
		switch d := e.Event.Data.(type) {
		case event.UserMessage:
			waits[d.MessageID] = e.Seq
			if d.MessageID == messageID {
				p.Seq = e.Seq
			}
		case event.UserMessageWithdrawn:
			delete(waits, d.MessageID)
		case event.TurnStart:
			if turn = d.MessageID; turn == messageID {
				p.Turn, p.Waited = e.Seq, slices.Sorted(maps.Values(waits))
			}
			delete(waits, turn)
		case event.TurnEnd:
			for _, id := range d.Steered {
				delete(waits, id)
			}
		case event.AssistantTurnStart:
			if turn == messageID && d.PromptID != "" {
				p.Name = d.PromptID
			}
		}
		return true
	})
	if err == nil && (messageID == "" || p.Seq == 0 || IsLeft(l.Summary().Open.Left, p.Seq)) {
		err = fmt.Errorf("the prompt %s: %w", messageID, ErrNotFound)
	}
	return p, err
}
