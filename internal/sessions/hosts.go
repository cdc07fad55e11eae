package sessions

import (
	"context"
	"sync"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/session"
)

// AskHost asks the user whether what is confined in a workspace may reach a host, and the private
// address that it leads to, if it does: in each session of it with a call that runs, or else in the
// one that did something last. The first answer counts.
func (m *Manager) AskHost(ctx context.Context, workspace, host, address string) bool {
	_, asked := confinedIn(m.table.all(), workspace)
	return first(ctx, asked, func(ctx context.Context, s *session.Session) consent.InsideAnswer {
		return s.AskHost(ctx, host, address)
	})
}

// AskCall decides about a call of an MCP server of the user's that something confined makes in a
// workspace: it is one that a session was asked about, or the user is asked as by
// [Manager.AskHost].
func (m *Manager) AskCall(ctx context.Context, workspace string, p agent.Permission) bool {
	all, asked := confinedIn(m.table.all(), workspace)
	for _, s := range all {
		if s.TakeCall(p) {
			return true
		}
	}
	return first(ctx, asked, func(ctx context.Context, s *session.Session) consent.InsideAnswer {
		return s.AskCall(ctx, p)
	})
}

// confinedIn are the loaded sessions that are of a workspace, and those of them that are asked about
// what runs there.
func confinedIn(loaded []*session.Session, workspace string) (all, asked []*session.Session) {
	var last *session.Session
	for _, s := range loaded {
		sum := s.Summary()
		if sum.Workspace != workspace || !sum.DeletedAt.IsZero() {
			continue
		}
		all = append(all, s)
		if sum.Open.Tools+sum.Open.Tasks > 0 {
			asked = append(asked, s)
		}
		if last == nil || sum.UpdatedAt.After(last.Summary().UpdatedAt) {
			last = s
		}
	}
	if len(asked) == 0 && last != nil {
		asked = append(asked, last)
	}
	return all, asked
}

// first asks sessions at once, and returns the first answer.
func first(ctx context.Context, asked []*session.Session,
	ask func(context.Context, *session.Session) consent.InsideAnswer) bool {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	answers := make(chan consent.InsideAnswer, len(asked))
	for _, s := range asked {
		all.Go(func() {
			if answer := ask(ctx, s); answer.By != "" {
				answers <- answer
				cancel(answer)
			}
		})
	}
	all.Wait()
	select {
	case answer := <-answers:
		return answer.Allowed
	default:
		return false
	}
}
