package page

import (
	"cmp"
	"html/template"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/internal/card"
	"webchat/internal/event"
	"webchat/internal/transcript"
	"webchat/internal/wording"
)

// View is what a session's page shows around the transcript.
type View struct {
	Workspace string // the path of the session's folder
	Missing   bool   // it is not there now

	Sessions []Session
	Backends []Backend
	Tries    []Try
	Sample   *Sample // for an empty session
	Today    Tally
	Backend  string // who would answer a session that does not exist yet
	Model    string
	// Permissions is "ask", "allow" or "deny".
	Permissions string
	Unsaved     string // why nothing is saved now
	Notice      string // what the user should know about the saved sessions
	Bytes       int64  // they take on the disk; 0: unknown
}

// Session is a row of the list.
type Session struct {
	ID, Title string
	Status    event.Status
	Failed    bool   // its last turn ended with an error
	Asks      string // what an open question wants to do
	Pending   int
	Pinned    bool
	LastSeq   int64 // of the last event that is news
	UpdatedAt time.Time
	Since     time.Time // since when it runs
}

// Backend is a kind of agent in the list of who may answer.
type Backend struct {
	Name, Version, Reason string
	Available, InUse      bool
}

// Try is an example for an empty session.
type Try struct {
	Icon, Text, About, Cost string
}

// Sample is a file of the workspace as its two readers get it.
type Sample struct {
	Shown                   template.HTML // highlighted, some lines
	Sent                    string        // what the model reads
	ShownTokens, SentTokens string        // "112 tokens"
}

// Tally is what was kept out of all sessions today.
type Tally struct {
	Outputs, Sent, Saved int64
}

// group is a part of the list of sessions.
type group struct {
	Name  string
	Count int // shown when it says something
	Rows  []row
}

type row struct {
	Session
	Current bool
	Mark    string // data-status
	Word    string // the mark in words
	When    string
}

// chrome is the data of the page around the transcript.
type chrome struct {
	layout
	View
	fold   *transcript.State
	ID     string
	home   string
	cfg    *Config
	Groups []group
	Turns  any
	Seq    int64
	Fresh  bool // nothing was said yet
	Before int64
}

// Session writes the page of a session: v around what p has folded.
func (p *Pages) Session(w io.Writer, v View, pr *transcript.Projector) error {
	return pr.Read(func(f *transcript.State) error { return p.write(w, "session", p.chrome("session", v, f)) })
}

// Home writes the page of a session that does not exist yet: the first prompt
// makes it.
func (p *Pages) Home(w io.Writer, v View) error {
	f := transcript.NewState(&p.cfg.fold)
	f.Backend, f.Model = v.Backend, v.Model
	return p.write(w, "session", p.chrome("home", v, f))
}

func (p *Pages) chrome(page string, v View, f *transcript.State) *chrome {
	id := f.Session()
	v.Backend, v.Model = f.Backend, f.Model
	c := &chrome{layout: p.layout(page, f.DocumentTitle()), View: v, fold: f, ID: id, home: p.cfg.Home, cfg: &p.cfg,
		Turns: f.Turns(), Seq: f.Seq, Fresh: f.Empty()}
	c.layout.Session = id
	c.Groups = p.groups(v.Sessions, id)
	return c
}

// Where is the workspace as people write it.
func (c *chrome) Where() string { return tilde(c.Workspace, c.home) }

// tilde writes a folder as people do: ~/code/relay.
func tilde(path, home string) string {
	if rel, err := filepath.Rel(home, path); home != "" && err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(filepath.Join("~", rel))
	}
	return path
}

// Rail is the right column.
func (c *chrome) Rail() *transcript.Rail { return c.fold.Rail() }

// Desk reports whether something can be on it.
func (c *chrome) Desk() bool {
	return slices.ContainsFunc(c.Rail().Outputs(), func(r card.OutputRow) bool { return r.State != "gone" })
}

// Earlier leads to older turns.
func (c *chrome) Earlier() transcript.Earlier { return c.fold.Earlier() }

// Status is what the composer shows.
func (c *chrome) Status() event.Status { return c.fold.Status }

// Heading is the session's title.
func (c *chrome) Heading() string { return c.fold.Title() }

// Answers is who answers, for the composer.
func (c *chrome) Answers() string { return c.fold.Answers() }

