// Package mcpclient tries the MCP servers that a user set up for their agents, so that
// those that do not answer are told of once, in one place, and are not given to any
// agent: most agents say nothing when one fails, and others say it in every session.
//
// All methods may be called at any time from any goroutine. Nothing is started before
// the first of them that waits, and no server is left running: agents start their own.
//
//	s := mcpclient.New(mcpclient.Config{Servers: servers, Env: env})
//	for name, server := range s.Answering(ctx) { ... }
package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/proc"
	"webchat/internal/wording"
)

// Limit is how long a server may take until it answered.
const Limit = 5 * time.Second

// Config is what Servers work with.
type Config struct {
	Servers map[string]agent.MCPServer // by name
	Env     []string                   // of those that are started
	Limit   time.Duration              // 0: [Limit]
}

// State is what was found of a server.
type State string

// The states.
const (
	Ready  State = "ready"
	SignIn State = "sign-in" // it wants its user to sign in
	Failed State = "failed"
)

// Status is what was found of a server, and when it was tried.
type Status struct {
	Name  string   `json:"name"`
	Type  string   `json:"type"` // stdio, http or sse
	Where string   `json:"where"`
	State State    `json:"state"`
	Tools []string `json:"tools"`
	// Failure says why it is not ready, and what to do.
	Failure string `json:"failure,omitempty"`
}

// Servers are the servers of one user.
type Servers struct {
	cfg Config
	try sync.Once

	mu    sync.Mutex // guards what follows
	all   []Status   // by name
	tried chan struct{}
	told  bool
}

// New returns Servers that were not tried yet.
func New(c Config) *Servers {
	c.Limit = cmp.Or(c.Limit, Limit)
	return &Servers{cfg: c, tried: make(chan struct{})}
}

// Status tries each server, if that was not done yet, and returns what was found. The
// error is ctx's.
func (s *Servers) Status(ctx context.Context) ([]Status, error) {
	s.try.Do(func() { go s.tryAll() }) // ends after the limit
	select {
	case <-s.tried:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all), nil
}

// Answering returns the servers that answered.
func (s *Servers) Answering(ctx context.Context) map[string]agent.MCPServer {
	all, err := s.Status(ctx)
	if err != nil {
		return nil
	}
	ready := map[string]agent.MCPServer{}
	for _, x := range all {
		if x.State == Ready {
			ready[x.Name] = s.cfg.Servers[x.Name]
		}
	}
	return ready
}

// Untold returns one line about the servers that do not answer, once; empty: there are
// none, they were not tried yet, or it was told.
func (s *Servers) Untold() string {
	select {
	case <-s.tried:
	default:
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, x := range s.all {
		if x.State != Ready {
			names = append(names, x.Name)
		}
	}
	if s.told || len(names) == 0 {
		return ""
	}
	s.told = true
	if len(names) == 1 {
		return "The MCP server " + names[0] + " does not answer, so agents go on without it. /mcp says why."
	}
	return "The MCP servers " + strings.Join(names, ", ") + " do not answer, so agents go on without them. /mcp says why."
}

// tryAll tries all at the same time.
func (s *Servers) tryAll() {
	names := slices.Sorted(maps.Keys(s.cfg.Servers))
	all := make([]Status, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() { all[i] = s.tryOne(name) })
	}
	wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = all
	close(s.tried)
}

func (s *Servers) tryOne(name string) Status {
	m := s.cfg.Servers[name]
	st := Status{Name: name, Type: m.Type, Where: m.Where(), State: Ready, Tools: []string{}}
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Limit)
	defer cancel()
	tools, said, err := s.list(ctx, m)
	switch {
	case err == nil:
		st.Tools = tools
	case errors.Is(err, errSignIn):
		st.State, st.Failure = SignIn, "It wants you to sign in. Give it a token of yours under headers in config.yaml."
	case ctx.Err() != nil:
		st.State, st.Failure = Failed, fmt.Sprintf("It did not answer within %v%s.", s.cfg.Limit, said)
	default:
		st.State, st.Failure = Failed, wording.Sentence(wording.Cut(err.Error(), 300)+said)
	}
	return st
}

// list connects and returns the names of the server's tools, with what it said before
// it failed.
func (s *Servers) list(ctx context.Context, m agent.MCPServer) (tools []string, said string, err error) {
	var at mcp.Transport
	if m.Type == "stdio" {
		p, notStarted := s.start(m)
		if notStarted != nil {
			return nil, "", notStarted
		}
		defer func() {
			p.stop()
			if err != nil {
				said = p.said()
			}
		}()
		at = &mcp.IOTransport{Reader: p.child.Stdout(), Writer: p.child.Stdin()}
	} else {
		seen := &headers{set: m.Headers, next: &http.Transport{}}
		defer seen.next.CloseIdleConnections()
		defer func() {
			if err != nil && seen.refused() {
				err = errSignIn
			}
		}()
		client := &http.Client{Transport: seen}
		at = &mcp.StreamableClientTransport{Endpoint: m.URL, HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true}
		if m.Type == "sse" {
			at = &mcp.SSEClientTransport{Endpoint: m.URL, HTTPClient: client}
		}
	}
	conn, err := mcp.NewClient(&mcp.Implementation{Name: "webchat", Version: "1"}, nil).Connect(ctx, at, nil)
	if err != nil {
		return nil, "", plain(err)
	}
	defer conn.Close()
	list, err := conn.ListTools(ctx, nil)
	if err != nil {
		return nil, "", plain(err)
	}
	for _, t := range list.Tools {
		tools = append(tools, t.Name)
	}
	return tools, "", nil
}

// plain is an error without the address, which may hold a secret.
func plain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("it cannot be reached: %w", u.Err)
	}
	return err
}

var errSignIn = errors.New("it wants a sign-in")

// headers sends the user's headers with every request, and notes whether one was
// refused for its credentials.
type headers struct {
	set  map[string]string
	next *http.Transport

	mu    sync.Mutex // guards unauthorized
	found bool
}

// RoundTrip implements [http.RoundTripper].
func (h *headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range h.set {
		r.Header.Set(k, v)
	}
	res, err := h.next.RoundTrip(r)
	if err == nil && res.StatusCode == http.StatusUnauthorized {
		h.mu.Lock()
		h.found = true
		h.mu.Unlock()
	}
	return res, err
}

func (h *headers) refused() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.found
}

// program is a server that was started to be tried.
type program struct {
	child  *proc.Child
	stderr strings.Builder // to be read after reader
	reader sync.WaitGroup
}

const mostSaid = 4 << 10 // bytes of standard error that are kept

func (s *Servers) start(m agent.MCPServer) (*program, error) {
	env := slices.Clone(s.cfg.Env)
	for _, k := range slices.Sorted(maps.Keys(m.Env)) {
		env = append(env, k+"="+m.Env[k])
	}
	child, err := proc.Start(proc.Command{Args: append([]string{m.Command}, m.Args...), Dir: m.Cwd, Env: env, Pipes: true, Grace: time.Second})
	if err != nil {
		return nil, err
	}
	p := &program{child: child}
	p.reader.Go(func() {
		_, _ = io.CopyN(&p.stderr, child.Stderr(), mostSaid) // its end is the child's
		_, _ = io.Copy(io.Discard, child.Stderr())
	})
	return p, nil
}

func (p *program) stop() {
	_ = p.child.Stdin().Close()
	_, _ = p.child.Stop(context.Background()) // what is left of it is told where it is used
	p.reader.Wait()
}

// said is the last line of what it wrote to standard error.
func (p *program) said() string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(p.stderr.String(), "")), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + wording.Cut(last, 200)
	}
	return ""
}
