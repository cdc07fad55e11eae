package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"webchat/internal/cage"
	"webchat/internal/files"
	"webchat/internal/policy"
	"webchat/internal/proc"
	"webchat/internal/server"
)

// autoConfines is whether --sandbox auto confines where it can. It does once what the sandbox
// refuses is asked about.
const autoConfines = false

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
	return s.support.Confines() && (s.mode == sandboxRequire || s.mode == sandboxAuto && autoConfines)
}

// why says why nothing is confined, and what helps.
func (s sandbox) why() (why, remedy string) {
	switch {
	case s.mode == sandboxOff:
		return "--sandbox is off", "start webchat with --sandbox require"
	case !s.support.Confines():
		return s.support.Why, s.support.Remedy
	}
	return "--sandbox auto confines nothing yet", "start webchat with --sandbox require"
}

// sandbox says what confines commands: the flag and the variable decide before the file.
func (o *options) sandbox(c *config) (sandbox, error) {
	s := sandbox{mode: o.Sandbox}
	if c.Sandbox.Mode != "" && !o.isGiven("sandbox") {
		s.mode = c.Sandbox.Mode
	}
	if s.mode == sandboxOff {
		return s, nil
	}
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	s.support = cage.Probe(self)
	if s.mode == sandboxRequire && !s.support.Confines() {
		return s, usage("--sandbox require: %s. %s", s.support.Why, s.support.Remedy)
	}
	return s, nil
}

// isGiven reports whether a flag was given, on the command line or by its variable.
func (o *options) isGiven(name string) bool {
	return slices.ContainsFunc(o.given, func(f givenFlag) bool { return f.name == name })
}

// cage confines the commands of a workspace; nil where nothing is confined.
func (o *options) cage(c *config, s sandbox, workspace, dir string, p *policy.Policy, log *slog.Logger) (*cage.Cage, error) {
	if !s.on() {
		return nil, nil
	}
	home, _ := lookup(o.env, "HOME")
	git := policy.InheritWhole(o.env, c.keyVariables())
	return cage.New(cage.Config{Workspace: workspace, Home: home, Env: o.env, Scratch: filepath.Join(dir, confinedFolder), Hidden: p.Hidden, Logger: log,
		Settings: cage.Settings{Read: c.Sandbox.Read, Write: c.Sandbox.Write, Hosts: c.Sandbox.Hosts},
		Tracked: func(ctx context.Context, dir string, names []string) ([]string, error) {
			return files.Tracked(ctx, git, dir, names)
		}})
}

// confined is what runs the commands of agents; nil where nothing is confined.
func confined(in *cage.Cage) func(context.Context, proc.Command) (proc.Command, error) {
	if in == nil {
		return nil
	}
	return func(ctx context.Context, cmd proc.Command) (proc.Command, error) {
		return in.Confine(ctx, cmd, cage.Needs{})
	}
}

// shape is what clients read of it.
func (s sandbox) shape() server.Sandbox {
	if s.on() {
		return server.Sandbox{Confined: true, Lacks: s.support.Lacks}
	}
	why, remedy := s.why()
	return server.Sandbox{Why: why, Remedy: remedy}
}

// doctorSandbox says whether commands are confined, or why not and what helps.
func (o *options) doctorSandbox(c *config, say func(string, string, ...any)) error {
	s, err := o.sandbox(c)
	if err != nil {
		return err
	}
	if s.on() {
		lacks := ""
		if s.support.Lacks != "" {
			lacks = ", but " + s.support.Lacks
		}
		say("sandbox", "confined: what agents run sees the workspace, the system and its own network%s", lacks)
		return nil
	}
	why, remedy := s.why()
	say("sandbox", "not confined: %s", why)
	if remedy != "" {
		say("", "what helps: %s", strings.ReplaceAll(remedy, "\n", "\n"+strings.Repeat(" ", 11)))
	}
	return nil
}
