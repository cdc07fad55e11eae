package autohand

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/proc"
)

// Name is the backend's.
const Name = "autohand"

const title = "Autohand CLI"

// Config is what a Backend works with. Home, Lend and Hook are needed.
type Config struct {
	// Path is the CLI; one without a slash is looked for in the PATH of Env. Empty: "autohand".
	Path string
	Env  []string // the environment the CLI inherits from
	// Home is a folder for conversations, each of which has its own below it.
	Home string
	// UserHome is the user's folder: what stands there and above it is the user's own. Empty:
	// unknown.
	UserHome string
	// Settings is the user's own configuration of the CLI, a JSON file: its provider and login are
	// used. Empty, or no such file: there are none.
	Settings string
	// NoInstructions says that the user wants no instruction files of a workspace loaded, from which
	// nothing keeps the CLI.
	NoInstructions bool
	// Provider is a model of the user's; nil means that of Settings.
	Provider *Provider
	Lend     agent.Lender
	// Hook is the command that hands what the CLI asks its hooks to [Forward]; the name of a socket
	// follows it.
	Hook []string
	// Confine returns what runs the CLI for a conversation in a workspace, confined: it is given dir,
	// and the socket of its hooks. nil: it may touch what its user may.
	Confine func(ctx context.Context, workspace, dir, socket string, cmd proc.Command) (proc.Command,
		error)
	// Silence is after how long without a sign of life the user is warned, Stall after how long the
	// turn is ended; 0 means a minute, ten minutes.
	Silence, Stall time.Duration
	Logger         *slog.Logger // nil: nothing is logged
}

// Provider is a language model that speaks OpenAI's chat completions.
type Provider struct{ URL, Key, Model string }

// Backend is the Autohand CLI.
type Backend struct {
	convo.Tried
	cfg     Config
	version convo.Version
}

// New returns a Backend. It starts nothing.
func New(c Config) (*Backend, error) {
	switch {
	case c.Home == "":
		return nil, errors.New("autohand: no folder for conversations")
	case c.Lend == nil:
		return nil, errors.New("autohand: nothing lends tools")
	case len(c.Hook) == 0:
		return nil, errors.New("autohand: no command for its hooks")
	}
	c.Path, c.Env = cmp.Or(c.Path, "autohand"), convo.AroundProxies(c.Env)
	c.Silence = cmp.Or(c.Silence, time.Minute)
	c.Stall = cmp.Or(c.Stall, 10*time.Minute)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Backend{Tried: convo.Tried{Folder: c.Home}, cfg: c}, nil
}

// Name implements [agent.Backend].
func (b *Backend) Name() string { return Name }

// Info implements [agent.Backend]. Hooks see every call before it runs, and may change its
// arguments.
func (b *Backend) Info(context.Context) agent.Info {
	i := agent.Info{Counting: agent.CountsSteps, Intercept: agent.InterceptRewrite, CanResume: true}
	version, err := b.look()
	switch {
	case errors.Is(err, proc.ErrNotFound):
		i.Reason = "Autohand CLI is not installed: there is no " + b.cfg.Path +
			" on PATH. Install it, or give --autohand-path."
	case err != nil:
		i.Reason = fmt.Sprintf("Autohand CLI does not say its version: %v. Install it again.", err)
	default:
		i.Available, i.Version = true, version
		found, _ := b.Asking(version)
		if i.Lacks = convo.Unasked(found); b.cfg.NoInstructions {
			i.Lacks = append(i.Lacks, convo.Instructed)
		}
	}
	return i
}

// look finds the program and its version.
func (b *Backend) look() (string, error) {
	path, err := proc.LookUp(proc.Command{Args: []string{b.cfg.Path}, Env: b.cfg.Env})
	if err != nil {
		return "", err
	}
	return b.version.Of(path, func() (string, error) {
		text, err := convo.Printed(proc.Command{
			Args: []string{path, "--version"},
			Env:  b.environment(os.TempDir()),
		})
		version, _, _ := strings.Cut(text, "\n")
		return version, err
	})
}

// Models implements [agent.Backend]: the CLI says only within a conversation which it has.
func (b *Backend) Models(context.Context) ([]agent.Model, error) { return nil, nil }

// ToolNames implements [agent.ToolNamer].
func (b *Backend) ToolNames() []string {
	return append(append(slices.Collect(maps.Keys(acts)), slices.Collect(maps.Keys(free))...),
		Excluded...)
}

// Instructions implements [agent.Instructor].
func (b *Backend) Instructions(workspace string) (files []string) {
	for _, name := range []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md"} {
		path := filepath.Join(workspace, name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			files = append(files, path)
		}
	}
	return files
}

// Open implements [agent.Backend].
func (b *Backend) Open(ctx context.Context, o agent.Options, host agent.Host) (agent.Conn, error) {
	dir := b.place(o.SessionID)
	if dir == "" {
		return nil, fmt.Errorf("open a conversation: %q is not the name of a session", o.SessionID)
	}
	id := remembered(dir)
	switch {
	case o.Resume && id == "":
		return nil, agent.ErrUnsupported
	case !o.Resume:
		id = ""
		if err := os.RemoveAll(dir); err != nil {
			return nil, fmt.Errorf("make room for a conversation: %w", err)
		}
	}
	c := &conn{b: b, dir: dir, model: o.Model, workspace: &workspace{
		folder: o.Workspace,
		home:   filepath.Join(dir, "home"),
		tools:  o.Tools,
	}}
	c.Conversation = convo.New(convo.Config{
		Title:   title,
		Options: o,
		Host:    host,
		Agent:   c,
		Silence: b.cfg.Silence,
		Stall:   b.cfg.Stall,
		Logger:  b.cfg.Logger,
	})
	c.questions = questions{c.Conversation}
	c.held = &held{c: c.Conversation, note: filepath.Join(dir, "held")}
	if err := c.start(ctx, id); err != nil {
		if errors.Is(err, errForgotten) {
			err = agent.ErrUnsupported
		}
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Forget implements [agent.Forgetter].
func (b *Backend) Forget(_ context.Context, sessionID string) error {
	if dir := b.place(sessionID); dir != "" {
		return os.RemoveAll(dir)
	}
	return nil
}

// place is the folder of a conversation; empty if the name is none.
func (b *Backend) place(sessionID string) string {
	if sessionID == "" || !filepath.IsLocal(sessionID) || filepath.Base(sessionID) != sessionID {
		return ""
	}
	return filepath.Join(b.cfg.Home, sessionID)
}

// remembered is the CLI's own id of a conversation, by which it is resumed.
func remembered(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "id"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
