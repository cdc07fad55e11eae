// Package copilot talks with GitHub Copilot CLI in server mode: JSON-RPC on the standard input and
// output of one native process that carries all sessions.
//
// Protocol facts were observed with version 1.0.102 on Linux (@github/copilot of npm, "copilot
// --headless --stdio"), which states protocol 3; nothing is negotiated.
//
// # Guarantees
//
//   - The CLI's own tool "view" would send files to the model. The CLI ignores a wrong exclusion in
//     silence, so the tools that are really offered are read back before the first prompt and
//     whenever they change. If view is among them, or a tool of the session is missing, nothing is
//     sent to the model.
//   - The CLI's events are translated by an allow-list. Prompts, system messages and everything
//     named model.* end here, but that a call failed, with its status.
//   - Nothing in a workspace runs commands, decides or brings tools: hook files are off, and the
//     CLI keeps to a list of tools for the main agent and for helpers. copilottest.PlantTraps has
//     the places that tests try.
//   - A permission is asked under the name of the call it belongs to, and hooks may change the
//     arguments of each of the CLI's own tools before that.
//   - A file of the workspace that tells the agent how to work is loaded only if none of them leads
//     outside or to keys.
//   - The CLI acts only after [agent.Host].AskPermission allowed it, once each time: what is
//     remembered, the session remembers. A command that is to be detached stays within reach.
//   - A result that the CLI cuts for its model is kept whole for the user, and the model is sent to
//     tools it has.
//   - Every turn ends: with the CLI's assistant.idle or session.idle (the latter waits for what
//     runs in the background), or with the process. What the CLI begins by itself is a turn, too,
//     and each command or helper it leaves running a task.
//   - When the process dies, every conversation on it fails with [agent.ErrDied], nothing of its
//     tree is left, and the next Open starts another, in which the conversations are resumed.
//   - The process gets an environment built from an allow-list and keeps its state in
//     [Config].Home. Confined, each workspace has a process and a folder of state of its own.
//
// # Concurrency
//
// A [Backend] may be used from any goroutine. The process is started by the first conversation and
// stopped when the last one is closed. Each conversation has one goroutine, which hands on the
// CLI's events in order, and one for each tool call and question that waits.
//
// # Usage
//
//	b, err := copilot.New(copilot.Config{Home: dir, Env: os.Environ()})
//	conn, err := b.Open(ctx, agent.Options{SessionID: id, Workspace: dir, Tools: specs}, host)
package copilot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/proc"
)

// Config is what the backend works with. Home and Env are needed.
type Config struct {
	// Path is the CLI, or the npm shim beside which it lies; if empty, it is looked for in the PATH of
	// Env and in npm's folders.
	Path string
	// Home is the folder the CLI keeps its state in, an absolute path. It is made when it is first
	// needed. It must not be shared.
	Home string
	// Env is this program's environment; the CLI gets an allow-list of it.
	Env []string
	// Providers are models the user brought. With any of them the CLI works offline and without a
	// login; without, on the user's GitHub login.
	Providers Providers
	// Login says that the models of the user's GitHub login are there beside Providers: the CLI
	// works online.
	Login bool
	// Model is the model of sessions that name none; empty means the first of the providers, or the
	// CLI's default.
	Model string
	// NoInstructions leaves the instruction files of workspaces out of prompts.
	NoInstructions bool
	// Large is of how many tokens a result of the CLI's own tools is at most that a model gets whole;
	// 0: of any number. What is larger is kept by an [agent.Keeper].
	Large int
	// SearchHits says which sensitive files a search in a workspace may show; see
	// policy.Policy.SearchHits. Searches leave them out where a glob can say so. nil: none is left
	// out.
	SearchHits func(ctx context.Context, workspace string, s agent.Search) (sensitive []string,
		complete bool)
	// Count counts tokens, for what the tools' definitions cost; nil means not counted.
	Count func(text string) int
	// Watch, if set, looks at every message the CLI reports to have sent to a model; see
	// [cli.Watch].
	Watch *cli.Watch
	// Confine returns what runs the CLI for the sessions of a workspace, confined, each workspace's
	// apart; nil: one process runs for all, and may touch what this one may.
	Confine func(ctx context.Context, workspace string, cmd proc.Command) (proc.Command, error)
	Logger  *slog.Logger // nil: slog.Default()
}

