package page

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// Side is the list of sessions beside a page.
type Side struct {
	Active  []eventlog.Summary // that run or wait, of all folders
	Pinned  Part               // of those that rest
	Folders []Folder           // the page's own first
	Short   bool               // there is more than this, which the page asks for
	Found   *Part              // what a filter found, in place of all above; nil: there is no filter
}

// Part is a run of sessions, which may go on.
type Part struct {
	Sessions []eventlog.Summary
	Cursor   string // where it goes on; empty: there are no more
	ByDay    bool   // they stand below the days on which something happened in them last
}

// Folder is a workspace with its sessions that rest and are not pinned.
type Folder struct {
	ID, Path, Name string
	Count          int  // of all its sessions
	Open           bool // its sessions are shown
	Missing        bool // it is not there now
	Part
}

// side is the list as its template has it.
type side struct {
	*Side
	pages   *Pages
	current string // the page's session
	folder  string // the page's workspace
}

// glance is how many sessions are seen at a glance: of fewer none has to be looked for.
const glance = 8

// Few reports whether no filter is needed.
func (s *side) Few() bool {
	if s.Found != nil || s.Short {
		return false
	}
	n := len(s.Active) + len(s.Pinned.Sessions)
	for _, f := range s.Folders {
		n += max(f.Count, len(f.Sessions))
	}
	return n < glance
}

// group is a part of the list above the folders.
type group struct {
	Name, Key string
	Count     int // shown when it says something
	Part
}

// Groups are those that have sessions.
func (s *side) Groups() []group {
	waiting, running := group{Name: "Waiting for you"}, group{Name: "Running"}
	for _, sum := range s.Active {
		g := &running
		if sum.Status == event.Waiting {
			g = &waiting
		}
		g.Sessions = append(g.Sessions, sum)
		g.Count++
	}
	all := []group{waiting, running, {Name: "Pinned", Key: "pinned", Part: s.Pinned}}
	return slices.DeleteFunc(all, func(g group) bool { return len(g.Sessions) == 0 })
}

// rows are the rows of a part, and where they go on.
type rows struct {
	Rows   []row
	Cursor string
}

// row is a session in the list.
type row struct {
	eventlog.Summary
	Current          bool
	Runs             bool   // since Stamp
	Mark, Word, When string // its status, as an attribute and in words, and since when
	Stamp            time.Time
	Day              string // it is the first of that day
	Tree             string // the name of the worktree it works in
	In               string // the name of its folder, where that is not the page's
}

// Rows are those of a part.
func (s *side) Rows(p Part) rows {
	r := rows{Cursor: p.Cursor}
	day := ""
	for _, sum := range p.Sessions {
		row := s.row(sum)
		if p.ByDay {
			row.When = sum.UpdatedAt.In(s.pages.Location).Format("15:04")
			if d := s.pages.day(sum.UpdatedAt); d != day {
				row.Day, day = d, d
			}
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

func (s *side) row(sum eventlog.Summary) row {
	r := row{
		Summary: sum,
		Current: string(sum.ID) == s.current,
		Mark:    string(sum.Status),
		Stamp:   sum.UpdatedAt,
	}
	r.Title = cmp.Or(r.Title, "New session")
	if sum.Workspace != s.folder {
		r.In = filepath.Base(sum.Workspace)
	}
	if sum.Open.Worktree != nil {
		r.Tree = CopyName(*sum.Open.Worktree)
		r.In = r.Tree
	}
	if sum.Open.Since > 0 {
		r.Stamp = time.UnixMilli(sum.Open.Since)
	}
	switch {
	case sum.Status == event.Waiting:
		r.Word = "waiting for you"
		return r
	case sum.Status == event.Running && sum.Open.Since > 0:
		r.Word, r.When, r.Runs = "running", ago(s.pages.Now().Sub(r.Stamp)), true
		return r
	case sum.Status == event.Running:
		r.Word = "running"
	case sum.Open.Failed:
		r.Mark, r.Word = "failed", "ended with an error"
	default:
		r.Mark = "idle"
	}
	r.When = s.pages.when(sum.UpdatedAt)
	return r
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

// when is a moment in a list, as short as can be: 15:04, Mon, 2 Nov, Nov 2025.
func (c *Config) when(t time.Time) string {
	today := c.today()
	t = t.In(c.Location)
	switch {
	case !t.Before(today):
		return t.Format("15:04")
	case !t.Before(today.AddDate(0, 0, -6)):
		return t.Format("Mon")
	case t.Year() == today.Year():
		return t.Format("2 Jan")
	}
	return t.Format("Jan 2006")
}

// day is the day of a moment: Today, Yesterday, Monday, 2 November, 2 November 2025.
func (c *Config) day(t time.Time) string {
	today := c.today()
	t = t.In(c.Location)
	switch {
	case !t.Before(today):
		return "Today"
	case !t.Before(today.AddDate(0, 0, -1)):
		return "Yesterday"
	case !t.Before(today.AddDate(0, 0, -6)):
		return t.Format("Monday")
	case t.Year() == today.Year():
		return t.Format("2 January")
	}
	return t.Format("2 January 2006")
}

// today is its beginning.
func (c *Config) today() time.Time {
	y, m, d := c.Now().In(c.Location).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, c.Location)
}

func (p *Pages) side(v View, current string) *side {
	return &side{Side: &v.Side, pages: p, current: current, folder: v.Workspace}
}

// SessionsList writes the inner HTML of #sessions, and of what else follows the list in
// templates.
func (p *Pages) SessionsList(w io.Writer, v View, current string) error {
	return p.write(w, "sessions.now", &chrome{View: v, pages: p, Sessions: p.side(v, current)})
}

// SessionsPart writes the rows of a part, for the end of its list.
func (p *Pages) SessionsPart(w io.Writer, v View, part Part, current string) error {
	return p.write(w, "sessions.rows", p.side(v, current).Rows(part))
}
