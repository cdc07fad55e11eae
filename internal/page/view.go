package page

import (
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// View is what a session's page shows around the transcript.
type View struct {
	Workspace string // the path of the session's folder
	Missing   bool   // it is not there now

	Side     Side
	Backends []Backend
	Backend  string // who would answer a session that does not exist yet
	Model    string
	// Permissions is "ask", "allow" or "deny".
	Permissions string
	Trouble     string // why the log cannot be written now; a session's projector hears of it later
	Notice      string // what the user should know about the saved sessions
	Bytes       int64  // they take on the disk; 0: unknown
}

// Backend is a kind of agent in the list of who may answer.
type Backend struct {
	Name, Version, Reason string
	Available, InUse      bool
}

// chrome is the data of the page around the transcript.
type chrome struct {
	layout
	View
	fold     *State
	ID       string
	home     string
	cfg      *Config
	Sessions *side
	Turns    any
	Seq      int64
	Fresh    bool // nothing was said yet
	Before   int64
}

// Session writes the page of a session: v around what p has folded.
func (p *Pages) Session(w io.Writer, v View, pr *Projector) error {
	return pr.Read(func(f *State) error { return p.write(w, "session", p.chrome("session", v, f)) })
}

// Home writes the page of a session that does not exist yet: the first prompt
// makes it.
func (p *Pages) Home(w io.Writer, v View) error {
	f := NewState(&p.cfg.fold)
	f.Backend, f.Model = v.Backend, v.Model
	return p.write(w, "session", p.chrome("home", v, f))
}

func (p *Pages) chrome(page string, v View, f *State) *chrome {
	id := f.Session()
	v.Backend, v.Model = f.Backend, f.Model
	c := &chrome{layout: p.layout(page, f.DocumentTitle()), View: v, fold: f, ID: id, home: p.cfg.Home, cfg: &p.cfg,
		Turns: f.Turns(), Seq: f.Seq, Fresh: f.Empty()}
	c.layout.Session = id
	c.Sessions = p.side(v, id)
	c.layout.Folder = v.Workspace
	return c
}

// Where is the workspace as people write it.
func (c *chrome) Where() string { return wording.Tilde(c.Workspace, c.home) }

// New is the address of the page that begins a session in the workspace.
func (c *chrome) New() string { return newIn(c.cfg.Base, c.Workspace) }

// newIn is the address of the page that begins a session in a folder.
func newIn(base, path string) string {
	return base + "/?" + url.Values{"workspace": {path}}.Encode()
}

// Rail is the right column.
func (c *chrome) Rail() *Rail { return c.fold.Rail() }

// Desk reports whether something can be on it: what is over says so there.
func (c *chrome) Desk() bool { return len(c.Rail().Outputs()) > 0 }

// Earlier leads to older turns.
func (c *chrome) Earlier() Earlier { return c.fold.Earlier() }

// Status is what the composer shows.
func (c *chrome) Status() event.Status { return c.fold.Status }

// Heading is the session's title.
func (c *chrome) Heading() string { return c.fold.Title() }

// Answers is who answers, for the composer.
func (c *chrome) Answers() string { return c.fold.Answers() }

// Dock are the open questions.
func (c *chrome) Dock() Dock { return c.fold.Dock() }

// Working is what runs in the background.
func (c *chrome) Working() Working { return c.fold.Working() }

// Queue is the prompts that wait.
func (c *chrome) Queue() Queue { return c.fold.Queue() }

// Plan is what the agent means to do.
func (c *chrome) Plan() Plan { return c.fold.Plan() }

// NoModel says that no backend with a model is available.
func (c *chrome) NoModel() bool {
	return !slices.ContainsFunc(c.Backends, func(b Backend) bool { return b.Available && !slices.Contains(c.cfg.NoModel, b.Name) })
}

// Connectable are the backends that could answer by a model.
func (c *chrome) Connectable() []Backend {
	return slices.DeleteFunc(slices.Clone(c.Backends), func(b Backend) bool {
		return slices.Contains(c.cfg.NoModel, b.Name) || slices.Contains(c.cfg.Elsewhere, b.Name)
	})
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

// FolderName is the name of the session's folder.
func (c *chrome) FolderName() string { return filepath.Base(c.Workspace) }

// Placeholder says what can be written.
func (c *chrome) Placeholder() string {
	if slices.Contains(c.cfg.NoModel, c.fold.Backend) {
		return c.FreeWords()
	}
	return c.AskWords()
}

// AskWords invite to write to a model, FreeWords where there is none.
func (c *chrome) AskWords() string {
	if c.Fresh {
		return "Ask about " + c.FolderName() + ", or name a file to see it"
	}
	return "Ask, or say what to show"
}

// FreeWords say what can be done without a model.
func (c *chrome) FreeWords() string { return "Name a file to see it, or start with ! to run a command" }
