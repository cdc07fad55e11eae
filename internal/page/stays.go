package page

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// Stays is what commands and edits of a session's agent may touch: a word in the composer's foot,
// and the sheet above it. Without Facts there is the word alone.
type Stays struct {
	Confined  bool
	Workspace string
	Tree      bool   // that is a worktree of the session's own
	Lacks     string // what is not held all the same
	Why       string // why nothing is confined, without its end
	Remedy    string // what the user can do about that, in words
	Command   string // likewise, to be run in a terminal
	Facts     *StaysFacts
	Opened    []Opened
	Idle      bool // nothing is confined, and each command is the user's own

	home string
}

// StaysFacts are what a tree may touch beside the workspace. Paths are absolute.
type StaysFacts struct {
	Workspace  string
	Running    bool // it is what a tree has that runs; else what the next one gets
	Programs   []string
	Reads      []string
	Caches     []string // it changes copies of them
	Writes     []string
	Hidden     []string
	Fixed      []string
	Saved      []string // was hidden, and can be read since it was saved anew outside
	Hosts      []string
	Own        []string // host and port of its model and of the user's MCP servers
	Configured []string // of these, what the configuration opened
}

// Opened is something that was opened beside that.
type Opened struct {
	ID       string // empty: by the configuration
	What     string
	ReadOnly bool
	Scope    event.Scope
	By       event.Decider
	At       time.Time
}

// Stays writes the sheet.
func (p *Pages) Stays(w io.Writer, s Stays) error {
	s.home = p.Config.Home
	return p.write(w, "stays.sheet", &s)
}

// Folder is the name of the workspace.
func (s *Stays) Folder() string {
	if s.Tree {
		return "its worktree"
	}
	return filepath.Base(s.Workspace)
}

// Where is the workspace as people write it.
func (s *Stays) Where() string { return wording.Tilde(s.Workspace, s.home) }

// Closing is how many are open that can be closed.
func (s *Stays) Closing() (n int) {
	for _, o := range s.Opened {
		if o.ID != "" {
			n++
		}
	}
	return n
}

// Row is a line of the sheet: words, and names as they are written.
type Row struct {
	Name  string
	Words []string
	Names []string
	More  int // names that are left out
}

// rowNames bounds the names of a row.
const rowNames = 8

func (s *Stays) row(name string, names []string, words ...string) Row {
	r := Row{Name: name, Words: words}
	for i, p := range names {
		if i == rowNames {
			r.More = len(names) - i
			break
		}
		r.Names = append(r.Names, s.short(p))
	}
	return r
}

// short is a path as people write it, in the workspace from there; a host as it is.
func (s *Stays) short(p string) string {
	if rest, ok := strings.CutPrefix(p, s.Workspace+"/"); ok {
		return rest
	}
	return wording.Tilde(p, s.home)
}

// Rows are what the sheet says.
func (s *Stays) Rows() (all []Row) {
	f := s.Facts
	reads, writes := []string{s.Folder(), "programs and toolchains"},
		[]string{s.Folder(), "a private /tmp"}
	if len(f.Caches) > 0 {
		writes = append(writes, "copies of caches")
	}
	all = append(all, s.row("Reads", f.Reads, reads...), s.row("Writes", f.Writes, writes...))
	if hosts := append(f.Own[:len(f.Own):len(f.Own)], f.Hosts...); len(hosts) > 0 {
		all = append(all, s.row("Reaches", hosts))
	} else if f.Running {
		all = append(all, s.row("Reaches", nil, "no host"))
	}
	hidden := make([]string, 0, len(f.Hidden))
	for _, p := range f.Hidden {
		// a file that no user can read is not worth a line
		if short := s.short(p); !strings.HasPrefix(short, "/") {
			hidden = append(hidden, p)
		}
	}
	for _, r := range []Row{s.row("Hidden", hidden), s.row("Fixed", f.Fixed)} {
		if len(r.Names) > 0 {
			all = append(all, r)
		}
	}
	return all
}

// Saved are hidden files that can be read.
func (s *Stays) Saved() (names []string) {
	for _, p := range s.Facts.Saved {
		names = append(names, s.short(p))
	}
	return names
}

// Paths are the programs and caches, whole.
func (s *Stays) Paths() (names []string) {
	for _, list := range [][]string{s.Facts.Programs, s.Facts.Caches} {
		for _, p := range list {
			names = append(names, s.short(p))
		}
	}
	return names
}

// Name is what was opened, as people write it.
func (s *Stays) Name(o Opened) string { return s.short(o.What) }

// About says who opened it, when, and for how long.
func (s *Stays) About(o Opened, clock string) string {
	if o.ID == "" {
		return "config.yaml"
	}
	until := map[event.Scope]string{event.Once: "until this command ends",
		event.ForSession: "this session", event.ForWorkspace: "this folder"}[o.Scope]
	who := "you"
	switch o.By {
	case event.DecidedByMode:
		who = "--permissions allow"
	case event.DecidedByRule:
		who = "a rule of yours"
	}
	if o.ReadOnly {
		until += " · to be read"
	}
	return fmt.Sprintf("%s, %s · %s", who, clock, until)
}
