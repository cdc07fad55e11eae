package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/document"
	"webchat/internal/wording"
)

const (
	tryLimit  = 10 * time.Second // until a server answers: npx looks at its registry first
	freshFor  = time.Minute      // how long what was found counts
	mostTools = 1000             // of a server
)

// UserServersConfig is what UserServers work with.
type UserServersConfig struct {
	Servers map[string]agent.MCPServer // by name
	// Env is the environment of those that are started for a workspace.
	Env func(workspace string) []string
	// First is the workspace whose servers [UserServers.Status] tries.
	First string
	Limit time.Duration // until a server answers; 0: [tryLimit]
	// Documents remember how the tools were described, and the tokens of servers that the user signed
	// in to. nil: that is remembered only as long as this process runs.
	Documents document.Store
	Now       func() time.Time // nil: time.Now
	Logger    *slog.Logger     // nil: nothing is logged
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
	Tools []OfferedTool   `json:"tools"`
	// Failure says why it is not ready, and what to do.
	Failure string `json:"failure,omitempty"`

	Off Off `json:"off,omitempty"` // the whole server is
	// Instructions are its words for models, which webchat does not pass on.
	Instructions string `json:"instructions,omitempty"`
	Log          string `json:"log,omitempty"` // what it logged last

	offers []offer
	now    descriptions
	// what it has for users
	prompts   []*mcp.Prompt
	resources []*mcp.Resource // templates, too
	completes bool
}

// UserServers are the MCP servers that a user set up. Sessions reach them by [UserServers.Lend];
// those that do not answer are reported once, in one place.
//
// What a server offers is asked once for each folder it is started in, and kept, also for the next
// process. How it describes
// its tools is remembered. A server that describes them otherwise later, or has more tools, is
// called for no agent until its user looked at that and allowed it: a description can steer what a
// model does with other tools.
//
// Nothing is started before the first of its methods that waits. What is tried ends with that; what
// sessions call ends with them.
//
//	s := mcp.NewUserServers(mcp.UserServersConfig{Servers: servers, Env: env})
//	tools := s.Lend(workspace, desk, displayTools)
type UserServers struct {
	cfg    UserServersConfig
	known  *document.Value[map[string]allowedTools] // as the user allowed them, by name
	tokens *document.Value[map[string]signedIn]
	// what is off, by workspaces and sessions
	switches *document.Value[map[string][]string]
	kept     *document.Value[map[string]kept] // by sums of their configuration and folder

	trying chan struct{} // has one element while servers are tried

	mu       sync.Mutex // guards what follows
	found    map[place]*UserServerStatus
	logs     map[place]string           // what each logged last
	tried    map[string]time.Time       // when Status tried them, by workspace
	reported map[string]UserServerState // of those that are not ready
}

// place is a server in a folder; those that are not started have none.
type place struct{ name, dir string }

// place is where a workspace reaches a server.
func (s *UserServers) place(name, workspace string) place {
	if m := s.cfg.Servers[name]; m.Type == "stdio" {
		return place{name, cmp.Or(m.Cwd, workspace)}
	}
	return place{name, ""}
}

// workspace is where servers are asked about.
func (s *UserServers) workspace(in In) string { return cmp.Or(in.Workspace, s.cfg.First) }

// NewUserServers returns UserServers that were not tried yet.
func NewUserServers(c UserServersConfig) *UserServers {
	c.Limit = cmp.Or(c.Limit, tryLimit)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Env == nil {
		c.Env = func(string) []string { return nil }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &UserServers{
		cfg: c,
		known: document.Open[map[string]allowedTools](c.Documents,
			"mcp-servers.json", slog.Default()),
		tokens:   document.Open[map[string]signedIn](c.Documents, "mcp-tokens.json", slog.Default()),
		switches: document.Open[map[string][]string](c.Documents, "mcp-off.json", slog.Default()),
		kept:     document.Open[map[string]kept](c.Documents, "mcp-tools.json", slog.Default()),
		trying:   make(chan struct{}, 1),
		found:    map[place]*UserServerStatus{},
		logs:     map[place]string{},
		tried:    map[string]time.Time{},
		reported: map[string]UserServerState{},
	}
}

// Status tries each server, if that was not done within the last minute, and returns what was
// found. The error is ctx's.
func (s *UserServers) Status(ctx context.Context, in In) ([]UserServerStatus, error) {
	in.Workspace = s.workspace(in)
	s.mu.Lock()
	stale := s.cfg.Now().Sub(s.tried[in.Workspace]) >= freshFor
	s.mu.Unlock()
	all, err := s.look(ctx, in.Workspace, stale)
	for i, x := range all {
		all[i].Off, all[i].Tools = s.off(in, x.Name, ""), make([]OfferedTool, len(x.Tools))
		all[i].Log = s.lastLog(s.place(x.Name, in.Workspace))
		for k, t := range x.Tools {
			t.Off = s.off(in, x.Name, t.Name)
			all[i].Tools[k] = t
		}
	}
	return all, err
}

func (s *UserServers) lastLog(at place) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logs[at]
}

