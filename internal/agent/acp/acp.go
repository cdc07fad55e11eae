package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/proc"
)

// Config is what a Backend works with. Name, Command and Lend are needed.
type Config struct {
	Name    string   // short, lower-case, stable
	Title   string   // as people call the agent; empty: Name
	Command []string // the program and its arguments, in which [Server] stands for the name of the server that has the session's tools
	Env     []string // its whole environment
	Lend    agent.Lender
	// Home is a folder for what is to be remembered of conversations. Empty: nothing
	// is, and none is resumed.
	Home string
	// Mode is the id, or the end of it, of the mode that conversations begin in, if the
	// agent has it. Empty: the agent's own, or the first that asks.
	Mode string
	// Asks are the ends of the ids of all modes in which the agent asks before it acts.
	// Empty: all but those that are known from other agents not to.
	Asks []string
	// Failures are how a text begins that is no answer but an error of the agent's.
	Failures []string
	// Notices are how a text begins that is told beside the answer.
	Notices []string
	// Meta goes with session/new: what an agent takes outside of the protocol.
	Meta map[string]any
	// Login is the authentication method that is chosen if the agent wants one; empty: none.
	Login string
	// SignIn is the command that signs in, for people; empty: it is not known.
	SignIn string
	// Servers returns the user's MCP servers that answer, by name; nil: there are none.
	Servers func(context.Context) map[string]agent.MCPServer
	// NoPrograms says that the agent takes no MCP server that is a program.
	NoPrograms bool
	// Risky are the paths in a workspace, and above it in its repository, from which the
	// agent runs commands without asking. No conversation begins where one of them is.
	Risky []string
	// Mark is where the agent's program says that a call is of the session's tools. Empty:
	// nowhere, and what the agent asks about such a call is asked as of any other.
	Mark Mark
	// Lacks is what [agent.Info] says.
	Lacks []string
	// Silence is after how long without a sign of life the user is told; 0: a minute.
	Silence time.Duration
	Logger  *slog.Logger // nil: nothing is logged
}

// Backend is an agent that speaks the protocol.
type Backend struct {
	cfg    Config
	beside chan struct{} // holds one while the agent runs beside conversations

	mu   sync.Mutex // guards what follows
	kept kept
	read bool // kept was read from Home

	without map[string]bool // MCP servers that it was told to do without
}

var stable = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// New returns a Backend. It starts nothing.
func New(c Config) (*Backend, error) {
	switch {
	case !stable.MatchString(c.Name):
		return nil, fmt.Errorf("the name %q of an agent has to begin with a letter and have lower-case letters, digits and -", c.Name)
	case len(c.Command) == 0 || c.Command[0] == "":
		return nil, fmt.Errorf("agent %s: no command", c.Name)
	case c.Lend == nil:
		return nil, errors.New("acp: nothing lends tools")
	}
	c.Title, c.Env = cmp.Or(c.Title, c.Name), aroundProxies(c.Env)
	c.Silence = cmp.Or(c.Silence, time.Minute)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Backend{cfg: c, beside: make(chan struct{}, 1), without: map[string]bool{}}, nil
}

// Name implements [agent.Backend].
func (b *Backend) Name() string { return b.cfg.Name }

// Info implements [agent.Backend]. Of an agent's own calls only those are seen before
// they run that it asks about.
func (b *Backend) Info(context.Context) agent.Info {
	i := agent.Info{Intercept: agent.InterceptAsked, CanResume: b.cfg.Home != "", Version: b.recalled().Version, Lacks: b.cfg.Lacks}
	if i.Available = b.found(); !i.Available {
		i.Reason = fmt.Sprintf("%s is not installed: %s is not on PATH.", b.cfg.Title, b.cfg.Command[0])
	}
	return i
}

// signIn says what to do where the agent is not signed in.
func (b *Backend) signIn() error {
	how := "with its own command"
	if b.cfg.SignIn != "" {
		how = "by \"" + b.cfg.SignIn + "\" in a terminal"
	}
	return fmt.Errorf("%w: %s is not signed in; sign in %s, then try again", agent.ErrUnavailable, b.cfg.Title, how)
}

// found looks for the program as its start does.
func (b *Backend) found() bool {
	_, err := proc.LookUp(proc.Command{Args: b.cfg.Command, Env: b.cfg.Env})
	return err == nil
}

// Open implements [agent.Backend].
func (b *Backend) Open(ctx context.Context, o agent.Options, host agent.Host) (agent.Conn, error) {
	c := &conn{b: b, o: o, host: host, calls: map[string]*call{}, noticed: map[string]bool{}, want: wanted{o.Model, o.Mode, o.Effort}}
	id := b.recollect(o.SessionID)
	if o.Resume && id == "" {
		return nil, agent.ErrUnsupported
	}
	if !o.Resume {
		id = ""
	}
	if err := c.start(ctx, id); err != nil {
		c.end()
		if o.Resume && forgot(ctx, err) {
			return nil, agent.ErrUnsupported
		}
		return nil, err
	}
	return c, nil
}
