package server

import (
	"context"
	"slices"

	"webchat/internal/files"
	"webchat/internal/page"
	"webchat/internal/sessions"
)

const (
	rowsOf   = 30  // that a part of the list has at first, and that it gets more at once
	mostRows = 200 // of one question to the catalog

	// A page's first list is short, and the page asks for the whole one once it is painted.
	shortRows, shortFolders = 12, 8
)

// sidebarWish is what a list of sessions is to hold.
type sidebarWish struct {
	Workspace string // the page's, which is open
	// how many rows the parts have: of "pinned", "found", and of open workspaces by their ids
	Rows  map[string]int
	Text  string         // only sessions that match
	State sessions.State // only such sessions
	Short bool           // the first rows only
}

// filter is what the sessions of a part have in common.
func filter(m *sessions.Manager, wish sidebarWish, key string) (sessions.Filter, error) {
	switch key {
	case "found":
		return sessions.Filter{State: wish.State, Begun: true}, nil
	case "pinned":
		return sessions.Filter{State: sessions.Pinned, Begun: true}, nil
	}
	w, ok := m.Workspaces().ByID(key)
	if !ok {
		return sessions.Filter{}, files.ErrUnknown
	}
	return sessions.Filter{Workspaces: []string{w.Path}, State: sessions.Resting, Begun: true}, nil
}

// partOf is a run of n sessions.
func partOf(ctx context.Context, m *sessions.Manager, q sessions.Query,
	n int) (p page.Part, err error) {
	for p.Cursor = q.Cursor; n > 0; {
		q.Cursor, q.Limit = p.Cursor, min(n, mostRows)
		found, err := m.List(ctx, q)
		if err != nil {
			return p, err
		}
		for _, f := range found.Sessions {
			p.Sessions = append(p.Sessions, f.Summary)
		}
		n -= len(found.Sessions)
		if p.Cursor = found.Cursor; p.Cursor == "" {
			break
		}
	}
	return p, nil
}

// sidebarPart are the next rows of a part, behind a cursor of the part's.
func sidebarPart(ctx context.Context, m *sessions.Manager, wish sidebarWish, key,
	cursor string) (page.Part, error) {
	these, err := filter(m, wish, key)
	if err != nil {
		return page.Part{}, err
	}
	p, err := partOf(ctx, m, sessions.Query{Text: wish.Text, Cursor: cursor, Filter: these}, rowsOf)
	p.ByDay = len(these.Workspaces) > 0 && wish.Text == ""
	return p, err
}

// sidebarOf is the list of sessions.
func sidebarOf(ctx context.Context, m *sessions.Manager,
	wish sidebarWish) (side page.Side, err error) {
	get := func(key string, def int) (p page.Part) {
		n, asked := wish.Rows[key]
		if !asked {
			n = def
		}
		these, e := filter(m, wish, key)
		if e == nil && n > 0 {
			p, e = partOf(ctx, m, sessions.Query{Text: wish.Text, Filter: these}, n)
		}
		if err == nil {
			err = e
		}
		return p
	}
	if wish.Text != "" || wish.State != "" {
		found := get("found", rowsOf)
		side.Found = &found
		return side, err
	}
	active, e := partOf(ctx, m, sessions.Query{Filter: sessions.Filter{
		State: sessions.Active,
		Begun: true,
	}}, mostRows)
	if e != nil {
		return side, e
	}
	side.Active, side.Pinned = active.Sessions, get("pinned", rowsOf)
	counts, e := m.Counts(ctx)
	if e != nil {
		return side, e
	}
	folders, n := folders(m, wish.Workspace, counts), rowsOf
	if wish.Short {
		n = shortRows
		side.Short = len(folders) > shortFolders
		folders = folders[:min(len(folders), shortFolders)]
	}
	for _, w := range folders {
		f := folderOf(w, wish, counts[w.Path].Sessions)
		if f.ByDay {
			f.Part = get(w.ID, n)
			f.ByDay = true
			side.Short = side.Short || wish.Short && f.Part.Cursor != ""
		}
		side.Folders = append(side.Folders, f)
	}
	return side, err
}

// folderOf is a folder without its rows, which are listed, by day, of the page's own and of those
// that are open.
func folderOf(w files.Workspace, wish sidebarWish, count int) page.Folder {
	n, asked := wish.Rows[w.ID]
	return page.Folder{
		ID:      w.ID,
		Path:    w.Path,
		Name:    w.Name,
		Count:   count,
		Missing: !w.Available(),
		Part:    page.Part{ByDay: asked || w.Path == wish.Workspace},
		Open:    asked && n != 0 || !asked && w.Path == wish.Workspace,
	}
}

// folders are the open workspaces: the page's own, then those in which something
// happened last.
func folders(m *sessions.Manager, own string,
	counts map[string]sessions.Workspace) []files.Workspace {
	all := m.Workspaces().All()
	slices.SortStableFunc(all, func(a, b files.Workspace) int {
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
