package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/autohand"
	"webchat/internal/canary"
	"webchat/internal/consent"
	"webchat/internal/daemon"
	"webchat/internal/mcp"
	"webchat/internal/outputs"
	"webchat/internal/store"
	"webchat/internal/wording"
)

// doctor says what was found, one line each, and fails when nothing could answer.
func doctor(ctx context.Context, o *options, stdout, _ io.Writer) (err error) {
	c, err := o.loadConfig()
	if err != nil {
		return err
	}
	workspace, err := o.workspaceDir()
	if err != nil {
		return err
	}
	k := checkup{options: o, c: c, workspace: workspace, say: func(name, format string, args ...any) {
		fmt.Fprintf(stdout, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}}
	k.places()
	if err := k.engine(ctx); err != nil {
		return err
	}
	if err := k.configured(ctx); err != nil {
		return err
	}
	if o.Online {
		if err := k.online(ctx); err != nil {
			return err
		}
	}
	own, err := mcp.LendHere(ctx, version())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, own.Close()) }()
	box, err := o.with(c).sandbox()
	if err != nil {
		return err
	}
	quiet, dir := slog.New(slog.DiscardHandler), o.dataPath()
	k.backends, err = o.roster(c).backends(o.with(c).cages(box, dir, nothingKept, quiet), dir,
		own.ToAgent, quiet)
	if err != nil {
		return err
	}
	if err := k.offered(); err != nil {
		return err
	}
	set, err := o.with(c).hooks(workspace)
	if err != nil {
		return err
	}
	box.say(k.say)
	if box.on() {
		k.servers()
	}
	k.git()
	k.decides()
	if err := k.agents(ctx, set.Demands(consent.BeforeTool)); err != nil {
		return err
	}
	k.sessions(ctx)
	k.worktrees()
	return nil
}

// checkup is what doctor looks at, and how it says what it found.
type checkup struct {
	*options
	c         *config
	workspace string
	backends  []agent.Backend // once they are made
	say       func(name, format string, args ...any)
}

// places says which webchat this is, where it keeps what, and whether it runs.
func (k checkup) places() {
	dir := k.dataPath()
	k.say("webchat", "%s %s/%s", version(), runtime.GOOS, runtime.GOARCH)
	k.say("workspace", "%s", k.workspace)
	k.say("data", "%s", dir)
	for _, name := range store.Aside(dir) {
		k.say("damaged",
			"%s was kept when what was sound was taken out of it; delete it when you miss nothing",
			filepath.Base(name))
	}
	if info, err := daemon.Read(dir); err == nil && info.URL != "" {
		k.say("running", "%s, pid %d", info.URL, info.PID)
		k.say("settings",
			"the lines below are about the settings of this command; the running server may have others")
	} else {
		k.say("running", "no")
	}
}

// decides says what decides about acts.
func (k checkup) decides() {
	k.say("consent", "--permissions %s, %s, %s", k.Permissions,
		wording.Plural(len(k.c.Permissions), "rule"),
		wording.Plural(len(k.c.Hooks), "hook"))
	for _, missed := range missedRules(k.c, k.backends) {
		k.say("consent", "%s, which no agent that is set up is known to have: the rule may never hold",
			missed)
	}
}

// agents says what was found; demands is whether a before_tool hook has to
// be asked every time, which not every backend can do.
func (k checkup) agents(ctx context.Context, demands bool) error {
	found := false
	for _, b := range k.backends {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		info := b.Info(ctx)
		cancel()
		version := info.Version
		switch _, started := b.(*acp.Backend); {
		case version == "" && started:
			version = "its version is known once it was started"
		case version == "":
			version = "built in"
		}
		if !info.Available {
			k.say("backend", "%s: not available: %s", b.Name(), info.Reason)
			continue
		}
		found = true
		usable := ""
		if demands && info.Intercept != agent.InterceptAll && info.Intercept != agent.InterceptRewrite {
			usable = "; no session starts on it: a before_tool hook is not best_effort"
		}
		k.say("backend", "%s: available, %s, hooks reach %s%s", b.Name(), version, info.Intercept, usable)
		if len(info.Lacks) > 0 {
			k.say("lacks", "%s: %s", b.Name(), strings.Join(info.Lacks, "; "))
		}
	}
	if !found {
		return errors.New("no backend is available")
	}
	return nil
}

// sessions opens a conversation with each backend, without a prompt: it
// fails unless the display tools are offered and view is not.
func (k checkup) sessions(ctx context.Context,
) {
	var specs []agent.ToolSpec
	if store, err := outputs.New(outputs.Config{
		TTL:    k.OutputTTL,
		Budget: int64(k.OutputBudget),
	}); err == nil {
		if set, err := k.with(k.c).tools(k.workspace, nil, store, usersOwn{}, nil)("doctor"); err == nil {
			for _, t := range set.Tools() {
				specs = append(specs, t.Spec())
			}
			defer set.Close()
		}
	}
	for _, b := range k.backends {
		if !b.Info(ctx).Available {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		conn, err := b.Open(ctx, agent.Options{SessionID: "doctor", Workspace: k.workspace, Tools: specs},
			&canary.Host{})
		if err == nil {
			err = conn.Close()
		}
		cancel()
		if err != nil {
			k.say("session", "%s: %s", b.Name(), strings.TrimPrefix(err.Error(),
				agent.ErrUnavailable.Error()+
					": "))
			continue
		}
		if _, started := b.(*acp.Backend); started {
			k.say("session",
				"%s: opens, version %s, signed in as far as it says; the display tools are lent to it",
				b.Name(), cmp.Or(b.Info(ctx).Version, "not known"))
			if p, ok := acp.Presets()[b.Name()]; ok {
				k.say("reading", "%s: %s", b.Name(), cmp.Or(p.Reads,
					"it has no tool of its own for reading files; a command that you allow may read them"))
			}
			continue
		}
		k.say("session", "%s: opens, with the display tools and without view%s", b.Name(),
			signedIn(ctx, b))
		if b.Name() == autohand.Name {
			k.say("reading", "%s: %s", b.Name(), autohand.Reading())
		}
	}
}

// signedIn says who is, in words that go on after others; empty if it is not known.
func signedIn(ctx context.Context, b agent.Backend) string {
	if who := b.Info(ctx).Account; who != "" {
		return "; signed in as " + who
	}
	return ""
}

// offered looks at what every session offers its agent.
func (k checkup) offered() error {
	store, err := outputs.New(outputs.Config{TTL: k.OutputTTL, Budget: int64(k.OutputBudget)})
	if err != nil {
		return &usageError{err.Error()}
	}
	set, err := k.with(k.c).tools(k.workspace, nil, store, usersOwn{}, nil)("doctor")
	if err != nil {
		return err
	}
	var names []string
	view := "not offered"
	for _, t := range set.Tools() {
		spec := t.Spec()
		if !json.Valid(spec.Parameters) {
			err = errors.Join(err, fmt.Errorf("the parameters of %s are not JSON", spec.Name))
		}
		if spec.Name == "view" {
			view = "offered, and should not be"
		}
		names = append(names, spec.Name)
	}
	k.say("tools", "%v are offered; view is %s", names, view)
	return errors.Join(err, set.Close())
}
