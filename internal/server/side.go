package server

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/internal/fold"
	"webchat/internal/page"
	"webchat/internal/sessions"
	"webchat/internal/workspaces"
)

const (
	sideRows = 30  // that a part of the list has at first, and that it gets more at once
	mostRows = 200 // of one question to the catalog

	// A page's first list is short, and the page asks for the whole one once it is painted.
	shortRows, shortFolders = 12, 8
)

// sideWish is what a list of sessions is to hold.
type sideWish struct {
	workspace string         // the page's, which is open
	rows      map[string]int // how many rows the parts have: of "pinned", "found", and of open workspaces by their ids
	text      string         // only sessions that match
	state     sessions.State // only such sessions
	short     bool
}

// sessionRows answers with the list, or with ?part= with the next rows of one part.
func (s *Server) sessionRows(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	own, state := q.Get("workspace"), sessions.State(q.Get("state"))
	if own == "" {
		own = s.Sessions.Workspaces().First()
	}
	if !knownState(state) {
		return errState
	}
	wish := sideWish{workspace: own, rows: map[string]int{}, text: q.Get("q"), state: state}
	for _, shown := range q["rows"] {
		key, text, _ := strings.Cut(shown, ":")
		n, err := strconv.Atoi(text)
		if wish.rows[key] = n; err != nil {
			return invalid("bad_query", "Give rows as a part's name, a colon and a number.")
		}
	}
	if key := q.Get("part"); key != "" {
		return s.sessionPart(w, r, wish, key)
	}
	view, err := s.view(r.Context(), wish)
	if err != nil {
		return err
	}
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
		return s.Pages.pages.SessionsList(b, view, q.Get("current"))
	})
}

// sessionPart answers with the rows of a part behind ?cursor=.
func (s *Server) sessionPart(w http.ResponseWriter, r *http.Request, wish sideWish, key string) error {
	q := r.URL.Query()
	filter, err := s.partFilter(wish, key)
	if err != nil {
		return err
	}
	part, err := s.part(r.Context(), sessions.Query{Text: wish.text, Cursor: q.Get("cursor"), Filter: filter}, sideRows)
	if err != nil {
		return err
	}
	view := page.View{Workspace: wish.workspace}
	switch key {
	case "found":
		view.Side.Found = &part
	case "pinned":
		view.Side.Pinned = part
	default:
		view.Side.Folders = []page.Folder{{ID: key, Part: part}}
	}
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
		return s.Pages.pages.SessionsPart(b, view, key, q.Get("current"))
	})
}

// partFilter is what the sessions of a part have in common.
func (s *Server) partFilter(wish sideWish, key string) (sessions.Filter, error) {
	switch key {
	case "found":
		return sessions.Filter{State: wish.state, Begun: true}, nil
	case "pinned":
		return sessions.Filter{State: sessions.Pinned, Begun: true}, nil
	}
	w, ok := s.Sessions.Workspaces().ByID(key)
	if !ok {
		return sessions.Filter{}, workspaces.ErrUnknown
	}
	return sessions.Filter{Workspaces: []string{w.Path}, State: sessions.Resting, Begun: true}, nil
}

// part is a run of n sessions.
func (s *Server) part(ctx context.Context, q sessions.Query, n int) (p page.Part, err error) {
	for p.Cursor = q.Cursor; n > 0; {
		q.Cursor, q.Limit = p.Cursor, min(n, mostRows)
		found, err := s.Sessions.List(ctx, q)
		if err != nil {
			return p, err
		}
		for _, f := range found.Sessions {
			p.Sessions = append(p.Sessions, rowOf(f.Summary))
		}
		n -= len(found.Sessions)
		if p.Cursor = found.Cursor; p.Cursor == "" {
			break
		}
	}
	return p, nil
}

// side is the list of sessions.
func (s *Server) side(ctx context.Context, wish sideWish) (side page.Side, err error) {
	get := func(key string, def int) (p page.Part) {
		n, asked := wish.rows[key]
		if !asked {
			n = def
		}
		filter, e := s.partFilter(wish, key)
		if e == nil && n > 0 {
			p, e = s.part(ctx, sessions.Query{Text: wish.text, Filter: filter}, n)
		}
		if err == nil {
			err = e
		}
		return p
	}
	if wish.text != "" || wish.state != "" {
		found := get("found", sideRows)
		side.Found = &found
		return side, err
	}
	active, e := s.part(ctx, sessions.Query{Filter: sessions.Filter{State: sessions.Active, Begun: true}}, mostRows)
	if e != nil {
		return side, e
	}
	side.Active, side.Pinned = active.Sessions, get("pinned", sideRows)
	counts, e := s.Sessions.Counts(ctx)
	if e != nil {
		return side, e
	}
	folders, n := s.folders(wish.workspace, counts), sideRows
	if wish.short {
		n = shortRows
		side.Short = len(folders) > shortFolders
		folders = folders[:min(len(folders), shortFolders)]
	}
	for _, w := range folders {
		own := w.Path == wish.workspace
		f := page.Folder{ID: w.ID, Path: w.Path, Name: w.Name, Count: counts[w.Path].Sessions, Missing: !w.Available()}
		_, f.Open = wish.rows[w.ID]
		if f.Open = f.Open || own; f.Open {
			f.Part = get(w.ID, n)
			side.Short = side.Short || wish.short && f.Part.Cursor != ""
		}
		if n, asked := wish.rows[w.ID]; asked && n == 0 {
			f.Open = false
		}
		side.Folders = append(side.Folders, f)
	}
	return side, err
}

// folders are the open workspaces: the page's own, then those in which something
// happened last.
func (s *Server) folders(own string, counts map[string]sessions.Workspace) []workspaces.Workspace {
	all := s.Sessions.Workspaces().All()
	slices.SortStableFunc(all, func(a, b workspaces.Workspace) int {
		switch {
		case a.Path == own:
			return -1
		case b.Path == own:
			return 1
		}
		return counts[b.Path].UpdatedAt.Compare(counts[a.Path].UpdatedAt)
	})
	return all
}

// rowOf is a session as the list shows it.
func rowOf(s fold.Summary) page.Session {
	r := page.Session{ID: string(s.ID), Folder: s.Workspace, Title: s.Title, Status: s.Status, Pending: s.Pending, Pinned: s.Pinned,
		Failed: s.Open.Failed, Asks: s.Open.Asks, LastSeq: s.Open.Active, UpdatedAt: s.UpdatedAt}
	if s.Open.Since > 0 {
		r.Since = time.UnixMilli(s.Open.Since)
	}
	return r
}
