// Package displaytools is what a model calls to show something to the user: a file, the names in a
// folder, what a command prints, a picture. The content goes to package outputs and from there to
// the user; the model gets one line that says it was shown.
//
// # Guarantees
//
//   - Nothing of the content and no output id is ever in a Result's TextForModel. Of what the
//     sandbox refused a command it has the names that the command itself has, or that are seen
//     inside.
//   - Only files inside the workspace are opened, after following symbolic links,
//     and only regular ones and folders. A file that may hold secrets is asked about, also when
//     it is reached by a symbolic link or a hard link. webchat's own secrets are refused, and
//     left out of lists of names.
//   - The file that was planned is the file that is shown, and the folder a command
//     was planned for is the one it runs in: one that was put in its place is
//     refused.
//   - Bytes are stored as they are in the file; nothing is decoded.
//   - A command runs in a process tree of its own. When its call is aborted or its
//     time is up nothing of the tree is left; what it leaves running on purpose
//     ends with [Set.Close].
//   - A confirmation is at most 12 o200k tokens, for which long names are
//     shortened, or a few more for numbers of eight digits; never over 30.
//
// # Concurrency
//
// A [Set] and its tools may be used by any number of goroutines.
//
// # Usage
//
//	set, err := displaytools.New(displaytools.Config{SessionID: id, Workspace: dir, Outputs: store, Env: os.Environ()})
//	defer set.Close()
//	for _, tool := range set.Tools() { ... }
package displaytools

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/displays"
	"webchat/internal/event"
	"webchat/internal/outputs"
	"webchat/internal/policy"
	"webchat/internal/proc"
)

// Names of the tools that others call.
const (
	RenderFile   = displays.RenderFile
	RunCommand   = displays.RunCommand
	DisplayImage = displays.DisplayImage
	ShowInput    = displays.ShowInput
	ShowChange   = displays.ShowChange
	ShowResult   = displays.ShowResult
	ShowHeld     = displays.ShowHeld
)

// DefaultCommandTimeout is how long a command may run.
const DefaultCommandTimeout = 10 * time.Minute

// Config is what the tools of one session work with. Workspace and Outputs are
// needed.
type Config struct {
	SessionID string         // owns the outputs
	Workspace string         // absolute path; the folder need not be there yet
	Outputs   *outputs.Store // where content goes
	// Policy judges the files that are shown ([policy.Policy.File]); nil means one of the
	// workspace that knows none of webchat's own files.
	Policy *policy.Policy

	Shell string // runs commands, by -c; empty, missing or no shell: sh (on Windows always cmd)
	// Env is the environment commands inherit, less the server's own variables and,
	// unless the user typed the command, less what looks like a credential; see
	// [policy.Inherit].
	Env      []string
	EnvAllow []string // inherited all the same
	EnvDeny  []string // the variables that hold providers' keys

	CommandTimeout time.Duration // 0: DefaultCommandTimeout
	// Confine returns what runs a command that an agent asked for, confined; nil: it may touch
	// what this process may.
	Confine Confine

	Inputs  *Inputs // what users pipe to be shown; nil: nothing
	Before  Before  // what files were; nil: no changes are shown
	Held    Held    // what is held; nil: nothing is
	Results Results // what came of agents' own calls; nil: none is shown
}

// Confine returns what runs a command confined, and what says of its exit code and what it printed
// what it was refused.
type Confine func(context.Context, proc.Command) (proc.Command, Refusals, error)

// Refusals is of [Confine].
type Refusals func(exit int, text string) []event.SandboxRefused

// Set is the tools of one session.
type Set struct {
	work    *workplace
	out     *outputs.Store
	session string
	shell   string
	env     environments
	limit   time.Duration
	// readTime is how long one showing of a file may read.
	readTime time.Duration
	confine  Confine
	tools    []agent.Tool
	inputs   *Inputs
	before   Before
	results  Results
	held     Held
	life     context.Context // ends with Close
	endLife  context.CancelFunc

	mu       sync.Mutex
	closed   bool           // guarded by mu
	children map[*job]bool  // guarded by mu: running, or left running
	running  sync.WaitGroup // of commands' Runs; Add under mu while not closed
}

// New returns the tools of a session. The caller closes them.
func New(c Config) (*Set, error) {
	if c.Outputs == nil {
		return nil, errors.New("display tools: no store for outputs")
	}
	work, err := newWorkplace(c.Workspace, home(c.Env), c.Policy)
	if err != nil {
		return nil, fmt.Errorf("display tools: %w", err)
	}
	if c.CommandTimeout <= 0 {
		c.CommandTimeout = DefaultCommandTimeout
	}
	s := &Set{
		work:     work,
		out:      c.Outputs,
		session:  c.SessionID,
		limit:    c.CommandTimeout,
		readTime: readTime,
		confine:  c.Confine,
		inputs:   c.Inputs,
		before:   c.Before,
		results:  c.Results,
		held:     c.Held,
		shell:    shell(c.Shell),
		env:      newEnvironments(c.Env, c.EnvAllow, c.EnvDeny),
		children: map[*job]bool{},
	}
	s.life, s.endLife = context.WithCancel(context.Background())
	for _, t := range displays.Tools {
		if tool := makers[t.Name](s); tool != nil {
			s.tools = append(s.tools, tool)
		}
	}
	return s, nil
}

// Tools implements [agent.Toolset].
func (s *Set) Tools() []agent.Tool { return s.tools }

// Close ends what commands left running, and commands that still run, and waits
// until nothing of them is left. The tools cannot be used afterwards. The error
// names processes that could not be ended.
func (s *Set) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.endLife()
	err := s.endChildren()
	s.running.Wait()
	return err
}

// meta is what every output of this session's call has.
func (s *Set) meta(t outputs.Type, call agent.CallInfo) outputs.Meta {
	m := outputs.Meta{Type: t, SessionID: s.session, ToolCallID: call.ToolCallID, Called: call.Started}
	if m.SessionID == "" {
		m.SessionID = call.SessionID
	}
	return m
}
