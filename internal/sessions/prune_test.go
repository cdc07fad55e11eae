package sessions_test

import (
	"testing"
	"time"

	"webchat/internal/eventlog"
	"webchat/internal/session"
	"webchat/internal/sessions"
)

// Prune takes what is old and idle, and leaves what is pinned, young or at work.
func TestPrune(t *testing.T) {
	play(t, nil, func(r *rig) {
		made := map[string]*session.Session{}
		for _, name := range []string{"old", "pinned", "busy"} {
			s, err := r.m.Create(r.Context(), sessions.Options{Title: name})
			if err != nil {
				r.Fatal(err)
			}
			made[name] = s
		}
		yes := true
		if _, err := r.m.Update(r.Context(), made["pinned"].ID(),
			sessions.Patch{Pinned: &yes}); err != nil {
			r.Fatal(err)
		}
		time.Sleep(time.Minute)
		before := time.Now().Add(-time.Second)
		if _, err := r.m.Update(r.Context(), made["busy"].ID(),
			sessions.Patch{Title: ptrTo("moved")}); err != nil {
			r.Fatal(err)
		}
		n, err := r.m.Prune(r.Context(), before)
		if err != nil {
			r.Fatal(err)
		}
		equal(r.T, "deleted", n.Deleted, 2) // the rig's own one too
		for name, want := range map[string]error{"old": eventlog.ErrNotFound, "pinned": nil,
			"busy": nil} {
			if _, err := r.m.Get(r.Context(), made[name].ID()); want == nil && err != nil || want != nil &&
				err == nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func ptrTo[T any](v T) *T { return &v }
