package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/contain"
	"webchat/internal/jsonrpc"
	"webchat/internal/policy"
	"webchat/internal/proc"
)

const (
	startPatience = 45 * time.Second // the first start on a machine unpacks 235 MB
	stopPatience  = time.Second      // for a CLI that is to end by itself
)

// Session is a conversation on a [Process]. Its methods may be called concurrently; Handle and Died
// are called in the order of what happened.
type Session interface {
	// Handle takes an event of the session. Nothing else is read from the CLI before it returns, no
	// answer either: it must not wait for one.
	Handle(Event)
	// Request answers what the CLI asks; ctx ends with the process.
	Request(ctx context.Context, method string, params json.RawMessage) (any, error)
	// Died says why the process ended. It is called last, once.
	Died(error)
}

// Event is the envelope of what the CLI reports of a session.
type Event struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Data    json.RawMessage `json:"data"`
	AgentID string          `json:"agentId"` // of a helper agent; empty: the main one
}

// Process is one running CLI. It starts in a goroutine of its own, which ends when nothing of the
// process is left.
type Process struct {
	program   *Program
	workspace string // whose conversations it has; empty: all
	found     finding
	refs      int             // guarded by Program.mu
	life      context.Context // ends when the process can take no more conversations
	quit      context.CancelFunc

	ready chan struct{} // closed when it responds, or will not; rpc or err is set then
	err   error
	gone  chan struct{} // closed when nothing of it is left; death is set then
	death error
	rpc   *jsonrpc.Program

	mu       sync.Mutex // guards sessions
	sessions map[string]Session
}

// Ended reports whether the process can take no more conversations.
func (p *Process) Ended() bool { return p.life.Err() != nil }

func (p *Process) run() {
	defer close(p.gone)
	if p.err = p.start(); p.err != nil {
		p.death = p.err
		p.quit()
		close(p.ready)
		return
	}
	close(p.ready)
	select {
	case <-p.rpc.Done():
	case <-p.life.Done():
	}
	byItself := p.life.Err() == nil
	p.quit()
	p.death = p.finish(byItself)
	p.mu.Lock()
	sessions := slices.Collect(maps.Values(p.sessions))
	p.mu.Unlock()
	for _, s := range sessions {
		s.Died(p.death)
	}
}

// start starts the CLI and shakes hands. On an error nothing of it is left.
func (p *Process) start() error {
	cfg, home := p.program.cfg, p.program.HomeOf(p.workspace)
	err := os.MkdirAll(home, 0o700)
	if err == nil && home != cfg.Home {
		err = copySignIn(cfg.Home, home)
	}
	if err != nil {
		return fmt.Errorf("%w: the state folder of GitHub Copilot CLI cannot be made: %w",
			agent.ErrUnavailable, err)
	}
	args := []string{p.found.path, "--headless", "--stdio", "--no-auto-update"}
	if cfg.ProviderURL != "" {
		args = append(args, "--no-auto-login")
	}
	env := p.program.environment(home)
	if _, withheld := policy.Inherit(env, nil, nil); len(withheld) > 0 {
		// what it starts does not get them
		args = append(args, "--secret-env-vars="+strings.Join(withheld, ","))
	}
	cmd := proc.Command{Args: args, Dir: home, Env: env, Grace: time.Second}
	if p.workspace != "" {
		if cmd, err = cfg.Confine(p.life, p.workspace, cmd); err != nil {
			return fmt.Errorf("%w: %w", agent.ErrUnavailable, err)
		}
	}
	rpc, err := jsonrpc.Start(cmd, jsonrpc.Config{
		Framing: jsonrpc.Headers, Notify: p.notify, Request: p.request, Logger: cfg.Logger,
		Skipped: func(why error) { cfg.Logger.Warn("copilot: a frame was skipped", "error", why) }})
	if err != nil {
		return fmt.Errorf("%w: %w", agent.ErrUnavailable, err)
	}
	p.rpc = rpc
	ctx, cancel := context.WithTimeout(p.life, startPatience)
	defer cancel()
	var hello struct {
		ProtocolVersion int
		Version         string
	}
	err = rpc.Call(ctx, "connect", struct{}{}, &hello)
	if err == nil && hello.ProtocolVersion == protocol {
		return nil
	}
	died := p.finish(ctx.Err() == nil)
	switch {
	case err == nil:
		err = fmt.Errorf("GitHub Copilot CLI %s speaks protocol %d", hello.Version, hello.ProtocolVersion)
	case p.life.Err() != nil:
		err = errors.New("GitHub Copilot CLI was stopped while it started")
	case ctx.Err() != nil:
		err = fmt.Errorf("GitHub Copilot CLI did not respond within %v of its start", startPatience)
	case errors.Is(err, jsonrpc.ErrClosed):
		err = fmt.Errorf("it did not start: %w", died)
	default:
		err = fmt.Errorf("GitHub Copilot CLI refused to connect: %w", err)
	}
	return fmt.Errorf("%w: %w; %s (%s)", agent.ErrUnavailable, err, supported, install)
}

