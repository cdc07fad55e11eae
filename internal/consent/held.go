package consent

import (
	"context"

	"webchat/internal/event"
)

// Hold asks about what agents made and is held. The requests are of no turn, and wait for the user;
// with [ModeAllow] it is kept where it is, which is logged. It returns when the log has them.
func (q *Requests) Hold(asks []event.PermissionRequested) error {
	return q.cfg.Log.Persist(q.cfg.Context, func() error {
		var data []event.Data
		for _, ask := range asks {
			if data = append(data, ask); q.cfg.Mode == ModeAllow {
				data = append(data, event.PermissionCompleted{
					RequestID: ask.RequestID,
					Decision:  event.Allow,
					Scope:     event.Once,
					By:        event.DecidedByMode,
					Kept:      namesOf(ask),
				})
			} else {
				q.wait(ask)
			}
		}
		err := q.cfg.Log.Append(data...)
		if err != nil {
			q.mu.Lock()
			defer q.mu.Unlock()
			for _, ask := range asks {
				delete(q.open, ask.RequestID)
			}
		}
		return err
	})
}

func namesOf(ask event.PermissionRequested) (names []string) {
	for _, r := range ask.Resources {
		names = append(names, r.Resource)
	}
	if names == nil {
		names = []string{ask.Resource}
	}
	return names
}

// Reopen has requests about what is held wait again, which an earlier process asked.
func (q *Requests) Reopen(asks []event.Entry) {
	for _, e := range asks {
		if ask, ok := e.Event.Data.(event.PermissionRequested); ok {
			q.wait(ask)
		}
	}
}

func (q *Requests) wait(ask event.PermissionRequested) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open[ask.RequestID] = &request{
		id:   ask.RequestID,
		ask:  ask,
		held: true,
		ctx:  q.cfg.Context,
		done: make(chan struct{}),
	}
}

// decideHeld puts back what was held, or deletes it. It was made already, so it is put back before
// the log has the answer: after a kill in between, the question is asked again, and a second yes
// finds it in its place.
func (q *Requests) decideHeld(ctx context.Context, r *request, c event.PermissionCompleted,
	o outcome) error {
	ask, ok := r.ask.(event.PermissionRequested)
	open := true
	err := q.cfg.Log.Change(ctx, func() error {
		if open = ok && q.get(r.id) != nil; !open {
			return nil
		}
		if c.Decision == event.Allow {
			err := q.cfg.Log.Aside(func() (err error) { c.Kept, err = q.cfg.PutBack(ask.Held); return err })
			if err != nil {
				return err
			}
		}
		if err := q.cfg.Log.Append(c); err != nil {
			return err
		}
		q.settle(r, o)
		return nil
	})
	switch {
	case !open:
		return q.closedError(ctx, r.id)
	case err == nil && c.Decision == event.Deny:
		q.cfg.Drop(ask.Held)
	}
	return err
}
