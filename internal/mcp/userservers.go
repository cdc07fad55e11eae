package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/document"
	"webchat/internal/proc"
	"webchat/internal/wording"
)

const (
	tryLimit  = 5 * time.Second // how long a server may take until it answered
	freshFor  = time.Minute     // how long what was found counts
	mostTools = 1000            // of a server
	mostError = 4 << 10         // bytes of a server's standard error that are kept
)

// UserServersConfig is what UserServers work with.
type UserServersConfig struct {
	Servers map[string]agent.MCPServer // by name
	Env     []string                   // of those that are started
	Limit   time.Duration              // 0: [tryLimit]
	// Documents remember how the tools were described, and the tokens of servers that the user signed
	// in to. nil: that is remembered only as long as this process runs.
	Documents document.Store
	Now       func() time.Time // nil: time.Now
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

// UserServerStatus is what was found of a server.
type UserServerStatus struct {
	Name  string          `json:"name"`
	Type  string          `json:"type"` // stdio, http or sse
	Where string          `json:"where"`
	State UserServerState `json:"state"`
	Tools []string        `json:"tools"`
	// Failure says why it is not ready, and what to do.
	Failure string `json:"failure,omitempty"`

	now descriptions
}

// UserServers tries the MCP servers that a user set up for their agents, so that those that do not
// answer are reported once, in one place, and are not given to any agent: most agents report
// nothing when one fails, and others report it in every session.
//
// How a server describes its tools is remembered. A server that describes them otherwise later, or
// has more tools, is not given to agents until its user looked at that and allowed it: a
// description can steer what a model does with other tools. The ones that answered are looked at
// again before they are given, unless that was done within the last minute; what a server sends an
// agent after that is not seen.
//
// Nothing is started before the first of its methods that waits, and no server is left running:
// agents start their own.
//
//	s := mcp.NewUserServers(mcp.UserServersConfig{Servers: servers, Env: env})
//	for name, server := range s.Answering(ctx) { ... }
type UserServers struct {
	cfg    UserServersConfig
	known  *document.Value[map[string]allowedTools] // as the user allowed them, by name
	tokens *document.Value[map[string]signedIn]

	trying chan struct{} // has one element while servers are tried

	mu       sync.Mutex         // guards what follows
	all      []UserServerStatus // by name; nil: they were not tried yet
	at       time.Time
	reported map[string]UserServerState // of those that are not ready
}

// NewUserServers returns UserServers that were not tried yet.
func NewUserServers(c UserServersConfig) *UserServers {
	c.Limit = cmp.Or(c.Limit, tryLimit)
	if c.Now == nil {
		c.Now = time.Now
	}
	return &UserServers{
		cfg: c,
		known: document.Open[map[string]allowedTools](c.Documents,
			"mcp-servers.json", slog.Default()),
		tokens:   document.Open[map[string]signedIn](c.Documents, "mcp-tokens.json", slog.Default()),
		trying:   make(chan struct{}, 1),
		reported: map[string]UserServerState{},
	}
}

// Status tries each server, if that was not done within the last minute, and returns what was
// found. The error is ctx's.
func (s *UserServers) Status(ctx context.Context) ([]UserServerStatus, error) {
	return s.look(ctx, func(UserServerStatus) bool { return true })
}

// Answering returns the servers that answered, and describe their tools as when they were allowed.
func (s *UserServers) Answering(ctx context.Context) map[string]agent.MCPServer {
	all, err := s.look(ctx, func(x UserServerStatus) bool {
		return x.State == Ready || x.State == Changed
	})
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

// Allow says that the user agrees to how a server describes its tools now.
func (s *UserServers) Allow(ctx context.Context, name string) error {
	all, err := s.Status(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(x UserServerStatus) bool { return x.Name == name })
	switch {
	case i < 0:
		return fmt.Errorf("%s: %w", name, ErrUnknown)
	case all[i].State != Changed:
		return nil
	}
	if err := s.allow(name, s.cfg.Servers[name], all[i].now); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[i].State, s.all[i].Failure = Ready, ""
	return nil
}

// Report returns one line about the servers that agents go on without, once; empty if there are
// none, they were not tried yet, or it was reported.
func (s *UserServers) Report() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var silent, changed, lines []string
	for _, x := range s.all {
		switch was := s.reported[x.Name]; {
		case x.State == Ready:
			delete(s.reported, x.Name)
			continue
		case x.State == Changed && was != Changed:
			changed = append(changed, x.Name)
		case x.State != Changed && was == "":
			silent = append(silent, x.Name)
		}
		s.reported[x.Name] = x.State
	}
	if len(silent) == 1 {
		lines = append(lines, "The MCP server "+silent[0]+
			" does not answer, so agents go on without it. /mcp says why.")
	} else if len(silent) > 1 {
		lines = append(lines, "The MCP servers "+strings.Join(silent, ", ")+
			" do not answer, so agents go on without them. /mcp says why.")
	}
	if len(changed) > 0 {
		lines = append(lines, "Agents go on without "+strings.Join(changed, ", ")+
			", whose tools changed since you allowed them. /mcp says what changed.")
	}
	return strings.Join(lines, " ")
}

// look tries those servers at the same time that were never tried, or not within [freshFor] and are
// to be tried again.
func (s *UserServers) look(ctx context.Context,
	again func(UserServerStatus) bool) ([]UserServerStatus, error) {
	select {
	case s.trying <- struct{}{}:
		defer func() { <-s.trying }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	all, fresh := slices.Clone(s.all), s.cfg.Now().Sub(s.at) < freshFor
	s.mu.Unlock()
	if all != nil && fresh {
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
			wg.Go(func() { all[i] = s.try(ctx, x.Name) })
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

var errSignIn = errors.New("it wants a sign-in")

// try asks a server which tools it has.
func (s *UserServers) try(ctx context.Context, name string) UserServerStatus {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Limit)
	defer cancel()
	m := s.signed(ctx, name)
	st := UserServerStatus{Name: name, Type: m.Type, Where: m.Where(), State: Ready, Tools: []string{}}
	said := &heard{}
	tools, about, stderr, err := s.tools(ctx, m, said)
	if err == nil {
		st.now, err = descriptionsOf(tools, about, said)
	}
	switch {
	case err == nil:
		for _, t := range tools {
			st.Tools = append(st.Tools, t.Name)
		}
		if changed := s.changed(name, m, st.now); changed != "" {
			st.State, st.Failure = Changed, changed
		}
	case errors.Is(err, errSignIn):
		st.State, st.Failure = SignIn,
			fmt.Sprintf(
				"It wants you to sign in. Run \"webchat mcp login %s\" in a terminal, or give it a token of yours under headers in config.yaml.", name)
	case ctx.Err() != nil:
		st.State, st.Failure = Failed, fmt.Sprintf("It did not answer within %v%s.", s.cfg.Limit, stderr)
	default:
		st.State, st.Failure = Failed, wording.Sentence(wording.Cut(err.Error(), 300)+stderr)
	}
	return st
}

// tools connects and returns the server's tools, its instructions for models, and what it wrote to
// standard error before it failed. What it says is kept in said.
func (s *UserServers) tools(ctx context.Context, m agent.MCPServer,
	said *heard) (tools []*mcp.Tool, about, stderr string, err error) {
	if m.Type != "stdio" {
		seen := newHeaders(m)
		seen.said = said
		defer seen.next.CloseIdleConnections()
		if tools, about, err = listed(ctx, seen.transport(m, nil)); err != nil && seen.refused.Load() {
			err = errSignIn
		}
		return tools, about, "", err
	}
	env := slices.Clone(s.cfg.Env)
	for _, k := range slices.Sorted(maps.Keys(m.Env)) {
		env = append(env, k+"="+m.Env[k])
	}
	child, err := proc.Start(proc.Command{
		Args:  append([]string{m.Command}, m.Args...),
		Dir:   m.Cwd,
		Env:   env,
		Pipes: true,
		Grace: time.Second,
	})
	if err != nil {
		return nil, "", "", err
	}
	var written strings.Builder
	var reader sync.WaitGroup
	reader.Go(func() {
		_, _ = io.CopyN(&written, child.Stderr(), mostError) // its end is the child's
		_, _ = io.Copy(io.Discard, child.Stderr())
	})
	tools, about, err = listed(ctx, &mcp.IOTransport{
		Reader: said.stream(child.Stdout()),
		Writer: child.Stdin(),
	})
	_ = child.Stdin().Close()
	_, _ = child.Stop(context.Background()) // what is left of it is reported where it is used
	reader.Wait()
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(written.String(), "")), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		stderr = ": " + wording.Cut(last, 200)
	}
	return tools, about, stderr, err
}

// listed connects to a server and returns its tools and its instructions for models.
func listed(ctx context.Context, at mcp.Transport) (tools []*mcp.Tool, about string, err error) {
	client := newClient()
	client.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			got, err := next(ctx, method, r)
			if list, ok := got.(*mcp.ListToolsResult); ok && list != nil {
				// also those that the client leaves out, and agents may not
				tools = append(tools, list.Tools...)
			}
			if len(tools) > mostTools {
				err = fmt.Errorf("it has more than %d tools", mostTools)
			}
			return got, err
		}
	})
	conn, err := client.Connect(ctx, at, nil)
	if err != nil {
		return nil, "", withoutAddress(err)
	}
	defer conn.Close()
	for _, err := range conn.Tools(ctx, nil) { // of all pages
		if err != nil {
			return nil, "", withoutAddress(err)
		}
	}
	if r := conn.InitializeResult(); r != nil {
		about = r.Instructions
	}
	return tools, about, nil
}
