package server

import (
	"cmp"
	"context"

	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

// places finds files of a session's workspace by the names that commands give them. It
// only looks whether they are there, and not beyond the workspace, by no link either.
type places struct {
	sessions *sessions.Manager // nil: there are no places
}

// title is what a session is called; empty if there is none of that id.
func (p *places) title(sessionID string) string {
	if p.sessions == nil {
		return ""
	}
	sess, err := p.sessions.Get(context.Background(), eventlog.ID(sessionID))
	if err != nil {
		return ""
	}
	return cmp.Or(sess.Summary().Title, "New session")
}

func (p *places) Place(ctx context.Context, sessionID, cwd, name string) (string, bool) {
	if p.sessions == nil {
		return "", false
	}
	sess, err := p.sessions.Get(ctx, eventlog.ID(sessionID))
	if err != nil {
		return "", false
	}
	room, err := p.sessions.Room(sess.Summary().Workspace)
	if err != nil || room.Files == nil {
		return "", false
	}
	return room.Files.Place(ctx, cwd, name)
}
