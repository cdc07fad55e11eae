package session

import (
	"strings"
	"testing"
	"testing/synctest"

	"webchat/internal/agent"
)

// An agent that cannot go on with the conversation of an earlier process is said
// to begin anew, once; one that can, and one that has nothing to remember, is not.
func TestForgottenConversation(t *testing.T) {
	for name, c := range map[string]struct {
		canResume, refuses, spoken bool
		want                       int
	}{"resumes": {true, false, true, 0}, "cannot": {false, false, true, 1},
		"refuses": {true, true, true, 1}, "nothing was said": {false, false, false, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, newMemory(), nil)
				r.s, _ = r.create(t.Context())
				if c.spoken {
					r.ask("one")
				} else if err := r.s.Rename(t.Context(), "a title"); err != nil {
					t.Fatal(err)
				}
				r.stop()
				next := newRig(t, r.mem, nil)
				next.backend.info.CanResume = c.canResume
				next.backend.open = func(o agent.Options) error {
					if o.Resume && c.refuses {
						return agent.ErrUnsupported
					}
					return nil
				}
				s, err := next.load(t.Context(), r.s.ID())
				if err != nil {
					t.Fatal(err)
				}
				next.s = s
				next.ask("two")
				next.ask("three")
				if n := strings.Count(next.types(), "session.error"); n != c.want {
					t.Errorf("%d errors in %s", n, next.types())
				}
				if c.want > 0 && !strings.Contains(next.types(), "user.message turn.start session.error") {
					t.Error(next.types())
				}
				next.stop()
			})
		})
	}
}

func TestResumeOfTheConversation(t *testing.T) {
	for _, refuses := range []string{"", "resume"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, newMemory(), nil)
			r.s, _ = r.create(t.Context())
			r.ask("one")
			equal(t, "resume", r.backend.opened[0].Resume, false)
			r.stop()
			next := newRig(t, r.mem, nil)
			next.backend.info.CanResume = true
			next.backend.open = func(o agent.Options) error {
				if o.Resume && refuses != "" {
					return agent.ErrUnsupported
				}
				return nil
			}
			s, err := next.load(t.Context(), r.s.ID())
			if err != nil {
				t.Fatal(err)
			}
			next.s = s
			equal(t, "no resume by reading", strings.HasSuffix(next.types(), "session.shutdown"), true)
			next.ask("two")
			equal(t, "resume", next.backend.opened[0].Resume, true)
			equal(t, "opened", len(next.backend.opened), 1+len(refuses)/6)
			if !strings.Contains(next.types(), "session.shutdown session.resume user.message turn.start") {
				t.Error(next.types())
			}
			next.stop()
		})
	}
}
