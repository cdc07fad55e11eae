package sessions_test

import (
	"slices"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/sessions"
)

// instructed is a backend whose agent loads files of the folder.
type instructed struct {
	*scripted
	files []string
}

func (b *instructed) Instructions(string) []string { return b.files }

// The log says in each session which files its agent loads, and whether a session
// before it, in this folder and of this backend, loaded the same.
func TestInstructionsAreToldOnce(t *testing.T) {
	b := &instructed{files: []string{"/w/AGENTS.md"}}
	r := newRig(t, newDisk(), func(r *rig, c *sessions.Config) {
		b.scripted = r.backend
		c.Backends = []agent.Backend{b}
	})
	for i, c := range []struct {
		files []string
		seen  bool
	}{
		{b.files, false}, {b.files, true}, {nil, false}, {b.files, true},
		{[]string{"/w/AGENTS.md", "/w/CLAUDE.md"}, false},
	} {
		b.files = c.files
		s, err := r.m.Create(t.Context(), sessions.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := r.disk.entries(t, s.ID())[0].Event.Data.(event.SessionStart)
		if !slices.Equal(got.Instructions, c.files) || got.InstructionsSeen != c.seen {
			t.Errorf("session %d: %q, told before: %v; want %q, %v", i+1, got.Instructions,
				got.InstructionsSeen, c.files, c.seen)
		}
	}
}
