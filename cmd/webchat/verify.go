package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot"
	"webchat/internal/event"
	"webchat/internal/outputs"
	"webchat/internal/policy"
	"webchat/internal/session"
	"webchat/internal/store"
)

// verifyTime bounds the whole try; a model of one's own may be slow.
const verifyTime = 5 * time.Minute

// verify has the chosen backend show a file with a random text in it, in a
// workspace made for that, and fails if the text was sent to the model.
func verify(ctx context.Context, o *options, stdout, _ io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, verifyTime)
	defer cancel()
	c, err := o.loadConfig()
	if err != nil {
		return err
	}
	if err := o.checkBackend(); err != nil {
		return err
	}
	v := &verification{options: o, config: c, canary: "canary" + random(), out: stdout}
	if v.workspace, err = os.MkdirTemp("", "webchat-verify-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(v.workspace)) }()
	content := strings.Repeat("This line holds "+v.canary+" and is for the user only.\n", 20)
	if err := os.WriteFile(filepath.Join(v.workspace, "canary.txt"), []byte(content), 0o600); err != nil {
		return err
	}
	return v.run(ctx)
}

// verification is one try.
type verification struct {
	*options
	config    *config
	canary    string
	workspace string
	out       io.Writer

	proxies []*recorder    // before the user's own models
	watch   *copilot.Watch // under a login
}

func (v *verification) run(ctx context.Context) (err error) {
	defer func() {
		for _, p := range v.proxies {
			err = errors.Join(err, p.close())
		}
	}()
	b, err := v.chosen(ctx)
	if err != nil {
		return err
	}
	v.say("backend", "%s", b.Name())
	r, shown, err := v.show(ctx, b)
	if err != nil {
		return err
	}
	leak := v.leaks(b)
	switch {
	case errors.Is(leak, errLeaked):
		return leak
	case r.Error != "":
		return fmt.Errorf("the turn failed: %s", r.Error)
	case !shown:
		return fmt.Errorf("nothing was proven: the model did not show the file, it said %q; try again or choose another model", short(r.Content))
	case leak != nil:
		return leak
	}
	v.say("ok", "the file was shown, and nothing of it reached the model")
	return nil
}

func (v *verification) say(name, format string, args ...any) {
	fmt.Fprintf(v.out, "%-10s %s\n", name, fmt.Sprintf(format, args...))
}

// chosen makes the backend a new session would get, with something of ours in
// between that sees what is sent.
func (v *verification) chosen(ctx context.Context) (agent.Backend, error) {
	dir, err := v.dataDirOfUser()
	if err != nil {
		return nil, err
	}
	quiet := slog.New(slog.DiscardHandler)
	all, err := v.backends(v.config, dir, quiet)
	if err != nil {
		return nil, err
	}
	name := v.defaultBackend(ctx, all)
	b := all[slices.IndexFunc(all, func(b agent.Backend) bool { return b.Name() == name })]
	if info := b.Info(ctx); !info.Available {
		return nil, fmt.Errorf("%s cannot be used: %s", name, info.Reason)
	}
	if name != "copilot" {
		return b, nil
	}
	cfg, err := v.copilot(v.config, dir, quiet)
	if err != nil {
		return nil, err
	}
	if len(cfg.Providers) == 0 {
		v.watch = copilot.NewWatch(v.canary)
		cfg.Watch = v.watch
		return copilot.New(cfg)
	}
	for i := range cfg.Providers {
		p, err := record(ctx, cfg.Providers[i].URL, v.canary)
		if err != nil {
			return nil, err
		}
		v.proxies = append(v.proxies, p)
		cfg.Providers[i].URL = p.url
	}
	cfg.MCPServers = nil // they have no part in this
	return copilot.New(cfg)
}

// dataDirOfUser is where the login of an agent is kept.
func (v *verification) dataDirOfUser() (string, error) {
	workspace, err := v.workspaceDir()
	if err != nil {
		return "", err
	}
	dir, err := v.dataPath(workspace)
	if err != nil {
		return "", err
	}
	return dir, makeDataDir(dir)
}

// show runs the one turn, in a session that is kept nowhere.
func (v *verification) show(ctx context.Context, b agent.Backend) (r session.TurnResult, shown bool, err error) {
	store, manager, err := v.rooms(b)
	if err != nil {
		return r, false, err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 2)
	go func() { ended <- manager.Run(running) }()
	go func() { ended <- store.Run(running) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended, <-ended)
	}()
	s, err := manager.Create(ctx, session.Options{})
	if err != nil {
		return r, false, err
	}
	id, err := s.Send(ctx, session.Message{Content: "show canary.txt"})
	if err != nil {
		return r, false, err
	}
	if r, err = s.WaitTurn(ctx, id); err != nil {
		return r, false, fmt.Errorf("no end of the turn within %v: %w", verifyTime, err)
	}
	for _, ref := range r.Outputs {
		o, err := store.Get(outputs.ID(ref.ID))
		if err != nil {
			return r, false, err
		}
		var text bytes.Buffer
		if err := o.CopyLines(ctx, &text, 0, 0); err != nil {
			return r, false, err
		}
		if strings.Contains(text.String(), v.canary) {
			shown = true
			v.say("shown", "%d bytes to the user", text.Len())
		}
	}
	return r, shown, nil
}

// rooms are sessions in memory, in which agents may display, and read by their
// own means, as a user may have allowed: that is what would leak.
func (v *verification) rooms(b agent.Backend) (*outputs.Store, *session.Manager, error) {
	out, err := outputs.New(outputs.Config{TTL: verifyTime, Budget: 1 << 20})
	if err != nil {
		return nil, nil, err
	}
	db := store.NewMemory()
	reads := policy.New(policy.Config{Workspace: v.workspace, Rules: []policy.Rule{{Kind: agent.KindRead, Path: "/**", Decision: event.Allow}}})
	m, err := session.New(session.Config{Policy: reads, Log: db, Catalog: db, Backends: []agent.Backend{b}, Workspace: v.workspace, Permissions: session.ModeDeny,
		Tools: v.tools(v.config, v.workspace, out), Logger: slog.New(slog.DiscardHandler)})
	return out, m, err
}

var errLeaked = errors.New("THE CANARY REACHED THE MODEL")

// leaks says what was sent, and is an error if the canary was, or if nobody can
// tell.
func (v *verification) leaks(b agent.Backend) error {
	loud := fmt.Errorf("%w: %s sent what it was to show only to you; do not rely on it", errLeaked, b.Name())
	switch {
	case v.watch != nil:
		n, found := v.watch.Seen()
		if found {
			return loud
		}
		if n == 0 {
			return errors.New("nothing was proven: the CLI did not report what it sent to the model")
		}
		v.say("sent", "the canary is in none of the %d messages that the CLI reports to have sent", n)
	case len(v.proxies) > 0:
		var requests, size int64
		for _, p := range v.proxies {
			s := p.seen()
			requests, size = requests+s.requests, size+s.bytes
			if s.found > 0 {
				return loud
			}
			if s.unreadable > 0 {
				return fmt.Errorf("nothing was proven: %d requests to the model cannot be read", s.unreadable)
			}
		}
		if requests == 0 {
			return errors.New("nothing was proven: no request went through to the model")
		}
		v.say("sent", "%d requests of %d bytes to the model; the canary is in none", requests, size)
	default:
		v.say("sent", "nothing: this backend calls no model")
	}
	return nil
}

func random() string {
	b := make([]byte, 12)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

func short(s string) string {
	if r := []rune(s); len(r) > 200 {
		return string(r[:199]) + "…"
	}
	return s
}
