package sessions

import (
	"context"
	"sync"

	"webchat/internal/consent"
	"webchat/internal/session"
)

// AskHost asks the user whether what is confined in a workspace may reach a host, and the private
// address that it leads to, if it does: in each session of it with a call that runs, or else in the
// one that did something last. The first answer counts.
func (m *Manager) AskHost(ctx context.Context, workspace, host, address string) bool {
	asked := confinedIn(m.table.all(), workspace)
	return first(ctx, asked, func(ctx context.Context, s *session.Session) consent.InsideAnswer {
		return s.AskHost(ctx, host, address)
	})
}

// confinedIn are the loaded sessions of a workspace that are asked about what runs there.
func confinedIn(loaded []*session.Session, workspace string) (asked []*session.Session) {
	var last *session.Session
	for _, s := range loaded {
		sum := s.Summary()
		if sum.Workspace != workspace || !sum.DeletedAt.IsZero() {
			continue
		}
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
	return asked
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
