package page

import (
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/wording"
)

// View is what a session's page shows around the transcript.
type View struct {
	Workspace string // the path of the session's folder
	Missing   bool   // it is not there now

	Side      Side
	Available []string // the backends that can be used
	Backend   string   // who would answer a session that does not exist yet
	Model     string
	Trouble   string // why the log cannot be written now; a session's projector hears of it later
	Notice    string // what the user should know about the saved sessions
	Bytes     int64  // they take on the disk; 0: unknown
	Stays     *Stays // whether commands are confined; nil: the page does not mention it
	User      string // who is signed in, where people do so as themselves; empty: who runs the server
}

// chrome is the data of the page around the transcript: the state of its session, and
// what surrounds that.
type chrome struct {
	layout
	View
	State    *State
	pages    *Pages
	Sessions *side
}

// Session writes the page of a session: v around what pr has folded.
func (p *Pages) Session(w io.Writer, v View, pr *Projector) error {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	return p.write(w, "session", p.chrome("session", v, pr.fold))
}

// Home writes the page of a session that does not exist yet: the first prompt
// makes it.
func (p *Pages) Home(w io.Writer, v View) error {
	f := newState(p, "")
	f.Backend, f.Model = v.Backend, v.Model
	return p.write(w, "session", p.chrome("home", v, f))
}

func (p *Pages) chrome(page string, v View, f *State) *chrome {
	c := &chrome{
		layout:   p.layout(page, f.DocumentTitle()),
		View:     v,
		State:    f,
		pages:    p,
		Sessions: p.side(v, f.cards.ID),
	}
	if v.Stays != nil {
		c.Stays = new(*v.Stays)
		c.Stays.home, c.Stays.Idle = p.Config.Home, p.noModel(f.Backend) && !c.Stays.Confined
	}
	c.layout.Session, c.Folder, c.Shared = f.cards.ID, v.Workspace, p.Config.Shared
	return c
}

// Where is the workspace as people write it.
func (c *chrome) Where() string { return wording.Tilde(c.Workspace, c.pages.Config.Home) }

// New is the address of the page that begins a session in the workspace.
func (c *chrome) New() string {
	return c.pages.Base + "/?" + url.Values{"workspace": {c.Workspace}}.Encode()
}

// HasDesk reports whether something can be on the Desk: what is over says so there.
func (c *chrome) HasDesk() bool { return len(c.State.Outputs()) > 0 }

// Elsewhere says that the session's agent runs in another program: it is prompted there.
func (c *chrome) Elsewhere() bool { return c.pages.elsewhere(c.State.Backend) }

// NoModel says that no backend with a model is available.
func (c *chrome) NoModel() bool {
	return !slices.ContainsFunc(c.Available, func(name string) bool { return !c.pages.noModel(name) })
}

// Way is one way to a model: a command for a terminal, and what comes after it.
type Way struct{ Name, Command, Then string }

// Ways are the ways to a model that the start page offers, as docs/MODELS.md and docs/AGENTS.md
// have them.
func (c *chrome) Ways() []Way {
	const own = "Replace the values with your own. The Copilot CLI runs the model, so install it, " +
		"too, " +
		"and end this server first: webchat stop"
	return []Way{
		{"GitHub Copilot", "npm install -g @github/copilot",
			"Run it in a terminal. The agent can be chosen here as soon as it is found."},
		{"Claude Code", "npm install -g @agentclientprotocol/claude-agent-acp",
			"Run it in a terminal, then start webchat again: it looks for this agent when it starts."},
		{"Your endpoint",
			"WEBCHAT_PROVIDER_KEY=… webchat --provider-url https://api.example.com/v1 --model gpt-5", own},
		{"Ollama", "webchat --provider-type ollama --provider-url http://localhost:11434 --model qwen3",
			own},
	}
}

// Modelless are the backends that have none, for the script that changes who answers.
func (c *chrome) Modelless() string { return strings.Join(c.pages.NoModel, " ") }

// Stored is how much room the sessions take on the disk.
func (c *chrome) Stored() string {
	if c.Bytes <= 0 {
		return ""
	}
	return wording.Size(c.Bytes) + " on disk"
}

// ConfigFile is the path of the configuration file.
func (c *chrome) ConfigFile() string { return c.pages.ConfigFile }

// FolderName is the name of the session's folder.
func (c *chrome) FolderName() string { return filepath.Base(c.Workspace) }

// Placeholder says what can be written.
func (c *chrome) Placeholder() string {
	if c.pages.noModel(c.State.Backend) {
		return c.FreeWords()
	}
	return c.AskWords()
}

// AskWords invite to write to a model, FreeWords where there is none.
func (c *chrome) AskWords() string {
	if c.State.Empty() {
		return "Ask about " + c.FolderName() + ", or name a file to see it"
	}
	return "Ask, or say what to show"
}

// FreeWords say what can be done without a model.
func (c *chrome) FreeWords() string {
	return "Name a file to see it, or start with ! to run a " +
		"command"
}
