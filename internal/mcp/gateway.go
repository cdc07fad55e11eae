package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/displaytools"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/wording"
)

// Desk is where users see what servers return.
type Desk interface {
	// Give shows the user something as the output of a call. The name says by its ending what it is,
	// and sent is what the model gets; line is what it gets where that is empty.
	// app, unless it is nil, draws it.
	Give(call agent.CallInfo, name string, data []byte, sent string,
		app *displaytools.App) (t *agent.Telemetry, line string, err error)
	// IsLarge reports whether a text is too large for a model.
	IsLarge(text string) bool
	// Shorten returns what the agent of a session gets of a large text, and lets it read the rest: the
	// lines leftOut, "A-B".
	Shorten(id eventlog.ID, name, text string) (short, leftOut string)
}

// Lend adds the tools of the user's servers to those of the sessions in a workspace. A session has
// one connection to each server, from its first call of it on.
func (s *UserServers) Lend(workspace string, desk Desk,
	tools func(eventlog.ID) (agent.Toolset, error)) func(eventlog.ID) (agent.Toolset, error) {
	if len(s.cfg.Servers) == 0 {
		return tools
	}
	return func(id eventlog.ID) (agent.Toolset, error) {
		set, err := tools(id)
		if err != nil {
			return nil, err
		}
		return &gateway{Toolset: set, servers: s, workspace: workspace, desk: desk, id: id,
			open: map[place]*line{}}, nil
	}
}

// gateway is a session's tools with those of the user's servers.
type gateway struct {
	agent.Toolset
	servers   *UserServers
	workspace string
	desk      Desk
	id        eventlog.ID

	mu      sync.Mutex // guards what follows
	closed  bool
	offered []agent.Tool
	open    map[place]*line
}

// line is a session's connection to a server.
type line struct {
	turn  chan struct{} // has one element while the connection is opened or looked at
	c     *connected    // nil: it is not open
	again bool          // it was started again since its last answer
}

// Prepare implements [agent.Preparer]: it finds out what the servers offer, where that is not
// known.
func (g *gateway) Prepare(ctx context.Context) error {
	all, err := g.servers.look(ctx, g.workspace, false)
	if err != nil {
		return err
	}
	var offered []agent.Tool
	for _, server := range all {
		if server.State != Ready {
			continue
		}
		for _, o := range server.offers {
			if o.ui.Only {
				continue
			}
			t := &serverTool{g, g.servers.place(server.Name, g.workspace), o}
			t.spec.Needed = func() bool { return t.off() == "" }
			offered = append(offered, t)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.offered = offered
	return nil
}

// Tools implements [agent.Toolset].
func (g *gateway) Tools() []agent.Tool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append(slices.Clone(g.Toolset.Tools()), g.offered...)
}

// Close implements [agent.Toolset].
func (g *gateway) Close() error {
	g.mu.Lock()
	g.closed = true
	lines := g.open
	g.open = nil
	g.mu.Unlock()
	var ending sync.WaitGroup
	for _, l := range lines {
		ending.Go(func() {
			l.turn <- struct{}{}
			if l.c != nil {
				l.c.close()
			}
		})
	}
	ending.Wait()
	return g.Toolset.Close()
}

// line returns the session's connection to a server, which need not be open.
func (g *gateway) line(at place) (*line, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, fmt.Errorf("the session is closed")
	}
	if g.open[at] == nil {
		g.open[at] = &line{turn: make(chan struct{}, 1)}
	}
	return g.open[at], nil
}

// reach returns an open connection to a server whose tools are as the user allowed them.
func (g *gateway) reach(ctx context.Context, at place, l *line) (*connected, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if l.c != nil && l.c.gone() { // between two calls
		l.c.close()
		l.c = nil
	}
	if l.c != nil && !l.c.changed.Load() {
		return l.c, g.servers.allowed(at)
	}
	limited, cancel := context.WithTimeout(ctx, g.servers.cfg.Limit)
	defer cancel()
	c, err := l.c, error(nil)
	if c == nil {
		c, err = g.servers.dial(limited, at, g.workspace)
	}
	var st UserServerStatus
	if err == nil {
		st, err = g.servers.offered(limited, at, c)
	}
	if err != nil {
		err = g.servers.denied(c, err)
		c.close()
		l.c = nil
		switch {
		case c.wantsSignIn():
			return nil, fmt.Errorf("%w: %s", err, signInTo(at.name))
		case limited.Err() != nil && ctx.Err() == nil:
			err = fmt.Errorf("it did not answer within %v", g.servers.cfg.Limit)
		}
		return nil, fmt.Errorf("%w%s", err, c.words())
	}
	l.c = c
	g.servers.note(at, st)
	return c, g.servers.allowed(at)
}

// restart starts a server again whose program ended in a call, once until it answers again, and
// says what came of it.
func (g *gateway) restart(ctx context.Context, at place, l *line, c *connected) string {
	c.close()
	if ctx.Err() != nil {
		return ""
	}
	l.turn <- struct{}{}
	again := l.again
	l.again = true
	if l.c == c {
		l.c = nil
	}
	<-l.turn
	if again {
		return " It had been started again before, so it is started again by the next call only."
	}
	if _, err := g.reach(ctx, at, l); err != nil {
		return " It could not be started again: " + wording.Sentence(err.Error())
	}
	return " It was started again."
}

