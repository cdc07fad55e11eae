// Package canary proves that what is shown to the user does not reach the model: it
// has a backend show a file with a random text in it, in a session that is kept
// nowhere, and looks for the text in what was sent to the model.
//
// A [Trial] sees that either in front of the models themselves ([Trial.Before]) or by
// what the backend reports ([Report]). It proves one turn and is then used up; its
// methods belong to one goroutine. [Table] tries which parts of a tool's result an agent hands to
// its model, and [Asking] whether it asks before it acts.
package canary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/outputs"
	"webchat/internal/policy"
	"webchat/internal/session"
	"webchat/internal/sessions"
	"webchat/internal/store"
	"webchat/internal/wording"
)

// Limit bounds the whole try; a model of one's own may be slow.
const Limit = 5 * time.Minute

// ErrLeaked says that the text reached the model.
var ErrLeaked = errors.New("THE CANARY REACHED THE MODEL")

// Config is what a trial needs of the program.
type Config struct {
	// Tools makes the display tools of a session in a workspace, as the server does.
	Tools func(workspace string, out *outputs.Store) func(eventlog.ID) (agent.Toolset, error)
	// Say takes a line of what was found: a name and a sentence.
	Say func(name, format string, args ...any)
}

// Report is what a backend says about the messages it sent to its model.
type Report interface {
	// Seen returns how many messages were reported, and whether the text was in one.
	Seen() (messages int, found bool)
}

// Trial is one try.
type Trial struct {
	Config
	text      string
	workspace string
	proxies   []*recorder // before the user's own models
}

// New makes a workspace with the file. Close removes it.
func New(c Config) (*Trial, error) {
	t := &Trial{Config: c, text: secret()}
	var err error
	if t.workspace, err = os.MkdirTemp("", "webchat-verify-"); err != nil {
		return nil, err
	}
	content := strings.Repeat("This line holds "+t.text+" and is for the user only.\n", 20)
	if err := os.WriteFile(filepath.Join(t.workspace, "canary.txt"), []byte(content),
		0o600); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// Close ends what the trial started and removes its workspace.
func (t *Trial) Close() (err error) {
	for _, p := range t.proxies {
		err = errors.Join(err, p.close())
	}
	return errors.Join(err, os.RemoveAll(t.workspace))
}

// Text is what must not reach the model.
func (t *Trial) Text() string { return t.text }

// Before starts a proxy in front of the model at address, and returns the address
// to use instead.
func (t *Trial) Before(ctx context.Context, address string) (string, error) {
	p, err := record(ctx, address, t.text)
	if err != nil {
		return "", err
	}
	t.proxies = append(t.proxies, p)
	return p.url, nil
}

// Run has b show the file, and fails with [ErrLeaked] if the text was sent to the
// model. Any other error means that nothing was proven, as for a backend without a model.
// reported is nil for a backend that reports nothing.
func (t *Trial) Run(ctx context.Context, b agent.Backend, reported Report) error {
	t.Say("backend", "%s", b.Name())
	r, shown, err := t.show(ctx, b)
	if err != nil {
		return err
	}
	leak := t.leaks(b, reported)
	switch {
	case errors.Is(leak, ErrLeaked):
		return leak
	case r.Error != "":
		return fmt.Errorf("the turn failed: %s", r.Error)
	case !shown:
		return fmt.Errorf(
			"nothing was proven: the model did not show the file, it said %q; try again or choose another "+
				"model", wording.Cut(r.Content, 200))
	case leak != nil:
		return leak
	}
	t.Say("ok", "the file was shown, and nothing of it reached the model")
	return nil
}

// show runs the one turn, in a session that is not kept.
func (t *Trial) show(ctx context.Context,
	b agent.Backend) (r eventlog.TurnResult, shown bool, err error) {
	dir, err := os.MkdirTemp("", "webchat-verify-log-")
	if err != nil {
		return r, false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := store.Open(store.Config{Dir: dir})
	if err != nil {
		return r, false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	out, manager, err := t.rooms(b, db)
	if err != nil {
		return r, false, err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 2)
	go func() { ended <- manager.Run(running) }()
	go func() { ended <- out.Run(running) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended, <-ended)
	}()
	s, err := manager.Create(ctx, sessions.Options{})
	if err != nil {
		return r, false, err
	}
	id, err := s.Send(ctx, session.Message{Content: "show canary.txt"})
	if err != nil {
		return r, false, err
	}
	if r, err = s.WaitTurn(ctx, id); err != nil {
		return r, false, fmt.Errorf("no end of the turn within %v: %w", Limit, err)
	}
	for _, ref := range r.Outputs {
		o, err := out.Get(outputs.ID(ref.ID))
		if err != nil {
			return r, false, err
		}
		var text bytes.Buffer
		if err := o.CopyLines(ctx, &text, 0, 0); err != nil {
			return r, false, err
		}
		if strings.Contains(text.String(), t.text) {
			shown = true
			t.Say("shown", "%d bytes to the user", text.Len())
		}
	}
	return r, shown, nil
}

// rooms are sessions in db, in which agents may display, and read by their own means, as a
// user may have allowed: that is what would leak.
func (t *Trial) rooms(b agent.Backend, db *store.DB) (*outputs.Store, *sessions.Manager, error) {
	out, err := outputs.New(outputs.Config{TTL: Limit, Budget: 1 << 20})
	if err != nil {
		return nil, nil, err
	}
	reads := policy.New(policy.Config{
		Workspace: t.workspace,
		Rules:     []policy.Rule{{Kind: agent.KindRead, Path: "/**", Decision: event.Allow}},
	})
	folders, err := files.WorkspaceIn(t.workspace)
	if err != nil {
		return nil, nil, err
	}
	m, err := sessions.New(sessions.Config{
		Log:         db,
		Catalog:     db,
		Backends:    []agent.Backend{b},
		Workspaces:  folders,
		Permissions: consent.ModeDeny,
		Room: func(workspace string) (sessions.Room, error) {
			return sessions.Room{Policy: reads, Tools: t.Tools(workspace, out)}, nil
		},
		Logger: slog.New(slog.DiscardHandler),
	})
	return out, m, err
}

// leaks says what was sent, and is an error if the canary was, or if no one can
// tell.
func (t *Trial) leaks(b agent.Backend, reported Report) error {
	loud := fmt.Errorf("%w: %s sent what it was to show only to you; do not rely on it", ErrLeaked,
		b.Name())
	switch {
	case reported != nil:
		n, found := reported.Seen()
		if found {
			return loud
		}
		if n == 0 {
			return errors.New("nothing was proven: it is not known what was sent to the model")
		}
		t.Say("sent", "the canary is in none of the %d messages that were sent to the model", n)
	case len(t.proxies) > 0:
		var requests, size int64
		for _, p := range t.proxies {
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
		t.Say("sent", "%d requests of %d bytes to the model; the canary is in none", requests, size)
	default:
		return fmt.Errorf(
			"nothing was proven: %s calls no model; choose an agent that has one, with --backend or "+
				"--provider-url", b.Name())
	}
	return nil
}
