package server

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"time"

	"webchat/internal/event"
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
	Branch   string         `json:"branch,omitempty"`
	Changed  []changedShape `json:"changed"`        // files that differ from the last commit, the first ones
	Changes  int            `json:"changes"`        // how many there are
	More     bool           `json:"more,omitempty"` // there are more than were counted
	Looked   []lookedShape  `json:"looked"`         // files, the last one first
	Commands []ranShape     `json:"commands"`       // the project's tests, then those that ran last, then others worth a look
}

type changedShape struct {
	Path    string           `json:"path"`
	Kind    files.ChangeKind `json:"kind"` // modified, new or deleted
	Added   int              `json:"added,omitempty"`
	Removed int              `json:"removed,omitempty"`
}

type lookedShape struct {
	Path string     `json:"path"`
	At   event.Time `json:"at"`
}

type ranShape struct {
	Command    string      `json:"command"`
	At         *event.Time `json:"at,omitempty"`       // when it ran last
	ExitCode   *int        `json:"exitCode,omitempty"` // absent once its output is deleted
	DurationMs int64       `json:"durationMs,omitempty"`
}

// start says what the start page lists.
func (s *Server) start(w http.ResponseWriter, r *http.Request) error {
	in, err := s.workspace(r)
	if err != nil {
		return err
	}
	room, err := s.Sessions.Room(in.Path)
	if err != nil {
		return err
	}
	out := startShape{Branch: files.HeadOf(in.Path).Branch, Changed: []changedShape{}, Looked: []lookedShape{}, Commands: []ranShape{}}
	if room.Files != nil {
		list, more, err := room.Files.Changes(r.Context())
		if err != nil { // git is missing, or the repository is damaged
			s.Logger.Warn("what changed in a workspace is not known", "error", err)
		}
		out.Changes, out.More = len(list), more
		for _, c := range list[:min(len(list), startRows)] {
			out.Changed = append(out.Changed, changedShape{c.Path, c.Kind, c.Added, c.Removed})
		}
	}
	if err := s.lately(r.Context(), in.Path, &out); err != nil {
		return err
	}
	out.Commands = worthRunning(in.Path, files.HeadOf(in.Path).Root != "", out.Commands)
	return reply(w, http.StatusOK, out)
}

// lately adds what users looked at and ran in the last sessions of a workspace.
func (s *Server) lately(ctx context.Context, workspace string, out *startShape) error {
	found, err := s.Sessions.List(ctx, sessions.Query{Limit: startSessions, Filter: sessions.Filter{Workspaces: []string{workspace}}})
	if err != nil {
		return err
	}
	l := lookedAt{looked: map[string]event.Time{}, ran: map[string]ranShape{}, outputs: s.Outputs}
	for _, f := range found.Sessions {
		one, err := s.Sessions.Get(ctx, f.ID)
		if err != nil {
			continue // deleted meanwhile
		}
		entries, err := one.Events(ctx, max(0, f.LastSeq-startEvents), startEvents)
		if err != nil {
			return err
		}
		l.begun, l.shown = map[string]event.ToolExecutionStart{}, map[string]string{}
		for _, e := range entries {
			l.take(e.Event)
		}
	}
	for path, at := range l.looked {
		out.Looked = append(out.Looked, lookedShape{path, at})
	}
	slices.SortFunc(out.Looked, func(a, b lookedShape) int { return newest(a.At, b.At, a.Path, b.Path) })
	out.Looked = out.Looked[:min(len(out.Looked), startRows)]
	for _, ran := range l.ran {
		out.Commands = append(out.Commands, ran)
	}
	slices.SortFunc(out.Commands, func(a, b ranShape) int { return newest(*a.At, *b.At, a.Command, b.Command) })
	return nil
}

func newest(a, b event.Time, x, y string) int {
	return cmp.Or(time.Time(b).Compare(time.Time(a)), cmp.Compare(x, y))
}

// lookedAt folds logs into what users looked at and ran.
type lookedAt struct {
	looked  map[string]event.Time // by path: when last
	ran     map[string]ranShape   // by command: how it ended last
	outputs *outputs.Store

	begun map[string]event.ToolExecutionStart // of one log, by call
	shown map[string]string                   // of one log: paths by output
}

func (l *lookedAt) take(e event.Event) {
	switch d := e.Data.(type) {
	case event.ToolExecutionStart:
		l.begun[d.ToolCallID] = d
	case event.OutputOpened:
		if path := l.shown[d.OutputID]; path != "" {
			l.see(path, event.Time(e.Timestamp))
		}
	case event.ToolExecutionComplete:
		var args struct{ Path, Command string }
		start, ok := l.begun[d.ToolCallID]
		if !ok || d.OutputID == "" || json.Unmarshal(start.Arguments, &args) != nil {
			return
		}
		if l.shown[d.OutputID] = args.Path; start.By != event.ByUser {
			return
		}
		if args.Path != "" {
			l.see(args.Path, event.Time(e.Timestamp))
		}
		if had := l.ran[args.Command]; args.Command != "" && (had.At == nil || time.Time(*had.At).Before(e.Timestamp)) {
			l.ran[args.Command] = l.ended(args.Command, d, event.Time(e.Timestamp))
		}
	}
}

func (l *lookedAt) see(path string, at event.Time) {
	if time.Time(l.looked[path]).Before(time.Time(at)) {
		l.looked[path] = at
	}
}

func (l *lookedAt) ended(command string, d event.ToolExecutionComplete, at event.Time) ranShape {
	ran := ranShape{Command: command, At: &at, DurationMs: d.DurationMs}
	if o, err := l.outputs.Get(outputs.ID(d.OutputID)); err == nil {
		ran.ExitCode = o.Meta().ExitCode
	}
	return ran
}

// worthRunning puts the project's tests first, and what is worth a look in a
// repository last.
func worthRunning(workspace string, repository bool, ran []ranShape) []ranShape {
	var first []string
	if root, err := os.OpenRoot(workspace); err == nil {
		defer root.Close()
		if test := files.TestCommand(root, func(string) bool { return true }); test != "" {
			first = append(first, test)
		}
	}
	out := []ranShape{}
	add := func(c ranShape) {
		if len(out) < startRows && !slices.ContainsFunc(out, func(x ranShape) bool { return x.Command == c.Command }) {
			out = append(out, c)
		}
	}
	for _, command := range first {
		i := slices.IndexFunc(ran, func(c ranShape) bool { return c.Command == command })
		if i < 0 {
			add(ranShape{Command: command})
		} else {
			add(ran[i])
		}
	}
	for _, c := range ran {
		add(c)
	}
	if repository {
		add(ranShape{Command: "git status"})
		add(ranShape{Command: "git log -20"})
	}
	return out
}
