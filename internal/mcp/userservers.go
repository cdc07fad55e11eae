package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/proc"
	"webchat/internal/wording"
)

// tryLimit is how long a server may take until it answered.
const tryLimit = 5 * time.Second

// freshFor is how long what was found counts.
const freshFor = time.Minute

// UserServersConfig is what Servers work with.
type UserServersConfig struct {
	Servers map[string]agent.MCPServer // by name
	Env     []string                   // of those that are started
	Limit   time.Duration              // 0: [tryLimit]
	// Known is a file that remembers what the tools said of themselves. Empty: that is knownServers
	// only as long as this process runs.
	Known string
	// Tokens is a file for the tokens of servers that the user signed in to. Empty: they cannot.
	Tokens string
	Now    func() time.Time // nil: time.Now
}

// UserServerState is what was found of a server.
type UserServerState string

// The states.
const (
	Ready  UserServerState = "ready"
	SignIn UserServerState = "sign-in" // it wants its user to sign in
	Failed UserServerState = "failed"
	// Changed says that its tools are not those that its user allowed.
	Changed UserServerState = "changed"
)

// UserServerStatus is what was found of a server, and when it was tried.
type UserServerStatus struct {
	Name  string          `json:"name"`
	Type  string          `json:"type"` // stdio, http or sse
	Where string          `json:"where"`
	State UserServerState `json:"state"`
	Tools []string        `json:"tools"`
	// Failure says why it is not ready, and what to do.
	Failure string `json:"failure,omitempty"`

	says serverSays
}

// UserServers tries the MCP servers that a user set up for their agents, so that those that do not
// answer are told of once, in one place, and are not given to any agent: most agents say nothing
// when one fails, and others say it in every session.
//
// What the tools of a server say of themselves is remembered. A server that says something else
// later, or has more tools, is not given to agents until its user looked at that and allowed it: a
// description can steer what a model does with other tools. The ones that answered are looked at
// again before they are given, unless that was done within the last minute; what a server tells an
// agent after that is not seen.
//
// Nothing is started before the first of its methods that waits, and no server is left running:
// agents start their own.
//
//	s := mcp.NewUserServers(mcp.UserServersConfig{Servers: servers, Env: env})
//	for name, server := range s.Answering(ctx) { ... }
type UserServers struct {
	cfg    UserServersConfig
	known  knownServers
	tokens tokenFile

	turn chan struct{} // holds one while servers are not being tried

	mu   sync.Mutex         // guards what follows
	all  []UserServerStatus // by name; nil: they were not tried yet
	at   time.Time
	told map[string]UserServerState // what was told of those that are not ready
}

// NewUserServers returns Servers that were not tried yet.
func NewUserServers(c UserServersConfig) *UserServers {
	c.Limit = cmp.Or(c.Limit, tryLimit)
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &UserServers{cfg: c, known: knownServers{file: c.Known}, tokens: tokenFile{file: c.Tokens}, turn: make(chan struct{}, 1), told: map[string]UserServerState{}}
	s.turn <- struct{}{}
	return s
}

// UserServerStatus tries each server, if that was not done within the last minute, and returns what
// was found. The error is ctx's.
func (s *UserServers) Status(ctx context.Context) ([]UserServerStatus, error) {
	return s.look(ctx, func(UserServerStatus) bool { return true })
}

// Answering returns the servers that answered, and say what they said when they were allowed.
func (s *UserServers) Answering(ctx context.Context) map[string]agent.MCPServer {
	all, err := s.look(ctx, func(x UserServerStatus) bool { return x.State == Ready || x.State == Changed })
	if err != nil {
		return nil
	}
	ready := map[string]agent.MCPServer{}
	for _, x := range all {
		if x.State == Ready {
			ready[x.Name] = s.signed(ctx, x.Name)
		}
	}
	return ready
}

// ErrUnknown is returned for a name that no server has.
var ErrUnknown = errors.New("there is no such MCP server; config.yaml names them under mcpServers")

// Allow says that the user agrees to what the tools of a server say now.
func (s *UserServers) Allow(ctx context.Context, name string) error {
	if _, ok := s.cfg.Servers[name]; !ok {
		return fmt.Errorf("%s: %w", name, ErrUnknown)
	}
	all, err := s.Status(ctx)
	if err != nil {
		return err
	}
	for i, x := range all {
		if x.Name != name || x.State != Changed {
			continue
		}
		if err := s.known.allow(name, s.cfg.Servers[name], x.says); err != nil {
			return err
		}
		s.mu.Lock()
		s.all[i].State, s.all[i].Failure = Ready, ""
		s.mu.Unlock()
	}
	return nil
}

// Untold returns one line about the servers that agents go on without, once; empty: there are none,
// they were not tried yet, or it was told.
func (s *UserServers) Untold() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var silent, changed []string
	for _, x := range s.all {
		switch was := s.told[x.Name]; {
		case x.State == Ready:
			delete(s.told, x.Name)
			continue
		case x.State == Changed && was != Changed:
			changed = append(changed, x.Name)
		case x.State != Changed && was == "":
			silent = append(silent, x.Name)
		}
		s.told[x.Name] = x.State
	}
	var lines []string
	if len(silent) == 1 {
		lines = append(lines, "The MCP server "+silent[0]+" does not answer, so agents go on without it. /mcp says why.")
	} else if len(silent) > 1 {
		lines = append(lines, "The MCP servers "+strings.Join(silent, ", ")+" do not answer, so agents go on without them. /mcp says why.")
	}
	if len(changed) > 0 {
		lines = append(lines, "Agents go on without "+strings.Join(changed, ", ")+", whose tools changed since you allowed them. /mcp says what changed.")
	}
	return strings.Join(lines, " ")
}