// Backend implements [agent.Backend].
type Backend struct {
	convo.Tried
	cfg    Config
	cli    *cli.Program
	login  login
	locked locked
	// destroyPatience is how long the CLI may take to let go of a session: more than a second while
	// it works on others.
	destroyPatience time.Duration
}

// New returns the backend; it touches nothing.
func New(c Config) (*Backend, error) {
	if !filepath.IsAbs(c.Home) {
		return nil, fmt.Errorf("copilot: the state folder %q is not an absolute path", c.Home)
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Model == "" && len(c.Providers) > 0 {
		c.Model = c.Providers.IDs()[0]
	}
	if err := c.Providers.Check(c.Model); err != nil && !c.online() {
		return nil, fmt.Errorf("copilot: %w", err)
	}
	return &Backend{
		Tried:           convo.Tried{Folder: c.Home},
		cfg:             c,
		cli:             cli.New(program(c)),
		destroyPatience: 5 * time.Second,
	}, nil
}

// online reports whether the CLI works on the user's GitHub login, alone or beside others.
func (c Config) online() bool { return len(c.Providers) == 0 || c.Login }

// program is what the CLI's process gets of c.
func program(c Config) cli.Config {
	p := cli.Config{Path: c.Path, Home: c.Home, Env: c.Env, Confine: c.Confine, Logger: c.Logger}
	if !c.online() {
		p.ProviderURL, p.ProviderModel = c.Providers[0].URL, c.Providers[0].Models[0].ID
	}
	for _, v := range c.Providers {
		if v.Key != "" {
			p.Keys = append(p.Keys, v.Key)
		}
	}
	if c.Watch != nil {
		p.Watch = c.Watch.Look
	}
	return p
}

func (*Backend) Name() string { return "copilot" }

// Info implements [agent.Backend]; see [cli.Program.Version].
func (b *Backend) Info(context.Context) agent.Info {
	version, err := b.cli.Version()
	info := agent.Info{
		Intercept: agent.InterceptRewrite,
		CanResume: true,
		Account:   b.login.Account(),
		Version:   version,
		Available: err == nil,
	}
	if err != nil {
		info.Reason = strings.TrimPrefix(err.Error(), agent.ErrUnavailable.Error()+": ")
	}
	found, _ := b.Asking(version)
	info.Lacks = convo.Unasked(found)
	return info
}

// Models implements [agent.Backend]: the configured ones, and what the CLI lists under the user's
// login.
func (b *Backend) Models(ctx context.Context) (all []agent.Model, _ error) {
	for _, id := range b.cfg.Providers.IDs() {
		all = append(all, agent.Model{ID: id, Name: id})
	}
	if !b.cfg.online() {
		return all, nil
	}
	theirs, listed, err := b.login.Known()
	if !listed {
		var p *cli.Process
		if p, err = b.cli.Acquire(ctx, ""); err == nil {
			theirs, err = b.login.Models(ctx, p.Call)
			b.cli.Release(p)
		}
	}
	if err != nil && len(all) == 0 {
		return nil, fmt.Errorf("list the models: %w", b.cli.Explain(err))
	}
	for _, m := range theirs {
		if !b.cfg.Providers.Has(m.ID) {
			all = append(all, m)
		}
	}
	return all, nil
}

func (b *Backend) Forget(ctx context.Context, sessionID string) error {
	kept, err := b.cli.Bring("", nativeID(sessionID)) // by a process in which nothing acts
	if err != nil {
		return fmt.Errorf("forget the session: %w", err)
	}
	if !kept {
		return nil // it never had a prompt; nothing has to be started to know that
	}
	p, err := b.cli.Acquire(ctx, "")
	if err != nil {
		return err
	}
	defer b.cli.Release(p)
	var done struct {
		Success bool
		Error   string
	}
	if err := p.Call(ctx, "session.delete", map[string]string{"sessionId": nativeID(sessionID)},
		&done); err != nil {
		return fmt.Errorf("forget the session: %w", err)
	}
	if !done.Success && !strings.Contains(strings.ToLower(done.Error), "not found") {
		return errors.New("forget the session: " + done.Error)
	}
	return nil
}
