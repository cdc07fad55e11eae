package sessions_test

import (
	"context"
	"strings"
	"testing"

	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

// A model that the backend is known not to have is refused with those there are, at
// creation and later.
func TestUnknownModel(t *testing.T) {
	play(t, nil, func(r *rig) {
		_, err := r.m.Create(r.Context(), sessions.Options{Model: "none"})
		is(t, err, eventlog.ErrInvalid)
		if !strings.Contains(err.Error(), "it has a, b") {
			t.Errorf("it says %v", err)
		}
		s := r.create(sessions.Options{Model: "a"})
		model := "none"
		_, err = r.m.Update(r.Context(), s.ID(), sessions.Patch{Model: &model})
		is(t, err, eventlog.ErrInvalid)
		equal(t, "model", s.Summary().Model, "a")
	})
}

// The backend of new sessions is looked for when it is first needed, and once.
func TestBackendIsChosenOnce(t *testing.T) {
	looks := 0
	play(t, func(r *rig, c *sessions.Config) {
		c.Choose = func(context.Context) string { looks++; return r.backend.Name() }
	}, func(r *rig) {
		equal(t, "looks for the first session", looks, 1) // play makes one
		equal(t, "default", r.m.Backends(r.Context())[0].Default, true)
		r.create(sessions.Options{})
		equal(t, "looks", looks, 1)
	})
}
