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
	var asked []*session.Session
	var last *session.Session
	m.mu.Lock()
	for _, s := range m.sessions {
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
	m.mu.Unlock()
	if len(asked) == 0 && last != nil {
		asked = append(asked, last)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	answers := make(chan consent.HostAnswer, len(asked))
	for _, s := range asked {
		all.Go(func() {
			if answer := s.AskHost(ctx, host, address); answer.By != "" {
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
