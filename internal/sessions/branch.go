package sessions

import (
	"context"
	"fmt"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/session"
	"webchat/internal/wording"
)

// Branch creates a session that begins with everything that was said in another before a
// prompt; its agent is given that with its first prompt. The other stays as it is. Errors as of
// [Manager.Create]; [eventlog.ErrNotFound] for an unknown prompt, [eventlog.ErrInvalid] for one that
// joined another's turn or still waits.
func (m *Manager) Branch(ctx context.Context, id eventlog.ID, messageID string) (*session.Session, error) {
	from, err := m.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	p, err := from.Prompt(ctx, messageID)
	if err != nil {
		return nil, err
	}
	if p.Turn == 0 {
		return nil, fmt.Errorf("%w: that prompt has no turn of its own; branch at another one", eventlog.ErrInvalid)
	}
	var before []event.Entry
	err = from.Scan(ctx, 0, func(e event.Entry) bool {
		if e.Seq < p.Turn {
			before = append(before, e)
		}
		return e.Seq < p.Turn
	})
	if err != nil {
		return nil, err
	}
	sum := from.Summary()
	taken := session.BranchEvents(before, sum.Open.Left)
	o := Options{Workspace: m.workspaceOf(sum), Backend: sum.Backend, Model: sum.Model, Title: wording.Cut(sum.Title, 180) + " (branch)"}
	return m.create(ctx, o, append(taken, event.SessionBranched{From: string(id), MessageID: messageID, Title: sum.Title})...)
}
