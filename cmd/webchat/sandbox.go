package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"go.yaml.in/yaml/v4"

	"webchat/internal/cage"
	"webchat/internal/displaytools"
	"webchat/internal/event"
	"webchat/internal/files"
	"webchat/internal/mcp"
	"webchat/internal/page"
	"webchat/internal/policy"
	"webchat/internal/proc"
	"webchat/internal/server"
)

// Words of --sandbox.
const (
	sandboxAuto    = "auto"
	sandboxOff     = "off"
	sandboxRequire = "require"
)

// sandboxConfig is a word, or what every confined command gets.
type sandboxConfig struct {
	Mode  string   `yaml:"mode"`
	Read  []string `yaml:"read"`
	Write []string `yaml:"write"`
	Hosts []string `yaml:"hosts"`
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (s *sandboxConfig) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&s.Mode)
	}
	type plain sandboxConfig
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; !slices.Contains([]string{"mode", "read", "write", "hosts"}, k.Value) {
			return fmt.Errorf("field %s not found in the sandbox", k.Value)
		}
	}
	return n.Decode((*plain)(s))
}

func (s *sandboxConfig) check() error {
	if s.Mode != "" && !slices.Contains([]string{sandboxAuto, sandboxOff, sandboxRequire}, s.Mode) {
		return fmt.Errorf("the mode %q is none of auto, off and require", s.Mode)
	}
	for _, h := range s.Hosts {
		if err := cage.CheckHost(h); err != nil {
			return err
		}
	}
	return nil
}

// sandbox is what confines commands; it is asked once.
type sandbox struct {
	mode    string
	support cage.Support
}

// on reports whether commands are confined.
func (s sandbox) on() bool {
	return s.mode != sandboxOff && s.support.Confines()
}

// why says why nothing is confined, and what helps.
func (s sandbox) why() cage.Support {
	if s.mode == sandboxOff {
		return cage.Support{Why: "Switched off by the setting sandbox: off",
			Remedy: "Start webchat with --sandbox auto."}
	}
	return s.support
}

// sandbox says what confines commands: the flag and the variable decide before the file.
func (o setup) sandbox() (sandbox, error) {
	s := sandbox{mode: o.Sandbox}
	if o.c.Sandbox.Mode != "" && !o.isGiven("sandbox") {
		s.mode = o.c.Sandbox.Mode
	}
	if s.mode == sandboxOff {
		return s, nil
	}
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	if s.support = cage.Probe(self); s.support.Confines() && !filepath.IsAbs(o.home()) {
		s.support = cage.Support{Why: "HOME names no folder", Remedy: "Set HOME to your home folder."}
	}
	if s.mode == sandboxRequire && !s.support.Confines() {
		return s, usage("--sandbox require: %s. %s", s.support.Why,
			strings.TrimSpace(s.support.Remedy+" "+s.support.Command))
	}
	return s, nil
}

// isGiven reports whether a flag was given, on the command line or by its variable.
func (o *options) isGiven(name string) bool {
	return slices.ContainsFunc(o.given, func(f givenFlag) bool { return f.name == name })
}

// cages confine what agents run, each in its workspace. Nil confines nothing.
type cages struct {
	*cage.Cages
	home   string                 // the user's
	folder string                 // in which agents keep state
	lent   atomic.Pointer[string] // the address of webchat's MCP

	// ask asks about a host; it is set before anything runs.
	ask func(ctx context.Context, workspace, host, address string) bool
}

// cages returns what confines agents, with what kept returns open; nil where nothing is confined.
func (o setup) cages(s sandbox, dir string,
	kept func(workspace string) []policy.Opening, log *slog.Logger) *cages {
	if !s.on() {
		return nil
	}
	home := o.home()
	whole := policy.InheritWhole(o.env, o.c.keyVariables())
	cells := &cages{home: home, folder: filepath.Join(o.shared(dir), agentsFolder)}
	cells.Cages = cage.NewCages(func(workspace string) cage.Config {
		git := o.trusted(whole, workspace)
		return cage.Config{Workspace: workspace, Home: home, Env: o.env, Logger: log,
			Scratch:   filepath.Join(dir, confinedFolder),
			Worktrees: filepath.Join(o.shared(dir), worktreeFolder), Policy: o.policy(workspace, dir),
			Settings: cage.Settings{
				Read:  o.c.Sandbox.Read,
				Write: o.c.Sandbox.Write,
				Hosts: o.c.Sandbox.Hosts,
			},
			Ask: func(ctx context.Context, host, address string) bool {
				return cells.ask != nil && cells.ask(ctx, workspace, host, address)
			},
			Kept: func() []policy.Opening { return kept(workspace) },
			Tracked: func(ctx context.Context, dir string, names []string) ([]string, error) {
				return files.Unchanged(ctx, git, dir, names)
			},
			ConfigNames: func(ctx context.Context, text []byte) ([]string, error) {
				return files.ConfigNames(ctx, git, text)
			},
			Committed: func(ctx context.Context, workspace string, since, names []string) (bool, error) {
				return files.Committed(ctx, git, workspace, since, names)
			}}
	})
	return cells
}

