package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/document"
	"webchat/internal/proc"
)

// Config is what a Backend works with. Name, Command and Lend are needed.
type Config struct {
	Preset
	Name string   // short, lower-case, stable
	Env  []string // the agent's whole environment
	Lend agent.Lender
	// Home is a folder for what is to be remembered of conversations. Empty: nothing is, and none
	// is resumed.
	Home string
	// UserHome is the user's folder: what stands there and above it is the user's own, and keeps
	// the agent from no workspace. Empty: unknown.
	UserHome string
	Login    string // the authentication method that is chosen if the agent wants one; empty: none
	Unasked  bool   // the agent may act without asking
	// NoInstructions keeps the instruction files of a workspace from an agent that can be kept from
	// loading them.
	NoInstructions bool
	// Confine returns what runs the agent for the conversations of a workspace, confined; nil: it may
	// touch what its user may.
	Confine func(ctx context.Context, workspace string, cmd proc.Command) (proc.Command, error)
	Silence time.Duration // without a sign of life until the user is warned; 0: a minute
	Logger  *slog.Logger  // nil: nothing is logged
}

// Backend is an agent that speaks the protocol.
type Backend struct {
	convo.Tried
	cfg    Config
	beside chan struct{} // holds one while the agent runs beside conversations

	kept *document.Value[kept]
}

var stable = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// New returns a Backend. It starts nothing.
func New(c Config) (*Backend, error) {
	switch {
	case !stable.MatchString(c.Name):
		return nil,
			fmt.Errorf(
				"the name %q of an agent has to begin with a letter and have lower-case letters, digits and -",
				c.Name)
	case len(c.Command) == 0 || c.Command[0] == "":
		return nil, fmt.Errorf("agent %s: no command", c.Name)
	case c.Lend == nil:
		return nil, errors.New("acp: nothing lends tools")
	}
	c.Title, c.Env = cmp.Or(c.Title, c.Name), convo.AroundProxies(c.Env)
	c.Silence = cmp.Or(c.Silence, time.Minute)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Backend{
		Tried:  convo.Tried{Folder: c.Home, Start: c.start()},
		cfg:    c,
		beside: make(chan struct{}, 1),
		kept:   document.Open[kept](document.Folder(c.Home), offersFile, c.Logger),
	}
	return b, nil
}

// Name implements [agent.Backend].
func (b *Backend) Name() string { return b.cfg.Name }

// Info implements [agent.Backend]. Of an agent's own calls only those are seen before they run that
// it asks about.
func (b *Backend) Info(context.Context) agent.Info {
	asking, version := b.Asking(b.recalled().Version)
	i := agent.Info{
		Counting:  agent.CountsTurns,
		Intercept: agent.InterceptAsked,
		CanResume: b.cfg.Home != "",
		Version:   version,
		Lacks:     b.cfg.lacks(asking),
	}
	if b.cfg.NoInstructions && !b.cfg.skips() {
		i.Lacks = append(i.Lacks, convo.Instructed)
	}
	_, err := proc.LookUp(proc.Command{Args: b.cfg.Command, Env: b.cfg.Env})
	if i.Available = err == nil; !i.Available {
		i.Reason = fmt.Sprintf("%s is not installed: %s is not on PATH.", b.cfg.Title, b.cfg.Command[0])
	}
	return i
}

func (c Config) missing() string {
	return fmt.Sprintf("%s is not installed; %s is not on PATH", c.Title, c.Command[0])
}

// signIn says what to do where the agent is not signed in.
func (b *Backend) signIn() error {
	how := "with its own command"
	if b.cfg.SignIn != "" {
		how = "by \"" + b.cfg.SignIn + "\" in a terminal"
	}
	return fmt.Errorf("%w: %s is not signed in; sign in %s, then try again", agent.ErrUnavailable,
		b.cfg.Title, how)
}

// Open implements [agent.Backend].
func (b *Backend) Open(ctx context.Context, o agent.Options, host agent.Host) (agent.Conn, error) {
	id := ""
	if o.Resume {
		if id = b.recollect(o.SessionID); id == "" {
			return nil, agent.ErrUnsupported
		}
	}
	c := &conn{
		b:         b,
		workspace: workspace(o.Workspace),
		lent:      &lent{tools: o.Tools, mark: b.cfg.Mark, server: b.cfg.server(o.SessionID)},
	}
	c.choices = &choices{
		cfg:     b.cfg,
		set:     c.set,
		unasked: o.Unasked,
		want:    wanted{o.Model, o.Mode, o.Effort},
	}
	c.Conversation = convo.New(convo.Config{
		Title:   b.cfg.Title,
		Options: o,
		Host:    host,
		Agent:   c,
		Silence: b.cfg.Silence,
		Logger:  b.cfg.Logger,
	})
	c.textErrors = &textErrors{c: c.Conversation, begin: b.cfg.Failures, before: b.cfg.Notices}
	if err := c.start(ctx, id); err != nil {
		if o.Resume && forgot(ctx, err) {
			err = agent.ErrUnsupported
		}
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}
