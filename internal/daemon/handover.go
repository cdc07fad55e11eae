package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"

	"webchat/internal/displaytools"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/session"
	"webchat/internal/sessions"
)

// Handover takes what the command line hands to a server that runs: folders to open, a
// file to show, standard input to show while it comes. All are the user's own displays, of
// which no model sees.
//
// A file and an input are shown in the newest session of their folder, or in a new one
// if it has none. Everything leads to the path of a page, which may end in the output to
// look at.
//
// It is complete with all of its fields, and may be used by any number of goroutines.
type Handover struct {
	Sessions *sessions.Manager
	Inputs   *displaytools.Inputs
	Flags    map[string]string        // of the server
	Link     func(path string) string // signs in and leads to a page
}

// Open opens folders and shows a file, and returns a link that leads there: to the session
// if the file is asked about first, since it may hold secrets, for its page asks. It
// refuses to when a flag was given that this server has otherwise.
func (h *Handover) Open(ctx context.Context, o Opening) (link string, err error) {
	folder, err := h.folders(o)
	if err != nil {
		return "", err
	}
	if o.Worktree {
		s, err := h.Sessions.Create(ctx, sessions.Options{Workspace: folder, Worktree: true})
		if err != nil {
			return "", err
		}
		return h.Link(pageOf(s)), nil
	}
	if o.File == "" {
		return h.Link("/?workspace=" + url.QueryEscape(folder)), nil
	}
	s, err := h.session(ctx, folder)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(folder, o.File)
	if err != nil {
		return "", err
	}
	shown, err := showFile(ctx, s, filepath.ToSlash(rel))
	switch {
	case err != nil:
		return "", err
	case shown.Error != nil:
		return "", errors.New(shown.Error.Message)
	case shown.Output == nil:
		return h.Link(pageOf(s)), nil
	}
	return h.Link(pageOf(s) + outputAt(shown.Output.ID, o.Line)), nil
}

// showFile shows a file and returns what came of it: nothing yet once the user is asked
// about it. The display goes on then.
func showFile(ctx context.Context, s *session.Session, path string) (session.DisplayResult, error) {
	args, err := json.Marshal(map[string]string{"path": path})
	if err != nil {
		return session.DisplayResult{}, err
	}
	events := s.Subscribe()
	defer events.Close()
	asked := make(chan struct{})
	go func() {
		if asksAbout(ctx, events, path) {
			close(asked)
		}
	}()
	var shown session.DisplayResult
	done := make(chan struct{})
	go func() {
		defer close(done)
		shown, err = s.Display(ctx, displaytools.RenderFile, args)
	}()
	select {
	case <-done:
		return shown, err
	case <-asked:
		return session.DisplayResult{}, nil
	}
}

// asksAbout waits until the user is asked about a file that he shows. It reports false
// when the events end before.
func asksAbout(ctx context.Context, events *eventlog.Subscription, path string) bool {
	shows := map[string]bool{} // by call
	for {
		entries, err := events.Next(ctx)
		if err != nil {
			return false
		}
		for _, e := range entries {
			switch d := e.Event.Data.(type) {
			case event.ToolExecutionStart:
				var of struct{ Path string }
				shows[d.ToolCallID] = d.By == event.ByUser && d.ToolName == displaytools.RenderFile &&
					json.Unmarshal(d.Arguments, &of) == nil && of.Path == path
			case event.PermissionRequested:
				if shows[d.ToolCallID] {
					return true
				}
			}
		}
	}
}

// Show returns what shows an input that comes over a connection; see
// [ControlConfig].
func (h *Handover) Show(o Opening) (func(context.Context, io.ReadWriteCloser) error, error) {
	if _, err := h.folders(o); err != nil {
		return nil, err
	}
	return func(ctx context.Context, conn io.ReadWriteCloser) error {
		defer conn.Close()
		say := json.NewEncoder(conn)
		// a caller that has gone needs no link
		err := h.Input(ctx, o, conn, func(link string) { _ = say.Encode(Shown{URL: link}) })
		if err != nil {
			return say.Encode(Shown{Error: err.Error()})
		}
		return nil
	}, nil
}

// Input shows in while it comes, and returns at its end or when the showing was stopped.
// shown is called once with a link to it.
func (h *Handover) Input(ctx context.Context, o Opening, in io.ReadCloser,
	shown func(link string)) error {
	folder, err := h.folders(o)
	if err != nil {
		return err
	}
	s, err := h.session(ctx, folder)
	if err != nil {
		return err
	}
	args, err := json.Marshal(map[string]string{"name": o.Name})
	if err != nil {
		return err
	}
	withdraw := h.Inputs.Announce(string(s.ID()), o.Name, displaytools.Input{ReadCloser: in,
		Shown: func(id string) { shown(h.Link(pageOf(s) + outputAt(id, 0))) }})
	defer withdraw()
	res, err := s.Display(ctx, displaytools.ShowInput, args)
	if err == nil && res.Error != nil {
		err = errors.New(res.Error.Message)
	}
	return err
}

// folders opens the folders of o and returns the first, which has to be open then.
func (h *Handover) folders(o Opening) (first string, err error) {
	for _, name := range slices.Sorted(maps.Keys(o.Flags)) {
		if asked, has := o.Flags[name], h.Flags[name]; asked != has {
			return "",
				fmt.Errorf(
					"it runs with --%s %s, not %s; leave the flag out, or end it with \"webchat stop\" and "+
						"start again", name, quotedPath(has), quotedPath(asked))
		}
	}
	for _, path := range o.Folders {
		w, _, err := h.Sessions.Workspaces().Open(path)
		if err != nil {
			return "", err
		}
		if first == "" {
			first = w.Path
		}
	}
	if first == "" {
		return "", errors.New("no folder was named")
	}
	return first, nil
}

func quotedPath(value string) string {
	if value == "" {
		return `""`
	}
	return value
}

// session returns the session of a folder in which something happened last, or a new
// one.
func (h *Handover) session(ctx context.Context, folder string) (s *session.Session, err error) {
	defer func() {
		if errors.Is(err, eventlog.ErrLog) {
			err = fmt.Errorf(
				"%w: the log cannot be written; free or repair the disk of the data folder, then try again",
				ErrUnable)
		}
	}()
	list, err := h.Sessions.List(ctx, sessions.Query{
		Limit:  200,
		Filter: sessions.Filter{Workspaces: []string{folder}},
	})
	if err != nil {
		return nil, err
	}
	if len(list.Sessions) == 0 {
		return h.Sessions.Create(ctx, sessions.Options{Workspace: folder})
	}
	// Pinned ones come first in a list.
	newest := slices.MaxFunc(list.Sessions, func(a, b sessions.Found) int {
		return a.UpdatedAt.Compare(b.UpdatedAt)
	})
	return h.Sessions.Get(ctx, newest.ID)
}

func pageOf(s *session.Session) string { return "/sessions/" + url.PathEscape(string(s.ID())) }

// outputAt is what the page goes to: an output on the Desk, at a line of it.
func outputAt(id string, line int) string {
	at := "#out/" + id
	if line > 0 {
		at += ":" + strconv.Itoa(line)
	}
	return at
}