// Dock are the open questions.
func (c *chrome) Dock() transcript.Dock { return c.fold.Dock() }

// Working is what runs in the background.
func (c *chrome) Working() transcript.Working { return c.fold.Working() }

// Plan is what the agent means to do.
func (c *chrome) Plan() transcript.Plan { return c.fold.Plan() }

// Trouble is why the log cannot be written.
func (c *chrome) Trouble() string { return cmp.Or(c.fold.Trouble, c.Unsaved) }

// NoModel says that no backend with a model is available.
func (c *chrome) NoModel() bool {
	return !slices.ContainsFunc(c.Backends, func(b Backend) bool { return b.Available && !slices.Contains(c.cfg.NoModel, b.Name) })
}

// Elsewhere says that the session's agent runs in another program: it is prompted there.
func (c *chrome) Elsewhere() bool { return slices.Contains(c.cfg.Elsewhere, c.fold.Backend) }

// Modelless are the backends that have none, for the script that changes who answers.
func (c *chrome) Modelless() string { return strings.Join(c.cfg.NoModel, " ") }

// Stored is how much room the sessions take on the disk.
func (c *chrome) Stored() string {
	if c.Bytes <= 0 {
		return ""
	}
	return wording.Size(c.Bytes) + " on disk"
}

// Tally in words.
func (c *chrome) Saved() string { return wording.Count(c.Today.Saved) }

// Foot is the second line below the list.
func (c *chrome) Foot() string {
	if c.Today.Outputs == 0 {
		return "Show something to start counting"
	}
	return wording.Plural(c.Today.Outputs, "output") + " shown, " + wording.Plural(c.Today.Sent, "token") + " sent"
}

// SessionsList writes the inner HTML of #sessions, and of #today in a template.
func (p *Pages) SessionsList(w io.Writer, v View, current string) error {
	return p.write(w, "sessions.now", &chrome{View: v, fold: &transcript.State{}, Groups: p.groups(v.Sessions, current)})
}

// groups sorts sessions, which come latest first, into the parts of the list.
func (p *Pages) groups(list []Session, current string) []group {
	var out []group
	add := func(name string, counted bool, rows []row) {
		if len(rows) == 0 {
			return
		}
		g := group{Name: name, Rows: rows}
		if counted {
			g.Count = len(rows)
		}
		out = append(out, g)
	}
	var waiting, running, pinned []row
	var order []string
	by := map[string][]row{}
	for _, s := range list {
		r := p.row(s, current)
		switch {
		case s.Status == event.Waiting:
			waiting = append(waiting, r)
		case s.Status == event.Running:
			running = append(running, r)
		case s.Pinned:
			pinned = append(pinned, r)
		default:
			name := p.day(s.UpdatedAt)
			if by[name] == nil {
				order = append(order, name)
			}
			by[name] = append(by[name], r)
		}
	}
	add("Waiting for you", true, waiting)
	add("Running", true, running)
	add("Pinned", false, pinned)
	for _, name := range order {
		add(name, false, by[name])
	}
	return out
}

func (p *Pages) row(s Session, current string) row {
	r := row{Session: s, Current: s.ID == current, Mark: string(s.Status)}
	if r.Title == "" {
		r.Title = "New session"
	}
	r.Asks = wording.Plain(s.Asks)
	switch {
	case s.Status == event.Waiting:
		r.Word = "waiting for you"
	case s.Status == event.Running:
		r.Word = "running"
		if !s.Since.IsZero() {
			r.When = ago(p.cfg.Now().Sub(s.Since))
		}
	case s.Failed:
		r.Mark, r.Word = "failed", "ended with an error"
	default:
		r.Mark = "idle"
	}
	if r.When == "" && r.Word != "waiting for you" && p.day(s.UpdatedAt) == "Today" {
		r.When = s.UpdatedAt.In(p.cfg.Location).Format("15:04")
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

func (p *Pages) day(t time.Time) string {
	now := p.cfg.Now().In(p.cfg.Location)
	t = t.In(p.cfg.Location)
	y, m, d := now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, p.cfg.Location)
	switch {
	case !t.Before(today):
		return "Today"
	case !t.Before(today.AddDate(0, 0, -1)):
		return "Yesterday"
	case t.Year() == now.Year():
		return t.Format("January")
	}
	return t.Format("January 2006")
}
