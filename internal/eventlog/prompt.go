package eventlog

import (
	"context"
	"fmt"

	"webchat/internal/calls"
)

// Prompt finds a prompt that was not left behind. [ErrNotFound]: there is none of that id.
func (l *Log) Prompt(ctx context.Context, messageID string) (p calls.Prompt, err error) {
	known := false
	err = l.Index(ctx, func(x *calls.Index) { p, known = x.Prompt(messageID) })
	if err == nil && (!known || IsLeft(l.Summary().Open.Left, p.Seq)) {
		err = fmt.Errorf("the prompt %s: %w", messageID, ErrNotFound)
	}
	return p, err
}
