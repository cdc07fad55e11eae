// Package cli runs the program GitHub Copilot CLI: it finds the binary and its version, gives it an
// environment built from an allow-list, starts one process for all conversations (for those of each
// workspace, if it is confined), ends its whole tree with the last, and says in plain words why it
// failed. What the events and requests of a conversation mean, the caller knows.
//
// A [Program] may be used from any goroutine. The process runs between the first Acquire and the
// last Release, and ends earlier only by its own fault or Quit.
package cli

import (
	"context"
	"log/slog"
	"sync"

	"webchat/internal/agent/convo"
	"webchat/internal/contain"
	"webchat/internal/proc"
)

// Title is the program as people call it.
const Title = "GitHub Copilot CLI"

// Config is what a Program works with. Home, Env and Logger are needed.
type Config struct {
	// Path is the CLI, or the npm shim beside which it lies; if empty, it is looked for in the PATH of
	// Env and in npm's folders.
	Path string
	// Home is the folder the CLI keeps its state in, an absolute path.
	Home string
	// Env is this program's environment; the CLI gets an allow-list of it.
	Env []string
	// ProviderURL and ProviderModel are a model of the user's. With it the CLI works offline and
	// without a login; without, on the user's GitHub login.
	ProviderURL, ProviderModel string
	// Keys are cut out of what the CLI says of its failures.
	Keys []string
	// Watch, if set, gets the data of every event that reports a model's call. It must not block
	// and may be called concurrently.
	Watch func(data []byte)
	// Confine returns what runs the CLI for the conversations of a workspace, confined; nil: it may
	// touch what this process may.
	Confine func(ctx context.Context, workspace string, cmd proc.Command) (proc.Command, error)
	Logger  *slog.Logger
}

// Program is the installed CLI.
type Program struct {
	cfg Config

	mu      sync.Mutex          // guards running
	running map[string]*Process // by what process it is: a workspace's if it is confined, else ""

	version convo.Version
}

// New returns the program; it touches nothing.
func New(c Config) *Program { return &Program{cfg: c, running: map[string]*Process{}} }

// Acquire returns the process that runs for a workspace, started if none does; without a workspace
// it is one that nothing acts in. The caller releases it.
func (p *Program) Acquire(ctx context.Context, workspace string) (*Process, error) {
	f, err := p.find()
	if err != nil {
		return nil, err
	}
	if p.cfg.Confine == nil {
		workspace = ""
	}
	p.mu.Lock()
	r := p.running[workspace]
	if r == nil || r.Ended() {
		r = &Process{
			program:   p,
			workspace: workspace,
			found:     f,
			ready:     make(chan struct{}),
			gone:      make(chan struct{}),
			sessions:  map[string]Session{},
		}
		r.life, r.quit = context.WithCancel(context.Background())
		p.running[workspace] = r
		fence := contain.Fence{Log: p.cfg.Logger, What: "running GitHub Copilot CLI", Break: func(error) {
			r.quit()
		}}
		go fence.Contained(r.run)()
	}
	r.refs++
	p.mu.Unlock()
	select {
	case <-r.ready:
	case <-ctx.Done():
		p.Release(r)
		return nil, ctx.Err()
	}
	if r.err != nil {
		p.Release(r)
		return nil, r.err
	}
	return r, nil
}

// Release gives r back; the last one stops it and waits until it is gone.
func (p *Program) Release(r *Process) {
	p.mu.Lock()
	r.refs--
	last := r.refs == 0
	if last && p.running[r.workspace] == r {
		delete(p.running, r.workspace)
	}
	p.mu.Unlock()
	if last {
		r.quit()
		<-r.gone
	}
}

// PID is the number of the process that runs if it is not confined; 0 if none does.
func (p *Program) PID() int {
	p.mu.Lock()
	r := p.running[""]
	p.mu.Unlock()
	if r == nil || r.Ended() {
		return 0
	}
	<-r.ready
	return r.rpc.PID()
}
