package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/autohand"
	"webchat/internal/agent/copilot"
	"webchat/internal/cage"
	"webchat/internal/proc"
)

// confine runs the program of an agent in the tree of a workspace; nil: unconfined.
type confine func(ctx context.Context, workspace string, cmd proc.Command) (proc.Command, error)

// loginHosts are where the GitHub Copilot CLI signs in, and where its models are.
var loginHosts = []string{"github.com", "api.github.com", "*.githubcopilot.com",
	"copilot-proxy.githubusercontent.com"}

// copilot returns what confines the GitHub Copilot CLI; nil where nothing is. It gets its program,
// its state for the workspace, and the hosts of its models.
func (c *cages) copilot(own, hosts []string) confine {
	if c == nil {
		return nil
	}
	return func(ctx context.Context, workspace string, cmd proc.Command) (proc.Command, error) {
		in, err := c.Of(workspace)
		if err != nil {
			return cmd, err
		}
		return in.Confine(ctx, cmd, cage.Needs{
			Agent:    "copilot",
			Programs: cmd.Args[:1],
			Write:    []string{cmd.Dir},
			Own:      own,
			Hosts:    hosts,
		})
	}
}

// copilotReaches is where the CLI's models are, and the hosts of its login.
func (r roster) copilotReaches(providers copilot.Providers) (own, hosts []string) {
	for _, p := range providers {
		if at := cage.HostPort(p.URL); at != "" {
			own = append(own, at)
		}
	}
	if len(providers) > 0 && !r.CopilotLogin {
		return own, nil
	}
	hosts = loginHosts
	for _, name := range []string{"GH_HOST", "COPILOT_GH_HOST"} {
		if host, _ := lookup(r.env, name); host != "" {
			hosts = append(hosts[:len(hosts):len(hosts)], host, "*."+host)
		}
	}
	return own, hosts
}

// lend has agents reach the tools that are lent to them as they are reached inside.
func (c *cages) lend(lend agent.Lender) agent.Lender {
	if c == nil {
		return lend
	}
	return func(id string, tools []agent.ToolSpec, call func(context.Context, agent.ToolCall) (
		agent.Result, error)) (agent.Lent, func(), error) {
		lent, end, err := lend(id, tools, call)
		if u, bad := url.Parse(lent.URL); err == nil && bad == nil {
			outside := lent.URL
			c.lent.Store(&outside)
			lent.URL = cage.Lent + u.EscapedPath()
		}
		return lent, end, err
	}
}

// agentNeeds is what an agent's trees get beside what all do.
type agentNeeds struct {
	name        string
	state       []acp.State
	ownHome     bool // without state: a home of its own
	hosts, own  []string
	read, write []string
	programs    []string
}

// agent returns what confines an agent; nil where nothing is.
func (c *cages) agent(n agentNeeds) confine {
	if c == nil {
		return nil
	}
	return func(ctx context.Context, workspace string, cmd proc.Command) (proc.Command, error) {
		in, err := c.Of(workspace)
		if err != nil {
			return cmd, err
		}
		program, err := proc.LookUp(cmd)
		if err != nil {
			return cmd, err
		}
		sum := sha256.Sum256([]byte(workspace))
		kept := filepath.Join(c.folder, n.name, "workspaces", hex.EncodeToString(sum[:8]))
		needs := cage.Needs{
			Agent:    n.name,
			Programs: append([]string{program}, n.programs...),
			Hosts:    n.hosts,
			Read:     n.read,
			Write:    n.write,
		}
		for _, arg := range cmd.Args[1:] {
			if _, err := os.Stat(arg); err == nil && filepath.IsAbs(arg) {
				needs.Programs = append(needs.Programs, arg)
			}
		}
		if lent := c.lent.Load(); lent != nil {
			needs.Lent = *lent
		}
		if n.ownHome && len(n.state) == 0 {
			needs.Home = filepath.Join(kept, "home")
		}
		var settings []string
		for _, st := range n.state {
			value, _ := lookup(cmd.Env, st.Var)
			at := cmp.Or(value, filepath.Join(c.home, st.Path))
			if st.Var != "" {
				needs.Env = append(needs.Env, st.Var+"="+at)
			}
			state := cage.State{
				Path:   at,
				From:   filepath.Join(kept, url.PathEscape(st.Path)),
				Own:    st.Own,
				Read:   st.Read,
				Copied: map[string]string{},
			}
			for name, from := range st.Copied {
				state.Copied[name] = filepath.Join(c.home, from)
			}
			needs.State = append(needs.State, state)
			for _, name := range st.Read {
				settings = append(settings, filepath.Join(at, name))
			}
		}
		needs.Own = append(modelsAt(cmd.Env, settings), n.own...)
		return in.Confine(ctx, cmd, needs)
	}
}

// autohand returns what confines the Autohand CLI; nil where nothing is. The folder of a
// conversation has its home, and the command of its hooks reaches webchat by a socket.
func (c *cages) autohand(cfg autohand.Config,
	self string) func(context.Context, string, string, string, proc.Command) (proc.Command, error) {
	if c == nil {
		return nil
	}
	var own []string
	if cfg.Provider != nil {
		own = append(own, modelsAt([]string{"_BASE_URL=" + cfg.Provider.URL}, nil)...)
	} else {
		own = append(own, modelsAt(nil, []string{cfg.Settings})...)
	}
	return func(ctx context.Context, workspace, dir, socket string, cmd proc.Command) (proc.Command,
		error) {
		return c.agent(agentNeeds{
			name:  autohand.Name,
			hosts: autohandHosts,
			own:   own,
			read:  []string{self, filepath.Dir(socket)},
			write: []string{dir},
		})(ctx, workspace, cmd)
	}
}

// autohandHosts are where the Autohand CLI signs in, and where the models of its providers are.
var autohandHosts = []string{"autohand.ai", "*.autohand.ai", "openrouter.ai", "api.openai.com",
	"api.anthropic.com"}

// baseURL is how settings of agents name where a model is.
var baseURL = regexp.MustCompile(`(?i)base_?url"?\s*[:=]\s*"(https?://[^"\s]+)"`)

// check says what is wrong with what an agent gets where it is confined.
func (a agentConfig) check() error {
	for _, h := range a.Hosts {
		if err := cage.CheckHost(h); err != nil {
			return err
		}
	}
	for _, p := range a.State {
		if rest, ok := strings.CutPrefix(p, "~/"); !ok || !filepath.IsLocal(rest) ||
			filepath.Clean(rest) == "." {
			return fmt.Errorf("state: %q is not a folder that begins with ~/", p)
		}
	}
	return nil
}

// modelsAt are the hosts and ports of the models that variables of an agent and its user's settings
// name.
func modelsAt(env, settings []string) (own []string) {
	add := func(address string) {
		if at := cage.HostPort(address); at != "" && !slices.Contains(own, at) {
			own = append(own, at)
		}
	}
	for _, kv := range env {
		if name, value, _ := strings.Cut(kv, "="); strings.HasSuffix(name, "_BASE_URL") ||
			strings.HasSuffix(name, "_API_URL") {
			add(value)
		}
	}
	for _, name := range settings {
		if st, err := os.Stat(name); err != nil || !st.Mode().IsRegular() || st.Size() > 1<<20 {
			continue
		}
		text, _ := os.ReadFile(name) // what cannot be read names nothing
		for _, found := range baseURL.FindAllSubmatch(text, -1) {
			add(string(found[1]))
		}
	}
	return own
}
