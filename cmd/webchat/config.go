package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/adrg/xdg"
	"go.yaml.in/yaml/v4"

	"webchat/internal/agent"
	"webchat/internal/daemon"
	"webchat/internal/mcp"
	"webchat/internal/policy"
)

// config is the configuration file.
type config struct {
	Providers   map[string]providerConfig  `yaml:"providers"`
	MCPServers  map[string]agent.MCPServer `yaml:"mcpServers"`
	tried       *mcp.UserServers
	Agents      map[string]agentConfig `yaml:"agents"`
	Permissions []policy.Rule          `yaml:"permissions"`
	Hooks       []hookConfig           `yaml:"hooks"`
	Sandbox     sandboxConfig          `yaml:"sandbox"`
	EnvAllow    []string               `yaml:"env_allow"`
	Budget      *limits                `yaml:"budget"`
	Editor      string                 `yaml:"editor"` // an address with {path} and {line}
	// false: what looks like a secret is shown as it is
	Veil *bool `yaml:"veil"`
}

// unveiled reports whether what looks like a secret is shown as it is.
func (c *config) unveiled() bool { return c.Veil != nil && !*c.Veil }

type providerConfig struct {
	Type       string            `yaml:"type"`
	URL        string            `yaml:"url"`
	KeyEnv     string            `yaml:"key_env"`
	Headers    map[string]string `yaml:"headers"`
	APIVersion string            `yaml:"api_version"` // of azure
	Models     []modelConfig     `yaml:"models"`
}

// modelConfig is a name, or a name with prices in dollars per million tokens and what
// the model can do.
type modelConfig struct {
	ID          string  `yaml:"id"`
	InputPrice  float64 `yaml:"input_price"`
	OutputPrice float64 `yaml:"output_price"`
	CachedPrice float64 `yaml:"cached_price"`
	Context     int64   `yaml:"context"`    // tokens of prompt and answer together
	MaxOutput   int64   `yaml:"max_output"` // tokens of an answer
	Vision      *bool   `yaml:"vision"`     // it can see pictures; true by default
	Reasoning   bool    `yaml:"reasoning"`  // how hard it thinks can be set
}

var modelFields = []string{"id", "input_price", "output_price", "cached_price", "context",
	"max_output", "vision", "reasoning"}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (m *modelConfig) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&m.ID)
	}
	type plain modelConfig
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; !slices.Contains(modelFields, k.Value) {
			return fmt.Errorf("field %s not found in a model", k.Value)
		}
	}
	return n.Decode((*plain)(m))
}

type agentConfig struct {
	Command string            `yaml:"command"`
	Args    []string          `yaml:"args"`
	Env     map[string]string `yaml:"env"`
	// Hosts and State are what it reaches and keeps where it is confined.
	Hosts []string `yaml:"hosts"`
	State []string `yaml:"state"` // folders, from ~/
}

func (o *options) configPath() string {
	if o.Config != "" {
		return o.Config
	}
	return filepath.Join(xdg.ConfigHome, "webchat", "config.yaml")
}

// loadConfig reads the file. It is never looked for in the workspace: what a
// repository holds must not decide what may be done to its reader.
func (o *options) loadConfig() (*config, error) {
	name := o.configPath()
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && !o.configGiven {
		return &config{}, nil
	}
	if err != nil {
		return nil, usage("configuration %s: %v", name, daemon.Plain(err))
	}
	c, err := parseConfig(b)
	if err != nil {
		return nil, usage("configuration %s: %v", name, err)
	}
	c.resolve(filepath.Dir(name))
	return c, nil
}

// resolve has relative paths begin at the folder of the file they stand in. A
// command without a slash is left to PATH.
func (c *config) resolve(dir string) {
	in := func(name string, program bool) string {
		if name == "" || filepath.IsAbs(name) || program &&
			!strings.ContainsRune(filepath.ToSlash(name), '/') {
			return name
		}
		return filepath.Join(dir, name)
	}
	for name, m := range c.MCPServers {
		m.Command, m.Cwd = in(m.Command, true), in(m.Cwd, false)
		c.MCPServers[name] = m
	}
	for name, a := range c.Agents {
		a.Command = in(a.Command, true)
		c.Agents[name] = a
	}
}

func parseConfig(b []byte) (*config, error) {
	c := &config{}
	err := yaml.Load(b, c, yaml.WithKnownFields(), yaml.WithSingleDocument())
	if err != nil && strings.Contains(err.Error(), "no documents in stream") {
		return c, nil // nothing but comments
	}
	if err != nil {
		return nil, yamlError(err)
	}
	return c, c.check()
}

var unknownField = regexp.MustCompile(`^(?:yaml: )?field (.+) not found in .*$`)