// look tries those servers at the same time that were never tried, or not lately and that are asked
// for.
func (s *UserServers) look(ctx context.Context, again func(UserServerStatus) bool) ([]UserServerStatus, error) {
	select {
	case <-s.turn:
		defer func() { s.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	all, old := slices.Clone(s.all), s.cfg.Now().Sub(s.at) >= freshFor
	s.mu.Unlock()
	if all != nil && !old {
		return all, nil
	}
	if all == nil {
		for _, name := range slices.Sorted(maps.Keys(s.cfg.Servers)) {
			all = append(all, UserServerStatus{Name: name, State: Ready})
		}
	}
	var wg sync.WaitGroup
	for i, x := range all {
		if again(x) {
			wg.Go(func() { all[i] = s.tryOne(ctx, x.Name) })
		}
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all, s.at = all, s.cfg.Now()
	return slices.Clone(all), nil
}

func (s *UserServers) tryOne(ctx context.Context, name string) UserServerStatus {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Limit)
	defer cancel()
	m := s.signed(ctx, name)
	st := UserServerStatus{Name: name, Type: m.Type, Where: m.Where(), State: Ready, Tools: []string{}}
	tools, about, said, err := s.list(ctx, m)
	if err == nil {
		st.says, err = serverSaysOf(tools, about)
	}
	switch {
	case err == nil:
		for _, t := range tools {
			st.Tools = append(st.Tools, t.Name)
		}
		if changed := s.known.changed(name, m, st.says); changed != "" {
			st.State, st.Failure = Changed, changed
		}
	case errors.Is(err, errSignIn):
		st.State, st.Failure = SignIn, fmt.Sprintf("It wants you to sign in. Run \"webchat mcp login %s\" in a terminal, or give it a token of yours under headers in config.yaml.", name)
	case ctx.Err() != nil:
		st.State, st.Failure = Failed, fmt.Sprintf("It did not answer within %v%s.", s.cfg.Limit, said)
	default:
		st.State, st.Failure = Failed, wording.Sentence(wording.Cut(err.Error(), 300)+said)
	}
	return st
}

// mostTools is how many tools a server may have.
const mostTools = 1000

// list connects and returns the server's tools, its instructions for models, and what it said
// before it failed.
func (s *UserServers) list(ctx context.Context, m agent.MCPServer) (tools []*mcp.Tool, about, said string, err error) {
	var at mcp.Transport
	if m.Type == "stdio" {
		p, notStarted := s.start(m)
		if notStarted != nil {
			return nil, "", "", notStarted
		}
		defer func() {
			p.stop()
			if err != nil {
				said = p.said()
			}
		}()
		at = &mcp.IOTransport{Reader: p.child.Stdout(), Writer: p.child.Stdin()}
	} else {
		seen := newHeaders(m)
		defer seen.next.CloseIdleConnections()
		defer func() {
			if err != nil && seen.refused() {
				err = errSignIn
			}
		}()
		web := &http.Client{Transport: seen}
		at = &mcp.StreamableClientTransport{Endpoint: m.URL, HTTPClient: web, MaxRetries: -1, DisableStandaloneSSE: true}
		if m.Type == "sse" {
			at = &mcp.SSEClientTransport{Endpoint: m.URL, HTTPClient: web}
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "webchat", Version: "1"}, nil)
	client.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			got, err := next(ctx, method, r)
			if list, ok := got.(*mcp.ListToolsResult); ok && list != nil {
				tools = append(tools, list.Tools...) // also those that the client leaves out, and agents may not
			}
			if len(tools) > mostTools {
				err = fmt.Errorf("it has more than %d tools", mostTools)
			}
			return got, err
		}
	})
	conn, err := client.Connect(ctx, at, nil)
	if err != nil {
		return nil, "", "", plainError(err)
	}
	defer conn.Close()
	for _, err := range conn.Tools(ctx, nil) { // of all pages
		if err != nil {
			return nil, "", "", plainError(err)
		}
	}
	if r := conn.InitializeResult(); r != nil {
		about = r.Instructions
	}
	return tools, about, "", nil
}

// serverProgram is a server that was started to be tried.
type serverProgram struct {
	child  *proc.Child
	stderr strings.Builder // to be read after reader
	reader sync.WaitGroup
}

const mostSaid = 4 << 10 // bytes of standard error that are kept

func (s *UserServers) start(m agent.MCPServer) (*serverProgram, error) {
	env := slices.Clone(s.cfg.Env)
	for _, k := range slices.Sorted(maps.Keys(m.Env)) {
		env = append(env, k+"="+m.Env[k])
	}
	child, err := proc.Start(proc.Command{Args: append([]string{m.Command}, m.Args...), Dir: m.Cwd, Env: env, Pipes: true, Grace: time.Second})
	if err != nil {
		return nil, err
	}
	p := &serverProgram{child: child}
	p.reader.Go(func() {
		_, _ = io.CopyN(&p.stderr, child.Stderr(), mostSaid) // its end is the child's
		_, _ = io.Copy(io.Discard, child.Stderr())
	})
	return p, nil
}

func (p *serverProgram) stop() {
	_ = p.child.Stdin().Close()
	_, _ = p.child.Stop(context.Background()) // what is left of it is told where it is used
	p.reader.Wait()
}

// said is the last line of what it wrote to standard error.
func (p *serverProgram) said() string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(p.stderr.String(), "")), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + wording.Cut(last, 200)
	}
	return ""
}
