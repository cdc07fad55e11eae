// What users looked at and ran last, from logs.

package server

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"webchat/internal/event"
)

// recentLook is a file that a user looked at.
type recentLook struct {
	Path string     `json:"path"`
	At   event.Time `json:"at"`
}

// recentCommand is one that a user ran.
type recentCommand struct {
	Line       string      `json:"command"`
	At         *event.Time `json:"at,omitempty"`       // when it ran last
	ExitCode   *int        `json:"exitCode,omitempty"` // absent once its output is deleted
	DurationMs int64       `json:"durationMs,omitempty"`
}

// recentWork is what users looked at and ran, folded from logs.
type recentWork struct {
	// ExitCode is how the command of an output ended; nil once the output is deleted.
	ExitCode func(output string) *int

	looked map[string]event.Time    // by path: when last
	ran    map[string]recentCommand // by command: how it ended last

	begun map[string]event.ToolExecutionStart // of one log, by call
	shown map[string]string                   // of one log: paths by output
}

// Add takes the entries of one log.
func (w *recentWork) Add(entries []event.Entry) {
	if w.looked == nil {
		w.looked, w.ran = map[string]event.Time{}, map[string]recentCommand{}
	}
	w.begun, w.shown = map[string]event.ToolExecutionStart{}, map[string]string{}
	for _, e := range entries {
		w.take(e.Event)
	}
}

// Looked are the files, the one looked at last first.
func (w *recentWork) Looked() []recentLook {
	all := []recentLook{}
	for path, at := range w.looked {
		all = append(all, recentLook{path, at})
	}
	slices.SortFunc(all, func(a, b recentLook) int { return newestFirst(a.At, b.At, a.Path, b.Path) })
	return all
}

// Ran are the commands, the one that ran last first.
func (w *recentWork) Ran() []recentCommand {
	all := slices.AppendSeq([]recentCommand{}, maps.Values(w.ran))
	slices.SortFunc(all, func(a, b recentCommand) int {
		return newestFirst(*a.At, *b.At, a.Line, b.Line)
	})
	return all
}

func newestFirst(a, b event.Time, x, y string) int {
	return cmp.Or(time.Time(b).Compare(time.Time(a)), cmp.Compare(x, y))
}

func (w *recentWork) take(e event.Event) {
	switch d := e.Data.(type) {
	case event.ToolExecutionStart:
		w.begun[d.ToolCallID] = d
	case event.OutputReread:
		w.shown[d.NewOutputID] = w.shown[d.OutputID]
	case event.OutputOpened:
		if path := w.shown[d.OutputID]; path != "" {
			w.see(path, event.Time(e.Timestamp))
		}
	case event.ToolExecutionComplete:
		var args struct{ Path, Command string }
		start, ok := w.begun[d.ToolCallID]
		if !ok || d.OutputID == "" || json.Unmarshal(start.Arguments, &args) != nil {
			return
		}
		if w.shown[d.OutputID] = args.Path; start.By != event.ByUser {
			return
		}
		if args.Path != "" {
			w.see(args.Path, event.Time(e.Timestamp))
		}
		if had := w.ran[args.Command]; args.Command != "" &&
			(had.At == nil || time.Time(*had.At).Before(e.Timestamp)) {
			w.ran[args.Command] = recentCommand{
				Line:       args.Command,
				At:         new(event.Time(e.Timestamp)),
				DurationMs: d.DurationMs,
				ExitCode:   w.ExitCode(d.OutputID),
			}
		}
	}
}

func (w *recentWork) see(path string, at event.Time) {
	if time.Time(w.looked[path]).Before(time.Time(at)) {
		w.looked[path] = at
	}
}
