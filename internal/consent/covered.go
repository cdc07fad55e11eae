package consent

import (
	"slices"
	"strings"

	"webchat/internal/event"
)

// answerCovered allows the open requests that a grant covers by now. Each is judged again, since
// what its grants cover depends on files; one that cannot be answered stays open.
func (q *Requests) answerCovered() {
	for _, r := range q.waiting() {
		if q.answerIfCovered(r) != nil {
			return // the log takes no other either
		}
	}
}

func (q *Requests) answerIfCovered(r *request) error {
	again := q.newRequest(r.ctx, r.perm, event.ByAgent)
	if _, decided := q.decideByRuleOrMode(again); decided || q.targetMoved(r) {
		return nil
	}
	return q.cfg.Log.Change(q.cfg.Context, func() error {
		v, granted := q.grantedLocked(again)
		if !granted || q.get(r.id) == nil || r.ctx.Err() != nil {
			return nil
		}
		if err := q.cfg.Log.Append(completed(r.id, v)); err != nil {
			return err
		}
		q.settle(r, outcome{verdict: v})
		return nil
	})
}

// mayBeGranted reports whether a grant may answer a request.
func (r *request) mayBeGranted() bool {
	return !r.free() && len(r.grants) > 0 && !r.perm.Sensitive
}

// waiting returns the open permission requests of agents that grants may cover, in order of their
// ids.
func (q *Requests) waiting() (all []*request) {
	for _, r := range q.ofTurn() {
		if r.mayBeGranted() {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *request) int { return strings.Compare(a.id, b.id) })
	return all
}

// given is closed when the next grant is kept for the workspace.
func (q *Requests) given() <-chan struct{} {
	if q.cfg.Kept == nil {
		return nil
	}
	return q.cfg.Kept.Given()
}
