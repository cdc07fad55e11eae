package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"webchat/internal/agent"
	"webchat/internal/hooks"
	"webchat/internal/outputs"
)

// doctor says what was found, one line each, and fails when nothing could answer.
func doctor(ctx context.Context, o *options, stdout, _ io.Writer) error {
	c, err := o.loadConfig()
	if err != nil {
		return err
	}
	workspace, err := o.workspaceDir()
	if err != nil {
		return err
	}
	dir, err := o.dataPath(workspace)
	if err != nil {
		return err
	}
	say := func(name, format string, args ...any) {
		fmt.Fprintf(stdout, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	say("webchat", "%s %s/%s", version(), runtime.GOOS, runtime.GOARCH)
	say("workspace", "%s", workspace)
	say("data", "%s", dir)
	if info, err := readServerInfo(dir); err == nil && info.URL != "" {
		say("running", "%s, pid %d", info.URL, info.PID)
	} else {
		say("running", "no")
	}
	if names := c.ignored(); len(names) > 0 {
		say("ignored", "%v of the configuration have no effect in this version", names)
	}
	backends, err := o.backends()
	if err != nil {
		return err
	}
	if err := o.doctorTools(c, workspace, say); err != nil {
		return err
	}
	set, err := o.hooks(c, workspace)
	if err != nil {
		return err
	}
	say("consent", "--permissions %s, %d rules, %d hooks", o.permissions, len(c.Permissions), len(c.Hooks))
	return doctorBackends(ctx, backends, set.Demands(hooks.BeforeTool), say)
}

// doctorBackends says what was found; demands is whether a before_tool hook has to
// be asked every time, which not every backend can honour.
func doctorBackends(ctx context.Context, all []agent.Backend, demands bool, say func(string, string, ...any)) error {
	found := false
	for _, b := range all {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		info := b.Info(ctx)
		cancel()
		version := info.Version
		if version == "" {
			version = "built in"
		}
		if !info.Available {
			say("backend", "%s: not available: %s", b.Name(), info.Reason)
			continue
		}
		found = true
		usable := ""
		if demands && info.Intercept != agent.InterceptAll && info.Intercept != agent.InterceptRewrite {
			usable = "; no session starts on it: a before_tool hook is not best_effort"
		}
		say("backend", "%s: available, %s, hooks reach %s%s", b.Name(), version, info.Intercept, usable)
	}
	if !found {
		return errors.New("no backend is available")
	}
	return nil
}

// doctorTools looks at what every session offers its agent.
func (o *options) doctorTools(c *config, workspace string, say func(string, string, ...any)) error {
	store, err := outputs.New(outputs.Config{TTL: o.outputTTL, Budget: int64(o.outputBudget)})
	if err != nil {
		return &usageError{err.Error()}
	}
	set, err := o.tools(c, workspace, store)("doctor")
	if err != nil {
		return err
	}
	var names []string
	view := "not offered"
	for _, t := range set.Tools() {
		spec := t.Spec()
		if !json.Valid(spec.Parameters) {
			err = errors.Join(err, fmt.Errorf("the parameters of %s are no JSON", spec.Name))
		}
		if spec.Name == "view" {
			view = "offered, and should not be"
		}
		names = append(names, spec.Name)
	}
	say("tools", "%v are offered; view is %s", names, view)
	return errors.Join(err, set.Close())
}
