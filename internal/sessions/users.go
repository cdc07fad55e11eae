package sessions

import (
	"context"

	"webchat/internal/eventlog"
)

type userKey struct{}

// As returns a context in which only a user's sessions are there, and new ones are the user's.
// Without a user, as in a context that names none, all are there: it is for who runs the server.
func As(ctx context.Context, user string) context.Context {
	return context.WithValue(ctx, userKey{}, user)
}

// UserOf returns for which user a context is; empty means for who runs the server.
func UserOf(ctx context.Context) string {
	user, _ := ctx.Value(userKey{}).(string)
	return user
}

// Sees returns [eventlog.ErrNotFound], as of an unknown session, unless a session is there for
// ctx's user, be it deleted. It loads nothing, and asks nothing of a context without a user.
func (m *Manager) Sees(ctx context.Context, id eventlog.ID) error {
	user := UserOf(ctx)
	if user == "" {
		return nil
	}
	var sum eventlog.Summary
	if s := m.table.get(id); s != nil {
		sum = s.Summary()
	} else {
		var err error
		if sum, err = m.cfg.Catalog.Summary(ctx, id); err != nil {
			return err // it names the session
		}
	}
	if sum.User != user {
		return notFound(id)
	}
	return nil
}
