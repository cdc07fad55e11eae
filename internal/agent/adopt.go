package agent

import (
	"context"
	"time"
)

// Adopter is a Backend whose agent keeps conversations that were begun elsewhere, such as
// in a terminal, and goes on with them.
type Adopter interface {
	// Conversations lists those that were begun in a workspace, the latest first, without
	// those of sessions. It may start the agent. The error wraps [ErrUnsupported] if the
	// agent does not tell, and [ErrUnavailable] as that of Open.
	Conversations(ctx context.Context, workspace string) ([]Conversation, error)
	// Adopt has a session that was not opened yet go on with one of them when it is, with
	// Options.Resume. Errors as of Conversations; [ErrUnsupported] for one that is not
	// among them. To delete the session does not delete the conversation.
	Adopt(ctx context.Context, sessionID, workspace, id string) (Conversation, error)
}

// Conversation is one that an agent keeps.
type Conversation struct {
	ID        string    `json:"id"` // the agent's own
	Title     string    `json:"title"`
	UpdatedAt time.Time `json:"updatedAt"` // the zero time: it is not known
}