// yamlError says what is wrong in the file's words, not in Go's.
func yamlError(err error) error {
	many, ok := errors.AsType[*yaml.LoadErrors](err)
	if !ok {
		wrong, ok := errors.AsType[*yaml.LoadError](err)
		if !ok {
			return err
		}
		many = &yaml.LoadErrors{Errors: []*yaml.LoadError{wrong}}
	}
	var problems []string
	for _, e := range many.Errors {
		text := e.Message
		if m := unknownField.FindStringSubmatch(text); m != nil {
			text = fmt.Sprintf("unknown key %q", m[1])
		} else if value, _, ok := strings.Cut(text, " into "); ok && strings.HasPrefix(value,
			"cannot construct") {
			text = strings.TrimPrefix(value, "cannot construct ") + " does not belong here"
		}
		problems = append(problems, fmt.Sprintf("line %d: %s", e.Mark.Line, text))
	}
	return errors.New(strings.Join(problems, "; "))
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (c *config) check() error {
	for _, name := range c.EnvAllow {
		if !envName.MatchString(name) || strings.HasPrefix(name, "WEBCHAT_") {
			return fmt.Errorf("env_allow: %q is not a variable that commands may inherit", name)
		}
	}
	if c.Editor != "" && !isEditor(c.Editor) {
		return fmt.Errorf(
			"editor: %q is not the address of an editor, such as vscode://file{path}:{line}", c.Editor)
	}
	for i, r := range c.Permissions {
		if err := r.Check(); err != nil {
			return fmt.Errorf("permissions, rule %d: %w", i+1, err)
		}
	}
	for i, h := range c.Hooks {
		if _, err := h.hook(); err != nil {
			return fmt.Errorf("hooks, hook %d: %w", i+1, err)
		}
	}
	for name, a := range c.Agents {
		if err := a.check(); err != nil {
			return fmt.Errorf("agents, %s: %w", name, err)
		}
	}
	if err := c.Sandbox.check(); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	for name, p := range c.Providers {
		if err := p.check(); err != nil {
			return fmt.Errorf("providers, %s: %w", name, err)
		}
	}
	for name, m := range c.MCPServers {
		if name == "webchat" {
			return errors.New(
				"mcpServers, webchat: agents get webchat's own tools under this name; give yours another name")
		}
		if err := checkServer(m); err != nil {
			return fmt.Errorf("mcpServers, %s: %w", name, err)
		}
	}
	for name, a := range c.Agents {
		if a.Command == "" {
			return fmt.Errorf("agents, %s: the command is missing", name)
		}
	}
	return nil
}

// headerName is what HTTP calls a token.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

func (p providerConfig) check() error {
	switch {
	case p.Type == "":
		return errors.New("the type is missing")
	case !isURL(p.URL):
		return fmt.Errorf("the url %q is not an http or https address", p.URL)
	case !slices.Contains(providerTypes, p.Type):
		return fmt.Errorf("the type %q is none of %s", p.Type, strings.Join(providerTypes, ", "))
	case len(p.Models) == 0:
		return errors.New("it needs at least one model")
	case p.KeyEnv != "" && !envName.MatchString(p.KeyEnv):
		return fmt.Errorf("key_env: %q is not the name of a variable", p.KeyEnv)
	case p.APIVersion != "" && p.Type != "azure":
		return fmt.Errorf("api_version is of the type azure, not %s", p.Type)
	}
	for name, value := range p.Headers {
		if !headerName.MatchString(name) || strings.ContainsFunc(value, unicode.IsControl) {
			return fmt.Errorf("headers: %q cannot be a header", name)
		}
	}
	for _, m := range p.Models {
		switch {
		case m.ID == "" || m.InputPrice < 0 || m.OutputPrice < 0 || m.CachedPrice < 0:
			return errors.New("a model needs an id, and prices cannot be negative")
		case m.Context < 0 || m.MaxOutput < 0 || m.Context > 0 && m.MaxOutput >= m.Context:
			return fmt.Errorf(
				"the model %s: context and max_output are numbers of tokens, and max_output is less than "+
					"context", m.ID)
		}
	}
	return nil
}

func checkServer(m agent.MCPServer) error {
	switch m.Type {
	case "stdio":
		if m.Command == "" {
			return errors.New("the command is missing")
		}
	case "http", "sse":
		if !isURL(m.URL) {
			return fmt.Errorf("the url %q is not an http or https address", m.URL)
		}
	default:
		return fmt.Errorf("the type %q is none of stdio, http and sse", m.Type)
	}
	return nil
}

var scheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)

// isEditor reports whether an address leads to a program of the user's, and not to
// something that the browser itself would show or run.
func isEditor(s string) bool {
	return strings.Contains(s, "{path}") && scheme.MatchString(s) &&
		!slices.Contains([]string{"http:", "https:", "javascript:", "data:", "blob:", "vbscript:",
			"file:", "about:"}, scheme.FindString(s))
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// keyVariables are the variables that hold providers' keys: no command gets them.
func (c *config) keyVariables() []string {
	var names []string
	for _, p := range c.Providers {
		if p.KeyEnv != "" {
			names = append(names, p.KeyEnv)
		}
	}
	return names
}