// finish ends the whole process tree and says how the CLI ended; byItself is false when we wanted
// that.
func (p *Process) finish(byItself bool) error {
	why, patience := p.rpc.Err(), stopPatience
	if byItself {
		patience = 0 // its input may be stuck
	}
	if err := p.rpc.Stop(patience); err != nil {
		p.program.cfg.Logger.Warn("copilot: not everything of the CLI could be ended", "error", err)
	}
	exit, _ := p.rpc.Exit() // without it, a code of 0 is reported
	text := fmt.Sprintf("ended by itself (exit %d)", exit.Code)
	switch {
	case errors.Is(why, contain.ErrPanic):
		return agent.Broken(Title)
	case !byItself:
		return Died(Title + " was stopped")
	case errors.Is(why, jsonrpc.ErrGarbage):
		text = "sent something that is not its protocol and was stopped"
	case errors.Is(why, jsonrpc.ErrStuck):
		text = "stopped reading and was stopped"
	case exit.Signal != "":
		text = "was killed (" + exit.Signal + ")"
	}
	return Died(Title + " " + text + p.rpc.Said())
}

// deathError is the end of the process, as a person reads it.
type deathError struct{ text string }

func (e *deathError) Error() string        { return e.text }
func (e *deathError) Is(target error) bool { return target == agent.ErrDied }

// Died is the error of a process that ended. It is [agent.ErrDied].
func Died(text string) error { return &deathError{text} }

// Lost is the end of a process as the prompt that was cut off reports it.
func Lost(death error) error {
	return Died(death.Error() +
		". The session is safe; send the prompt again and it goes on with a new process")
}

// Call calls a method of the CLI. When it ends meanwhile the error wraps [agent.ErrDied].
func (p *Process) Call(ctx context.Context, method string, params, result any) error {
	if p.rpc == nil {
		return Died(Title + " was not started")
	}
	err := p.rpc.Call(ctx, method, params, result)
	if err == nil || ctx.Err() != nil || !errors.Is(err, jsonrpc.ErrClosed) {
		return err
	}
	<-p.gone
	return p.death
}

// notify hands an event to its conversation.
func (p *Process) notify(method string, params json.RawMessage) {
	if method != "session.event" {
		return
	}
	var n struct {
		SessionID string
		Event     Event
	}
	if err := json.Unmarshal(params, &n); err != nil {
		p.program.cfg.Logger.Warn("copilot: an event could not be read", "bytes", len(params))
		return
	}
	if look := p.program.cfg.Watch; look != nil && strings.HasPrefix(n.Event.Type, "model.") {
		look(n.Event.Data)
	}
	if s := p.session(n.SessionID); s != nil {
		s.Handle(n.Event)
	}
}

// request has the session answer what the CLI asks.
func (p *Process) request(ctx context.Context, method string, params json.RawMessage) (any, error) {
	var of struct{ SessionID string }
	_ = json.Unmarshal(params, &of) // what cannot be read names no session
	if s := p.session(of.SessionID); s != nil {
		return s.Request(ctx, method, params)
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no such session"}
}

func (p *Process) session(id string) Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sessions[id]
}

// Add has s take part under the CLI's name of the session.
func (p *Process) Add(id string, s Session) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sessions[id] != nil {
		return errors.New("the session is open already")
	}
	p.sessions[id] = s
	return nil
}

// Remove is the opposite of Add.
func (p *Process) Remove(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, id)
}

// Gone is closed when nothing of the process is left and all sessions know it.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Version is that of the binary.
func (p *Process) Version() string { return p.found.version }

// Quit ends the process for all its sessions.
func (p *Process) Quit() { p.quit() }
