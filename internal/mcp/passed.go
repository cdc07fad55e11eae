package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/proc"
)

const (
	mostPassed   = 32 // programs of a Passed at a time
	mostMessage  = 64 << 20
	sessionIDKey = "Mcp-Session-Id"
)

// Passed is an MCP server of the user's that is a program, for agents that cannot start it: it
// answers over streamable HTTP and passes all messages on as they are, both ways. Each session over
// HTTP has a program of its own, which ends with it. Whatever runs beside the agent reaches it too,
// so that each call of a tool is allowed by itself. Its methods may be called concurrently.
//
//	p := mcp.Pass(mcp.PassConfig{Name: "files", Server: server, Dir: dir, Env: env, Allow: allow, Logger: logger})
//	http.Handle("/files", p)
//	...
//	p.Close() // ends the programs
type Passed struct {
	cfg     PassConfig
	command proc.Command
	asking  chan struct{} // has one of each call that is not decided

	running sync.WaitGroup

	mu       sync.Mutex // guards what follows
	closed   bool
	sessions map[string]*passing
}

// passing is a session.
type passing struct {
	http  *mcp.StreamableServerTransport
	end   func() // has the session end
	ended chan struct{}
}

// PassConfig is what a [Passed] works with. All fields are needed but Env.
type PassConfig struct {
	Name   string // as the user calls it
	Server agent.MCPServer
	// where it is started if it has no folder of its own, and where what it does is judged
	Dir string
	Env []string
	// Allow decides about a call of a tool, or of what else is more than what the server says of
	// itself.
	Allow  func(context.Context, agent.Permission) bool
	Logger *slog.Logger
}

// Pass returns the server of a program. It starts nothing yet.
func Pass(c PassConfig) *Passed {
	m, env := c.Server, slices.Clone(c.Env)
	for _, k := range slices.Sorted(maps.Keys(m.Env)) {
		env = append(env, k+"="+m.Env[k])
	}
	return &Passed{cfg: c, asking: make(chan struct{}, mostAsking), sessions: map[string]*passing{},
		command: proc.Command{
			Args:  append([]string{m.Command}, m.Args...),
			Dir:   cmp.Or(m.Cwd, c.Dir),
			Env:   env,
			Pipes: true,
			Grace: time.Second,
		}}
}

// ServeHTTP answers for the program.
func (p *Passed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(sessionIDKey)
	r.Body = http.MaxBytesReader(w, r.Body, mostMessage)
	p.mu.Lock()
	s := p.sessions[id]
	p.mu.Unlock()
	switch {
	case s != nil && r.Method == http.MethodDelete:
		s.end()
		<-s.ended
		w.WriteHeader(http.StatusNoContent)
		return
	case s != nil:
		s.http.ServeHTTP(w, r)
		return
	case id != "":
		http.Error(w, "session not found", http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(r.Body)
	var first struct{ Method string }
	if err != nil || r.Method != http.MethodPost || json.Unmarshal(body, &first) != nil ||
		first.Method != "initialize" {
		http.Error(w, "a session begins with initialize", http.StatusBadRequest)
		return
	}
	if s, err = p.begin(); err != nil {
		http.Error(w, "the program of this server could not be started: "+err.Error(),
			http.StatusBadGateway)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.http.ServeHTTP(w, r)
}

// begin starts a program and a session with it.
func (p *Passed) begin() (*passing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.sessions) >= mostPassed {
		return nil, errors.New("too many of it run")
	}
	child, err := proc.Start(p.command)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(context.Background())
	id := rand.Text()
	s := &passing{
		http:  &mcp.StreamableServerTransport{SessionID: id},
		end:   end,
		ended: make(chan struct{}),
	}
	down, err := s.http.Connect(ctx)
	up, bad := (&mcp.IOTransport{Reader: child.Stdout(), Writer: child.Stdin()}).Connect(ctx)
	if err = errors.Join(err, bad); err != nil {
		end()
		_, _ = child.Stop(context.Background())
		return nil, err
	}
	p.sessions[id] = s
	p.running.Go(func() { _, _ = io.Copy(io.Discard, child.Stderr()) }) // its end is the child's
	p.running.Go(func() { defer end(); p.pass(ctx, down, up, p.judge) })
	p.running.Go(func() { defer end(); p.pass(ctx, up, down, nil) })
	p.running.Go(func() {
		defer close(s.ended)
		<-ctx.Done()
		p.mu.Lock()
		delete(p.sessions, id)
		p.mu.Unlock()
		_ = down.Close()
		_ = child.Stdin().Close()
		_, err := child.Stop(context.Background())
		if err != nil {
			p.cfg.Logger.Warn("an MCP server did not end", "program", p.command.Args[0], "error", err)
		}
		_ = up.Close()
	})
	return s, nil
}

// Close ends all sessions and waits for their programs.
func (p *Passed) Close() error {
	p.mu.Lock()
	p.closed = true
	for _, s := range p.sessions {
		s.end()
	}
	p.mu.Unlock()
	p.running.Wait()
	return nil
}
