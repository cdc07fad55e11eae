package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"slices"

	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/outputs"
	"webchat/internal/sessions"
)

// What a start page lists at most, and how much of the logs is read for it.
const (
	startRows     = 8
	startSessions = 6
	startEvents   = 300 // of each session, the last ones
)

// startShape is what a new session in a workspace may begin with.
type startShape struct {
	Branch string `json:"branch,omitempty"`
	// a session can work in a worktree of its own
	Worktree bool `json:"worktree,omitempty"`
	// files that differ from the last commit, the first ones
	Changed []changedShape `json:"changed"`
	Changes int            `json:"changes"`        // how many there are
	More    bool           `json:"more,omitempty"` // there are more than were counted
	Looked  []recentLook   `json:"looked"`         // files, the last one first
	Readme  string         `json:"readme,omitempty"`
	// the project's tests, then those that ran last, then others worth a look
	Commands []recentCommand `json:"commands"`
}

type changedShape struct {
	Path    string           `json:"path"`
	Kind    files.ChangeKind `json:"kind"` // modified, new or deleted
	Added   int              `json:"added,omitempty"`
	Removed int              `json:"removed,omitempty"`
}

// starts knows what a new session may begin with.
type starts struct {
	find     finder
	sessions *sessions.Manager
	outputs  *outputs.Store
	logger   *slog.Logger
	copies   *copies
}

// start returns what the start page lists.
func (st *starts) start(r *http.Request, _ empty) (out startShape, err error) {
	in, err := st.find.workspace(r)
	if err != nil {
		return out, err
	}
	room, err := st.sessions.Room(in.Path)
	if err != nil {
		return out, err
	}
	head := files.HeadOf(in.Path)
	out = startShape{
		Branch:   head.Branch,
		Worktree: head.Root != "" && st.copies.fit(r.Context(), in.Path),
		Changed:  []changedShape{},
	}
	if room.Files != nil {
		list, more, err := room.Files.Changes(r.Context())
		if err != nil && r.Context().Err() == nil { // git is missing, or the repository is damaged
			st.logger.Warn("what changed in a workspace is not known", "error", err)
		}
		out.Changes, out.More = len(list), more
		for _, c := range list[:min(len(list), startRows)] {
			out.Changed = append(out.Changed, changedShape{c.Path, c.Kind, c.Added, c.Removed})
		}
	}
	work, err := st.lately(r.Context(), in.Path)
	if err != nil {
		return out, err
	}
	looked := work.Looked()
	out.Looked = looked[:min(len(looked), startRows)]
	tests := ""
	if root, err := os.OpenRoot(in.Path); err == nil {
		defer root.Close()
		out.Readme = files.Readme(root)
		tests = files.TestCommand(root, func(string) bool { return true })
	}
	out.Commands = worthRunning(tests, head.Root != "", work.Ran())
	return out, nil
}

// lately returns what users looked at and ran in the last sessions of a workspace.
func (st *starts) lately(ctx context.Context, workspace string) (all recentWork, err error) {
	found, err := st.sessions.List(ctx, sessions.Query{
		Limit:  startSessions,
		Filter: sessions.Filter{Workspaces: []string{workspace}},
	})
	if err != nil {
		return all, err
	}
	all.ExitCode = func(output string) *int {
		if o, err := st.outputs.Get(outputs.ID(output)); err == nil {
			return o.Meta().ExitCode
		}
		return nil
	}
	for _, f := range found.Sessions {
		entries, err := st.sessions.Events(ctx, f.ID, max(0, f.LastSeq-startEvents), startEvents)
		if errors.Is(err, eventlog.ErrNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return all, err
		}
		all.Add(entries)
	}
	return all, nil
}

// worthRunning puts the project's tests first, and what is worth a look in a repository last.
func worthRunning(tests string, repository bool, ran []recentCommand) []recentCommand {
	if tests != "" {
		first := recentCommand{Line: tests}
		if i := slices.IndexFunc(ran, func(c recentCommand) bool { return c.Line == tests }); i >= 0 {
			first = ran[i]
		}
		ran = append([]recentCommand{first}, ran...)
	}
	if repository {
		ran = append(ran, recentCommand{Line: "git status"}, recentCommand{Line: "git log -20"})
	}
	out := []recentCommand{}
	for _, c := range ran {
		if len(out) < startRows && !slices.ContainsFunc(out, func(x recentCommand) bool {
			return x.Line == c.Line
		}) {
			out = append(out, c)
		}
	}
	return out
}