// trusted returns an environment whose PATH leads to no program in a workspace: agents write there,
// and what webchat starts itself is not confined.
func (o *options) trusted(env []string, workspaces ...string) []string {
	first, _ := o.workspaceDirs() // webchat does not start without
	workspaces = append(first, workspaces...)
	in := func(dir string) bool {
		real, err := filepath.EvalSymlinks(dir)
		return slices.ContainsFunc(workspaces, func(workspace string) bool {
			return isBelow(dir, workspace) || err == nil && isBelow(real, workspace)
		})
	}
	env = slices.Clone(env)
	for i, kv := range env {
		if list, ok := strings.CutPrefix(kv, "PATH="); ok {
			dirs := slices.DeleteFunc(filepath.SplitList(list), in)
			env[i] = "PATH=" + strings.Join(dirs, string(filepath.ListSeparator))
		}
	}
	return env
}

// nothingKept opens nothing.
func nothingKept(string) []policy.Opening { return nil }

// fits returns an error that says why nothing can be confined in a workspace.
func (c *cages) fits(workspace string) error {
	if c == nil {
		return nil
	}
	if _, err := c.Of(workspace); err != nil {
		return fmt.Errorf("%s %w: %w", workspace, files.ErrUnconfined, err)
	}
	return nil
}

// commands returns what confines the commands that agents run by webchat's tools; nil where nothing
// is.
func (c *cages) commands(workspace string) (displaytools.Confine, error) {
	if c == nil {
		return nil, nil
	}
	in, err := c.Of(workspace)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, cmd proc.Command) (proc.Command, displaytools.Refusals, error) {
		confined, given, err := in.ConfineCommand(ctx, cmd)
		if err != nil {
			return cmd, nil, err
		}
		return confined, func(exit int, text string) []event.SandboxRefused {
			line := cmd.Args[len(cmd.Args)-1] // of a shell
			return given.Refused(cage.Ran{Dir: cmd.Dir, Command: line, Exit: exit, Text: text})
		}, nil
	}, nil
}

// refused returns what says what the trees of a workspace's agents were refused; nil where nothing
// is confined.
func (c *cages) refused(workspace string) func(string, int, string) []event.SandboxRefused {
	if c == nil {
		return nil
	}
	return func(command string, exit int, text string) []event.SandboxRefused {
		in, err := c.Of(workspace)
		if err != nil {
			return nil // none was started
		}
		return in.Refused(cage.Ran{Dir: workspace, Command: command, Exit: exit, Text: text})
	}
}

// shape is what clients read of it.
func (s sandbox) shape() server.Sandbox {
	if s.on() {
		return server.Sandbox{Confined: true, Lacks: s.support.Lacks}
	}
	off := s.why()
	return server.Sandbox{Why: off.Why, Remedy: off.Remedy, Command: off.Command}
}

// reach says what an agent's processes may touch in a workspace.
func (c *cages) reach(ctx context.Context, backend, workspace string) (page.StaysFacts, error) {
	in, err := c.Of(workspace)
	if err != nil {
		return page.StaysFacts{}, err
	}
	f, err := in.Facts(ctx, backend)
	return page.StaysFacts(f), err
}

// sandboxOf returns what clients read of a session's.
func (o setup) sandboxOf(s sandbox,
	cells *cages) func(backend, workspace string) server.Sandbox {
	return func(backend, workspace string) server.Sandbox {
		shape := s.shape()
		if !shape.Confined {
			return shape
		}
		if backend == mcp.BackendName {
			return server.Sandbox{Why: "Its agent is a program that webchat did not start; only what " +
				"webchat runs for it is confined"}
		}
		var lacks []string
		if shape.Lacks != "" {
			lacks = append(lacks, shape.Lacks)
		}
		if in, err := cells.Of(workspace); err == nil && in.Unheld() > 0 {
			lacks = append(lacks,
				fmt.Sprintf(
					"rule %d of the configuration takes in the whole folder, so it is asked about and not held",
					in.Unheld()))
		}
		if p := o.roster(o.c).preset(backend); len(p.Command) > 0 && len(p.State) == 0 {
			lacks = append(lacks, "its agent has a home folder of its own, which is kept for this folder")
		}
		shape.Lacks = strings.Join(lacks, "; ")
		return shape
	}
}

// say says whether commands are confined, or why not and what helps.
func (s sandbox) say(say func(string, string, ...any)) {
	if s.on() {
		lacks := ""
		if s.support.Lacks != "" {
			lacks = ", but " + s.support.Lacks
		}
		say("sandbox", "confined: what agents run sees the workspace, the system and its own network%s",
			lacks)
		return
	}
	off := s.why()
	say("sandbox", "not confined: %s", off.Why)
	if off.Remedy != "" {
		say("", "%s", off.Remedy)
	}
	if off.Command != "" {
		say("", "run this in a terminal, then start webchat again: %s", off.Command)
	}
}