// logged keeps what a server logged last, for its row.
//
//lint:ignore SA1019 servers before 2026-07-28 log by it
func (s *UserServers) logged(at place, p *mcp.LoggingMessageParams) {
	text, ok := p.Data.(string)
	if !ok {
		b, err := json.Marshal(p.Data)
		if err != nil {
			return
		}
		text = string(b)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs[at] = string(p.Level) + ": " + wording.Cut(oneLine(text), 200)
}

// note keeps what was found of a server.
func (s *UserServers) note(at place, st UserServerStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found[at] = &st
}

// allowed returns why a server may not be called.
func (s *UserServers) allowed(at place) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.found[at]; x != nil && x.State == Changed {
		return fmt.Errorf("the user has to look at its tools, which are not those that they allowed, "+
			"with /mcp. %s", x.Failure)
	}
	return nil
}

// serverTool is a tool of a server of the user's.
type serverTool struct {
	g  *gateway
	at place
	offer
}

// Spec implements [agent.Tool].
func (t *serverTool) Spec() agent.ToolSpec { return t.spec }

// off says how far the user switched it off.
func (t *serverTool) off() Off {
	return t.g.servers.off(In{t.g.workspace, t.g.id}, t.at.name, t.name)
}

// Plan implements [agent.Tool]. What the arguments mean is the server's to say.
func (t *serverTool) Plan(_ context.Context, raw json.RawMessage) (agent.Action, error) {
	err := t.g.servers.allowed(t.at)
	if far := t.off(); far != "" {
		err = fmt.Errorf("the user switched it off for the %s.", far) //lint:ignore ST1005 a sentence
	}
	if err != nil {
		return agent.Action{}, agent.Errorf(event.KindDenied, "%s was not called: %s", t.spec.Name, err)
	}
	var args bytes.Buffer
	if err := json.Compact(&args, raw); err != nil {
		return agent.Action{}, err
	}
	about := t.name
	if args.String() != "{}" {
		about += " " + args.String()
	}
	digest := agent.Digest("mcp call", t.at.name, t.at.dir, t.name, args.String())
	return agent.Action{
		Ask: &agent.Permission{
			Kind:     agent.KindMCP,
			Server:   t.at.name,
			ToolName: t.spec.Name,
			Action:   "use a tool of the MCP server " + t.at.name,
			Resource: about,
			Cwd:      t.g.workspace,
			Digest:   digest,
		},
		Digest: digest,
		Run: func(ctx context.Context, report agent.Progress) (agent.Result, error) {
			return t.run(ctx, args.Bytes(), report), nil
		},
	}, nil
}

// run calls the tool for an agent.
func (t *serverTool) run(ctx context.Context, args json.RawMessage,
	report agent.Progress) agent.Result {
	c, res, failure := t.call(ctx, args, report)
	if failure != nil {
		return *failure
	}
	return t.given(agent.CallFrom(ctx), res, t.readPage(ctx, c, args, res))
}

// call calls the tool, or says why not. A call that is stopped is cancelled at its server.
func (t *serverTool) call(ctx context.Context, args json.RawMessage,
	report agent.Progress) (*connected, *mcp.CallToolResult, *agent.Result) {
	failed := func(kind event.ErrorKind, format string,
		args ...any) (*connected, *mcp.CallToolResult, *agent.Result) {
		return nil, nil, new(agent.Failure(kind, format, args...))
	}
	const notCalled = "%s was not called: %s"
	l, err := t.g.line(t.at)
	if err != nil {
		return failed(event.KindAborted, notCalled, t.spec.Name, wording.Sentence(err.Error()))
	}
	c, err := t.g.reach(ctx, t.at, l)
	switch {
	case ctx.Err() != nil:
		return failed(event.KindAborted, "It was stopped.")
	case err != nil:
		return failed(event.KindProvider, notCalled, t.spec.Name, wording.Sentence(err.Error()))
	}
	began := time.Now()
	res, err := c.call(ctx, t.name, args, func(text string) {
		report(agent.ProgressReport{ProgressMessage: text, ElapsedMs: time.Since(began).Milliseconds()})
	})
	switch theirs, ok := answered(err); {
	case ctx.Err() != nil:
		return failed(event.KindAborted, "It was stopped.")
	case ok:
		return failed(event.KindProvider, "%s refused the call: %s", t.at.name,
			ends(theirs.Message, mostRefusal))
	case errors.Is(err, errTooLarge):
		c.close() // the next call opens it anew
		return failed(event.KindProvider, "webchat ended the call to %s: %s", t.at.name,
			wording.Ended(err.Error()))
	case err != nil && c.wantsSignIn():
		err = t.g.servers.denied(c, err)
		c.close()
		return failed(event.KindProvider, "%s was not called: %s: %s.", t.spec.Name, err,
			signInTo(t.at.name))
	case err != nil:
		again := t.g.restart(ctx, t.at, l, c)
		return failed(event.KindProvider, "%s ended in the call%s.%s", t.at.name,
			cmp.Or(c.words(), ": "+wording.Cut(withoutAddress(err).Error(), 200)), again)
	}
	l.answered()
	return c, res, nil
}

// mostRefusal is how many characters of a server's error a model gets.
const mostRefusal = 4000

// ends are the beginning and the end of an error that is long.
func ends(text string, most int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	return string(r[:most/4]) + " … " + string(r[len(r)-most*3/4:])
}

// answered notes that the server answers.
func (l *line) answered() {
	l.turn <- struct{}{}
	l.again = false
	<-l.turn
}
