package sessions

import (
	"context"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// lookedBack is how many of the latest sessions are asked whether they told the user
// of the same instructions.
const lookedBack = 20

// logInstructions puts into a session's start which files of the folder its agent
// will load, and whether an earlier session there loaded the same.
func (m *Manager) logInstructions(ctx context.Context, b agent.Backend, workspace string, start *event.SessionStart) {
	i, ok := b.(agent.Instructor)
	if !ok {
		return
	}
	if start.Instructions = i.Instructions(workspace); len(start.Instructions) == 0 {
		return
	}
	before, err := m.cfg.Catalog.List(ctx, Query{Limit: lookedBack, Filter: Filter{Workspaces: []string{workspace}}})
	if err != nil {
		return // the user is told once more
	}
	start.InstructionsSeen = slices.ContainsFunc(before.Sessions, func(s Found) bool {
		if s.Backend != start.Backend {
			return false
		}
		first, err := m.cfg.Log.After(ctx, s.ID, 0, 1)
		if err != nil || len(first) == 0 {
			return false
		}
		earlier, ok := first[0].Event.Data.(event.SessionStart)
		return ok && slices.Equal(earlier.Instructions, start.Instructions)
	})
}
