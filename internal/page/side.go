package page

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// Side is the list of sessions beside a page.
type Side struct {
	Active  []Session // that run or wait, of all folders
	Pinned  Part      // of those that rest
	Folders []Folder  // the page's own first
	Short   bool      // there is more than this, which the page asks for
	Found   *Part     // what a filter found, in place of all above; nil: there is no filter
}

// Part is a run of sessions, which may go on.
type Part struct {
	Sessions []Session
	Cursor   string // where it goes on; empty: there are no more
}

// Folder is a workspace with its sessions that rest and are not pinned.
type Folder struct {
	ID, Path, Name string
	Count          int  // of all its sessions
	Open           bool // its sessions are shown
	Missing        bool // it is not there now
	Part
}

// Session is a row of the list.
type Session struct {
	ID, Title string
	Folder    string // the path of its workspace
	Status    event.Status
	Failed    bool   // its last turn ended with an error
	Asks      string // what an open question wants to do
	Pending   int
	Pinned    bool
	LastSeq   int64 // of the last event that is news
	Damaged   int   // events of its log that cannot be read
	UpdatedAt time.Time
	Since     time.Time // since when it runs
}

// side is the list as its template has it.
type side struct {
	*Side
	pages   *Pages
	current string // the page's session
	folder  string // the page's workspace
}

// group is a part of the list with a heading.
type group struct {
	Name  string
	Count int // shown when it says something
	rows
}

// rows are the rows of a part.
type rows struct {
	Key    string // names the part to [Pages.SessionsList]
	Rows   []row
	Cursor string
}

// folder is a workspace in the list.
type folder struct {
	Folder
	Where string // as people write it
	rows
}

type row struct {
	Session
	Current bool
	Mark    string // data-status
	Word    string // the mark in words
	When    string
	In      string // the name of its folder, where that is not the page's
}

// Groups are the parts above the folders.
func (s *side) Groups() (all []group) {
	if s.Found != nil {
		return nil
	}
	waiting, running := group{Name: "Waiting for you"}, group{Name: "Running"}
	for _, one := range s.Active {
		if one.Status == event.Waiting {
			waiting.Rows = append(waiting.Rows, s.row(one))
		} else {
			running.Rows = append(running.Rows, s.row(one))
		}
	}
	waiting.Count, running.Count = len(waiting.Rows), len(running.Rows)
	for _, g := range []group{waiting, running, {Name: "Pinned", rows: s.rows("pinned", s.Pinned)}} {
		if len(g.Rows) > 0 {
			all = append(all, g)
		}
	}
	return all
}

// Hits are what the filter found.
func (s *side) Hits() *rows {
	if s.Found == nil {
		return nil
	}
	r := s.rows("found", *s.Found)
	return &r
}

// InFolders are the workspaces.
func (s *side) InFolders() (all []folder) {
	if s.Found != nil {
		return nil
	}
	for _, f := range s.Folders {
		all = append(all, folder{f, wording.Tilde(f.Path, s.pages.cfg.Home), s.rows(f.ID, f.Part)})
	}
	return all
}

func (s *side) rows(key string, p Part) rows {
	r := rows{Key: key, Cursor: p.Cursor}
	for _, one := range p.Sessions {
		r.Rows = append(r.Rows, s.row(one))
	}
	return r
}

func (s *side) row(one Session) row {
	r := row{Session: one, Current: one.ID == s.current, Mark: string(one.Status)}
	if r.Title == "" {
		r.Title = "New session"
	}
	if one.Folder != s.folder {
		r.In = filepath.Base(one.Folder)
	}
	r.Asks = wording.Plain(one.Asks)
	switch {
	case one.Status == event.Waiting:
		r.Word = "waiting for you"
	case one.Status == event.Running:
		r.Word = "running"
		if !one.Since.IsZero() {
			r.When = ago(s.pages.cfg.Now().Sub(one.Since))
		}
	case one.Failed:
		r.Mark, r.Word = "failed", "ended with an error"
	default:
		r.Mark = "idle"
	}
	if r.When == "" && one.Status != event.Waiting {
		r.When = s.pages.when(one.UpdatedAt)
	}
	return r
}

// Last is up to where its log holds news.
func (r row) Last() string { return strconv.FormatInt(r.LastSeq, 10) }

// Stamp is since when it is as it is.
func (r row) Stamp() string {
	t := r.UpdatedAt
	if !r.Since.IsZero() {
		t = r.Since
	}
	return event.Time(t).String()
}

// ago is a running time in a list: 14 s, 6 min.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	}
	return strconv.Itoa(int(d.Hours())) + " h"
}

// when is a moment in a list, as short as it can be told: 15:04, Mon, 2 Nov, Nov 2025.
func (p *Pages) when(t time.Time) string {
	now := p.cfg.Now().In(p.cfg.Location)
	t = t.In(p.cfg.Location)
	y, m, d := now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, p.cfg.Location)
	switch {
	case !t.Before(today):
		return t.Format("15:04")
	case !t.Before(today.AddDate(0, 0, -6)):
		return t.Format("Mon")
	case t.Year() == now.Year():
		return t.Format("2 Jan")
	}
	return t.Format("Jan 2006")
}

func (p *Pages) side(v View, current string) *side {
	return &side{Side: &v.Side, pages: p, current: current, folder: v.Workspace}
}

// SessionsList writes the inner HTML of #sessions, and of #today in a template.
func (p *Pages) SessionsList(w io.Writer, v View, current string) error {
	return p.write(w, "sessions.now", &chrome{View: v, fold: &State{}, Sessions: p.side(v, current)})
}

// SessionsPart writes the rows of the one part that v has, for the end of its list.
func (p *Pages) SessionsPart(w io.Writer, v View, key, current string) error {
	s := p.side(v, current)
	part := cmp.Or(v.Side.Found, &v.Side.Pinned)
	if i := slices.IndexFunc(v.Side.Folders, func(f Folder) bool { return f.ID == key }); i >= 0 {
		part = &v.Side.Folders[i].Part
	}
	return p.write(w, "sessions.rows", s.rows(key, *part))
}