// ErrUnknown is returned for a name that no server has.
var ErrUnknown = errors.New("there is no such MCP server; config.yaml names them under mcpServers")

// Allow says that the user agrees to how a server describes its tools now.
func (s *UserServers) Allow(_ context.Context, name string) error {
	m, ok := s.cfg.Servers[name]
	if !ok {
		return fmt.Errorf("%s: %w", name, ErrUnknown)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, x := range s.found {
		if at.name != name || x.State != Changed {
			continue
		}
		if err := s.allow(name, m, x.now); err != nil {
			return err
		}
		allowed := *x
		allowed.State, allowed.Failure = Ready, ""
		s.found[at] = &allowed
	}
	return nil
}

// Report returns one line about the servers that agents go on without, once; empty if there are
// none, they were not tried yet, or it was reported.
func (s *UserServers) Report() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var silent, changed, lines []string
	all := slices.SortedFunc(maps.Values(s.found), func(a, b *UserServerStatus) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.State, b.State))
	})
	for _, x := range all {
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

// look returns what is known of each server in a workspace, by name. It tries at the same time
// those of which nothing is, or all again.
func (s *UserServers) look(ctx context.Context, workspace string,
	again bool) ([]UserServerStatus, error) {
	select {
	case s.trying <- struct{}{}:
		defer func() { <-s.trying }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	names := slices.Sorted(maps.Keys(s.cfg.Servers))
	all := make([]UserServerStatus, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		at := s.place(name, workspace)
		s.mu.Lock()
		known := s.found[at]
		s.mu.Unlock()
		if known == nil && !again {
			known = s.remembered(at)
		}
		if known != nil && !again {
			all[i] = *known
			continue
		}
		wg.Go(func() { all[i] = s.try(ctx, at) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, x := range all {
		s.found[s.place(names[i], workspace)] = &x
	}
	if again {
		s.tried[workspace] = s.cfg.Now()
	}
	distinct(all)
	return all, nil
}

// distinct has servers fail of which a tool would be called like one of another server.
func distinct(all []UserServerStatus) {
	owner := map[string]string{} // of what agents call a tool
	for i, x := range all {
		if x.State != Ready {
			continue
		}
		for _, o := range x.offers {
			if other := owner[o.spec.Name]; other != "" && all[i].State == Ready {
				all[i].State, all[i].Failure = Failed, fmt.Sprintf("Agents would call its tool %q and one of "+
					"%s the same, %s. Give one of the two servers another name in config.yaml.", o.name, other,
					wording.Cut(o.spec.Name, 100))
			}
		}
		for _, o := range x.offers {
			if all[i].State == Ready {
				owner[o.spec.Name] = x.Name
			}
		}
	}
}

// try asks a server which tools it has.
func (s *UserServers) try(ctx context.Context, at place) UserServerStatus {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Limit)
	defer cancel()
	c, err := s.dial(ctx, at, "")
	var st UserServerStatus
	if err == nil {
		if st, err = s.offered(ctx, at, c); err != nil {
			err = s.denied(c, err)
		}
	}
	c.close()
	if err == nil {
		return st
	}
	m := s.cfg.Servers[at.name]
	st = UserServerStatus{Name: at.name, Type: m.Type, Where: m.Where(), State: Failed,
		Tools: []OfferedTool{}}
	words := c.words()
	switch {
	case errors.Is(err, errSignIn):
		st.State, st.Failure = SignIn,
			fmt.Sprintf(
				"It wants you to sign in. Run \"webchat mcp login %s\" in a terminal, or give it a token of "+
					"yours under headers in config.yaml.", at.name)
	case errors.Is(err, errWants):
		st.State, st.Failure = SignIn,
			"It wants a sign-in that allows more: "+signInTo(at.name)+"."
	case ctx.Err() != nil:
		st.Failure = fmt.Sprintf("It did not answer within %v%s.", s.cfg.Limit, words)
	default:
		st.Failure = wording.Sentence(wording.Cut(err.Error(), 300) + words)
	}
	return st
}
